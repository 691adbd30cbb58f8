"""Checks of exercise 14: dicts of predictions, shapes of results."""

import numpy as np
from clearcheck.author.cases import shape_slip

LIMIT = 1e-8  # of comparisons between two answers of the learner's


def shapes_slip(came, shapes):
    """A sentence when the result is no tuple of arrays of these shapes, else None."""
    if not isinstance(came, tuple | list) or len(came) != len(shapes):
        return f"The result should be a tuple of {len(shapes)} arrays."
    for place, (array, shape) in enumerate(zip(came, shapes, strict=True)):
        if slip := shape_slip(array, shape, f"The array at position {place} of your result"):
            return slip
    return None


def entries_close(reference, draw, *names):
    """A test for `holds`: some entries of a dict, numbers or arrays, each worth its points whatever the others are."""

    def test(ask, rng):
        for arguments in draw(rng):
            found, expected = ask(*arguments), reference(*arguments)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came, right = np.asarray(found[name]), np.asarray(expected[name])
                if came.shape != right.shape or (came.dtype.kind == "b") != (right.dtype.kind == "b"):
                    return f"Your entry {name!r} should be {_kind(right)}."
                if not np.allclose(came, right, rtol=1e-9, atol=0):
                    return f"Your entry {name!r} is {_short(came)}, which is not right."
        return None

    return test


def _kind(array):
    kind = "True or False" if array.dtype.kind == "b" else "a number"
    return f"{kind}, once for each of {len(array)}" if array.ndim else kind


def _short(array):
    return np.array2string(array, precision=5, threshold=24).replace("\n", "")
