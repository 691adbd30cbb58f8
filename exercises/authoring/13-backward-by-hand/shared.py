"""Checks of exercise 13: sizes that all differ, weights from flat to certain, masks that hide everything once."""

import numpy as np
from clearcheck.author.cases import CLOSE

SIZES = (3, 4, 5, 7, 11, 13)  # no one divides another


def draw_sizes(rng, how_many):
    return [int(size) for size in rng.choice(SIZES, how_many, replace=False)]


def close(value, expected, limit=CLOSE):
    return bool(np.allclose(value, expected, rtol=0, atol=limit * max(1.0, np.abs(expected).max())))


def slope(loss, arrays, place, direction):
    """How fast the loss rises along a direction of one array, by two central differences."""

    def rise(step):
        moved = [array + step * direction if i == place else array for i, array in enumerate(arrays)]
        return loss(*moved)

    near, far = ((rise(step) - rise(-step)) / (2 * step) for step in (1e-3, 2e-3))
    return (4 * near - far) / 3


def disagreement(loss, names, arrays, gradients, rng):
    """A sentence for the first gradient that does not say what the loss does, else None."""
    for place, name in enumerate(names):
        direction = rng.normal(size=arrays[place].shape)
        measured, claimed = slope(loss, arrays, place, direction), (gradients[place] * direction).sum()
        if abs(measured - claimed) > 1e-6 * max(1.0, abs(measured)):
            return (
                f"Along a random direction of {name} the loss rises by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def draw_head(rng, n_targets=None, n_sources=None, size=1.0):
    K, Kv, N, S = draw_sizes(rng, 4)
    N, S = n_targets or N, n_sources or S
    Q, keys = (np.sqrt(size) * rng.normal(size=(K, n)) for n in (N, S))
    return Q, keys, rng.normal(size=(Kv, S)), rng.normal(size=(Kv, N))
