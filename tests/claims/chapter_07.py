"""Chapter 7, residuals and normalisation: deep stacks without the sum, and with the norm in several places."""

from statistics import median

from clearbook.ladder import Ladder
from torch import nn

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/07-residual-norm.ipynb"
PARTS = ("setup", "causal-from-chapter-3", "heads-from-chapter-4", "feed-forward-from-chapter-5")
BLOCKS = (*PARTS, "block-class")
RATE, WARM_UP = 0.0275, 45
STARTS = (0, 1, 2, 3, 4)
ADDED, PLAIN, NO_LAYER = "x + part(x)", "part(x)", "no layer"
NORMED, LARGER, DRAWN, FROM_ZERO = (
    "your blocks",
    "your blocks, 0.1 for 0.02",
    "your blocks, as drawn",
    "your blocks, outputs from zero",
)


def rates(n_steps, warm_up=1):
    return [RATE * min(1, (step + 1) / warm_up) for step in range(n_steps)]


@experiment(
    PAGE,
    contenders={
        "pre-norm": "a norm before each part, and one at the end",
        "post-norm": "a norm after each sum",
        "post-norm, warm-up": "the same, and a rate that rises for 45 steps",
        "no norm": "the same blocks without any norm",
    },
    cases=("2 blocks", "4 blocks", "6 blocks", "12 blocks"),
    budget="60 steps of 16 sequences, Adam at 0.0275",
    measured="loss over the last ten steps, less is better; guessing costs 2.30",
    cells=(*BLOCKS, "post-norm-block", "no-norm-block", "race-model", "race-function"),
    seeds=STARTS,
)
def norms_in_a_race(page, run):
    """All starts are trained side by side, as on the page."""
    kinds = {"pre-norm": page.Block, "no norm": page.NoNormBlock}
    block, depth = kinds.get(run.contender, page.PostNormBlock), int(run.case.split()[0])
    plan = rates(60 * run.times, WARM_UP if run.contender.endswith("warm-up") else 1)

    def train():
        return page.race(block, depth, plan, len(STARTS), final_norm=run.contender == "pre-norm")

    return once(page, run._replace(seed=0), train)[run.seed]


