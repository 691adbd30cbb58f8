"""Closer look at rank collapse: how different the tokens of a fresh stack still are, with and without the sum."""

import torch

from tests.claims.compare import below
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/07-rank-collapse.ipynb"
ALONE, NETWORK, HEAVY = "attention", "+ feed-forward", "+ feed-forward, 3 × weights"
NORMED, ADDED, BOTH = "+ norm, feed-forward", "+ residual", "+ residual, norm"
FRESH = (1,)  # nothing is trained


@experiment(
    PAGE,
    contenders={
        ALONE: "layers of four heads, each in the place of what it read",
        NETWORK: "a feed-forward layer behind each",
        HEAVY: "the same, with three times the weights",
        NORMED: "a feed-forward layer behind each, and a norm in front of both",
        ADDED: "attention alone, and what it gives is added to what it read",
        BOTH: "the same, and a norm in front of attention",
    },
    cases=("4 layers", "12 layers", "48 layers"),
    budget="fresh weights; nothing is trained",
    measured="how far the tokens are from their mean, as a share of their length; 0 where all are equal",
    cells=("setup", "apart", "layers", "stacks"),
    times=FRESH,
    seeds=(0, 1, 2, 3, 4),
)
def differences(page, run):
    layer, usual = page.STACKS[run.contender], torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        x = torch.randn(page.N, page.D)
        for _ in range(int(run.case.split()[0])):
            x = layer(x)
        return page.apart(x)
    finally:
        torch.set_default_dtype(usual)


def sooner(apart, who, than):
    """Whether the tokens of one stack are more alike after four layers than those of another."""
    return below(apart, who, than, case="4 layers", times=FRESH)


claim(
    differences,
    "Three times the weights make tokens and so scores larger, and the softmax sharper: it averages less. The collapse "
    "comes later; but it comes. A norm in front of each part delays it as well. Only with the residual connection is a "
    "difference left after twelve layers, because it carries each token's own vector past the average.",
    about=(ALONE, NETWORK, HEAVY, NORMED, ADDED),
    cell="collapse-numbers",
    holds=lambda apart: (
        all(sooner(apart, who, later) for who in (ALONE, NETWORK) for later in (HEAVY, NORMED))
        and all(
            max(apart[who, "12 layers", 1]) < 1e-3 < 0.01 < min(apart[ADDED, "12 layers", 1])
            for who in (ALONE, NETWORK, HEAVY, NORMED)
        )
    ),
    note="From each of five starts. What the norm keeps is too small for the digits of this table; the page prints it.",
)
claim(
    differences,
    "Alone it only delays the collapse, too: what attention adds grows with the tokens and is nearly the same for all "
    "of them, and after 48 layers next to nothing is left. With a norm in front as well each update keeps its size, "
    "and the difference fades far more slowly.",
    about=(ADDED, BOTH),
    cell="collapse-numbers",
    holds=lambda apart: (
        max(apart[ADDED, "48 layers", 1]) < 1e-4 < 0.05 < min(apart[BOTH, "48 layers", 1])
        and min(apart[ADDED, "12 layers", 1]) > 0.01
    ),
    note="The page looked at twelve layers only. What it said of the residual connection is true there.",
    verdict="changed",
    before="A feed-forward layer does not stop the collapse; the residual connection does.",
)
