"""Scaled dot-product attention twice: every step visible, and by PyTorch's fused kernel."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from clearformer.attention.masks import Bias, K, Mask, Q, V, Y, scaled_scores, with_bias, with_causal
from clearformer.shapes import shaped


@shaped
def attend(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
    *,
    causal: bool = False,
    bias: Float[Tensor, "*#batch #N #S"] | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], Float[Tensor, "*batch N S"]]:
    r"""Scaled dot-product attention, every step visible.

    .. math:: A = \mathrm{softmax}\left(q k^\top / \sqrt{K} + \mathrm{bias}\right), \qquad y = A v

    ``mask`` is True where a target may look; ``causal`` adds ``causal_mask`` to it. A row without any True gives zeros.
    Products of float16, which could overflow, are computed in float32.

    Source: Vaswani et al. 2017, eq. 1; turner-v2, eq. 5, transposed; for the bias Shaw et al. 2018, eq. 4 and 5.
    Cost: 2 (K + Kv) N S FLOPs and N S numbers in memory for every head of the batch.
    """
    mask = with_bias(with_causal(mask, causal, q, k), bias)
    scores = scaled_scores(q, k)
    if bias is not None:
        scores = scores + bias
    return average_values(scores, v, mask)


def average_values(scores: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Outputs and weights of an attention with these scores, by a softmax over what ``mask`` shows of the sources."""
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1, dtype=torch.promote_types(scores.dtype, torch.float32))
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # only a row without any True still holds something here
    weights = weights.to(v.dtype)
    return weights @ v, weights


@shaped
def attend_fused(
    q: Q, k: K, v: V, mask: Mask = None, *, causal: bool = False, bias: Bias = None, scale: float | None = None
) -> tuple[Y, None]:
    """The same result from PyTorch's fused kernel, which never stores the N × S weights and so returns None for them.

    With ``scale`` products of queries and keys are multiplied by it in place of 1 / √K. Source: as ``attend``.
    Cost: the FLOPs of ``attend``, half of them with ``causal`` alone; memory linear in N without a mask or a bias.
    """
    if causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale), None
    mask = with_causal(mask, causal, q, k)
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale), None
