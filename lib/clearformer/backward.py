"""Attention with the gradient written by hand; both functions equal ``attend`` and autograd through it."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearformer.attention import block_scores, blocks, online_attention, with_causal
from clearformer.shapes import shaped


@shaped
def attend_by_hand(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
    *,
    causal: bool = False,
) -> tuple[Float[Tensor, "*batch N Kv"], None]:
    r"""``attend`` with the backward pass typed out, its N × S matrices written in place.

    .. math:: \partial v = A^\top \partial y, \qquad \partial A = \partial y \, v^\top, \qquad
              \partial C_{n,s} = A_{n,s} \Bigl(\partial A_{n,s} - \sum_{s'} A_{n,s'} \, \partial A_{n,s'}\Bigr), \qquad
              \partial q = \partial C \, k / \sqrt{K}, \qquad \partial k = \partial C^\top q / \sqrt{K}

    The sum over :math:`s'` is :math:`y_n^\top \partial y_n`, which needs no N × S matrix. A mask changes nothing:
    weights that it hides are zero.

    Source: Jiang, backward steps 1 to 3, transposed, with queries and keys in the roles of turner-v2, eq. 5.
    Cost: backward 4 (K + Kv) N S FLOPs; N S numbers kept between forward and backward for every head.
    """
    return _Stored.apply(q, k, v, mask, causal), None


@shaped
def attend_recomputing(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
    *,
    causal: bool = False,
    query_block: int = 256,
    key_block: int = 256,
) -> tuple[Float[Tensor, "*batch N Kv"], None]:
    r"""The same, block by block: the weights are computed again from one number per target, never stored.

    .. math:: A_{n,s} = \exp(C_{n,s} - L_n), \qquad L_n = \log \sum_s \exp(C_{n,s})

    Source: Dao et al. 2022, algorithm 4; the formulas as in ``attend_by_hand``.
    Cost: backward 2 (3 K + 2 Kv) N S FLOPs, half of them with ``causal``; memory linear in N.
    Raises: ValueError for a block size below 1.
    """
    return _Recomputed.apply(q, k, v, mask, causal, (query_block, key_block)), None


class _Stored(torch.autograd.Function):
    """Keeps the weights for the backward pass."""

    @staticmethod
    def forward(ctx, q, k, v, mask, causal):
        seen = with_causal(mask, causal, q, k)
        scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
        if seen is not None:
            scores.masked_fill_(~seen, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(v.dtype)
        if mask is not None:  # causal alone leaves itself to every target
            weights.masked_fill_(~seen.any(-1, keepdim=True), 0.0)
        y = weights @ v
        ctx.save_for_backward(q, k, v, weights, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y):
        q, k, v, weights, y = ctx.saved_tensors
        grad_v = weights.transpose(-2, -1) @ grad_y
        grad_scores = grad_y @ v.transpose(-2, -1)  # dA, and in place dC
        grad_scores.sub_((grad_y * y).sum(-1, keepdim=True)).mul_(weights)
        root = math.sqrt(q.shape[-1])
        return (grad_scores @ k).div_(root), (grad_scores.transpose(-2, -1) @ q).div_(root), grad_v, None, None


class _Recomputed(torch.autograd.Function):
    """Keeps the outputs and the logarithms of the denominators."""

    @staticmethod
    def forward(ctx, q, k, v, mask, causal, sizes):
        y, log_total = online_attention(q, k, v, mask, causal=causal, sizes=sizes)
        ctx.save_for_backward(q, k, v, mask, y, log_total)
        ctx.causal, ctx.sizes = causal, sizes
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y):
        q, k, v, mask, y, log_total = ctx.saved_tensors
        grads = [torch.zeros_like(t, dtype=log_total.dtype) for t in (q, k, v)]  # dtype: sums over blocks in float32
        grad_q, grad_k, grad_v = grads
        inner = (grad_y * y).sum(-1, keepdim=True, dtype=log_total.dtype)
        scale = 1 / math.sqrt(q.shape[-1])
        for rows, column_blocks in blocks(q.shape[-2], k.shape[-2], ctx.sizes, ctx.causal):
            gy = grad_y[..., rows, :]
            for columns in column_blocks:
                scores = block_scores(q, k, mask, rows, columns, causal=ctx.causal)
                weights = scores.sub_(log_total[..., rows, :]).exp_()
                grad_v[..., columns, :] += weights.to(v.dtype).transpose(-2, -1) @ gy
                grad_scores = (gy @ v[..., columns, :].transpose(-2, -1)).to(weights.dtype)
                grad_scores = grad_scores.sub_(inner[..., rows, :]).mul_(weights).mul_(scale).to(q.dtype)
                grad_q[..., rows, :] += grad_scores @ k[..., columns, :]
                grad_k[..., columns, :] += grad_scores.transpose(-2, -1) @ q[..., rows, :]
        return *(grad.to(q.dtype) for grad in grads), None, None, None
