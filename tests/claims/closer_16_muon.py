"""The closer look at Muon: who is ahead at the beginning of training, and who at its end."""

from tests.claims.pages import once
from tests.claims.registry import experiment

PAGE = "chapters/closer/16-muon.ipynb"
ADAMW = {"AdamW 0.01": {"lr": 0.01}, "AdamW 0.02": {"lr": 0.02}}
TURNED = {"Muon 0.02": 0.02, "Muon 0.05": 0.05, "scaled 0.1": 0.1, "exact 0.02": 0.02}
CELLS = ("setup", "orthogonal", "task", "muon", "train", "steps", "runs:exact")


@experiment(
    PAGE,
    contenders={
        "AdamW 0.01": "the matrices of the blocks with AdamW, a rate from 0.01 down to zero",
        "AdamW 0.02": "the same from twice the rate",
        "Muon 0.02": "the same matrices with Muon",
        "Muon 0.05": "the same from a higher rate",
        "scaled 0.1": "Muon without the polynomial: the gradient divided by its length",
        "exact 0.02": "Muon with U Vᵀ from a decomposition in place of the polynomial",
    },
    budget="100 steps of 12 rows of 24 letters",
    measured="bits per character on numbers that were not read, less is better",
    cells=CELLS,
    times=(1, 4, 8),
)
def optimizers(page, run):
    """All starts and rates of an optimiser are trained side by side, as on the page."""
    ways = ADAMW if run.contender in ADAMW else TURNED
    found = once(page, (run.contender in ADAMW, run.times), lambda: trained(page, run))
    return found[list(ways).index(run.contender), run.seed]


def trained(page, run):
    if run.contender in ADAMW:
        return page.train_with(page.plain_adamw, list(ADAMW.values()), 100 * run.times)
    turns = (page.orthogonal, page.orthogonal, lambda G: page.orthogonal(G, steps=0), page.exact)
    ways = [{"lr": rate, "turn": turn} for rate, turn in zip(TURNED.values(), turns, strict=True)]
    return page.train_with(page.Muon, ways, 100 * run.times)
