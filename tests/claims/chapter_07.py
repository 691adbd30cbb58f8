"""Chapter 7, residuals and normalisation: deep stacks without a sum, and where the norm may stand."""

from clearbook.ladder import Ladder
from torch import nn

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/07-residual-norm.ipynb"
PARTS = ("setup", "yours-from-before", "yours-from-before-too")
BLOCKS = (*PARTS, "block-class")
RATE, WARM_UP = 0.0275, 45
STARTS = (0, 1, 2, 3, 4)


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
    cells=(*BLOCKS, "race-model", "race-function"),
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


@experiment(
    PAGE,
    contenders={
        "as drawn": "a pre-norm block whose weights start as PyTorch draws them",
        "outputs from zero": "the same block, with weights and biases of both output layers zero at first",
    },
    budget="60 steps of 16 sequences, Adam at 0.0275; 12 blocks, and a norm at the end",
    measured="loss over the last ten steps, less is better; guessing costs 2.30",
    cells=(*BLOCKS, "race-model", "race-function", "quiet-block"),
    seeds=STARTS,
)
def outputs_from_zero(page, run):
    block = page.Block if run.contender == "as drawn" else page.QuietBlock

    def train():
        return page.race(block, 12, rates(60 * run.times), len(STARTS), final_norm=True)

    return once(page, run._replace(seed=0), train)[run.seed]


@experiment(
    PAGE,
    contenders={
        "x + part(x)": "twelve times four heads and a feed-forward layer, with the sum",
        "part(x)": "the same 24 parts without the sum",
        "no layer": "embedding and head alone: the last letter",
    },
    budget="100 steps of 32 rows of 16 letters, AdamW at 0.01 after 20 steps of warm-up",
    measured="nats a letter on pages that were not read, less is better; the shares of single letters cost 2.83",
    cells=(*PARTS, "deep-training"),
)
def deep_stacks(page, run):
    model = Ladder([], None, True) if run.contender == "no layer" else page.deep_stack(run.contender == "x + part(x)")
    return page.train_on_letters(model, 100 * run.times)
