"""A hand-derived backward against central differences: the one place that says how close they have to be."""

import numpy as np
from clearformer.reference.numgrad import numerical_gradients

RELATIVE = 1e-6  # of the largest entry of the gradient


def relative_error(actual, expected):
    """The largest difference, relative to the largest entry that is expected."""
    assert actual.shape == expected.shape
    assert np.abs(expected).max() > 1e-3, "a gradient of zeros proves nothing"
    return np.abs(actual - expected).max() / np.abs(expected).max()


def assert_backward(function, backward, *arrays):
    """``backward(*arrays, dY)`` gives the gradients of ``sum(dY * function(*arrays))`` by every array.

    Raises: AssertionError with the number of the argument whose gradient is off.
    """
    dY = np.random.default_rng(17).normal(size=function(*arrays).shape)
    kept = [array.copy() for array in (*arrays, dY)]
    actual = backward(*arrays, dY)
    actual = actual if isinstance(actual, tuple) else (actual,)
    expected = numerical_gradients(lambda *inputs: (dY * function(*inputs)).sum(), *arrays)
    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
        assert relative_error(a, e) < RELATIVE, f"gradient {i} of {len(arrays)}"
    for before, after in zip(kept, (*arrays, dY), strict=True):
        np.testing.assert_array_equal(before, after, err_msg="an argument was changed")
