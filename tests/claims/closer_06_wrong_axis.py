"""Closer look at the wrong axis: what a training curve says of misplaced positions."""

from tests.claims.compare import below
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/06-wrong-axis.ipynb"
STEPS = 120


@experiment(
    PAGE,
    contenders={
        "by token": "sinusoids along the tokens",
        "none": "no positions: the causal mask alone",
        "by batch slot": "sinusoids along the batch",
    },
    budget="120 steps of 16 rows of 24 letters, Adam at 0.01",
    measured="nats a letter over the last ten steps, less is better",
    cells=("setup", "three-placements", "train"),
)
def placements(page, run):
    losses = page.losses_of(page.Letters(page.PLACEMENTS[run.contender]), run.seed, STEPS * run.times)
    return sum(losses[-10:]) / 10


claim(
    placements,
    "It is worse even than no positions at all, because what is added is noise.",
    about=("by batch slot", "none", "by token"),
    cell="curves",
    holds=lambda loss: below(loss, "none", "by batch slot") and below(loss, "by token", "none"),
    note="After four times the steps it is still behind a model that has no positions, and far behind the right one.",
)
