"""Checks of the display equations of chapter 14, cost and long sequences."""

from functools import cache, partial
from math import exp, inf, log, sqrt

import numpy as np
import torch
from clearbook.columns import to_torch
from clearformer.attention import attend, attend_blockwise
from clearformer.attention.blockwise import online_attention
from clearformer.blocks import Decoder
from clearformer.cache import KVCache
from clearformer.multihead import MultiHeadAttention
from clearformer.reference import attention as reference
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

K, S, V = 3, 11, 4  # width of keys, sources, width of values


@equation("eq-exponent", "8350745046")
def exponent(rng):
    N, T = rng.uniform(1, 9, size=(2, 7))
    mean_n, mean_t = (table(lambda _, x=x: sum(log(x[j]) for j in range(7)) / 7, 1)[0] for x in (N, T))
    n, t = table(lambda i: log(N[i]) - mean_n, 7), table(lambda i: log(T[i]) - mean_t, 7)
    printed = table(lambda _: sum(n[i] * t[i] for i in range(7)) / sum(n[i] ** 2 for i in range(7)), 1)
    library = np.log([N, T]) - np.log([N, T]).mean(axis=1, keepdims=True)
    return [(n, library[0]), (t, library[1]), (printed, np.polyfit(np.log(N), np.log(T), 1)[:1])]


@equation("eq-local-exponent", "a68d036b18")
def local_exponent(rng):
    """For the counted work of a layer, against the derivative by autograd."""
    a, b = np.linalg.solve([[5, 25], [7, 49]], [layer_flops(5), layer_flops(7)])
    N = [4, 9, 31]
    middle = table(lambda i: (a * N[i] + 2 * b * N[i] ** 2) / (a * N[i] + b * N[i] ** 2), 3)
    right = table(lambda i: 1 + b * N[i] ** 2 / (a * N[i] + b * N[i] ** 2), 3)
    x = torch.tensor(N, dtype=torch.float64).log().requires_grad_()
    (slopes,) = torch.autograd.grad((a * x.exp() + b * (2 * x).exp()).log().sum(), x)
    return [(middle, slopes), (right, slopes)]


@equation("eq-safe-softmax", "f8e3c8442d")
def safe_softmax(rng):
    q, keys, v = inputs(rng)
    c = scores(q, keys)
    m = max(c)
    printed = table(lambda i: sum(exp(c[s] - m) * v[i, s] for s in range(S)) / sum(exp(c[s] - m) for s in range(S)), V)
    return [(printed, reference.attend(q, keys, v)[0][:, 0]), (printed, in_torch(q, keys, v, attend_blockwise))]


@equation("eq-partial", "9c2d40956d")
def partial_results(rng):
    q, keys, v = inputs(rng)
    c, block = scores(q, keys), range(2, 7)
    m = table(lambda _: max(c[s] for s in block), 1)[0]
    sums = table(lambda _: sum(exp(c[s] - m) for s in block), 1)[0]
    o = table(lambda i: sum(exp(c[s] - m) * v[i, s] for s in block), V)
    y, total = summary(q, keys[:, 2:7], v[:, 2:7])
    library_m = max(c[2:7])
    return [
        (np.array([m]), [library_m]),
        (np.array([sums]), [exp(total - library_m)]),
        (o, y * exp(total - library_m)),
    ]


@equation("eq-merge", "998e142097")
def merge(rng):
    """Two blocks merged, against the library on both together; once the first has the larger score, once the second."""
    pieces, wholes = [], []
    for sign in (1, -1):
        q, keys, v = inputs(rng)
        keys[:, 4] = 5 * sign * q[:, 0]
        c = scores(q, keys)
        pieces.append((*three(c[:5], v[:, :5]), *three(c[5:], v[:, 5:])))
        y, total = summary(q, keys, v)
        wholes.append((max(c), exp(total - max(c)), y * exp(total - max(c))))
    m_s, l_s, o_s, m_t, l_t, o_t = zip(*pieces, strict=True)
    m = table(lambda j: max(m_s[j], m_t[j]), 2)
    sums = table(lambda j: exp(m_s[j] - m[j]) * l_s[j] + exp(m_t[j] - m[j]) * l_t[j], 2)
    o = table(lambda j, i: exp(m_s[j] - m[j]) * o_s[j][i] + exp(m_t[j] - m[j]) * o_t[j][i], 2, V)
    return list(zip((m, sums, o), zip(*wholes, strict=True), strict=True))


@equation("eq-log-denominator", "0259d655b8")
def log_denominator(rng):
    q, keys, v = inputs(rng)
    c = scores(q, keys)
    m, sums, _ = three(c, v)
    total = summary(q, keys, v)[1]
    middle = table(lambda _: m + log(sums), 1)
    right = table(lambda _: log(sum(exp(c[s]) for s in range(S))), 1)
    return [(middle, [total]), (right, [total])]


