"""Attention in torch: batch first, ``A[..., n, s]`` is the weight of source s in output n; every row sums to 1."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

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

    Source: Vaswani et al. 2017, eq. 1; turner-v2, eq. 5, transposed; for the bias Shaw et al. 2018, eq. 4 and 5.
    Cost: 2 (K + Kv) N S FLOPs and N S numbers in memory for every head of the batch.
    """
    mask = with_causal(mask, causal, q, k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
    if bias is not None:
        scores = scores + bias
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
    *,
    causal: bool = False,
    bias: Float[Tensor, "*#batch #N #S"] | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], None]:
    """The same result from PyTorch's fused kernel, which never stores the N × S weights and so returns None for them.

    Source: as ``attend``.
    Cost: the FLOPs of ``attend``, half of them with ``causal`` alone; memory linear in N without a mask or a bias.
    """
    if causal and mask is None and bias is None and q.shape[-2] == k.shape[-2]:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True), None
    mask = with_causal(mask, causal, q, k)
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None


@shaped
def attend_blockwise(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
    *,
    causal: bool = False,
    bias: Float[Tensor, "*#batch #N #S"] | None = None,
    query_block: int = 256,
    key_block: int = 256,
) -> tuple[Float[Tensor, "*batch N Kv"], None]:
    r"""The same result block by block, with a softmax that corrects itself when a larger score turns up.

    .. math:: m' = \max(m, \max_s c_s), \qquad l' = e^{m - m'} l + \sum_s e^{c_s - m'}, \qquad
              y' = e^{m - m'} y + \sum_s e^{c_s - m'} v_s

    over the scores :math:`c_s` of one block of sources; after the last one the output is :math:`y / l`.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.
    Cost: the FLOPs of ``attend``, half of them with ``causal``; memory linear in N (autograd through it keeps N S
    numbers after all, ``clearformer.backward.attend_recomputing`` does not).
    Raises: ValueError for a block size below 1.
    """
    return online_attention(q, k, v, mask, causal=causal, bias=bias, sizes=(query_block, key_block))[0], None


def online_attention(q, k, v, mask=None, *, causal=False, bias=None, sizes=(256, 256)):
    """The outputs and, for a hand-written backward, the logarithm of every row's softmax denominator."""
    outputs, denominators = [], []
    dtype = torch.promote_types(q.dtype, torch.float32)
    for rows, column_blocks in blocks(q.shape[-2], k.shape[-2], sizes, causal):
        shape = (*q.shape[:-2], rows.stop - rows.start)
        top = q.new_full((*shape, 1), torch.finfo(dtype).min, dtype=dtype)
        total = q.new_zeros((*shape, 1), dtype=dtype)
        y = q.new_zeros((*shape, v.shape[-1]), dtype=dtype)
        for columns in column_blocks:
            scores = block_scores(q, k, mask, rows, columns, causal=causal, bias=bias)
            higher = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
            weights, shrink = scores.sub_(higher).exp_(), (top - higher).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            y = y * shrink + weights.to(v.dtype) @ v[..., columns, :]
            top = higher
        outputs.append((y / total.masked_fill(total == 0, 1.0)).to(v.dtype))
        denominators.append((top + total.log()).masked_fill(total == 0, math.inf))
    return torch.cat(outputs, -2), torch.cat(denominators, -2)


def block_scores(q, k, mask, rows, columns, *, causal=False, bias=None):
    """The scores of one block in float32 or better, -inf where a target may not look."""
    scores = (q[..., rows, :] / math.sqrt(k.shape[-1])) @ k[..., columns, :].transpose(-2, -1)
    scores = scores.to(torch.promote_types(q.dtype, torch.float32))
    if bias is not None:
        scores = scores + _cut(bias, rows, columns)
    if mask is not None:
        scores.masked_fill_(~_cut(mask, rows, columns), -math.inf)
    shift = rows.start + k.shape[-2] - q.shape[-2] - columns.start  # row i of the block sees columns up to i + shift
    if causal and shift < columns.stop - columns.start - 1:
        ahead = scores.new_ones(scores.shape[-2:], dtype=torch.bool).triu(shift + 1)
        scores.masked_fill_(ahead, -math.inf)
    return scores


def blocks(n_targets: int, n_sources: int, sizes: tuple[int, int], causal: bool) -> list:
    """Pairs (slice of targets, the slices of sources it has to visit); with ``causal`` what lies ahead is left out.

    Raises: ValueError for a block size below 1, or for ``causal`` with fewer sources than targets.
    """
    if min(sizes) < 1:
        raise ValueError(f"attend_blockwise: blocks of {sizes[0]} × {sizes[1]}, expected at least 1 × 1.")
    if causal:
        _enough_sources(n_targets, n_sources)
    cuts = []
    for start in range(0, n_targets, sizes[0]):
        stop = min(start + sizes[0], n_targets)
        end = stop + n_sources - n_targets if causal else n_sources
        cuts.append((slice(start, stop), [slice(s, min(s + sizes[1], end)) for s in range(0, end, sizes[1])]))
    return cuts


def _cut(matrix, rows, columns):
    """A block of a matrix that may have one row for all targets or one column for all sources."""
    matrix = matrix[..., rows, :] if matrix.shape[-2] > 1 else matrix
    return matrix[..., columns] if matrix.shape[-1] > 1 else matrix


def with_causal(mask, causal, q, k):
    """``mask`` and the causal mask together; a single target is the last one and sees everything."""
    if not causal or q.shape[-2] == 1:
        return mask
    seen = causal_mask(q.shape[-2], k.shape[-2], device=q.device)
    return seen if mask is None else seen & mask


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
    _enough_sources(n_targets, n_sources)
    every = torch.ones(n_targets, n_sources, dtype=torch.bool, device=device)
    return every.tril(n_sources - n_targets)


def padding_mask(ids: Int[Tensor, "B S"], padding: int) -> Bool[Tensor, "B 1 1 S"]:
    """True where a source is a token and not ``padding``, the same for every head and target."""
    return (ids != padding)[:, None, None]


def _enough_sources(n_targets, n_sources):
    if n_sources < n_targets:
        raise ValueError(
            f"causal_mask: n_sources={n_sources} is less than n_targets={n_targets}, expected at least as many: "
            "every target looks at itself. Pass the number of all tokens up to the last target."
        )