claim(
    norms_in_a_race,
    "With two blocks the four hardly differ. With six, no start learns the task without a norm, and post-norm needs "
    "its warm-up.",
    about=("pre-norm", "post-norm", "post-norm, warm-up", "no norm"),
    cell="race-figure",
    holds=lambda loss: (
        max(max(loss[who, "2 blocks", 1]) for who in norms_in_a_race.contenders) < 0.1
        and min(loss["no norm", "6 blocks", 1]) > 1
        and median(loss["post-norm", "6 blocks", 1]) > 2.2
        and max(loss["post-norm, warm-up", "6 blocks", 1]) < 1
    ),
    note="The page drew no control without a norm. Six blocks without one lose again what they learn in 60 steps.",
    verdict="changed",
    before="With two blocks the place of the norm does not matter. With six, most starts of post-norm learn next to "
    "nothing without a warm-up.",
)
claim(
    norms_in_a_race,
    "With two blocks you see no difference. (In four times as many steps two of five starts without a norm break down "
    "again.)",
    about=("pre-norm", "no norm"),
    cell="race-run",
    holds=lambda loss: (
        max(loss["no norm", "2 blocks", 1] + loss["pre-norm", "2 blocks", 1]) < 0.1
        and sum(it > 1 for it in loss["no norm", "2 blocks", 4]) == 2
        and max(loss["pre-norm", "2 blocks", 4]) < 0.1
    ),
    note="That a shallow stack needs no norm holds for the steps of the page only.",
    verdict="changed",
    before="With two blocks you see no difference.",
)
claim(
    norms_in_a_race,
    "The cure is to hand every part tokens of the same size: we **normalise** them.",
    about=("pre-norm", "no norm"),
    cell="race-run",
    holds=lambda loss: all(
        max(loss["pre-norm", "6 blocks", times]) < 0.2 and not any(it < 1 for it in loss["no norm", "6 blocks", times])
        for times in (1, 4)
    ),
    note="Six blocks without any norm do not learn the task at this rate, and run away in a longer training.",
)
claim(
    norms_in_a_race,
    "With six, post-norm runs are stuck near guessing ($\\ln 10 \\approx 2.30$), even after four times as many steps, "
    "and pre-norm hardly notices the depth. With twelve, some pre-norm runs lag behind, and catch up in the longer "
    "training. Without any norm six blocks do not learn the task, and trained for longer they run away.",
    about=("pre-norm", "post-norm", "no norm"),
    cell="race-run",
    holds=lambda loss: (
        min(min(loss["post-norm", "6 blocks", times]) for times in (1, 4)) > 2.2
        and max(loss["pre-norm", "6 blocks", 1]) < 0.2
        and 0 < sum(it > 0.4 for it in loss["pre-norm", "12 blocks", 1]) < 4
        and max(loss["pre-norm", "12 blocks", 4]) < 0.2
        and not any(it < 1 for it in loss["no norm", "6 blocks", 1])
        and not any(it < 10 for it in loss["no norm", "6 blocks", 4])
    ),
    note="Pre-norm does notice the depth, only later: at twelve blocks some starts are far behind after 60 steps.",
    verdict="changed",
    before="With six, most post-norm runs are stuck near guessing ($\\ln 10 \\approx 2.30$), and pre-norm does not "
    "notice the depth.",
)
claim(
    norms_in_a_race,
    "With six blocks a warm-up saves post-norm. With twelve, one of 45 steps does not, even in four times the steps.",
    about=("post-norm", "post-norm, warm-up"),
    cell="race-run",
    holds=lambda loss: (
        all(max(loss["post-norm, warm-up", "6 blocks", times]) < 1 for times in (1, 4))
        and all(min(loss["post-norm", "6 blocks", times]) > 2.2 for times in (1, 4))
        and all(min(loss["post-norm, warm-up", "12 blocks", times]) > 2 for times in (1, 4))
    ),
    note="The sentence named no depth. At twelve blocks the same warm-up leaves every start at guessing.",
    verdict="changed",
    before="A warm-up saves post-norm (so does a third of the rate)",
)


def deep_stack(page, name):
    """One of the stacks on the letters of the novel, fresh."""
    if name == NO_LAYER:
        return Ladder([], None, True)
    if name in (ADDED, PLAIN):
        return page.twelve_of_each(name == ADDED)
    blocks = [page.Block(32, 4, 128) for _ in range(12)]
    model = Ladder([*blocks, nn.LayerNorm(32)], nn.Embedding(16, 32), added=False)
    if name != DRAWN:
        page.initialise(model, n_blocks=12)
    for weight in model.parameters():
        if name == LARGER and weight.dim() == 2:
            weight.data *= 0.1 / 0.02
    for block in blocks:
        if name == FROM_ZERO:
            page.silence(block)
    return model


@experiment(
    PAGE,
    contenders={
        ADDED: "twelve times four heads and a feed-forward layer, with the sum",
        PLAIN: "the same 24 parts without the sum",
        NORMED: "twelve blocks of the page and a final norm, with GPT-2's start",
        LARGER: "the same start with 0.1 in the place of 0.02",
        DRAWN: "the same blocks as PyTorch draws them",
        FROM_ZERO: "the same blocks with GPT-2's start, but the last layer of each part is zero at first",
        NO_LAYER: "embedding and head alone: the last letter",
    },
    budget="100 steps of 8 rows of 16 letters, AdamW at 0.01 after 20 steps of warm-up",
    measured="nats a letter on pages that were not read, less is better; the shares of single letters cost 2.83",
    cells=(*BLOCKS, "deep-training", "deep-stack:twelve_of_each", "silent-parts-run:silence", "initialise"),
)
def deep_stacks(page, run):
    return page.train_on_letters(deep_stack(page, run.contender), 100 * run.times)


