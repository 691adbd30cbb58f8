"""Softmax, activations and the loss, each with its derivative, on NumPy arrays.

A function ``f_backward`` takes the gradient of a loss F for the result of ``f`` and returns those for its arguments.
"""

import math

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from clearformer.reference.tokens import one_hot
from clearformer.shapes import shaped

VN = Float[ndarray, "V N"]
GELU_CUBIC = 0.044715  # makes the tanh form fit the exact one best (Hendrycks and Gimpel 2016)


def softmax(scores: Float[ndarray, "..."], axis: int) -> Float[ndarray, "..."]:
    r"""Turn scores into positive weights that sum to 1 along ``axis``.

    .. math:: a_s = \frac{\exp(c_s)}{\sum_{s'} \exp(c_{s'})}

    The largest score is subtracted first: the fraction stays the same and no exponential overflows.
    An entry of minus infinity gets the weight 0.

    Source: turner-v2, the unnumbered equation before eq. 3; COMP 336, "Self-Attention: Summary".
    Raises: ValueError if a whole slice along ``axis`` is minus infinity, or if a score is not a number.
    """
    exponentials = np.exp(scores - _largest("softmax", scores, axis))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def _largest(caller, scores, axis):
    """The largest score along ``axis``, which has to be finite."""
    largest = scores.max(axis=axis, keepdims=True)
    if not np.isfinite(largest).all():
        raise ValueError(
            f"{caller}: along axis {axis} the largest score is {largest[~np.isfinite(largest)][0]}, expected a finite "
            "number. Leave at least one entry unmasked and look for NaN or infinity in the scores."
        )
    return largest


@shaped
def softmax_jacobian(weights: Float[ndarray, "S"]) -> Float[ndarray, "S S"]:
    r"""Derivative of every weight of a softmax by every score.

    .. math:: \frac{\partial a_s}{\partial c_{s'}} = a_s (\delta_{s s'} - a_{s'}),
              \qquad J = \operatorname{diag}(\mathbf a) - \mathbf a \mathbf a^\top

    All its entries go to 0 when one weight goes to 1: a saturated softmax passes no gradient on.

    Source: jiang, backward step 2.
    """
    return np.diag(weights) - np.outer(weights, weights)


@shaped
def softmax_backward(A: Float[ndarray, "*shape"], dA: Float[ndarray, "*shape"], axis: int) -> Float[ndarray, "*shape"]:
    r"""Gradient with respect to the scores, from the weights and their gradient, without building a Jacobian.

    .. math:: \frac{\partial F}{\partial \mathbf c} = \mathbf a \odot \frac{\partial F}{\partial \mathbf a}
              - \left(\mathbf a^\top \frac{\partial F}{\partial \mathbf a}\right) \mathbf a

    A weight of 0 gets the gradient 0, so that scores masked with minus infinity need no further care.

    Source: jiang, backward step 2, there written :math:`\mathcal A \otimes [\partial F / \partial \mathbf a_t]`.
    Cost: 4 operations for every weight, against S² for every column with the Jacobian.
    """
    return A * (dA - (A * dA).sum(axis=axis, keepdims=True))


@shaped
def relu(X: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""Keep what is positive.

    .. math:: \mathrm{ReLU}(x) = \max(x, 0)

    Source: jiang, forward step 4.
    """
    return np.maximum(X, 0.0)


@shaped
def relu_backward(X: Float[ndarray, "*shape"], dY: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""Gradient of ``relu`` with respect to ``X``; at the kink it is taken to be 0.

    .. math:: \frac{\partial F}{\partial x} = [\, x > 0 \,] \, \frac{\partial F}{\partial y}

    Source: the derivative of jiang, forward step 4.
    """
    return dY * (X > 0)


def _normal_distribution(X):
    """The probability that a standard normal number is below each entry of ``X``."""
    return (1 + np.vectorize(math.erf, otypes=[float])(X / math.sqrt(2))) / 2


@shaped
def gelu(X: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""A smooth ReLU: every number times the probability that a standard normal number is below it.

    .. math:: \mathrm{GELU}(x) = x \, \Phi(x), \qquad \Phi(x) = \tfrac12 (1 + \operatorname{erf}(x / \sqrt 2))

    Source: Hendrycks and Gimpel 2016, section 2. GPT-3 has it where jiang prints ReLU.
    """
    return X * _normal_distribution(X)


@shaped
def gelu_backward(X: Float[ndarray, "*shape"], dY: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""Gradient of ``gelu`` with respect to ``X``.

    .. math:: \frac{\partial F}{\partial x} = \left(\Phi(x) + x \, \frac{e^{-x^2/2}}{\sqrt{2\pi}}\right)
              \frac{\partial F}{\partial y}

    Source: the product rule, with the normal density as the derivative of :math:`\Phi`.
    """
    return dY * (_normal_distribution(X) + X * np.exp(-(X**2) / 2) / math.sqrt(2 * math.pi))


@shaped
def gelu_tanh(X: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""The approximation of ``gelu`` that GPT-2 was trained with; it is off by less than 0.001.

    .. math:: \tfrac12 x \left(1 + \tanh u\right), \qquad u = \sqrt{2/\pi} \, (x + 0.044715 \, x^3)

    Source: Hendrycks and Gimpel 2016, section 2.
    """
    return X / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + GELU_CUBIC * X**3)))


@shaped
def gelu_tanh_backward(X: Float[ndarray, "*shape"], dY: Float[ndarray, "*shape"]) -> Float[ndarray, "*shape"]:
    r"""Gradient of ``gelu_tanh`` with respect to ``X``.

    .. math:: \frac{\partial F}{\partial x} = \tfrac12 \left(1 + \tanh u + x \, (1 - \tanh^2 u) \,
              \frac{\mathrm d u}{\mathrm d x}\right) \frac{\partial F}{\partial y}

    Source: the product rule on ``gelu_tanh``.
    """
    tanh = np.tanh(math.sqrt(2 / math.pi) * (X + GELU_CUBIC * X**3))
    du = math.sqrt(2 / math.pi) * (1 + 3 * GELU_CUBIC * X**2)
    return dY / 2 * (1 + tanh + X * (1 - tanh**2) * du)


@shaped
def cross_entropy(logits: VN, ids: Int[ndarray, "N"]) -> float:
    r"""Mean surprise, in nats, at the tokens that came; the logarithm is taken of the whole softmax at once.

    .. math:: F = -\frac1N \sum_{n=1}^N \log p_{w_n, n}
              = \frac1N \sum_{n=1}^N \left(\log \sum_{w} e^{\ell_{w, n}} - \ell_{w_n, n}\right)

    Source: the negative logarithm of the probability in turner-v2, section 4.1, averaged over the sequence.
    Raises: ValueError for an id outside the vocabulary, or for a column of logits whose largest is not finite.
    """
    shifted = logits - _largest("cross_entropy", logits, axis=0)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(axis=0))
    return float(-log_probabilities[one_hot(ids, len(logits)) == 1].mean())


@shaped
def cross_entropy_backward(logits: VN, ids: Int[ndarray, "N"], dF: float = 1.0) -> VN:
    r"""Gradient of ``cross_entropy`` with respect to the logits: what was predicted minus what came.

    .. math:: \frac{\partial F}{\partial \ell_{w, n}} = \frac1N \left(p_{w, n} - [\, w = w_n \,]\right)

    Source: the derivative of the right-hand form of ``cross_entropy``.
    Raises: as ``cross_entropy``.
    """
    return dF * (softmax(logits, axis=0) - one_hot(ids, len(logits))) / len(ids)
