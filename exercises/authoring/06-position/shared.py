"""Checks of exercise 06: positions that start late, have gaps and come unsorted, since 0, 1, 2, … hides most slips."""

from itertools import combinations

import numpy as np
import torch

LENGTHS = (4, 5, 7, 9, 11, 13)


WIDTHS = (6, 8, 10, 14, 18, 22)  # even, for pairs of features


BASE = 10_000.0


def draw(rng, *kinds):
    """One size of each kind, of which no one divides another."""
    while True:
        sizes = [int(rng.choice(kind)) for kind in kinds]
        if all(max(pair) % min(pair) for pair in combinations(sizes, 2)):
            return sizes


def draw_positions(rng, how_many, low=3, high=60):
    """Positions in order, with gaps, not from 0."""
    return np.sort(rng.choice(np.arange(low, high), how_many, replace=False))


def rotate(x, positions, base=BASE):
    """The chapter's, with angles in double precision, so that rounding is counted once."""
    if x.shape[-1] % 2:
        raise ValueError(
            f"rotate: x has the width {x.shape[-1]}, an even one is expected: features are turned in pairs."
        )
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = positions[:, None] * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
