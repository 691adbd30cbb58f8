"""Chapter 14, cost: reading beside writing, one text beside many, keys fetched once, sums corrected seldom."""

from collections.abc import Callable
from functools import partial

import torch
from clearbook.costs import seconds_of
from clearformer.blocks import Decoder
from clearformer.cache import KVCache

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/14-cost.ipynb"
M, D, H, N_PAST = 2, 1024, 16, 64
MILLISECONDS = "milliseconds of the processor, less is better; of one machine, and larger where it is busy"


def decoder():
    return Decoder(M, D, H, 4 * D)


def seconds_of_a_step(model, batch, rounds):
    """The fastest of so many steps that write a token for each of ``batch`` texts."""
    cache, new = KVCache(M, batch, H, N_PAST + 1, D // H), torch.randn(batch, 1, D)

    def step():
        for layer in cache.layers:
            layer.length = N_PAST
        return model(new, cache=cache)

    return min(seconds_of(step) for _ in range(rounds))


READ, WRITTEN, TOGETHER = "read", "written alone", "written for 64 texts at a time"


@experiment(
    PAGE,
    contenders={
        READ: "256 tokens of one text in one pass",
        WRITTEN: "one token after the other, with a cache",
        TOGETHER: "a step writes a token for each of 64 texts",
    },
    budget="two blocks of width 1,024 on one thread, the fastest of some twenty calls",
    measured=f"for each token, {MILLISECONDS}",
)
def a_token(page, run):
    model = once(page, run.seed, decoder)
    if run.contender == READ:
        x = torch.randn(1, 256, D)
        return 1000 * min(seconds_of(partial(model, x)) for _ in range(run.times)) / 256
    batch = 64 if run.contender == TOGETHER else 1
    return 1000 * seconds_of_a_step(model, batch, run.times) / batch


claim(
    a_token,
    "The same weights, the same operations, and yet writing is many times slower.",
    about=(READ, WRITTEN),
    cell="read-and-write",
    holds=lambda spent: all(
        3 * max(spent[READ, "", times]) < min(spent[WRITTEN, "", times]) for times in a_token.times
    ),
    note="By a factor of five and more on the core of the stored run.",
)
claim(
    a_token,
    "With 64 texts at a time each token costs our core several times less, although its matrices are compute-bound "
    "after a few texts.",
    about=(WRITTEN, TOGETHER),
    cell="decode-rates",
    holds=lambda spent: all(
        2 * max(spent[TOGETHER, "", times]) < min(spent[WRITTEN, "", times]) for times in a_token.times
    ),
    note="How many times less depends on the ridge of the processor.",
)

EIGHT, ONE = "eight groups", "one group"
COPIED, GIVEN = "one group, copied for each head", "one group, copied into memory that is there"


@experiment(
    PAGE,
    contenders={
        EIGHT: "each head has keys of its own",
        ONE: "eight heads as rows of one product with the keys that they share",
        COPIED: "the keys are repeated for each head, in fresh memory",
        GIVEN: "the keys are repeated for each head, in memory that was provided once",
    },
    budget="one target, eight heads of width 32 and 32,768 tokens on one thread, the fastest of some calls",
    measured=MILLISECONDS,
    cells=("setup", "setup-book", "grouped-step", "grouped-steps-timed:copied_step"),
)
def grouped_steps(page, run):
    q, (k, v) = torch.randn(1, 8, 1, 32), torch.randn(2, 1, 8, 32_768, 32)
    if run.contender != EIGHT:
        k, v = k[:, :1].contiguous(), v[:, :1].contiguous()
    step: Callable = partial(page.my_grouped_step, q, k, v)
    if run.contender == COPIED:
        step = partial(page.copied_step, q, k, v)
    if run.contender == GIVEN:
        room = torch.empty(2, 1, 8, 32_768, 32)

        def into_the_room():
            return page.attend(q, room[0].copy_(k), room[1].copy_(v))[0]

        step = into_the_room
    return 1000 * min(seconds_of(step) for _ in range(run.times))


claim(
    grouped_steps,
    "Without copies one group makes the step faster than eight. With copies it is slower than with eight, even where "
    "the memory for them is there: the keys are fetched, written once for each head, and fetched again.",
    about=(EIGHT, ONE, GIVEN, COPIED),
    cell="grouped-steps-timed",
    holds=lambda spent: (
        below(spent, ONE, EIGHT, GIVEN, COPIED) and below(spent, EIGHT, GIVEN, COPIED) and below(spent, GIVEN, COPIED)
    ),
    note="Fresh memory is the larger part of what copies cost on a processor.",
)

ALWAYS, SELDOM = "at every new maximum", "beyond a slack of 8 bits"
SPREADS = {"spread 1": 1, "spread 2": 2, "spread 4": 4}


@experiment(
    PAGE,
    contenders={ALWAYS: "the first three versions of FlashAttention", SELDOM: "the fourth"},
    cases=tuple(SPREADS),
    budget="2,048 targets and sources, tiles of 128, and then four times as many sources",
    measured="per cent of the groups of 32 targets that are corrected at a tile after the first, less is better",
    cells=("setup", "pieces", "raised", "flash-forward", "seldom-raised", "corrections"),
)
def corrections(page, run):
    torch.manual_seed(run.seed)
    q, k, v = SPREADS[run.case] * torch.randn(2048, 64), *torch.randn(2, 2048 * run.times, 64)
    way = page.raised if run.contender == ALWAYS else page.seldom_raised
    _, of_groups = page.corrected_share(way, q, k, v)[0]
    return 100 * of_groups


claim(
    corrections,
    "Without slack few targets need it at a tile, and yet most groups of 32 do. With slack hardly any group does while "
    "the scores are spread by 1 or 2, and at a spread of 4 less than half as many do as without.",
    about=(ALWAYS, SELDOM),
    cell="corrections-table",
    holds=lambda share: all(
        min(share[ALWAYS, case, times]) > 50
        and max(share[SELDOM, case, times]) < (1 if case != "spread 4" else min(share[ALWAYS, case, times]) / 2)
        for case in SPREADS
        for times in corrections.times
    ),
    note="Random queries and keys; of the targets alone 6 to 17 per cent are corrected without slack.",
)
