"""Checks of exercise 09: tables of probabilities that forgive no slip of an index, sure models, ties, whole texts."""

import numpy as np

SIZES = (4, 5, 7, 9, 11, 13)  # no one divides another


def draw_sizes(rng, how_many, among=SIZES):
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def pair_slip(came):
    """A sentence when the result is no pair whose first entry is a number, else None."""
    if isinstance(came, tuple | list) and len(came) == 2 and np.ndim(came[0]) == 0:
        return None
    return "A pair is expected."
