"""Checks of exercise 14: shapes of results, and what is held while blocks go by."""

import numpy as np
from clearcheck.author.cases import close, shape_slip

LIMIT = 1e-8  # of comparisons between two answers of the learner's
BLOCKS, SOURCES = 64, 128
WIDTH, TARGETS = 16, 4  # so that m, l and O of every block are 4,608 numbers, far fewer than all keys
MOST_HELD = 18_000  # numbers at once; all keys are 131,072 of them; one target's scores and their exponentials 16,384


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if slip := shape_slip(array, shape, f"The array at position {place} of your result"):
            return slip
    return None


def blocks_forgotten(right, last):
    """A check that fewer numbers are held at once than all keys, all values or all scores would be.

    `last` is the third argument, after queries and blocks. There is room for m, l and O of every block.
    """

    def told(ask, rng):
        Q = rng.normal(size=(WIDTH, TARGETS))
        blocks = [tuple(rng.normal(size=(2, WIDTH, SOURCES))) for _ in range(BLOCKS)]
        found, _ = ask(Q, blocks, last), ask(Q, blocks, last)  # what is done once in a process is no part of the second
        held, expected = min(call.held for call in ask.calls) // 8, right(Q, blocks, last)
        if slip := shapes_slip(found, [np.shape(each) for each in expected]):
            return slip
        if not all(map(close, found, expected)):
            return f"With {BLOCKS} blocks of {SOURCES} sources, your result is not that of attention over all of them."
        if held >= MOST_HELD:
            return (
                f"With {BLOCKS} blocks of {SOURCES} sources your function held {held:,} numbers at its worst moment. "
                f"All keys are {WIDTH * BLOCKS * SOURCES:,} numbers, all scores of one target {BLOCKS * SOURCES:,}: "
                "forget a block, and its scores, before you read the next one."
            )
        return None

    return told
