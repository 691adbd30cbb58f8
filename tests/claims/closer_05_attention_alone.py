"""Closer look at attention alone: what company, a start token and more layers do for the lamp."""

import torch
from torch import nn

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/05-attention-alone.ipynb"
STEPS = 160
STARTS = 3  # for each of the three numbers
CELLS = ("setup", "yours-from-chapter-3", "attention-stack", "fitting")


@experiment(
    PAGE,
    contenders={
        "two layers of attention": "no feed-forward layer, no norm",
        "attention and feed-forward": "one layer of attention, and one of 32 hidden units",
        "no layer": "an affine map of each token",
    },
    cases=("different tokens", "equal tokens"),
    budget="160 steps on all sixteen sequences, Adam at 0.03",
    measured="share of the lamps that are right, more is better",
    cells=(*CELLS, "company"),
)
def company(page, run):
    layers = {
        "two layers of attention": lambda: [page.SelfAttention(8, 8), page.SelfAttention(8, 8)],
        "attention and feed-forward": lambda: [page.SelfAttention(8, 8), page.FeedForward(8, 32)],
        "no layer": lambda: [],
    }
    model = once(
        page,
        run._replace(case=""),
        lambda: page.fit(page.Stack(*layers[run.contender]()), page.PAIRS, STEPS * run.times),
    )
    chosen = page.equal if run.case == "equal tokens" else ~page.equal
    return page.right(model, page.PAIRS[chosen])


@experiment(
    PAGE,
    contenders={
        "a start token": "one layer of attention, and one learned token to compare with",
        "alone": "four layers of attention, and nothing to compare with",
        "a norm": "no attention: two linear maps with a LayerNorm between them",
    },
    budget="160 steps on the four settings of the switches, Adam at 0.03",
    measured="share of the lamps that are right, more is better",
    cells=CELLS,
)
def one_token_to_compare_with(page, run):
    makers = {
        "a start token": lambda: page.Stack(page.SelfAttention(8, 8), start_token=True),
        "alone": lambda: page.Stack(*(page.SelfAttention(8, 8) for _ in range(4))),
        "a norm": lambda: nn.Sequential(nn.Linear(2, 8), page.LayerNorm(8), nn.Linear(8, 1), nn.Flatten(1)),
    }
    return page.right(page.fit(makers[run.contender](), page.ALONE, STEPS * run.times), page.ALONE)


@experiment(
    PAGE,
    contenders={
        "two layers": "two layers of one head each, their weights learned",
        "one layer": "one of them",
        "no layer": "an affine map of the third token, which holds no switch",
    },
    budget="160 steps on the four settings of the switches, Adam at 0.03; three starts for each of the numbers",
    measured="share of the starts that light the lamp, more is better",
    cells=(*CELLS, "stairs"),
)
def stairs(page, run):
    n_layers = {"two layers": 2, "one layer": 1, "no layer": 0}[run.contender]
    lit = 0
    for start in range(STARTS * run.seed, STARTS * (run.seed + 1)):
        torch.manual_seed(start)
        lit += page.fit_stairs(n_layers, STEPS * run.times)[1] == 1
    return lit / STARTS


claim(
    company,
    "Where the two tokens differ, attention without any feed-forward layer got the lamps right, though each lamp is a "
    "matter of one token alone.",
    about=("two layers of attention", "no layer"),
    cell="company",
    holds=lambda right: all(
        min(right["two layers of attention", "different tokens", times]) == 1
        and max(right["two layers of attention", "equal tokens", times]) <= 0.75
        and max(right["no layer", "different tokens", times]) < 0.9
        for times in (1, 4)
    ),
    note="A feed-forward layer behind one layer of attention gets them all right, where the tokens are equal, too.",
)
claim(
    one_token_to_compare_with,
    "One head, no feed-forward layer, every lamp right. Training finds such weights as well",
    about=("a start token", "alone"),
    cell="start-token",
    holds=lambda right: all(
        min(right["a start token", "", times]) == 1 > max(right["alone", "", times]) for times in (1, 4)
    ),
    note="A LayerNorm between two linear maps finds the lamp from some starts, without any attention.",
)
claim(
    stairs,
    "One layer never lights the lamp, two do from most starts.",
    about=("two layers", "one layer"),
    cell="stairs-result",
    holds=lambda share: all(
        min(share["two layers", "", times]) > 0.5 > max(share["one layer", "", times]) == 0 for times in (1, 4)
    ),
    note="On the page of the chapter the weights are given, and no number of layers does it.",
)
