"""Closer look at the norm on the output: how its scale at the start decides, and at which depth."""

import torch

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/07-norm-on-the-output.ipynb"
STARTS, STEPS = (0, 1, 2, 3, 4, 5), 50
ONE, SMALL, BEFORE = "output, γ = 1", "output, γ = 0.1", "pre-norm"
SHALLOW, DEEP = "2 blocks", "8 blocks"


@experiment(
    PAGE,
    contenders={
        SMALL: "a norm on what a part gives back, whose scale starts at 0.1",
        ONE: "the same, whose scale starts at 1",
        BEFORE: "a norm on what a part reads",
    },
    cases=(SHALLOW, DEEP),
    budget="50 steps of 16 sequences, Adam at 0.02; a final norm for all",
    measured="loss over the last ten steps, less is better; guessing costs 2.30",
    cells=("setup", "heads-from-chapter-4", "network", "blocks", "model", "race:reversal", "race:measure", "race:race"),
    seeds=STARTS,
)
def forms(page, run):
    """All starts are trained side by side, as on the page."""
    depth, n_steps = int(run.case.split()[0]), STEPS * run.times

    def train():
        return page.race(depth, [run.contender], len(STARTS), n_steps)[run.contender]

    return once(page, run._replace(seed=0), train)[run.seed]


LIKENESS, SPREAD = "likeness of the tokens", "spread at the top"


@experiment(
    PAGE,
    contenders={
        SMALL: "a norm on what a part gives back, whose scale starts at 0.1",
        ONE: "the same, whose scale starts at 1",
        BEFORE: "a norm on what a part reads",
    },
    cases=(f"{LIKENESS}, 6 blocks", f"{LIKENESS}, 24 blocks", f"{SPREAD}, 6 blocks", f"{SPREAD}, 24 blocks"),
    budget="fresh weights; nothing is trained",
    measured="mean cosine of two tokens, 1 where all point the same way, and the spread of the features, from 1 at the "
    "bottom",
    cells=("setup", "heads-from-chapter-4", "network", "blocks", "stream:likeness"),
    times=(1,),
    seeds=STARTS,
)
def streams(page, run):
    asked, depth = run.case.split(", ")
    x = torch.randn(1, 8, 32)
    with torch.no_grad():
        for _ in range(int(depth.split()[0])):
            x = page.EitherBlock(32, 4, 128, **page.FORMS[run.contender])(x)
    return page.likeness(x) if asked == LIKENESS else x.std()


claim(
    forms,
    "With two blocks all three learn equally well. At eight, the norm on the output with $\\gamma = 1$ is far behind, "
    "as the table above let us expect: its tokens are alike from the beginning. It is only slower: in four times the "
    "steps it catches up.",
    about=(ONE, SMALL, BEFORE),
    cell="race-numbers",
    holds=lambda loss: (
        all(max(loss[who, SHALLOW, times]) < 0.2 for who in (ONE, SMALL, BEFORE) for times in (1, 4))
        and min(loss[ONE, DEEP, 1]) > max(loss[BEFORE, DEEP, 1] + loss[SMALL, DEEP, 1])
        and max(loss[ONE, DEEP, 4]) < 0.2
    ),
    note="That it is behind holds for the steps of the page only.",
    verdict="changed",
    before="At eight, the norm on the output with $\\gamma = 1$ is far behind, as the table above let us expect: its "
    "tokens are alike from the beginning.",
)
claim(
    forms,
    "With a small $\\gamma$ it trains from every start, at eight blocks even faster than pre-norm",
    about=(SMALL, BEFORE),
    cell="race-numbers",
    holds=lambda loss: (
        max(loss[SMALL, DEEP, 1] + loss[SMALL, DEEP, 4]) < 0.2
        and all(small < before for small, before in zip(loss[SMALL, DEEP, 1], loss[BEFORE, DEEP, 1], strict=True))
    ),
    note="From each of the six starts. In four times the steps all three are at the end of what there is to learn.",
)
claim(
    streams,
    "With $\\gamma = 1$ every update is as large as a token was at the input, and the stream grows fast. Worse, the "
    "tokens become alike",
    about=(ONE, SMALL, BEFORE),
    cell="stream",
    holds=lambda found: all(
        below(found, who, ONE, case=f"{asked}, {depth} blocks", times=(1,))
        for who in (SMALL, BEFORE)
        for asked in (LIKENESS, SPREAD)
        for depth in (6, 24)
    ),
    note="From each of six starts.",
)
claim(
    streams,
    "With a small $\\gamma$ the stream stays close to the identity, as a residual stack should at the start.",
    about=(SMALL, ONE),
    cell="stream",
    holds=lambda found: (
        max(found[SMALL, f"{SPREAD}, 24 blocks", 1]) < 1.5 < 2.5 < min(found[ONE, f"{SPREAD}, 6 blocks", 1])
    ),
    note="Its tokens are hardly longer at the top than at the bottom.",
)
