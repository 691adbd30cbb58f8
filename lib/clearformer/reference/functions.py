"""Softmax and its derivative, on NumPy arrays."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from clearformer.shapes import shaped


def softmax(scores: Float[ndarray, "..."], axis: int) -> Float[ndarray, "..."]:
    r"""Turn scores into positive weights that sum to 1 along ``axis``.

    .. math:: a_s = \frac{\exp(c_s)}{\sum_{s'} \exp(c_{s'})}

    The largest score is subtracted first: the fraction stays the same and no exponential overflows.
    An entry of minus infinity gets the weight 0.

    Source: turner-v2, the unnumbered equation before eq. 3; COMP 336, "Self-Attention: Summary".

    Raises: ValueError if a whole slice along ``axis`` is minus infinity, or if a score is not a number.
    """
    largest = scores.max(axis=axis, keepdims=True)
    if not np.isfinite(largest).all():
        raise ValueError(
            f"softmax: along axis {axis} the largest score is {largest[~np.isfinite(largest)][0]}, expected a finite "
            "number. Leave at least one entry unmasked and look for NaN or infinity in the scores."
        )
    exponentials = np.exp(scores - largest)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


@shaped
def softmax_jacobian(weights: Float[ndarray, "S"]) -> Float[ndarray, "S S"]:
    r"""Derivative of every weight of a softmax by every score.

    .. math:: \frac{\partial a_s}{\partial c_{s'}} = a_s (\delta_{s s'} - a_{s'}),
              \qquad J = \operatorname{diag}(\mathbf a) - \mathbf a \mathbf a^\top

    All its entries go to 0 when one weight goes to 1: a saturated softmax passes no gradient on.

    Source: jiang, backward step 2.
    """
    return np.diag(weights) - np.outer(weights, weights)
