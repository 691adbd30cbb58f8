"""Closer look at the late mask: what a model makes of coin flips, and what is left of it when it writes."""

import math

from clearbook.coin_flips import trained_coin

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/08-late-mask.ipynb"
STEPS = 200
BEFORE, AFTER, NONE = "mask before the softmax", "mask after the softmax", "no mask"
AT_ONCE, WRITTEN = "in one pass", "written one by one"


@experiment(
    PAGE,
    contenders={
        BEFORE: "one block that sees the flips before, and a start token",
        AFTER: "the same block, whose weights are set to 0 when the softmax is done",
        NONE: "the same block, which sees all flips",
    },
    cases=(AT_ONCE, WRITTEN),
    budget="200 steps of 32 games of 8 flips",
    measured="nats a flip, on 2,000 fresh games; nobody honest gets below ln 2 = 0.69",
    cells=("setup", "coin-training", "coin-honest:on_fresh_flips"),
)
def coins(page, run):
    found = once(page, run._replace(case=""), lambda: losses(page, run))
    return found[int(run.case == WRITTEN)]


def losses(page, run):
    coin, _ = trained_coin(page.bodies[run.contender], run.seed, n_steps=STEPS * run.times)
    return page.on_fresh_flips(coin)


@experiment(
    PAGE,
    contenders={
        AFTER: "one block, whose weights are set to 0 when the softmax is done",
        NONE: "the same block, which sees all flips",
        BEFORE: "the same block with the mask before the softmax",
    },
    budget="200 steps of 32 games of 8 flips",
    measured="steps until the loss is below half of ln 2; all of them where it never is",
    cells=("setup", "coin-training"),
    seeds=(0, 1, 2, 3, 4, 5),
)
def steps_to_leak(page, run):
    n_steps = STEPS * run.times
    _, found = trained_coin(page.bodies[run.contender], run.seed, n_steps=n_steps)
    return next((step for step, loss in enumerate(found) if loss < math.log(2) / 2), n_steps)


claim(
    coins,
    "The late mask ends almost as low as no mask.",
    about=(BEFORE, AFTER, NONE),
    cell="coin-honest",
    holds=lambda loss: all(
        max(loss[AFTER, AT_ONCE, times]) < max(loss[NONE, AT_ONCE, times]) + 0.02
        and max(loss[AFTER, AT_ONCE, times] + loss[NONE, AT_ONCE, times]) < 0.5 < min(loss[BEFORE, AT_ONCE, times])
        for times in (1, 4)
    ),
    note="From every start, and with four times the steps the two are equal: one number a head is enough.",
)
claim(
    coins,
    "Asked for the flips one by one (last column), both are worse than a guess.",
    about=(BEFORE, AFTER, NONE),
    cell="coin-honest",
    holds=lambda loss: all(
        min(loss[AFTER, WRITTEN, times] + loss[NONE, WRITTEN, times])
        > math.log(2) + 0.1
        > max(loss[BEFORE, WRITTEN, times])
        for times in (1, 4)
    ),
    note="Four times the steps do not help. What they have learned is to read the answer.",
)
claim(
    steps_to_leak,
    "A leak of one number a head is learned, too, usually later.",
    about=(AFTER, NONE, BEFORE),
    cell="coin-figure",
    holds=lambda steps: all(
        sum(late > bare for late, bare in zip(steps[AFTER, "", times], steps[NONE, "", times], strict=True)) == 5
        and max(steps[AFTER, "", times]) < STEPS * times == min(steps[BEFORE, "", times])
        for times in (1, 4)
    ),
    note="Later than without a mask from five of six starts, from one a little earlier.",
    verdict="changed",
    before="A leak of one number a head is learned, too, only later.",
)
