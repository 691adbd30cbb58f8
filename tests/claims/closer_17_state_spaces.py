"""Closer look at state spaces: a gate that reads the token against the best convolution."""

import numpy as np

from tests.claims.registry import claim, experiment

GATE = "a gate that reads the flag"
WITH_PRODUCT = "best convolution of u, g and g u"
WITHOUT = "best convolution of u and g"


@experiment(
    "chapters/closer/17-state-spaces.ipynb",
    contenders={
        GATE: "h = (1 − g) h + g u, nothing learned",
        WITH_PRODUCT: "least squares over 24 tokens, with the product of both as a third input",
        WITHOUT: "least squares over 24 tokens",
    },
    budget="2,000 texts of 24 tokens to learn from, and 1,000 others that are measured",
    measured="share of the variance of the wanted number that is left, less is better",
    cells=("selective:my_hold",),
)
def hold(page, run):
    generator, n_learned = np.random.default_rng(run.seed), 2000 * run.times
    u = generator.normal(size=(n_learned + 1000, 24))
    g = generator.random(u.shape) < 0.3
    held = np.array([page.my_hold(*row) for row in zip(u, g.astype(float), strict=True)])
    wanted = u[np.arange(len(u)), 23 - np.argmax(g[:, ::-1], axis=1)] * g.any(axis=1)
    if run.contender == GATE:
        errors = held[:, -1] - wanted
    else:
        inputs = (u, g, g * u) if run.contender == WITH_PRODUCT else (u, g)
        past = np.hstack([*inputs, np.ones((len(u), 1))])
        errors = past @ np.linalg.lstsq(past[:n_learned], wanted[:n_learned], rcond=None)[0] - wanted
    return (errors[n_learned:] ** 2).mean() / wanted[n_learned:].var()


claim(
    hold,
    "So it gives recent ones more weight. The gate is exact.",
    about=(GATE, WITH_PRODUCT, WITHOUT),
    cell="best-convolution",
    holds=lambda left: all(
        max(left[GATE, "", times]) < 1e-12 < 0.3 < min(left[WITH_PRODUCT, "", times])
        and max(left[WITH_PRODUCT, "", times]) + 0.2 < min(left[WITHOUT, "", times])
        for times in (1, 4)
    ),
    note="Four times as many texts leave the convolutions where they are: what they lack is not data.",
)
