"""A hand-derived backward against central differences: the one place that says how close they have to be."""

import numpy as np
from clearformer.reference.numgrad import numerical_gradients

RELATIVE = 1e-6  # of the largest entry of the gradient
DIRECTIONS = 3  # in which each argument is moved


def relative_error(actual, expected):
    """The largest difference, relative to the largest entry that is expected."""
    assert actual.shape == expected.shape
    assert np.abs(expected).max() > 1e-3, "a gradient of zeros proves nothing"
    return np.abs(actual - expected).max() / np.abs(expected).max()


def assert_backward(function, backward, *arrays):
    """``backward(*arrays, dY)`` gives the gradients of ``sum(dY * function(*arrays))`` by every array.

    Along random directions of each array, which a wrong entry shows in as well as alone: entry by entry every test of
    a block would take thousands of calls. Raises: AssertionError with the number of the argument whose gradient is off.
    """
    rng = np.random.default_rng(17)
    dY = np.array(rng.normal(size=np.shape(function(*arrays))))
    kept = [array.copy() for array in (*arrays, dY)]
    actual = backward(*arrays, dY)
    actual = actual if isinstance(actual, tuple) else (actual,)
    assert [a.shape for a in actual] == [array.shape for array in arrays]
    for i, (a, array) in enumerate(zip(actual, arrays, strict=True)):
        directions = rng.normal(size=(DIRECTIONS, *array.shape))

        def loss_along(steps, i=i, array=array, directions=directions):
            moved = array + np.tensordot(steps, directions, axes=1)
            return (dY * function(*arrays[:i], moved, *arrays[i + 1 :])).sum()

        (expected,) = numerical_gradients(loss_along, np.zeros(DIRECTIONS))
        assert relative_error((directions * a).reshape(DIRECTIONS, -1).sum(axis=1), expected) < RELATIVE, (
            f"gradient {i} of {len(arrays)}"
        )
    for before, after in zip(kept, (*arrays, dY), strict=True):
        np.testing.assert_array_equal(before, after, err_msg="an argument was changed")
