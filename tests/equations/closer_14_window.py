"""Checks of the display equations of the closer look at a window and at a cache that rolls."""

from math import exp, inf, log, sqrt

import numpy as np
import torch
from clearbook.columns import to_torch
from clearformer.reference import attention as reference
from clearformer.sinks import SinkAttention

from tests.equations.registry import equation, table

K, V = 3, 4  # width of keys, width of values


@equation("eq-window", "3cc26be9dc")
def window(rng):
    N, W = 9, 4
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, N)), rng.normal(size=(V, N))
    raw = keys.T @ q / sqrt(K)
    c = table(lambda s, n: raw[s, n] if n - W < s and s <= n else -inf, N, N)
    weights = np.exp(c) / np.exp(c).sum(axis=0)
    return weights, reference.attend(q, keys, v, band(N, W).T)[1]


@equation("eq-window-pairs", "a7117b1daa")
def window_pairs(rng):
    N, W = [9, 8, 5], [4, 1, 5]
    middle = table(lambda i: sum(min(n, W[i]) for n in range(1, N[i] + 1)), 3)
    right = table(lambda i: N[i] * W[i] - W[i] * (W[i] - 1) / 2, 3)
    counted = [band(N[i], W[i]).sum() for i in range(3)]
    return [(middle, counted), (right, counted)]


@equation("eq-window-sink", "3f325f8355")
def sink(rng):
    """One target of one head, against the library's module with a sink."""
    S, b = 7, -0.4
    q, keys, v = rng.normal(size=(V, 1)), rng.normal(size=(V, S)), rng.normal(size=(V, S))
    c = (keys.T @ q)[:, 0] / sqrt(V)
    L = log(sum(exp(x) for x in c))
    middle = table(
        lambda i: sum(exp(c[s]) * v[i, s] for s in range(S)) / (exp(b) + sum(exp(c[s]) for s in range(S))), V
    )
    right = table(
        lambda i: (
            1 / (1 + exp(-(L - b))) * (sum(exp(c[s]) * v[i, s] for s in range(S)) / sum(exp(c[s]) for s in range(S)))
        ),
        V,
    )
    layer = SinkAttention(V, 1).double()
    torch.nn.init.constant_(layer.sinks, b)
    y = layer.scored(*(to_torch(x)[:, None] for x in (q, keys, v)), None)[0]
    return [(middle, y.flatten().detach().numpy()), (right, y.flatten().detach().numpy())]


def band(n, w):
    """True where a target (row) sees a source (column): itself and the w - 1 before it."""
    return np.tril(np.ones((n, n), dtype=bool)) & ~np.tril(np.ones((n, n), dtype=bool), -w)
