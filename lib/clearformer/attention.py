"""Attention in torch: batch first, ``A[..., n, s]`` is the weight of source s in output n; every row sums to 1."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from clearformer.shapes import shaped


@shaped
def attend(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], Float[Tensor, "*batch N S"]]:
    r"""Scaled dot-product attention, every step visible.

    .. math:: A = \mathrm{softmax}\left(q k^\top / \sqrt{K}\right), \qquad y = A v

    ``mask`` is True where a target may look at a source. A row without any True gives zeros.

    Source: Vaswani et al. 2017, eq. 1; turner-v2, eq. 5, transposed.

    Cost: 2 (K + Kv) N S FLOPs and N S numbers in memory for every head of the batch.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1, dtype=torch.promote_types(scores.dtype, torch.float32))
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # only a row without any True still holds something here
    weights = weights.to(v.dtype)
    return weights @ v, weights


@shaped
def attend_fused(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], None]:
    """The same result from PyTorch's fused kernel, which never stores the N × S weights and so returns None for them.

    Source: as ``attend``.

    Cost: the FLOPs of ``attend``; memory linear in N.
    """
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None


def causal_mask(
    n_targets: int, n_sources: int | None = None, *, device: torch.device | None = None
) -> Bool[Tensor, "N S"]:
    r"""True where a target may look: at itself and at what came before.

    .. math:: \mathrm{mask}_{n,s} = [\, s \le n + S - N \,]

    With more sources than targets the targets are the last ones, as when the earlier tokens lie in a cache.

    Source: turner-v2, section 4.1; COMP 336, "Looking into the Future".

    Raises: ValueError if there are fewer sources than targets, for then the first targets could look at nothing.
    """
    n_sources = n_targets if n_sources is None else n_sources
    if n_sources < n_targets:
        raise ValueError(
            f"causal_mask: n_sources={n_sources} is less than n_targets={n_targets}, expected at least as many: "
            "every target looks at itself. Pass the number of all tokens up to the last target."
        )
    every = torch.ones(n_targets, n_sources, dtype=torch.bool, device=device)
    return every.tril(n_sources - n_targets)
