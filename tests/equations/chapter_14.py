"""Checks of the display equations of chapter 14, cost and long sequences."""

from functools import partial
from math import exp, log, sqrt

import numpy as np
import torch
from clearbook.columns import to_torch
from clearbook.costs import Machine
from clearformer.attention import attend, attend_blockwise, attend_recomputing
from clearformer.attention.blockwise import online_attention
from clearformer.blocks import Decoder
from clearformer.cache import KVCache
from clearformer.multihead import MultiHeadAttention
from clearformer.reference import attention as reference
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

K, S, V = 3, 11, 4  # width of keys, sources, width of values


@equation("eq-roofline", "81d93c7d87")
def roofline(rng):
    """For steps on either side of the ridge."""
    rho, beta = rng.uniform(1, 9, size=2)
    flops, moved = rng.uniform(1, 9, size=(2, 6))
    printed = table(lambda i: max(flops[i] / rho, moved[i] / beta), 6)
    return printed, [Machine(rho, beta).seconds(*step) for step in zip(flops, moved, strict=True)]


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
        pieces.append((*softmax_parts(c[:5], v[:, :5]), *softmax_parts(c[5:], v[:, 5:])))
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
    m, sums, _ = softmax_parts(c, v)
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


@equation("eq-explicit-intensity", "46c78ad3c2")
def explicit_intensity(rng):
    """FLOPs that PyTorch counts, and four times the bytes of the matrix of scores."""
    width, n, b = [3, 7], [5, 11], [4, 8]
    middle = table(lambda i: 4 * width[i] * n[i] ** 2 / (4 * b[i] * n[i] ** 2), 2)
    right = table(lambda i: width[i] / b[i], 2)
    measured = []
    for i in range(2):
        q = torch.ones(n[i], width[i], dtype={4: torch.float32, 8: torch.float64}[b[i]])
        measured.append(flops(partial(attend, q, q, q)) / (4 * attend(q, q, q)[1].nbytes))
    return [(middle, measured), (right, measured)]


@equation("eq-tile-intensity", "79826c2d93")
def tile_intensity(rng):
    """One row of tiles: r targets, for which all keys and values are fetched."""
    r, width, n, b = [3, 6], [5, 4], [7, 11], [4, 8]
    middle = table(lambda i: 4 * r[i] * width[i] * n[i] / (2 * b[i] * width[i] * n[i]), 2)
    right = table(lambda i: 2 * r[i] / b[i], 2)
    measured = []
    for i in range(2):
        q, k = (torch.ones(rows, width[i], dtype={4: torch.float32, 8: torch.float64}[b[i]]) for rows in (r[i], n[i]))
        measured.append(flops(partial(attend_blockwise, q, k, k, query_block=r[i])) / (2 * k.nbytes))
    return [(middle, measured), (right, measured)]


@equation("eq-flash-backward", "775620f973")
def flash_backward(rng):
    """The weights against the library's, the gradient by the scores against that of a bias of 0 on them."""
    N = 5
    q, keys, v, e = (rng.normal(size=shape) for shape in ((K, N), (K, S), (V, S), (V, N)))
    c = keys.T @ q / sqrt(K)
    output, total = online_attention(*map(to_torch, (q, keys, v)), sizes=(2, 3))
    y, L = output[0].numpy().T, total.flatten().tolist()
    A = table(lambda s, n: exp(c[s, n] - L[n]), S, N)
    at = range(V)
    G = table(lambda s, n: A[s, n] * (sum(v[i, s] * e[i, n] for i in at) - sum(y[i, n] * e[i, n] for i in at)), S, N)
    bias = torch.zeros(N, S, dtype=torch.float64, requires_grad=True)
    found, _ = attend_recomputing(*(to_torch(x) for x in (q, keys, v)), bias=bias)
    found.backward(to_torch(e))
    return [(A, reference.attend(q, keys, v)[1]), (G, bias.grad.T)]


@equation("eq-decode-step", "cbdf08bd53")
def decode_step(rng):
    """A decoder writes one token for each text: FLOPs counted apart in matrices and in attention, bytes as they lie.

    In the second machine the matrices wait for arithmetic and attention for memory; in the third it is the other way.
    """
    batch, layers, d, heads, groups, n = [3, 5, 2], [2, 3, 1], [12, 8, 6], [3, 4, 3], [3, 2, 1], [5, 7, 4]
    rho, beta, b_w, b_c = [2.0, 90.0, 300.0], [50.0, 40.0, 3.0], [4, 4, 8], [4, 8, 4]
    k = [d[i] // heads[i] for i in range(3)]
    P, there = [], []
    for i in range(3):
        decoder, caches = decoder_with_caches(batch[i], layers[i], d[i], heads[i], groups[i], n[i])
        weights = [p for p in decoder.parameters() if p.dim() == 2]
        P.append(sum(p.numel() for p in weights))
        numbers = sum(layer.k.numel() + layer.v.numel() for layer in caches.layers)
        new, machine = torch.ones(batch[i], 1, d[i]), Machine(rho[i], beta[i])
        in_matrices, in_attention = flops_apart(lambda m=decoder, x=new, c=caches: m(x, cache=c))
        matrices = machine.seconds(in_matrices, float(b_w[i] * P[i]))
        there.append(matrices + machine.seconds(in_attention, float(b_c[i] * numbers)))
    printed = table(
        lambda i: (
            max(2 * batch[i] * P[i] / rho[i], b_w[i] * P[i] / beta[i])
            + batch[i]
            * max(4 * layers[i] * d[i] * n[i] / rho[i], 2 * b_c[i] * layers[i] * groups[i] * k[i] * n[i] / beta[i])
        ),
        3,
    )
    return printed, there


def decoder_with_caches(batch, layers, d, heads, groups, n):
    """A decoder whose caches are full but for the token that comes next."""
    decoder = Decoder(layers, d, heads, 9, attention=partial(MultiHeadAttention, n_kv_heads=groups, attend=attend))
    caches = KVCache(layers, batch, groups, n, d // heads)
    for layer in caches.layers:
        layer.length = n - 1
    return decoder, caches


def flops_apart(call):
    """FLOPs of products with weights, and those of products between tokens."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    counted = counter.get_flop_counts()["Global"]
    between = sum(count for operation, count in counted.items() if "bmm" in str(operation))
    return float(sum(counted.values()) - between), float(between)


@equation("eq-step-intensity", "08977ff107")
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


def inputs(rng):
    """One target, S sources: query, keys, values."""
    return rng.normal(size=(K, 1)), rng.normal(size=(K, S)), rng.normal(size=(V, S))


def scores(q, keys):
    return (keys.T @ q)[:, 0] / sqrt(K)


def softmax_parts(c, v):
    m = c.max()
    return m, np.exp(c - m).sum(), v @ np.exp(c - m)


def summary(q, keys, v):
    """The library's output for these sources alone, and the logarithm of its denominator."""
    y, total = online_attention(*map(to_torch, (q, keys, v)), sizes=(1, 2))
    return y[0, 0].numpy(), total.item()


def in_torch(q, keys, v, way):
    return way(*map(to_torch, (q, keys, v)))[0][0, 0].numpy()


def flops(call):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    return counter.get_total_flops()
