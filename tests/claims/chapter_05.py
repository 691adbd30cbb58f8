"""Chapter 5, feed-forward: the lamp, how many units training needs, a product, and the rung of the letters."""

import torch
from clearbook.ladder import Ladder, loss_of_model
from torch import nn

from tests.claims.letters import BUDGET, MEASURED, gain
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
    "feed-forward layer": lambda page: [page.GivenAttention(8), page.FeedForward(8, 32)],
    "two maps alone": lambda page: [page.GivenAttention(8), *page.two_maps()],
    "four layers of attention": lambda page: [page.GivenAttention(8) for _ in range(4)],
    "products of features": lambda page: [page.GivenAttention(8), Products(8, 8)],
}


@experiment(
    PAGE,
    contenders={
        "feed-forward layer": "given weights, then two maps with a GELU between them, 32 hidden units",
        "two maps alone": "given weights, then the same two maps with nothing between them",
        "four layers of attention": "four layers with given weights",
        "products of features": "given weights, then all products of two features, and one matrix",
    },
    budget="100 steps, Adam at 0.06, all four settings of the switches in each step",
    measured="settings of 4 for which the lamp is right, more is better",
    cells=("setup", "given-weights", "training", "feed-forward-class", "lamp-solved"),
)
def lamp(page, run):
    model = nn.Sequential(nn.Linear(2, 8), *LAMPS[run.contender](page), nn.Linear(8, 1))
    page.fit(model, 100 * run.times)
    with torch.no_grad():
        return ((model(page.stairs)[:, 2, 0] > 0) == (page.lamp > 0)).sum()


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


MULTIPLIERS = {
    "gated, F = 16": lambda page: page.GatedFeedForward(2, 16),
    "plain, F = 24": lambda page: page.FeedForward(2, 24),
    "ReLU², F = 24": lambda page: page.SquaredReLU(2, 24),
    "products of features": lambda page: Products(2, 2),
}


@experiment(
    PAGE,
    contenders={
        "gated, F = 16": "SwiGLU of the page, 96 weights",
        "plain, F = 24": "the layer with a GELU, about as many weights",
        "ReLU², F = 24": "the plain layer whose ReLU is squared",
        "products of features": "all products of two features and one matrix",
    },
    cases=("numbers up to 2", "numbers up to 6"),
    budget="500 steps of 256 pairs of numbers up to 2, Adam at 0.02",
    measured="mean error of the product, less is better",
    cells=("setup", "feed-forward-class", "gated-class", "product-experiment"),
)
def products(page, run):
    layer = once(page, run._replace(case=""), lambda: learned(page, run))
    reach = int(run.case.split()[-1])
    x = torch.empty(1000, 2).uniform_(-reach, reach)
    with torch.no_grad():
        return (layer(x)[:, 0] - x[:, 0] * x[:, 1]).abs().mean()


def learned(page, run):
    layer = MULTIPLIERS[run.contender](page)
    page.learn_product(layer, 500 * run.times)
    return layer


claim(
    lamp,
    "With the nonlinearity every start finds the lamp. Without it none does",
    about=("feed-forward layer", "two maps alone"),
    cell="lamp-solved",
    holds=lambda right: all(
        min(right["feed-forward layer", "", times]) == 4 > max(right["two maps alone", "", times]) for times in (1, 4)
    ),
    note="Nothing but a nonlinearity is needed: the products of the features with each other do it as well.",
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
claim(
    lamp,
    "Four layers learn as much as one: nothing.",
    about=("four layers of attention", "feed-forward layer"),
    cell="given-experiment",
    holds=lambda right: all(
        max(right["four layers of attention", "", times]) < 4 == min(right["feed-forward layer", "", times])
        for times in (1, 4)
    ),
    note="Proven on the page: with given weights no depth can get all four right, however long it is trained.",
)
claim(
    products,
    "Beyond, the plain layer continues in straight lines and misses badly. The gate and ReLU² err far less, and which "
    "of the two is ahead depends on the start.",
    about=("gated, F = 16", "plain, F = 24"),
    cell="product-result",
    holds=lambda error: (
        all(
            max(error["gated, F = 16", "numbers up to 6", times] + error["ReLU², F = 24", "numbers up to 6", times])
            < min(error["plain, F = 24", "numbers up to 6", times]) / 3
            for times in (1, 4)
        )
        and min(error["gated, F = 16", "numbers up to 6", 1])
        < max(error["ReLU², F = 24", "numbers up to 6", 1])
        < max(error["gated, F = 16", "numbers up to 6", 1])
    ),
    note="A square does it as well as a gate, and after four times the steps better. One matrix over the products of "
    "the features, with nothing bent, has no error at all.",
    verdict="changed",
    before="Outside, the plain layer continues in straight lines and misses badly; the gated one errs far less.",
)


def heads(page):
    return page.MultiHeadAttention(32, 4)


RUNGS = {
    "and feed-forward": lambda page: Ladder([heads(page), page.FeedForward(32, 128)], None, True),
    "and two maps": lambda page: Ladder(
        [heads(page), nn.Sequential(nn.Linear(32, 128), nn.Linear(128, 32))], None, True
    ),
    "four heads": lambda page: Ladder([heads(page)], None, True),
}


@experiment(
    PAGE,
    contenders={
        "and feed-forward": "four heads, and the feed-forward layer behind them",
        "and two maps": "the same two maps with nothing between them: as many parameters",
        "four heads": "the heads alone",
    },
    budget=BUDGET,
    measured=MEASURED,
    cells=("setup", "yours-from-chapter-4", "feed-forward-class"),
)
def letters(page, run):
    return loss_of_model(lambda: RUNGS[run.contender](page), run.seed, times=run.times)


claim(
    letters,
    "The two maps have as many parameters as the layer, and bring little. What brings the gain is the nonlinearity "
    "between them.",
    about=("and feed-forward", "and two maps", "four heads"),
    cell="letters-so-far",
    holds=lambda loss: all(
        max(loss["and feed-forward", "", times]) < min(loss["and two maps", "", times])
        and gain(loss, "and two maps", "four heads", times) < gain(loss, "and feed-forward", "four heads", times) / 2
        for times in (1, 4)
    ),
    note="After four times the steps the two maps bring nothing at all, and the layer more than before.",
)
