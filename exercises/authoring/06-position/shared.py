"""Checks of exercise 06: positions that start late, have gaps and come unsorted, since 0, 1, 2, … hides most slips."""

from itertools import combinations

import numpy as np

LENGTHS = (4, 5, 7, 9, 11, 13)


WIDTHS = (6, 8, 10, 14, 18, 22)  # even, for pairs of features


LONGEST = 10_000.0


def draw(rng, *kinds):
    """One size of each kind, of which no one divides another."""
    while True:
        sizes = [int(rng.choice(kind)) for kind in kinds]
        if all(max(pair) % min(pair) for pair in combinations(sizes, 2)):
            return sizes


def draw_positions(rng, how_many, low=3, high=60):
    """Positions in order, with gaps, not from 0."""
    return np.sort(rng.choice(np.arange(low, high), how_many, replace=False))


def rotate(x, positions):
    if x.shape[-1] % 2:
        raise ValueError(
            f"rotate: x has the width {x.shape[-1]}, an even one is expected: features are turned in pairs."
        )
    half = x.shape[-1] // 2
    angles = np.multiply.outer(positions, LONGEST ** (-2 * np.arange(half) / x.shape[-1]))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)
