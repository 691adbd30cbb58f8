"""Attention whose scores are bounded, so that no score grows without end in training."""

import math

import torch

from clearformer.attention.dot_product import average_values
from clearformer.attention.masks import Bias, K, Mask, Q, V, Weights, Y, scaled_scores, with_bias, with_causal
from clearformer.checks import check_real
from clearformer.shapes import shaped


@shaped
def attend_softcapped(
    q: Q,
    k: K,
    v: V,
    mask: Mask = None,
    *,
    causal: bool = False,
    bias: Bias = None,
    cap: float = 50.0,
    scale: float | None = None,
) -> tuple[Y, Weights]:
    r"""``attend`` with scores that stay between ``-cap`` and ``cap``; small ones hardly change.

    .. math:: A = \mathrm{softmax}\left(c \tanh\frac{q k^\top / \sqrt{K}}{c} + \mathrm{bias}\right), \qquad y = A v

    with ``cap`` for :math:`c`, and ``scale``, if given, for :math:`1 / \sqrt{K}`. Mask and bias act after it, so that a
    hidden source stays hidden.

    Source: Gemma Team 2024 (Gemma 2), section 2, "Logit soft-capping", with their 50 for attention; Bello et al. 2016.
    Cost: that of ``attend``, and one tanh for each of the N S scores.
    Raises: TypeError or ValueError for a ``cap`` that is no number above 0, or infinite.
    """
    cap = check_real("attend_softcapped", "cap", cap, _is_cap, "above 0, and finite")
    mask = with_bias(with_causal(mask, causal, q, k), bias)
    scores = scaled_scores(q, k) if scale is None else scaled_scores(q * (scale * math.sqrt(q.shape[-1])), k)
    scores = cap * torch.tanh(scores / cap)
    if bias is not None:
        scores = scores + bias
    return average_values(scores, v, mask)


def _is_cap(cap: float) -> bool:
    return 0 < cap < math.inf
