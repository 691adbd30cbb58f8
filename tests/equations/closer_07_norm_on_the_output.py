"""Checks of the display equations of a closer look at chapter 7: can the norm stand on the output?"""

import torch
from clearbook.columns import to_torch
from clearformer.reference import blocks
from clearformer.reference.layers import mlp
from torch.nn.functional import layer_norm

from tests.equations.chapter_07 import D, N, heads, norm, parameters
from tests.equations.registry import equation, table


@equation("eq-block-output", "ae90b7f32a")
def block_output(rng):
    X, p = rng.normal(size=(D, N)) + 1, parameters(rng)
    Z = norm(heads(X, p), p.norm_1)
    Y = table(lambda d, n: X[d, n] + Z[d, n], D, N)
    W = norm(mlp(Y, *p.mlp), p.norm_2)
    printed = table(lambda d, n: Y[d, n] + W[d, n], D, N)
    middle = X + by_torch(heads(X, p), p.norm_1)
    return printed, middle + by_torch(mlp(middle, *p.mlp), p.norm_2)


@equation("eq-block-jiang", "c629fa8590")
def block_jiang(rng):
    X, p = rng.normal(size=(D, N)) + 1, parameters(rng)
    Z = norm(heads(X, p), p.norm_1)
    Y = table(lambda d, n: X[d, n] + Z[d, n], D, N)
    W = mlp(Y, *p.mlp)
    return table(lambda d, n: Y[d, n] + W[d, n], D, N), blocks.block_jiang(X, p)


def by_torch(X, scale_and_shift):
    return layer_norm(to_torch(X), (D,), *map(torch.as_tensor, scale_and_shift))[0].numpy().T
