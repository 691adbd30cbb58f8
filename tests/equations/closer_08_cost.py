"""Checks of the display equations of the closer look at what attention costs."""

from functools import cache, partial

import torch
from clearformer.attention import attend as torch_attend
from clearformer.blocks import Block
from clearformer.multihead import MultiHeadAttention
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

VISIBLE = partial(MultiHeadAttention, attend=torch_attend)


@equation("eq-layer-flops", "3bc51b987c")
def layer_flops(rng):
    d, n = [6, 15], [7, 4]
    rnn, lstm = zip(*(recurrent_flops(n[i], d[i]) for i in range(2)), strict=True)
    attention = [attention_flops(n[i], d[i], 3) for i in range(2)]
    return [
        (table(lambda i: 4 * n[i] * d[i] ** 2, 2), rnn),
        (table(lambda i: 16 * n[i] * d[i] ** 2, 2), lstm),
        (table(lambda i: 8 * n[i] * d[i] ** 2 + 4 * n[i] ** 2 * d[i], 2), attention),
    ]


@equation("eq-crossover", "9ed6e20159")
def crossover(rng):
    """The length at which the counted operations are equal, found by trying them all."""
    c, d = [16, 20, 12], [3, 4, 5]
    printed = table(lambda i: (c[i] - 8) / 4 * d[i], 3)
    found = []
    for i in range(3):
        found.append(next(n for n in range(1, 20) if attention_flops(n, d[i], 1) == c[i] * n * d[i] ** 2))
    left = table(lambda i: 8 * found[i] * d[i] ** 2 + 4 * found[i] ** 2 * d[i], 3)
    right = table(lambda i: c[i] * found[i] * d[i] ** 2, 3)
    counted = [attention_flops(found[i], d[i], 1) for i in range(3)]
    return [(printed, found), (left, counted), (right, counted)]


@equation("eq-block-parameters", "2d7353a4fa")
def block_parameters(rng):
    d, heads = [6, 15], [2, 3]
    in_parts = table(lambda i: (4 * d[i] ** 2 + 4 * d[i]) + (8 * d[i] ** 2 + 5 * d[i]) + 4 * d[i], 2)
    in_sum = table(lambda i: 12 * d[i] ** 2 + 13 * d[i], 2)
    counted = [sum(p.numel() for p in Block(d[i], heads[i], 4 * d[i]).parameters()) for i in range(2)]
    return [(in_parts, counted), (in_sum, counted)]


@equation("eq-block-flops", "f0e7c7360f")
def block_flops(rng):
    d, n = [6, 15], [7, 4]
    printed = table(lambda i: 8 * d[i] ** 2 * n[i] + 4 * d[i] * n[i] ** 2 + 16 * d[i] ** 2 * n[i], 2)
    return printed, [counted_block(n[i], d[i]) for i in range(2)]


@cache
def counted_block(n, d):
    return flops(Block(d, 3, 4 * d, attention=VISIBLE), torch.randn(1, n, d))


@cache
def attention_flops(n, d, heads):
    return flops(VISIBLE(d, heads), torch.randn(1, n, d))


@cache
def recurrent_flops(n, d):
    tokens = torch.randn(1, n, d)
    lstm = nn.LSTMCell(d, d)
    return flops(nn.RNN(d, d, batch_first=True), tokens), sum(flops(lstm, token) for token in tokens[0])


def flops(layer, x):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(x)
    return counter.get_total_flops()
