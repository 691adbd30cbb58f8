"""Checks of the display equations of chapter 12, pretrained models."""

import numpy as np
import torch
from clearbook.slips import pairs_as_neighbours
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.pretrained.tables import STACKED
from torch.nn.functional import linear

from tests.equations.registry import equation, table

D, E, N, WIDTH = 5, 7, 4, 8  # WIDTH is that of a head with rotary positions


@equation("eq-conv1d", "7624dcfa57")
def conv1d(rng):
    from transformers.pytorch_utils import Conv1D  # takes seconds

    x, W, b = rng.normal(size=(N, D)), rng.normal(size=(D, E)), rng.normal(size=E)
    layer = Conv1D(E, D).double()
    with torch.no_grad():
        layer.weight.copy_(torch.as_tensor(W))
        layer.bias.copy_(torch.as_tensor(b))
        found = layer(torch.as_tensor(x))
    return table(lambda n, e: sum(x[n, d] * W[d, e] for d in range(D)) + b[e], N, E), found


@equation("eq-stacked", "74960e825b")
def stacked(rng):
    x, parts = rng.normal(size=(N, D)), torch.as_tensor(rng.normal(size=(3, D, D)))
    W = STACKED.load(list(parts), None).numpy()
    q, k, v = (linear(torch.as_tensor(x), part) for part in parts)
    return [
        (table(lambda n, e: sum(x[n, d] * W[e, d] for d in range(D)), N, D), q),
        (table(lambda n, e: sum(x[n, d] * W[D + e, d] for d in range(D)), N, D), k),
        (table(lambda n, e: sum(x[n, d] * W[2 * D + e, d] for d in range(D)), N, D), v),
    ]


@equation("eq-rotary-rows", "4e39fcb797")
def rotary_rows(rng):
    W_pairs = rng.normal(size=(WIDTH, D))
    W_halves = W_pairs[pairs_as_neighbours(torch.arange(WIDTH), 1).argsort().numpy()]  # back from the order of pairs
    first = table(lambda i, d: W_pairs[2 * i, d], WIDTH // 2, D)
    second = table(lambda i, d: W_pairs[2 * i + 1, d], WIDTH // 2, D)
    left = table(lambda i, d: W_halves[i, d], WIDTH // 2, D)
    right = table(lambda i, d: W_halves[WIDTH // 2 + i, d], WIDTH // 2, D)
    return [(first, W_halves[: WIDTH // 2]), (second, W_halves[WIDTH // 2 :]), (left, first), (right, second)]


@equation("eq-mean-pooling", "8d3ec19ab0")
def mean_pooling(rng):
    """The mean of the outputs of a sentence without its padding, as the search takes it before it normalises."""
    y, m = rng.normal(size=(N, D)), np.array([1.0, 0, 1, 1])
    printed = table(lambda d: sum(m[n] * y[n, d] for n in range(N)) / sum(m[n] for n in range(N)), D)
    return printed, y[m > 0].mean(axis=0)


@equation("eq-tied-gradient", "732d4b988f")
def tied_gradient(rng):
    sizes, ids = (E, N, 6, 2, 1), torch.as_tensor(rng.integers(E, size=(2, N + 1)))
    tied, two = (GPT(GPTConfig(*sizes, tied=tied)).double() for tied in (True, False))
    two.load_state_dict(tied.state_dict())
    for model in (tied, two):
        next_token_loss(model, ids[:, :-1], ids[:, 1:]).backward()
    reading, writing = two.tokens.weight.grad.numpy(), two.head.weight.grad.numpy()
    return table(lambda w, d: reading[w, d] + writing[w, d], E, 6), tied.tokens.weight.grad.numpy()
