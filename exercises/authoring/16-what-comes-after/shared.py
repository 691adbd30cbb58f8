"""Checks of exercise 16: drafts that are the model, loads that are even, caches in pieces, chunks of any length."""

import numpy as np
from clearcheck.author.cases import shape_slip


def parts_slip(value, *shapes):
    """A sentence when the value is no tuple of arrays of these shapes; () stands for one number."""
    if not isinstance(value, tuple | list) or len(value) != len(shapes):
        return f"The result should be a tuple of {len(shapes)}."
    for place, (part, shape) in enumerate(zip(value, shapes, strict=True)):
        if shape and (slip := shape_slip(part, shape, f"Part {place} of the result")):
            return slip
        if not shape and np.ndim(part):
            return f"Part {place} of the result should be one number."
    return None


def part_right(place, draw, reference, shapes):
    """A check of one part of a result, so that it earns its points whatever the others are."""

    def test(ask, rng):
        for args in draw(rng):
            came = ask(*args)
            if slip := parts_slip(came, *shapes(*args)):
                return slip
            expected = reference(*args)[place]
            if not np.allclose(came[place], expected, rtol=0, atol=1e-9 * max(1.0, float(np.abs(expected).max()))):
                return f"Part {place} of your result, counted from 0, is not right."
        return None

    return test
