"""Checks of exercise 10: images that are not square, more than one channel, and as many hidden patches as it comes."""

import numpy as np
from clearcheck.author.cases import CLOSE, shape_slip


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit * max(1.0, float(np.abs(expected).max()))))


def pair_slip(value, first, second):
    """A sentence when the value is no pair of arrays of these shapes; None for a shape means a number."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return "The result should be a pair."
    for part, shape in zip(value, (first, second), strict=True):
        if shape is not None and (slip := shape_slip(part, shape)):
            return slip.replace("The result", "A part of the result")
    return None
