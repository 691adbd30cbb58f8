"""Chapter 7, residuals and normalisation: what fresh stacks make of tokens and of a gradient."""

import math
from statistics import median

import torch

from tests.claims.chapter_07 import ADDED, BLOCKS, PAGE, PARTS, PLAIN, STARTS
from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

FRESH, BUDGET = (1,), "fresh weights; nothing is trained"
GRADIENT, THREE, TWELVE = "gradient at the bottom", "tokens after 3 blocks", "tokens after 12 blocks"
BEFORE, AFTER = "norm before each part", "norm after each sum"
DRAWN, SCALED, BARE = "as drawn", "scaled", "no norm"


@experiment(
    PAGE,
    contenders={
        ADDED: "twelve times four heads and a feed-forward layer, with the sum",
        PLAIN: "the same 24 parts without the sum",
    },
    cases=(GRADIENT, THREE, TWELVE),
    budget=BUDGET,
    measured="what is left of a gradient that is 1 at the top, and how far the tokens are from their mean, as a share "
    "of their length",
    cells=(*PARTS, "journey-function"),
    times=FRESH,
    seeds=STARTS,
)
def journeys(page, run):
    down, apart = once(page, run._replace(case=""), lambda: page.journey(run.contender == ADDED, run.seed))
    return {GRADIENT: down[0], THREE: apart[3], TWELVE: apart[12]}[run.case]


@experiment(
    PAGE,
    contenders={
        BEFORE: "24 random matrices in x + part(x), and a norm in front of each",
        AFTER: "the same, and a norm on each sum",
    },
    cases=("4", "16", "64", "128"),
    budget="25 fresh stacks; nothing is trained",
    measured="what is left at the bottom of a gradient that is 1 at the top, the median of the stacks, by the width "
    "of the tokens",
    cells=("setup", "stream-parts"),
    times=FRESH,
)
def widths(page, run):
    place = "before" if run.contender == BEFORE else "after"
    return median(page.through(page.random_stack(int(run.case)), True, place)[1] for _ in range(25))


@experiment(
    PAGE,
    contenders={
        DRAWN: "pre-norm blocks as PyTorch draws them",
        SCALED: "the same, with the last weights of each part scaled by the depth",
        BARE: "the blocks as they are drawn, without their norms",
    },
    cases=("6 blocks", "24 blocks", "48 blocks"),
    budget=BUDGET,
    measured="spread of the features at the top, from 1 at the bottom",
    cells=(*BLOCKS, "no-norm-block"),
    times=FRESH,
)
def spreads(page, run):
    depth, kind = int(run.case.split()[0]), page.NoNormBlock if run.contender == BARE else page.Block
    with torch.no_grad():
        x = torch.randn(1, 8, 32)
        for _ in range(depth):
            block = kind(32, 4, 128)
            for layer in (block.attention.out, block.feed_forward.down):
                for weight in layer.parameters():
                    weight *= 1 / math.sqrt(2 * depth) if run.contender == SCALED else 1
            x = block(x)
        return x.std()


claim(
    journeys,
    "Attention averages, and without the sum the tokens of a fresh stack are soon all the same (**rank collapse**)",
    about=(ADDED, PLAIN),
    cell="journey-figure",
    holds=lambda left: all(
        max(left[PLAIN, case, 1]) < 1e-3 < 0.1 < min(left[ADDED, case, 1]) for case in (THREE, TWELVE)
    ),
    note="From each of five starts, after three blocks as after twelve.",
)
claim(
    journeys,
    "On the left, a straight line on a logarithmic axis means that every block takes away the same *factor*, and what "
    "24 parts let through is multiplied.",
    about=(ADDED, PLAIN),
    cell="journey-figure",
    holds=lambda left: max(left[PLAIN, GRADIENT, 1]) < 1e-12 < 1 < min(left[ADDED, GRADIENT, 1]),
    note="Rounded to two places what is left without the sum is 0; with the sum the gradient even grows.",
)
claim(
    widths,
    "So in a fresh stack as wide as a model's, post-norm costs hardly any gradient",
    about=(BEFORE, AFTER),
    cell="stream-widths",
    holds=lambda left: (
        all(min(left[AFTER, width, 1]) > 0.7 for width in ("64", "128"))
        and max(left[AFTER, "4", 1]) < 0.1 < min(left[BEFORE, "4", 1])
    ),
    note="At width 16 a third to a half of it is lost, and with a norm before each part the gradient grows instead.",
)
claim(
    spreads,
    "As drawn, the spread grows with the depth, though far slower than "
    "[without norms](#identity-plus-a-bit-the-residual-connection): behind a norm every update has the same size. "
    "Scaled, it stays where it was.",
    about=(DRAWN, SCALED, BARE),
    cell="initialisation",
    holds=lambda spread: (
        min(spread[DRAWN, "48 blocks", 1]) > max(spread[DRAWN, "6 blocks", 1] + spread[SCALED, "48 blocks", 1])
        and below(spread, DRAWN, BARE, by=5, case="48 blocks", times=FRESH)
        and all(max(spread[SCALED, case, 1]) < 1.5 for case in spreads.cases)
    ),
    note="With six blocks the norms make no difference yet.",
)