@equation("eq-merge-outputs", "4d56473771")
def merge_outputs(rng):
    q, keys, v = inputs(rng)
    parts = [slice(0, 2), slice(2, 7), slice(7, S)]
    y, L = zip(*(summary(q, keys[:, part], v[:, part]) for part in parts), strict=True)
    printed = table(lambda i: sum(y[j][i] * exp(L[j]) / sum(exp(L[r]) for r in range(3)) for j in range(3)), V)
    return printed, reference.attend(q, keys, v)[0][:, 0]


@equation("eq-linear-intensity", "95b700574d")
def linear_intensity(rng):
    """FLOPs that PyTorch counts, and bytes of the tensors that a product reads and writes."""
    n, d, b = [1, 5, 12], [6, 7, 4], [4, 8, 4]
    middle = table(lambda i: 2 * n[i] * d[i] ** 2 / (b[i] * (d[i] ** 2 + 2 * n[i] * d[i])), 3)
    right = table(lambda i: 2 * n[i] / (b[i] * (1 + 2 * n[i] / d[i])), 3)
    measured = []
    for i in range(3):
        layer, dtype = torch.nn.Linear(d[i], d[i], bias=False), {4: torch.float32, 8: torch.float64}[b[i]]
        layer, x = layer.to(dtype), torch.ones(n[i], d[i], dtype=dtype)
        measured.append(flops(partial(layer, x)) / sum(t.nbytes for t in (layer.weight, x, layer(x))))
    return [(middle, measured), (right, measured)]


@equation("eq-step-intensity", "74651d3e3b")
def step_intensity(rng):
    """One step of decoding: every head attends over its group's part of a cache."""
    heads, groups, n, b = [6, 10], [3, 2], [7, 5], [4, 8]
    middle = table(lambda i: 4 * heads[i] * K * n[i] / (2 * b[i] * groups[i] * K * n[i]), 2)
    right = table(lambda i: 2 * heads[i] / (b[i] * groups[i]), 2)
    measured = []
    for i in range(2):
        dtype = {4: torch.float32, 8: torch.float64}[b[i]]
        layer = KVCache(1, 1, groups[i], n[i], K, dtype=dtype)[0]
        q = torch.ones(1, groups[i], heads[i] // groups[i], K, dtype=dtype)
        measured.append(flops(partial(attend, q, layer.k, layer.v)) / (layer.k.nbytes + layer.v.nbytes))
    return [(middle, measured), (right, measured)]


@equation("eq-cache-bytes", "52987fa5aa")
def cache_bytes(rng):
    b, batch, layers, groups, k, n, w = [4, 8], [2, 1], [3, 5], [2, 3], [4, 7], [5, 11], [9, 6]
    printed = table(lambda i: 2 * b[i] * batch[i] * layers[i] * groups[i] * k[i] * min(n[i], w[i]), 2)
    held = []
    for i in range(2):
        dtype = {4: torch.float32, 8: torch.float64}[b[i]]
        made = KVCache(layers[i], batch[i], groups[i], min(n[i], w[i]), k[i], dtype=dtype)
        held.append(sum(layer.k.nbytes + layer.v.nbytes for layer in made.layers))
    return printed, held


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


@equation("eq-reach", "cc151cdee1")
def reach(rng):
    """How many tokens have a gradient into the last output of a decoder with a window."""
    layers, W, N = [1, 2, 4], [5, 3, 3], 12
    printed = table(lambda i: layers[i] * (W[i] - 1) + 1, 3)
    found = []
    for i in range(3):
        torch.manual_seed(0)
        decoder, x = Decoder(layers[i], 8, 2, 9).double(), torch.randn(1, N, 8, dtype=torch.float64).requires_grad_()
        decoder(x, torch.tensor(band(N, W[i])))[0, -1].pow(3).sum().backward()
        found.append(int((x.grad[0].norm(dim=1) > 0).sum()))
    return printed, found


def inputs(rng):
    """One target, S sources: query, keys, values."""
    return rng.normal(size=(K, 1)), rng.normal(size=(K, S)), rng.normal(size=(V, S))


def scores(q, keys):
    return (keys.T @ q)[:, 0] / sqrt(K)


def three(c, v):
    m = c.max()
    return m, np.exp(c - m).sum(), v @ np.exp(c - m)


def summary(q, keys, v):
    """The library's output for these sources alone, and the logarithm of its denominator."""
    y, total = online_attention(*map(to_torch, (q, keys, v)), sizes=(1, 2))
    return y[0, 0].numpy(), total.item()


def in_torch(q, keys, v, way):
    return way(*map(to_torch, (q, keys, v)))[0][0, 0].numpy()


def band(n, w):
    """True where a target (row) sees a source (column): itself and the w - 1 before it."""
    return np.tril(np.ones((n, n), dtype=bool)) & ~np.tril(np.ones((n, n), dtype=bool), -w)


@cache
def layer_flops(n):
    layer = MultiHeadAttention(6, 2, attend=attend)
    return flops(partial(layer, torch.ones(1, n, 6)))


def flops(call):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    return counter.get_total_flops()
