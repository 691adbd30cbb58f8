"""Checks of exercise 16: drafts that are the model, loads that are even, caches in pieces, chunks of any length."""

import numpy as np
from clearcheck.author.cases import shape_slip
from clearcheck.grading.describe import number


def parts_slip(value, *shapes):
    """A sentence when the value is no tuple of arrays of these shapes; () stands for one number."""
    if not isinstance(value, tuple | list) or len(value) != len(shapes):
        return f"The result should be a tuple of {len(shapes)}."
    for place, (part, shape) in enumerate(zip(value, shapes, strict=True)):
        if shape and (slip := shape_slip(part, shape, f"Part {place} of the result, counted from 0,")):
            return slip
        if not shape and np.ndim(part):
            return f"Part {place} of the result, counted from 0, should be one number."
    return None


def part_right(place, name, draw, reference, shapes):
    """A check of one part of a result, so that it earns its points whatever the others are; `name`: "Your sums are"."""

    def test(ask, rng):
        for args in draw(rng):
            came = ask(*args)
            if slip := parts_slip(came, *shapes(*args)):
                return slip
            part, expected = np.asarray(came[place]), reference(*args)[place]
            off = np.abs(part - expected)
            bad = np.argwhere(~(off <= 1e-9 * max(1.0, float(np.abs(expected).max()))))
            if len(bad):
                at = tuple(bad[0].tolist())
                where = f" at index {list(at)}" if at else ""
                return f"{name} not right: {number(part[at])}{where}, off by {off[at]:.2g}."
        return None

    return test
