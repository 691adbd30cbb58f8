"""Closer look at hidden units: how much a trained model misses a single one, beside what it misses more."""

import torch
import torch.nn.functional as F
from clearbook.data.austen import NOVELS

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/05-hidden-units.ipynb"
CHOSEN = {"block 3, unit 514": (2, 514), "block 4, unit 575": (3, 575), "block 1, unit 271": (0, 271)}
RANDOM, WHOLE = "a hundred units", "a feed-forward layer"
READ = ("Persuasion", "Emma", "Pride and Prejudice")  # one for each seed
ROWS, LENGTH = 24, 256


@experiment(
    PAGE,
    contenders={
        **dict.fromkeys(CHOSEN, "one of the three that the page chooses by a rule"),
        RANDOM: "a hundred units of block 3, drawn at random",
        WHOLE: "all units of block 3",
    },
    budget="6,144 tokens from the last tenth of a novel, which the model has not read, another one for each seed; "
    "nothing is trained",
    measured="by how many nats the loss of the next token rises when the units are set to 0",
    cells=("setup",),
    times=(1,),
)
def units_missed(page, run):
    model, ids = once(page, run.seed, lambda: loaded(page, READ[run.seed]))
    whole = once(page, ("whole", run.seed), lambda: loss(model, ids))
    block, units = silent(run.contender, model.decoder.blocks[0].feed_forward.down.in_features)
    layer = model.decoder.blocks[block].feed_forward.down
    hook = layer.register_forward_pre_hook(lambda module, given: given[0].index_fill(-1, units, 0))
    rise = loss(model, ids) - whole
    hook.remove()
    return rise


def silent(contender, n_units):
    """The block, counted from 0, and the units of it that are set to 0."""
    if contender in CHOSEN:
        block, unit = CHOSEN[contender]
        return block, torch.tensor([unit])
    return 2, torch.randperm(n_units)[: 100 if contender == RANDOM else n_units]


def loaded(page, title):
    model, tokenizer = page.load_language_model(page.course_file("models/austen"))
    text = page.austen_split()[1][NOVELS.index(title)]
    return model, torch.tensor(tokenizer.encode(text)[: ROWS * LENGTH]).view(ROWS, LENGTH)


@torch.no_grad()
def loss(model, ids):
    return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).item()


claim(
    units_missed,
    "it does other things as well, and on average the model hardly misses it.",
    about=("block 3, unit 514", RANDOM, WHOLE),
    cell="silence-units",
    holds=lambda rise: (
        max(abs(it) for who in CHOSEN for it in rise[who, "", 1]) < 0.01
        and max(rise["block 3, unit 514", "", 1])
        < min(rise[RANDOM, "", 1])
        <= max(rise[RANDOM, "", 1])
        < min(rise[WHOLE, "", 1])
    ),
    note="At the ends of three novels. A hundred units drawn at random are hardly missed, either; the whole layer is.",
)
