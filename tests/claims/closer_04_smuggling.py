"""Closer look at smuggling: two answers through one head, with the rule and without, near the training data and far."""

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/04-smuggling.ipynb"
STEPS = 200
WARMTH = {"as in training": 1.0, "ten times as warm": 10.0}


@experiment(
    PAGE,
    contenders={
        "2 heads, names only": "two heads that choose by the names of the days",
        "1 head, names only": "one head that chooses by the names of the days",
        "2 heads, everything": "two heads that may choose by the temperature as well",
        "1 head, everything": "one head that may choose by the temperature as well",
    },
    cases=tuple(WARMTH),
    budget="200 steps of 64 weeks, Adam at 0.05",
    measured="share of the answers that is explained, more is better",
    cells=("setup", "week-layer", "week-train", "week-explained:explained"),
)
def weeks(page, run):
    """The page trains three layers side by side, each from numbers of its own: they are the three seeds."""
    n_heads, _, rule = run.contender.partition(", ")
    seen = page.NAMES if rule == "names only" else page.EVERYTHING
    layers = once(
        page,
        (run.contender, run.times),
        lambda: page.train_week(int(n_heads.split()[0]), seen, page.EVERYTHING, STEPS * run.times),
    )
    return page.explained(layers, WARMTH[run.case])[run.seed]


ONE, TWO = "1 head, names only", "2 heads, names only"
ONE_FREE, TWO_FREE = "1 head, everything", "2 heads, everything"
NEAR, FAR = WARMTH

claim(
    weeks,
    "With the rule every run comes out as predicted, and two heads divide the neighbours between them. Without it, "
    "single heads get far beyond one half.",
    about=(ONE_FREE, ONE, TWO),
    cell="week-explained",
    holds=lambda share: all(
        max(share[ONE, NEAR, times]) < 0.53 < 0.8 < min(share[ONE_FREE, NEAR, times])
        and max(share[ONE_FREE, NEAR, times]) < 0.95 < min(share[TWO, NEAR, times])
        for times in (1, 4)
    ),
    note="Four times the steps bring a single head hardly further: near nine tenths, and never to all.",
)
claim(
    weeks,
    "A single head beats one half near the size of the temperatures it was trained on, and fails far beyond it. Heads "
    "that look by name do as well at every size.",
    about=(ONE_FREE, ONE, TWO),
    cell="scales",
    holds=lambda share: all(
        max(share[ONE_FREE, FAR, times]) < 0.1 < 0.45 < min(share[ONE, FAR, times])
        and max(share[ONE, FAR, times]) < 0.53 < 0.95 < min(share[TWO, FAR, times])
        for times in (1, 4)
    ),
    note="With four times the steps it fails by less, and is still worse than no answer at all.",
)
claim(
    weeks,
    "Two heads that were allowed to see everything do well on weeks like those in training, and two of the three runs "
    "fall apart on larger numbers.",
    about=(TWO_FREE, TWO),
    cell="ten-times-as-warm",
    holds=lambda share: all(
        min(share[TWO_FREE, NEAR, times]) > 0.97
        and sorted(share[TWO_FREE, FAR, times])[1] < 0.6 < 0.9 < min(share[TWO, FAR, times])
        for times in (1, 4)
    ),
    note="After four times the steps the same two runs are still at about one half.",
)
