"""Chapter 5, feed-forward: the lamp, and how many units training needs."""

import torch
from torch import nn

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/05-feed-forward.ipynb"
STARTS = 40


class Products(nn.Module):
    """Features of one token and their products by pairs, then one matrix: no hidden unit."""

    def __init__(self, d_model, d_out):
        super().__init__()
        self.out = nn.Linear(d_model + d_model**2, d_out)

    def forward(self, x):
        return self.out(torch.cat([x, (x[..., None] * x[..., None, :]).flatten(-2)], dim=-1))


LAMPS = {
    "feed-forward layer": lambda page: [page.FeedForward(8, 32)],
    "two maps, no bend": lambda page: [nn.Linear(8, 32), nn.Linear(32, 8)],
    "four layers of attention": lambda page: [page.LoneAttention(8) for _ in range(4)],
    "products of features": lambda page: [Products(8, 8)],
}


@experiment(
    PAGE,
    contenders={
        "feed-forward layer": "two maps with a GELU between them, 32 hidden units",
        "two maps, no bend": "the same two maps with nothing between them",
        "four layers of attention": "attention of a token that is alone",
        "products of features": "all products of two features, and one matrix",
    },
    budget="100 steps, Adam at 0.06, all four settings of the switches in each step",
    measured="settings of 4 for which the lamp is right, more is better",
    cells=("setup", "lone-attention", "training", "feed-forward-class"),
)
def lamp(page, run):
    model = nn.Sequential(nn.Linear(2, 8), *LAMPS[run.contender](page), nn.Linear(8, 1))
    page.fit(model, 100 * run.times)
    with torch.no_grad():
        return ((model(page.switches)[..., 0] > 0) == (page.lamp > 0)).sum()


@experiment(
    PAGE,
    contenders={"16 units": "sixteen ReLUs", "4 units": "four", "2 units": "two, which are enough", "1 unit": "one"},
    budget="500 steps, Adam at 0.03; 40 starts for each of the three numbers",
    measured="share of the starts that find the lamp, more is better",
    cells=("setup", "training", "width-experiment"),
)
def widths(page, run):
    n_units, n_steps = int(run.contender.split()[0]), 500 * run.times
    works, _ = once(page, (n_units, n_steps), lambda: page.train_many(n_units, n_starts=STARTS * 3, n_steps=n_steps))
    return works.view(3, STARTS)[run.seed].double().mean()


claim(
    lamp,
    "With the bend every start finds the lamp. Without it none does",
    about=("feed-forward layer", "two maps, no bend"),
    cell="lamp-solved",
    holds=lambda right: all(
        min(right["feed-forward layer", "", times]) == 4 > max(right["two maps, no bend", "", times])
        for times in (1, 4)
    ),
    note="Nothing but a bend is needed: the products of the features with each other do it as well.",
)
claim(
    widths,
    "Two units can do it, and mostly do not.",
    about=("2 units", "16 units"),
    cell="width-result",
    holds=lambda share: all(
        0
        < min(share["2 units", "", times])
        <= max(share["2 units", "", times])
        < 0.5
        < min(share["16 units", "", times])
        for times in (1, 4)
    ),
    note="Four times the steps do not help two units: what is dead stays dead.",
)
claim(
    widths,
    "With sixteen units nearly every start succeeds. Here most of the width helps training; the trained network does "
    "not need it.",
    about=("16 units", "4 units", "2 units"),
    cell="width-result",
    holds=lambda share: all(
        min(share["16 units", "", times]) > 0.9 > max(share["4 units", "", times]) > max(share["2 units", "", times])
        for times in (1, 4)
    ),
    note="Four times the steps change no share: a start finds the lamp in the first 500, or never.",
)
