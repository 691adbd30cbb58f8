"""Checks of exercise 14: shapes of results, and what is held while blocks go by."""

import numpy as np
from clearcheck.author.cases import close, shape_slip

LIMIT = 1e-8  # of comparisons between two answers of the learner's
MOST_HELD = 24_000  # numbers at once; all keys would be 32,768 of them, all scores 65,536, a block's scores 1,024


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
        Q = rng.normal(size=(8, 16))
        blocks = [tuple(rng.normal(size=(2, 8, 64))) for _ in range(64)]
        found, _ = ask(Q, blocks, last), ask(Q, blocks, last)  # what is done once in a process is no part of the second
        held, expected = min(call.held for call in ask.calls) // 8, right(Q, blocks, last)
        if slip := shapes_slip(found, [np.shape(each) for each in expected]):
            return slip
        if not all(map(close, found, expected)):
            return "With 64 blocks of 64 sources each, your result is not that of attention over all of them."
        if held >= MOST_HELD:
            return (
                f"With 64 blocks of 64 sources your function held {held:,} numbers at its worst moment. All keys are "
                "32,768 numbers and all scores 65,536: forget a block, and its scores, before you read the next one."
            )
        return None

    return told
