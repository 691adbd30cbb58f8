"""The closer look at a text of your own: two starts, and the table of counts beside them."""

import torch
from clearbook.data.course_files import find_kept_files
from clearformer.tokenizers import BytePairTokenizer

from tests.claims import stored
from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import EXPERIMENTS, claim, experiment

find_kept_files()  # the page imports gpt.py

PAGE = "chapters/closer/09-your-own-text.ipynb"
NOTHING, NOVELS, TABLE = "from nothing", "from the novels", "5-gram"
OWN = "from nothing, its own merges"


@experiment(
    PAGE,
    contenders={
        NOTHING: "weights as PyTorch draws them",
        NOVELS: "the weights of models/gpt, which has read six novels",
        TABLE: "a table that has counted all of the same text",
    },
    budget="300 steps of 8 rows of 64 tokens of the Python reference",
    measured="bits per character on held-out paragraphs, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "my-table", "two-starts"),
)
def starts(page, run):
    if run.contender == TABLE:
        return page.counted
    model = page.fresh(run.contender == NOVELS)
    page.fit(model, lambda: page.batch(page.ids), n_steps=300 * run.times)
    return page.bits(model)


@experiment(
    PAGE,
    contenders={
        OWN: "weights as PyTorch draws them, and 128 merges learned from the same text",
        NOTHING: "weights as PyTorch draws them, and the 128 merges of the novels: the stored runs",
    },
    budget="300 steps of 8 rows of 64 tokens of the Python reference",
    measured="bits per character on held-out paragraphs, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "two-starts"),
)
def own_merges(page, run):
    if run.contender == NOTHING:
        found = stored.numbers(stored.load(EXPERIMENTS["09-your-own-text/starts"]))  # type: ignore[arg-type]
        return found[NOTHING, "", run.times][run.seed]
    pairs = once(page, OWN, lambda: BytePairTokenizer(page.learned, 128))
    ids, test = page.to_stream([page.learned], pairs), torch.tensor(pairs.encode(page.held_out))
    model = page.fresh(False)
    page.fit(model, lambda: page.batch(ids), n_steps=300 * run.times)
    return page.loss_on(model, test) / page.math.log(2) * len(test) / len(page.held_out)


def lead(bits, times):
    """By how many bits the model from the novels is ahead, from each start."""
    return [nothing - novels for nothing, novels in zip(bits[NOTHING, "", times], bits[NOVELS, "", times], strict=True)]


claim(
    starts,
    "After the same 300 steps the model that began with the novels is ahead, from each of three starts, and the table "
    "is still ahead of both.",
    about=(NOTHING, NOVELS, TABLE),
    cell="my-model",
    holds=lambda bits: (
        below(bits, NOVELS, NOTHING, by=0.3, times=(1,)) and below(bits, TABLE, NOVELS, NOTHING, times=(1,))
    ),
    note="The weights of the novels are worth more than a third of a bit for each character of a manual.",
)
claim(
    starts,
    "With four times the steps both are ahead of the table, and the lead that the novels gave has shrunk to less than "
    "half.",
    about=(NOTHING, NOVELS, TABLE),
    cell="my-model",
    holds=lambda bits: (
        below(bits, NOVELS, NOTHING, TABLE, times=(4,))
        and below(bits, NOTHING, TABLE, times=(4,))
        and max(lead(bits, 4)) < min(lead(bits, 1)) / 2
    ),
    note="What the novels taught, such as how words are spelled, the manual teaches as well, only later.",
)
claim(
    own_merges,
    "After 300 steps merges of its own put the model from nothing a twentieth of a bit ahead, and after 1,200 no "
    "longer from every start.",
    about=(OWN, NOTHING),
    cell="my-model",
    holds=lambda bits: below(bits, OWN, NOTHING, by=0.04, times=(1,)) and not below(bits, OWN, NOTHING, times=(4,)),
    note="The novels are worth seven times as much after 300 steps.",
)
