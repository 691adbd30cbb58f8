"""Checks of the display equations of chapter 4, multi-head attention."""

from functools import cache
from math import ceil, exp, sqrt

import numpy as np
import torch
from clearbook.columns import to_reference, to_torch
from clearformer.attention import attend as torch_attend
from clearformer.multihead import MultiHeadAttention
from clearformer.reference import attention as single
from clearformer.reference import multihead as reference
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

H, K, Kv, D, N = 3, 4, 5, 8, 7


@equation("eq-multi-head", "9b4c7d5c38")
def multi_head(rng):
    X, V = rng.normal(size=(D, N)), rng.normal(size=(H, D, D))
    U_q, U_k = rng.normal(size=(2, H, K, D)) / 2
    Y, A = reference.multi_head(X, U_q, U_k, V)
    printed = table(
        lambda d, n: sum(V[h, d, e] * X[e, s] * A[h, s, n] for h in range(H) for e in range(D) for s in range(N)),
        D,
        N,
    )
    return printed, Y


@equation("eq-head-weights", "40a08ecda9")
def head_weights(rng):
    X, V = rng.normal(size=(D, N)), np.zeros((H, D, D))
    U_q, U_k = rng.normal(size=(2, H, K, D)) / 2
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    keys = table(lambda h, k, s: sum(U_k[h, k, d] * X[d, s] for d in range(D)), H, K, N)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(K)) / sqrt(K)), H, N, N)
    printed = table(lambda h, s, n: e[h, s, n] / sum(e[h, r, n] for r in range(N)), H, N, N)
    return printed, reference.multi_head(X, U_q / sqrt(K), U_k, V)[1]


@equation("eq-low-rank-scores", "7f5bcfb55d")
def low_rank_scores(rng):
    """Both sides, head by head, and the rank of the matrix in the middle."""
    X = rng.normal(size=(D, N))
    U_q, U_k = rng.normal(size=(2, H, K, D))
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    keys = table(lambda h, k, s: sum(U_k[h, k, d] * X[d, s] for d in range(D)), H, K, N)
    left = table(lambda h, s, n: sum(keys[h, k, s] * q[h, k, n] for k in range(K)), H, N, N)
    middle = table(lambda h, d, c: sum(U_k[h, k, d] * U_q[h, k, c] for k in range(K)), H, D, D)
    assert np.linalg.matrix_rank(middle).tolist() == [K] * H
    right = table(lambda h, s, n: sum(X[d, s] * middle[h, d, c] * X[c, n] for d in range(D) for c in range(D)), H, N, N)
    scores = [single.scores_query_key(X, U_q[h], U_k[h]) for h in range(H)]
    return [(left, scores), (right, scores)]


@equation("eq-low-rank-values", "e1c72f6515")
def low_rank_values(rng):
    U_o, U_v = rng.normal(size=(H, D, Kv)), rng.normal(size=(H, Kv, D))
    printed = table(lambda h, d, e: sum(U_o[h, d, k] * U_v[h, k, e] for k in range(Kv)), H, D, D)
    assert np.linalg.matrix_rank(printed).tolist() == [Kv] * H
    return printed, reference.low_rank_values(U_o, U_v)


@equation("eq-heads-concatenated", "2d5018c438")
def concatenate(rng):
    X, U_q, U_k, U_v, U_o = concatenated_parameters(rng)
    Y, A = reference.multi_head_concatenated(X, U_q, U_k, U_v, U_o)
    heads = table(
        lambda h, k, n: sum(U_v[h, k, d] * X[d, s] * A[h, s, n] for d in range(D) for s in range(N)), H, Kv, N
    )
    left = table(lambda d, n: sum(U_o[h, d, k] * heads[h, k, n] for h in range(H) for k in range(Kv)), D, N)
    W_O, stack = reference.output_matrix(U_o), heads.reshape(H * Kv, N)
    right = table(lambda d, n: sum(W_O[d, j] * stack[j, n] for j in range(H * Kv)), D, N)
    return [(left, Y), (right, Y), (left, as_a_sum(X, U_q, U_k, U_v, U_o))]


