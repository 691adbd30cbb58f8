"""FlashAttention in the open: attention by tiles of the score matrix, with an online softmax, linear in memory."""

import math

import torch

from clearformer.attention.masks import Bias, K, Mask, Q, V, Y, enough_sources, scaled_scores
from clearformer.shapes import shaped


@shaped
def attend_blockwise(
    q: Q,
    k: K,
    v: V,
    mask: Mask = None,
    *,
    causal: bool = False,
    bias: Bias = None,
    query_block: int = 256,
    key_block: int = 256,
) -> tuple[Y, None]:
    r"""FlashAttention's forward pass: ``attend`` tile by tile, with a softmax that corrects itself (online softmax).

    .. math:: m' = \max(m, \max_s c_s), \qquad l' = e^{m - m'} l + \sum_s e^{c_s - m'}, \qquad
              y' = e^{m - m'} y + \sum_s e^{c_s - m'} v_s

    over the scores :math:`c_s` of one block of sources; after the last one the output is :math:`y / l`.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1.
    Cost: the FLOPs of ``attend``, half of them with ``causal``; memory linear in N (autograd through it keeps N S
    numbers after all, ``attend_recomputing`` does not). ``torch.export`` fixes the length, for the loop is Python's.
    Raises: ValueError for a block size below 1.
    """
    return online_attention(q, k, v, mask, causal=causal, bias=bias, sizes=(query_block, key_block))[0], None


def online_attention(q, k, v, mask=None, *, causal=False, bias=None, sizes=(256, 256)):
    """By online softmax the outputs and, for a hand-written backward, the logarithm of every row's denominator."""
    outputs, denominators = [], []
    dtype = torch.promote_types(q.dtype, torch.float32)
    for rows, column_blocks in tiles(q.shape[-2], k.shape[-2], sizes, causal):
        shape = (*q.shape[:-2], rows.stop - rows.start)
        top = q.new_full((*shape, 1), torch.finfo(dtype).min, dtype=dtype)
        total = q.new_zeros((*shape, 1), dtype=dtype)
        y = q.new_zeros((*shape, v.shape[-1]), dtype=dtype)
        for columns in column_blocks:
            scores = tile_scores(q, k, mask, rows, columns, causal=causal, bias=bias)
            higher = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
            weights, shrink = scores.sub_(higher).exp_(), (top - higher).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            y = y * shrink + weights.to(v.dtype) @ v[..., columns, :]
            top = higher
        outputs.append((y / total.masked_fill(total == 0, 1.0)).to(v.dtype))
        denominators.append((top + total.log()).masked_fill(total == 0, math.inf))
    return torch.cat(outputs, -2), torch.cat(denominators, -2)


def tile_scores(q, k, mask, rows, columns, *, causal=False, bias=None):
    """The scores of one tile in float32 or better, -inf where a target may not look."""
    scores = scaled_scores(q[..., rows, :], k[..., columns, :])
    scores = scores.to(torch.promote_types(q.dtype, torch.float32))
    if bias is not None:
        scores = scores + tile_of(bias, rows, columns)
    if mask is not None:
        scores.masked_fill_(~tile_of(mask, rows, columns), -math.inf)
    shift = rows.start + k.shape[-2] - q.shape[-2] - columns.start  # row i of the tile sees columns up to i + shift
    if causal and shift < columns.stop - columns.start - 1:
        ahead = scores.new_ones(scores.shape[-2:], dtype=torch.bool).triu(shift + 1)
        scores.masked_fill_(ahead, -math.inf)
    return scores


def tiles(n_targets: int, n_sources: int, sizes: tuple[int, int], causal: bool) -> list:
    """Pairs (slice of targets, the slices of sources it has to visit); with ``causal`` what lies ahead is left out.

    Raises: ValueError for a block size below 1, or for ``causal`` with fewer sources than targets.
    """
    if min(sizes) < 1:
        raise ValueError(f"attend_blockwise: blocks of {sizes[0]} × {sizes[1]}, expected at least 1 × 1.")
    if causal:
        enough_sources("attend_blockwise", n_targets, n_sources)
    pairs = []
    for start in range(0, n_targets, sizes[0]):
        stop = min(start + sizes[0], n_targets)
        end = stop + n_sources - n_targets if causal else n_sources
        pairs.append((slice(start, stop), [slice(s, min(s + sizes[1], end)) for s in range(0, end, sizes[1])]))
    return pairs


def tile_of(matrix, rows, columns):
    """A tile, as a view, of a matrix that may have one row for all targets or one column for all sources."""
    matrix = matrix[..., rows, :] if matrix.shape[-2] > 1 else matrix
    return matrix[..., columns] if matrix.shape[-1] > 1 else matrix
