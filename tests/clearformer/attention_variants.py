"""Every variant of attention and what it is called with: a new one enters VARIANTS, and all tests here try it."""

from functools import partial

import torch
from clearformer import attention
from clearformer.attention import (
    attend,
    attend_blockwise,
    attend_by_hand,
    attend_fused,
    attend_linear,
    attend_recomputing,
    attend_recurrent,
    attend_softcapped,
    causal_mask,
)

B, H, N, S, K, Kv = 2, 3, 5, 7, 4, 6
UNEVEN = {"query_block": 2, "key_block": 3}
VARIANTS = {
    "fused": attend_fused,
    "blockwise": attend_blockwise,
    "blockwise, single": partial(attend_blockwise, query_block=1, key_block=1),
    "blockwise, uneven": partial(attend_blockwise, **UNEVEN),
    "blockwise, exactly one": partial(attend_blockwise, query_block=N, key_block=S),
    "by hand": attend_by_hand,
    "recomputing": attend_recomputing,
    "recomputing, uneven": partial(attend_recomputing, **UNEVEN),
    "softcapped, far below the cap": partial(attend_softcapped, cap=1e6),
}
EXPLICIT = {"attend": attend} | VARIANTS
LINEAR = {"linear": attend_linear, "recurrent": attend_recurrent}
EVERY = [name for name in attention.__all__ if name.startswith("attend")]


def inputs(dtype=torch.float64, device="cpu", requires_grad=False):
    generator = torch.Generator().manual_seed(1)
    shapes = ((B, H, N, K), (B, H, S, K), (B, H, S, Kv))
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [t.to(device, dtype).requires_grad_(requires_grad) for t in tensors]


def masks(device):
    generator = torch.Generator().manual_seed(2)
    blind = torch.ones(N, S, dtype=torch.bool)
    blind[2] = False
    padding = torch.ones(B, 1, 1, S, dtype=torch.bool)
    padding[1, ..., 4:] = False
    found = {
        "none": None,
        "causal": causal_mask(N, S),
        "padding": padding,
        "causal and padding": causal_mask(N, S) & padding,
        "a row that sees nothing": blind,
        "random per head": torch.rand(B, H, N, S, generator=generator) > 0.5,
    }
    return {name: mask if mask is None else mask.to(device) for name, mask in found.items()}


def biases(device, dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    full = torch.randn(B, H, N, S, generator=generator, dtype=torch.float64).to(device, dtype)
    return {"none": None, "one for all": full[0, 0], "per head": full[:1], "a row": full[:, :1, :1], "all": full}


def run(function, *leaves, mask=None, causal=False, bias=None):
    """Outputs, and the gradients by everything that is given."""
    options = {} if bias is None else {"bias": bias}
    y, _ = function(*leaves, mask, causal=causal, **options)
    return [y, *torch.autograd.grad(y.sin().sum(), [*leaves, *options.values()])]
