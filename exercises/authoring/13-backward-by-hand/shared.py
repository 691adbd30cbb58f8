"""What the questions of exercise 13 share: a gradient against the loss along one direction."""

import numpy as np

BACKWARD = "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"  # what no answer calls


def close(value, expected, limit=1e-9):
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
                f"Along a random direction of {name} the loss changes by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def softmax(scores):
    """Along the last axis; a row that is -inf throughout becomes zeros."""
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total > 0, total, 1.0)