claim(
    deep_stacks,
    "That is all that 24 parts have learned. (From one start of three the loss grew without end instead; in four times "
    "the steps, from two.)",
    about=("part(x)", "x + part(x)"),
    cell="deep-stack",
    holds=lambda loss: all(
        sum(abs(it - 2.83) < 0.02 for it in loss["part(x)", "", times]) == learned
        and not any(it < 2.81 for it in loss["part(x)", "", times])
        for times, learned in ((1, 2), (4, 1))
    ),
    note="The entropy of single letters is 2.83, and no start of the plain stack gets below it. Those that do not stay "
    "there end in losses without bounds.",
    verdict="changed",
    before="The parts are right, and still the stack learns nothing.",
)
claim(
    deep_stacks,
    "The parts are the same, and now they learn: nearly as much as a model without any layer, which sees the last "
    "letter alone. In four times the steps they come no further, so the sum is not all that such a stack needs.",
    about=("x + part(x)", "no layer", "part(x)"),
    cell="deep-stack-added",
    holds=lambda loss: (
        max(loss["no layer", "", 1]) < min(loss["x + part(x)", "", 1]) < max(loss["x + part(x)", "", 1]) < 2.55
        and not any(it < 2.55 for it in loss["part(x)", "", 1])
        and abs(median(loss["x + part(x)", "", 4]) - median(loss["no layer", "", 4])) < 0.03
    ),
    note="The page never trained a deep stack. With the sum alone, twelve blocks do not overtake embedding and head.",
    verdict="changed",
    before="The other line is level: the `x +` has saved the gradient.",
)
claim(
    deep_stacks,
    "But the loss, after 100 steps at this rate, is no better than without norms, nor than without any layer: a "
    "gradient that arrives is not yet a model that has learned.",
    about=(NORMED, ADDED, NO_LAYER),
    cell="twelve-watched",
    holds=lambda loss: (
        max(loss[NO_LAYER, "", 1]) < min(loss[NORMED, "", 1])
        and median(loss[ADDED, "", 1]) < median(loss[NORMED, "", 1])
    ),
    note="The table has the same blocks with other starts. One whose parts give nothing at first is no better, either.",
)
claim(
    deep_stacks,
    "GPT-2's 0.02 is too small for 32 features: with PyTorch's larger weights the same blocks beat both rivals, given "
    "four times the steps; from GPT-2's start hardly, if at all.",
    about=(LARGER, DRAWN, NORMED, ADDED, NO_LAYER),
    cell="twelve-watched",
    holds=lambda loss: (
        all(below(loss, who, ADDED, NO_LAYER, by=0.05, times=(4,)) for who in (LARGER, DRAWN))
        and abs(median(loss[NORMED, "", 4]) - median(loss[NO_LAYER, "", 4])) < 0.04
        and max(loss[NORMED, "", 4]) > max(loss[ADDED, "", 4] + loss[NO_LAYER, "", 4])
    ),
    note="The same start with 0.1 in the place of 0.02 does as much as PyTorch's, or nearly. So norms do pay at this "
    "rate, only later.",
    verdict="changed",
    before="Norms pay where it is hard, [at a high rate](#trained-side-by-side).",
)
claim(
    norms_in_a_race,
    "At a high rate our deep stacks needed a norm.",
    about=("pre-norm", "no norm"),
    cell="race-run",
    holds=lambda loss: all(
        max(loss["pre-norm", "6 blocks", times]) < 0.2
        and not any(it < 1 for case in ("6 blocks", "12 blocks") for it in loss["no norm", case, times])
        for times in (1, 4)
    ),
    note="Six blocks and twelve, from each of five starts, at either budget.",
)
