"""Closer look at exponents: what fresh memory does to the one that a stopwatch reads."""

from functools import partial

import torch
from clearbook.costs import seconds_of

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/14-exponent.ipynb"
FRESH, PROVIDED = "fresh memory", "memory provided once"


@experiment(
    PAGE,
    contenders={FRESH: "scores and weights get new memory in each call", PROVIDED: "both have it before"},
    times=(1,),
    budget="explicit attention of one head of width 32 on one thread, 256 to 4,096 tokens, the fastest of some calls",
    measured="exponent of the time of the processor from 256 to 4,096 tokens; 2 by the count of operations",
    cells=("setup", "exponent-by-hand:my_exponent", "memory-given:explicit"),
)
def exponent_of_the_time(page, run):
    lengths, spent = [256, 512, 1024, 2048, 4096], []
    for n in lengths:
        q, k, v, *room = *torch.randn(3, n, 32), *torch.empty(2, n, n)
        spent.append(seconds_of(partial(page.explicit, q, k, v, *(room if run.contender == PROVIDED else ()))))
    return float(page.my_exponent(lengths, spent))


claim(
    exponent_of_the_time,
    "The step is gone, and the exponent is closer to 2.",
    about=(FRESH, PROVIDED),
    cell="memory-given",
    holds=lambda found: max(abs(p - 2) for p in found[PROVIDED, "", 1]) < min(abs(p - 2) for p in found[FRESH, "", 1]),
    note="With fresh memory the exponent lies well above 2, and there is nothing cubic in attention.",
)
