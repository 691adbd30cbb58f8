"""Attention with the gradient written by hand; both functions equal ``attend`` and autograd through it."""

import math

import torch

from clearformer.attention.blockwise import online_attention, tile_of, tile_scores, tiles
from clearformer.attention.masks import Bias, K, Mask, Q, V, Y, scaled_scores, with_bias, with_causal
from clearformer.shapes import shaped


@shaped
def attend_by_hand(q: Q, k: K, v: V, mask: Mask = None, *, causal: bool = False, bias: Bias = None) -> tuple[Y, None]:
    r"""``attend`` with the backward pass typed out, its N × S matrices written in place.

    .. math:: \partial v = A^\top \partial y, \qquad \partial A = \partial y \, v^\top, \qquad
              \partial C_{n,s} = A_{n,s} \Bigl(\partial A_{n,s} - \sum_{s'} A_{n,s'} \, \partial A_{n,s'}\Bigr), \qquad
              \partial q = \partial C \, k / \sqrt{K}, \qquad \partial k = \partial C^\top q / \sqrt{K}

    The sum over :math:`s'` is :math:`y_n^\top \partial y_n`, which needs no N × S matrix. A mask changes nothing:
    weights that it hides are zero. The gradient of a bias is :math:`\partial C`, summed over what shares an entry.

    Source: Jiang, backward steps 1 to 3, transposed, with queries and keys in the roles of turner-v2, eq. 5.
    Cost: backward 4 (K + Kv) N S FLOPs; N S numbers kept between forward and backward for every head.
    """
    return _StoredWeights.apply(q, k, v, mask, causal, bias)[0], None


@shaped
def attend_recomputing(
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
    r"""FlashAttention forward and backward: tile by tile, the weights computed again from one number per target.

    .. math:: A_{n,s} = \exp(C_{n,s} - L_n), \qquad L_n = \log \sum_s \exp(C_{n,s})

    Source: Dao et al. 2022, algorithm 4; the formulas as in ``attend_by_hand``.
    Cost: backward 2 (3 K + 2 Kv) N S FLOPs, half of them with ``causal``; memory linear in N.
    Raises: ValueError for a block size below 1.
    """
    return _RecomputedWeights.apply(q, k, v, mask, causal, bias, (query_block, key_block))[0], None


def _first_only() -> None:
    """Raises: RuntimeError where the gradient is to have a gradient itself, which would be left out in silence."""
    if torch.is_grad_enabled():
        raise RuntimeError(
            "attend_by_hand, attend_recomputing: create_graph=True, or torch.func, where a gradient can have a "
            "gradient, expected neither. Take attend for it."
        )


class _StoredWeights(torch.autograd.Function):
    """Keeps the weights for the backward pass."""

    @staticmethod
    def forward(q, k, v, mask, causal, bias):
        seen = with_bias(with_causal(mask, causal, q, k), bias)
        scores = scaled_scores(q, k)
        if bias is not None:
            scores.add_(bias)
        if seen is not None:
            scores.masked_fill_(~seen, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(v.dtype)
        if mask is not None or bias is not None:  # causal alone leaves itself to every target
            weights.masked_fill_(~seen.any(-1, keepdim=True), 0.0)
        return (weights @ v).to(v.dtype), weights  # torch.autocast may have changed the dtype

    @staticmethod
    def setup_context(ctx, inputs, output):
        (q, k, v, _, _, bias), (y, weights) = inputs, output
        ctx.mark_non_differentiable(weights)
        ctx.set_materialize_grads(False)  # else zeros, N × S of them, come as the gradient of the weights
        ctx.save_for_backward(q, k, v, weights, y)
        ctx.bias_shape = None if bias is None else bias.shape

    @staticmethod
    def backward(ctx, grad_y, _):
        _first_only()
        if grad_y is None:  # nothing depends on the output
            return (None,) * 6
        q, k, v, weights, y = ctx.saved_tensors
        grad_v = weights.transpose(-2, -1) @ grad_y
        grad_scores = grad_y @ v.transpose(-2, -1)  # dA, and in place dC
        grad_scores.sub_((grad_y * y).sum(-1, keepdim=True)).mul_(weights)
        grad_bias = grad_scores.sum_to_size(ctx.bias_shape) if ctx.needs_input_grad[5] else None
        root = math.sqrt(q.shape[-1])
        grad_q, grad_k = (grad_scores @ k).div_(root), (grad_scores.transpose(-2, -1) @ q).div_(root)
        return grad_q, grad_k, grad_v, None, None, grad_bias


class _RecomputedWeights(torch.autograd.Function):
    """Keeps the outputs and the logarithms of the denominators."""

    @staticmethod
    def forward(q, k, v, mask, causal, bias, sizes):
        return online_attention(q, k, v, mask, causal=causal, bias=bias, sizes=sizes)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (q, k, v, mask, causal, bias, sizes), (y, log_total) = inputs, output
        ctx.mark_non_differentiable(log_total)
        ctx.save_for_backward(q, k, v, mask, bias, y, log_total)
        ctx.causal, ctx.sizes = causal, sizes

    @staticmethod
    def backward(ctx, grad_y, _):
        _first_only()
        q, k, v, mask, bias, y, log_total = ctx.saved_tensors
        wanted = (q, k, v, bias) if ctx.needs_input_grad[5] else (q, k, v)
        grads = [torch.zeros_like(t, dtype=log_total.dtype) for t in wanted]  # sums over tiles in float32
        grad_q, grad_k, grad_v, *grad_bias = grads
        inner = (grad_y * y).sum(-1, keepdim=True, dtype=log_total.dtype)
        root = math.sqrt(q.shape[-1])
        for rows, column_blocks in tiles(q.shape[-2], k.shape[-2], ctx.sizes, ctx.causal):
            gy = grad_y[..., rows, :]
            for columns in column_blocks:
                scores = tile_scores(q, k, mask, rows, columns, causal=ctx.causal, bias=bias)
                weights = scores.sub_(log_total[..., rows, :]).exp_()
                grad_v[..., columns, :] += weights.to(v.dtype).transpose(-2, -1) @ gy
                grad_scores = (gy @ v[..., columns, :].transpose(-2, -1)).to(weights.dtype)
                grad_scores.sub_(inner[..., rows, :]).mul_(weights)
                for part in (tile_of(grad, rows, columns) for grad in grad_bias):
                    part += grad_scores.sum_to_size(part.shape)
                grad_scores = grad_scores.div_(root).to(q.dtype)
                grad_q[..., rows, :] += grad_scores @ k[..., columns, :]
                grad_k[..., columns, :] += grad_scores.transpose(-2, -1) @ q[..., rows, :]
        grad_q, grad_k, grad_v, *grad_bias = (grad.to(q.dtype) for grad in grads)
        return grad_q, grad_k, grad_v, None, None, *(grad_bias or [None]), None
