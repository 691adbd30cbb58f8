"""What acts on every token alone: normalisation and the feed-forward network, each with its gradient."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from clearformer.reference.functions import gelu, gelu_backward
from clearformer.shapes import shaped

DN = Float[ndarray, "D N"]
FD, DF = Float[ndarray, "F D"], Float[ndarray, "D F"]
Vector, Hidden = Float[ndarray, "D"], Float[ndarray, "F"]

EPS = 1e-5  # under the root, so that a token of equal numbers is divided by something


def _standardise(caller, X, axis, eps):
    """``X`` with mean 0 and variance 1 along ``axis``, and one over the standard deviation."""
    _check_eps(caller, eps)
    centred = X - X.mean(axis=axis, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=axis, keepdims=True) + eps)
    return centred * inverse, inverse


def _check_eps(caller, eps):
    if not eps > 0:
        raise ValueError(f"{caller}: eps={eps} is not positive: a token of equal numbers gives NaN. Take eps={EPS}.")


def _standardise_backward(X_hat, inverse, dX_hat, axis):
    """Gradient with respect to ``X``: the part that moves the mean and the part that moves the spread are taken out."""
    spread = X_hat * (dX_hat * X_hat).mean(axis=axis, keepdims=True)
    return inverse * (dX_hat - dX_hat.mean(axis=axis, keepdims=True) - spread)


@shaped
def layer_norm(X: DN, gamma: Vector, beta: Vector, eps: float = EPS) -> DN:
    r"""Every token, alone, to mean 0 and variance 1 over its features; then a learned scale and shift.

    .. math:: \bar x_{d,n} = \frac{x_{d,n} - \mathrm{mean}(\mathbf x_n)}{\sqrt{\mathrm{var}(\mathbf x_n) + \epsilon}}
              \, \gamma_d + \beta_d

    Source: turner-v2, the unnumbered equation in section 2.3, to which :math:`\epsilon` is added.
    Raises: ValueError if ``eps`` is not positive.
    """
    X_hat, _ = _standardise("layer_norm", X, 0, eps)
    return gamma[:, None] * X_hat + beta[:, None]


@shaped
def layer_norm_backward(X: DN, gamma: Vector, dY: DN, eps: float = EPS) -> tuple[DN, Vector, Vector]:
    r"""Gradients of ``layer_norm`` with respect to ``X``, ``gamma`` and ``beta``; the value of ``beta`` plays no part.

    .. math:: \frac{\partial F}{\partial \mathbf x} = \frac{1}{\sqrt{\mathrm{var} + \epsilon}} \left(\mathbf g
              - \mathrm{mean}(\mathbf g) - \hat{\mathbf x} \, \mathrm{mean}(\mathbf g \odot \hat{\mathbf x})\right),
              \qquad \mathbf g = \gamma \odot \frac{\partial F}{\partial \mathbf y}

    Source: the chain rule through mean and variance; jiang refers to a book for it.
    Raises: as ``layer_norm``.
    """
    X_hat, inverse = _standardise("layer_norm_backward", X, 0, eps)
    dX = _standardise_backward(X_hat, inverse, gamma[:, None] * dY, 0)
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@shaped
def layer_norm_over_tokens(X: DN, eps: float = EPS) -> DN:
    r"""A mistake, kept for study: every feature is standardised over the sequence, which is not LayerNorm.

    .. math:: \bar x_{d,n} = \frac{x_{d,n} - \mathrm{mean}(\mathbf x_d)}{\sqrt{\mathrm{var}(\mathbf x_d) + \epsilon}}

    The mean runs over n, so that a later token changes every earlier one and a causal model sees the future.

    Source: turner-v1, the unnumbered equation in section 2.3; corrected in turner-v2.
    Raises: ValueError if ``eps`` is not positive.
    """
    return _standardise("layer_norm_over_tokens", X, 1, eps)[0]


@shaped
def layer_norm_over_tokens_backward(X: DN, dY: DN, eps: float = EPS) -> DN:
    """Gradient of ``layer_norm_over_tokens`` for ``X``, as that of ``layer_norm`` with the means over tokens.

    Source: the chain rule through mean and variance.
    Raises: as ``layer_norm_over_tokens``.
    """
    return _standardise_backward(*_standardise("layer_norm_over_tokens_backward", X, 1, eps), dY, 1)


@shaped
def rms_norm(X: DN, gamma: Vector, eps: float = EPS) -> DN:
    r"""Every token divided by its root mean square: LayerNorm without mean and shift.

    .. math:: y_{d,n} = \frac{x_{d,n}}{\sqrt{\frac1D \sum_{d'} x_{d',n}^2 + \epsilon}} \, \gamma_d

    Source: Zhang and Sennrich 2019, eq. 4, to which :math:`\epsilon` is added.
    Raises: ValueError if ``eps`` is not positive.
    """
    _check_eps("rms_norm", eps)
    return gamma[:, None] * X / np.sqrt((X**2).mean(axis=0) + eps)


@shaped
def rms_norm_backward(X: DN, gamma: Vector, dY: DN, eps: float = EPS) -> tuple[DN, Vector]:
    r"""Gradients of ``rms_norm`` with respect to ``X`` and ``gamma``.

    .. math:: \frac{\partial F}{\partial \mathbf x} = \frac{1}{\mathrm{rms}} \left(\mathbf g
              - \hat{\mathbf x} \, \mathrm{mean}(\mathbf g \odot \hat{\mathbf x})\right),
              \qquad \mathbf g = \gamma \odot \frac{\partial F}{\partial \mathbf y}

    Source: the chain rule through the root mean square.
    Raises: as ``rms_norm``.
    """
    _check_eps("rms_norm_backward", eps)
    inverse = 1 / np.sqrt((X**2).mean(axis=0) + eps)
    X_hat, g = X * inverse, gamma[:, None] * dY
    return inverse * (g - X_hat * (g * X_hat).mean(axis=0)), (dY * X_hat).sum(axis=1)


@shaped
def mlp(X: DN, W_1: FD, b_1: Hidden, W_2: DF, b_2: Vector, activation: Callable = gelu) -> DN:
    r"""The same network with one hidden layer for every token.

    .. math:: \mathrm{MLP}(\mathbf x_n) = W_2 \, f(W_1 \mathbf x_n + \mathbf b_1) + \mathbf b_2

    Source: turner-v2, section 2.2; jiang, forward step 4, with f = ReLU and without the shifts.
    Cost: 4 D F N FLOPs.
    """
    return W_2 @ activation(W_1 @ X + b_1[:, None]) + b_2[:, None]


@shaped
def mlp_backward(
    X: DN,
    W_1: FD,
    b_1: Hidden,
    W_2: DF,
    dY: DN,
    activation: Callable = gelu,
    activation_backward: Callable = gelu_backward,
) -> tuple[DN, FD, Hidden, DF, Vector]:
    r"""Gradients of ``mlp`` with respect to ``X``, ``W_1``, ``b_1``, ``W_2`` and ``b_2``, which plays no part.

    .. math:: \frac{\partial F}{\partial W_2} = E \, f(T)^\top, \qquad
              \frac{\partial F}{\partial W_1} = G X^\top, \qquad \frac{\partial F}{\partial X} = W_1^\top G

    with :math:`T = W_1 X + \mathbf b_1`, :math:`E = \partial F / \partial Y` and
    :math:`G = f'(T) \odot W_2^\top E`.

    Source: the chain rule on ``mlp``; jiang refers to a book for it.
    Cost: 8 D F N FLOPs, twice the forward pass, and 2 D F N to compute the hidden layer again.
    """
    T = W_1 @ X + b_1[:, None]
    G = activation_backward(T, W_2.T @ dY)
    return W_1.T @ G, G @ X.T, G.sum(axis=1), dY @ activation(T).T, dY.sum(axis=1)
