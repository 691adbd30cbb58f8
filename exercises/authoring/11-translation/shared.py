"""Checks of exercise 11: plain loops over sentences, properties of a translator, and searches by brute force."""

import numpy as np
from clearcheck.author.cases import CLOSE


def is_near(value, expected):
    """Equal up to rounding in units of the largest expected entry."""
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    return value.shape == np.shape(expected) and bool(np.allclose(value, expected, rtol=0, atol=CLOSE * scale))


def tuple_slip(value, kinds):
    """A sentence when the result is no tuple with as many parts."""
    if isinstance(value, tuple | list) and len(value) == len(kinds):
        return None
    return f"The result should be a tuple of {len(kinds)} parts: {', '.join(kinds)}."


def padded_ids(rng, B, n_tokens, padding, behind=True):
    """Ids of which one row is whole; the others have padding behind their words, or anywhere."""
    found = rng.integers(20, size=(B, n_tokens))
    found += found >= padding
    for b in range(1, B):
        hidden = np.arange(n_tokens) >= rng.integers(1, n_tokens + 1) if behind else rng.random(n_tokens) < 0.4
        found[b, hidden] = padding
    return found
