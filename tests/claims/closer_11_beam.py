"""The closer look at beam search: what more beams do to a translator that is not sure."""

import torch

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/11-beam.ipynb"
STEPS = 80
RIGHT, TOKENS = "right", "tokens"
BEAMS = {"1 beam": 1, "4 beams": 4, "16 beams": 16}
SIZES = {"n_layers": 1, "d_model": 64, "n_heads": 4, "d_ff": 256}


def trained(page, times, seed):
    torch.manual_seed(seed)
    return page.trained(page.Transformer(len(page.WORDS), len(page.WORDS), **SIZES), STEPS * times)


@experiment(
    PAGE,
    contenders={name: "a search in the same translator" for name in BEAMS},
    cases=tuple(f"{what}, α = {alpha}" for alpha in (0, 1) for what in (RIGHT, TOKENS)),
    budget="80 steps of 48 of 7,000 pairs, 100 new numbers",
    measured="of 100 new numbers: how many are right, and how many tokens one has on average",
    cells=("setup", "own-transformer", "beam-step", "beam-search", "numbers", "train", "beams-compared"),
)
def more_beams(page, run):
    model = once(page, (run.times, run.seed), lambda: trained(page, run.times, run.seed))
    what, alpha = run.case.split(", α = ")

    def search():
        return page.searched(model, page.WORDS, BEAMS[run.contender], float(alpha))

    return once(page, run._replace(case=alpha), search)[what == TOKENS]


claim(
    more_beams,
    "Without a length penalty more beams write *shorter* texts",
    about=("1 beam", "16 beams"),
    cell="beams-compared",
    holds=lambda numbers: all(
        sixteen < one
        for one, sixteen in zip(
            numbers["1 beam", "tokens, α = 0", 1], numbers["16 beams", "tokens, α = 0", 1], strict=True
        )
    ),
    note="From each start, while the translator is not sure. After four times the steps it is.",
)
