"""Derivatives by central differences: slow, and right for every differentiable function."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

STEP = 1e-6  # near the cube root of float64's precision, where rounding and truncation balance


def numerical_jacobian(
    function: Callable[[Float[ndarray, "..."]], Float[ndarray, "..."]],
    x: Float[ndarray, "..."],
    step: float = STEP,
) -> Float[ndarray, "outputs inputs"]:
    r"""Derivative of every entry of ``function(x)`` by every entry of ``x``, both flattened.

    .. math:: \frac{\partial f_i}{\partial x_j} \approx \frac{f_i(x + \epsilon e_j) - f_i(x - \epsilon e_j)}{2 \epsilon}

    Source: the definition of the derivative; the error falls with the square of the step.
    Cost: two calls of ``function`` for every entry of ``x``.
    """
    columns = []
    for j in range(x.size):
        nudge = np.zeros(x.size)
        nudge[j] = step
        change = nudge.reshape(x.shape)
        columns.append((function(x + change) - function(x - change)).ravel() / (2 * step))
    return np.stack(columns, axis=1)


def numerical_gradients(
    loss: Callable[..., float], *arrays: Float[ndarray, "..."], step: float = STEP
) -> tuple[Float[ndarray, "..."], ...]:
    r"""Gradient of ``loss(*arrays)``, a single number, by each of the arrays, in their shapes.

    .. math:: \frac{\partial F}{\partial x_j} \approx \frac{F(x + \epsilon e_j) - F(x - \epsilon e_j)}{2 \epsilon}

    Source: as ``numerical_jacobian``, for one output.
    Cost: two calls of ``loss`` for every entry of every array.
    """

    def gradient(i):
        def loss_of_one(x):
            return np.asarray(loss(*arrays[:i], x, *arrays[i + 1 :]))

        return numerical_jacobian(loss_of_one, arrays[i], step).reshape(arrays[i].shape)

    return tuple(gradient(i) for i in range(len(arrays)))