@equation("eq-split-heads", "af7fdbfba5")
def split_heads(rng):
    """The printed split, done by hand around single-head attention, gives what the module gives."""
    layer, x = module(rng)
    q, keys, v = (part[0].numpy() for part in layer.qkv(x).chunk(3, dim=-1))
    q_h, k_h, v_h = (table(lambda h, n, k, part=part: part[n, h * K + k], H, N, K) for part in (q, keys, v))
    y, _ = torch_attend(*(torch.tensor(part) for part in (q_h, k_h, v_h)))
    joined = np.concatenate(list(y.numpy()), axis=1)
    return joined @ layer.out.weight.numpy().T, layer(x)[0][0]


@equation("eq-heads-parameters", "88ebba4098")
def heads_parameters(rng):
    pairs = []
    for n_heads, width in ((3, 12), (5, 20)):
        k = width // n_heads
        by_head = table(lambda _, w=width, k=k, h=n_heads: h * (k * w + k * w + k * w + w * k), 1)
        total = table(lambda _, w=width: 4 * w**2, 1)
        counted = [sum(p.numel() for p in MultiHeadAttention(width, n_heads, bias=False).parameters())]
        pairs += [(by_head, counted), (total, counted)]
    return pairs


@equation("eq-flops-heads", "36b1a8185d")
def flops_heads(rng):
    pairs = []
    for n_heads in (1, 3, 4):
        printed = table(lambda _, w=12: 8 * w**2 * N + 2 * w * N**2 + 2 * w * N**2, 1)
        pairs.append((printed, [layer_flops(n_heads)]))
    return pairs


@cache
def layer_flops(n_heads):
    """FLOPs of the products of a layer of width 12; they hang on the sizes alone."""
    layer = MultiHeadAttention(12, n_heads, attend=torch_attend)
    with FlopCounterMode(display=False) as counter:
        layer(torch.zeros(1, N, 12))
    return counter.get_total_flops()


@equation("eq-grouped-heads", "90ebde38c4")
def grouped_heads(rng):
    """Six heads, three groups: the printed sharing of keys and values, against the module that shares them."""
    heads, groups, width = 6, 3, 4
    d = heads * width
    layer = MultiHeadAttention(d, heads, n_kv_heads=groups, bias=False, attend=torch_attend).double()
    X = rng.normal(size=(d, N))
    parts = layer.qkv.weight.detach().split([d, groups * width, groups * width])
    U_q, U_k, U_v = (part.unflatten(0, (-1, width)).numpy() for part in parts)
    group = table(lambda h: ceil((h + 1) * groups / heads) - 1, heads).astype(int)
    q = U_q @ X
    keys = table(lambda h, k, s: sum(U_k[group[h], k, c] * X[c, s] for c in range(d)), heads, width, N)
    v = table(lambda h, k, s: sum(U_v[group[h], k, c] * X[c, s] for c in range(d)), heads, width, N)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(width)) / sqrt(width)), heads, N, N)
    Y = table(
        lambda h, k, n: sum(v[h, k, s] * e[h, s, n] for s in range(N)) / sum(e[h, s, n] for s in range(N)),
        heads,
        width,
        N,
    )
    return layer.out.weight.detach().numpy() @ Y.reshape(d, N), to_reference(layer(to_torch(X))[0])


def concatenated_parameters(rng):
    U_q, U_k = rng.normal(size=(2, H, K, D)) / 2
    return rng.normal(size=(D, N)), U_q, U_k, rng.normal(size=(H, Kv, D)), rng.normal(size=(H, D, Kv))


def as_a_sum(X, U_q, U_k, U_v, U_o):
    return reference.multi_head(X, U_q / sqrt(K), U_k, reference.low_rank_values(U_o, U_v))[0]


def module(rng):
    """A layer of H heads of width K, its weights from rng, and one sequence."""
    layer = MultiHeadAttention(H * K, H, bias=False, attend=torch_attend).double().requires_grad_(False)
    for parameter in layer.parameters():
        parameter.copy_(torch.tensor(rng.normal(size=parameter.shape) / 2))
    return layer, torch.tensor(rng.normal(size=(1, N, H * K)))
