"""Checks of the display equations of chapter 6, positions."""

from math import cos, sin, sqrt

import numpy as np
import torch
from clearbook.columns import to_torch
from clearformer.attention import attend
from clearformer.positions import Rotary
from clearformer.positions import sinusoidal as torch_sinusoidal
from clearformer.reference.blocks import BlockParameters
from clearformer.reference.positions import sinusoidal
from clearformer.reference.tokens import embed
from clearformer.reference.transformer import stack

from tests.equations.registry import equation, table

D, H, K, F, N, V, LAST = 8, 2, 4, 9, 5, 11, 60


@equation("eq-stack-equivariance", "d4decf6f52")
def stack_equivariance(rng):
    X, layers = rng.normal(size=(D, N)), [block(rng), block(rng)]
    P = np.eye(N)[:, [2, 0, 3, 1, 4]]
    whole = stack(X, layers)
    reordered = table(lambda d, n: sum(X[d, m] * P[m, n] for m in range(N)), D, N)
    printed = table(lambda d, n: sum(whole[d, m] * P[m, n] for m in range(N)), D, N)
    return printed, stack(reordered, layers)


@equation("eq-position-added", "e3be32510b")
def position_added(rng):
    E, p, w = rng.normal(size=(D, V)), sinusoidal(N, D), rng.integers(V, size=N)
    printed = table(lambda d, n: E[d, w[n]] + p[d, n], D, N)
    embedded = torch.nn.functional.embedding(torch.as_tensor(w), torch.as_tensor(E.T))
    in_torch = embedded + torch_sinusoidal(N, D, dtype=torch.float64)
    return [(printed, embed(E, w) + sinusoidal(N, D)), (printed.T, in_torch)]


@equation("eq-sinusoids", "8eee9b6a6f")
def sinusoids(rng):
    omega = table(lambda i: 10000 ** (-2 * i / D), D // 2)
    sines = table(lambda i, n: sin(omega[i] * n), D // 2, N)
    cosines = table(lambda i, n: cos(omega[i] * n), D // 2, N)
    P, waves = sinusoidal(N, D), torch_sinusoidal(N, D, dtype=torch.float64).T
    return [(sines, P[0::2]), (cosines, P[1::2]), (sines, waves[0::2]), (cosines, waves[1::2])]


@equation("eq-shift-rotation", "963f74056d")
def shift_rotation(rng):
    t, P, omega = 3, sinusoidal(N + 3, D), frequencies(D)
    upper = table(lambda i, n: cos(omega[i] * t) * P[2 * i, n] + sin(omega[i] * t) * P[2 * i + 1, n], D // 2, N)
    lower = table(lambda i, n: -sin(omega[i] * t) * P[2 * i, n] + cos(omega[i] * t) * P[2 * i + 1, n], D // 2, N)
    return [(upper, P[0::2, t:]), (lower, P[1::2, t:])]


@equation("eq-concatenate", "40504963a3")
def concatenate(rng):
    x, p = rng.normal(size=(D, N)), rng.normal(size=(F, N))
    W_1, W_2 = rng.normal(size=(K, D)), rng.normal(size=(K, F))
    printed = table(
        lambda k, n: sum(W_1[k, d] * x[d, n] for d in range(D)) + sum(W_2[k, d] * p[d, n] for d in range(F)), K, N
    )
    linear = torch.nn.Linear(D + F, K, bias=False, dtype=torch.float64)
    linear.weight.data = torch.as_tensor(np.hstack([W_1, W_2]))
    return printed.T, linear(torch.as_tensor(np.vstack([x, p]).T)).detach()


@equation("eq-alibi", "5dbd7ca264")
def alibi(rng):
    """A softmax down the column of each target, which hides no slope and no distance."""
    q, keys, v = rng.normal(size=(3, H, K, N))
    slope = table(lambda h: 2 ** (-8 * (h + 1) / H), H)
    c = table(
        lambda h, s, n: sum(keys[h, k, s] * q[h, k, n] for k in range(K)) / sqrt(K) - slope[h] * abs(n - s), H, N, N
    )
    at = torch.arange(N, dtype=torch.float64)[:, None]
    bias = -torch.tensor([1 / 16, 1 / 256], dtype=torch.float64)[:, None, None] * torch.cdist(at, at)
    rows = (torch.as_tensor(x.swapaxes(1, 2))[None] for x in (q, keys, v))
    return np.exp(c) / np.exp(c).sum(axis=1, keepdims=True), attend(*rows, bias=bias[None])[1][0].mT.numpy()


@equation("eq-rotary", "6fb35185d2")
def rotary(rng):
    """Pair i holds the features i and i + K/2, as in the library."""
    x, start, half, omega = rng.normal(size=(K, N)), 6, K // 2, frequencies(K)
    a, b = x[:half], x[half:]
    upper = table(lambda i, n: cos(omega[i] * (n + 6)) * a[i, n] - sin(omega[i] * (n + 6)) * b[i, n], half, N)
    lower = table(lambda i, n: sin(omega[i] * (n + 6)) * a[i, n] + cos(omega[i] * (n + 6)) * b[i, n], half, N)
    return np.concatenate([upper, lower]), rotate(x, slice(start, start + N))


@equation("eq-rotary-shift", "442917d5fc")
def rotary_shift(rng):
    q, keys, half, omega = rng.normal(size=(K, N)), rng.normal(size=(K, N)), K // 2, frequencies(K)
    at, (qa, qb), (ka, kb) = np.array([3, 4, 9, 17, 30]), np.split(q, 2), np.split(keys, 2)
    printed = table(
        lambda s, n: sum(
            cos(omega[i] * (at[n] - at[s])) * (ka[i, s] * qa[i, n] + kb[i, s] * qb[i, n])
            + sin(omega[i] * (at[n] - at[s])) * (kb[i, s] * qa[i, n] - ka[i, s] * qb[i, n])
            for i in range(half)
        ),
        N,
        N,
    )
    places = torch.as_tensor(at)[None]
    return printed, rotate(keys, places).T @ rotate(q, places)


def frequencies(width):
    return 10000.0 ** (-np.arange(0, width, 2) / width)


def rotate(x, positions):
    rope = Rotary(K, LAST, dtype=torch.float64)
    return rope(to_torch(x)[:, None], positions)[0, 0].numpy().T


def block(rng):
    heads = (*rng.normal(size=(3, H, K, D)), rng.normal(size=(H, D, K)))
    weights = (rng.normal(size=(F, D)), rng.normal(size=F), rng.normal(size=(D, F)), rng.normal(size=D))
    norms = [(rng.normal(size=D), rng.normal(size=D)) for _ in range(2)]
    return BlockParameters(heads, weights, *norms)
