"""Checks of the display equations of chapter 3, self-attention."""

from itertools import product
from math import exp, inf, sqrt

import numpy as np
from clearbook.columns import to_torch
from clearformer.attention import attend as torch_attend
from clearformer.reference import attention as reference
from clearformer.reference.functions import softmax

from tests.equations.registry import equation, table

D, K, Kv, N, S = 8, 3, 5, 6, 7


@equation("eq-column-softmax", "4442302f1e")
def column_softmax(rng):
    c = rng.normal(size=(S, N))
    printed = table(lambda s, n: exp(c[s, n]) / sum(exp(c[r, n]) for r in range(S)), S, N)
    return printed, reference.attention_weights(c)


@equation("eq-rung-dot", "4ebbf7557b")
def rung_dot(rng):
    X = rng.normal(size=(D, N))
    printed = table(lambda s, n: sum(X[d, s] * X[d, n] for d in range(D)), N, N)
    return printed, reference.scores_dot(X)


@equation("eq-rung-projected", "61d39ac244")
def rung_projected(rng):
    X, U = rng.normal(size=(D, N)), rng.normal(size=(K, D))
    printed = table(
        lambda s, n: sum(X[d, s] * U[k, d] * U[k, e] * X[e, n] for d in range(D) for k in range(K) for e in range(D)),
        N,
        N,
    )
    return printed, reference.scores_projected(X, U)


@equation("eq-rung-query-key", "1449a05ec0")
def rung_query_key(rng):
    X, U_q, U_k = rng.normal(size=(D, N)), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    q = table(lambda k, n: sum(U_q[k, d] * X[d, n] for d in range(D)), K, N)
    keys = table(lambda k, s: sum(U_k[k, d] * X[d, s] for d in range(D)), K, N)
    printed = table(lambda s, n: sum(keys[k, s] * q[k, n] for k in range(K)), N, N)
    return printed, reference.scores_query_key(X, U_q, U_k)


@equation("eq-values", "341d6f0e3c")
def values(rng):
    X, A, U_v = rng.normal(size=(D, S)), softmax(rng.normal(size=(S, N)), axis=0), rng.normal(size=(Kv, D))
    v = table(lambda i, s: sum(U_v[i, d] * X[d, s] for d in range(D)), Kv, S)
    printed = table(lambda i, n: sum(v[i, s] * A[s, n] for s in range(S)), Kv, N)
    return printed, reference.weighted_average(U_v @ X, A)


@equation("eq-score-variance", "4d1703aeb7")
def score_variance(rng):
    """Exact, not sampled: every combination of signs, first with unequal variances, then with variance 1."""
    signs = [np.array(c) for c in product((-1.0, 1.0), repeat=K)]
    q_scale, k_scale = np.array([1, 2, 3]), np.array([3, 1, 2])
    var_q = [np.var([(q * q_scale)[i] for q in signs]) for i in range(K)]
    var_k = [np.var([(k * k_scale)[i] for k in signs]) for i in range(K)]
    printed = table(lambda _: sum(var_q[i] * var_k[i] for i in range(K)), 1)
    scores = [(q * q_scale) @ (k * k_scale) for q in signs for k in signs]
    unit_scores = [q @ k for q in signs for k in signs]
    return [(printed, [np.var(scores)]), (table(lambda _: K, 1), [np.var(unit_scores)])]


@equation("eq-scaled-attention", "ff1db2a0c1")
def scaled_attention(rng):
    X, U_q, U_k, U_v = (rng.normal(size=size) for size in ((D, N), (K, D), (K, D), (Kv, D)))
    q = table(lambda k, n: sum(U_q[k, d] * X[d, n] for d in range(D)), K, N)
    keys = table(lambda k, s: sum(U_k[k, d] * X[d, s] for d in range(D)), K, N)
    c = table(lambda s, n: sum(keys[k, s] * q[k, n] for k in range(K)) / sqrt(K), N, N)
    A = table(lambda s, n: exp(c[s, n]) / sum(exp(c[r, n]) for r in range(N)), N, N)
    v = table(lambda i, s: sum(U_v[i, d] * X[d, s] for d in range(D)), Kv, N)
    printed = table(lambda i, n: sum(v[i, s] * A[s, n] for s in range(N)), Kv, N)
    parts = U_q @ X, U_k @ X, U_v @ X
    return [(printed, reference.attend(*parts)[0]), (printed.T[None], torch_attention(*parts))]


@equation("eq-row-form", "026468f9c0")
def row_form(rng):
    x, W_q, W_k, W_v = (rng.normal(size=size) for size in ((N, D), (D, K), (D, K), (D, Kv)))
    q = table(lambda n, k: sum(x[n, d] * W_q[d, k] for d in range(D)), N, K)
    keys = table(lambda n, k: sum(x[n, d] * W_k[d, k] for d in range(D)), N, K)
    v = table(lambda n, i: sum(x[n, d] * W_v[d, i] for d in range(D)), N, Kv)
    e = table(lambda n, m: exp(sum(q[n, k] * keys[m, k] for k in range(K)) / sqrt(K)), N, N)
    printed = table(lambda n, i: sum(e[n, m] * v[m, i] for m in range(N)) / sum(e[n, m] for m in range(N)), N, Kv)
    return printed, torch_attention((x @ W_q).T, (x @ W_k).T, (x @ W_v).T)[0]


@equation("eq-causal-mask", "40c8fe85e3")
def causal_mask(rng):
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, N)), rng.normal(size=(Kv, N))
    c = table(lambda s, n: sum(keys[k, s] * q[k, n] for k in range(K)) / sqrt(K) if s <= n else -inf, N, N)
    A = table(lambda s, n: exp(c[s, n]) / sum(exp(c[r, n]) for r in range(N)), N, N)
    return A, reference.attend(q, keys, v, mask=reference.causal_mask(N))[1]


@equation("eq-equivariance", "9cf3af4ebc")
def equivariance(rng):
    X, maps = rng.normal(size=(D, N)), [rng.normal(size=(width, D)) for width in (K, K, Kv)]
    P = np.eye(N)[:, [2, 0, 3, 1, 5, 4]]
    Y, _ = reference.attend(*(U @ X for U in maps))
    printed = table(lambda d, n: sum(Y[d, m] * P[m, n] for m in range(N)), Kv, N)
    reordered = table(lambda d, n: sum(X[d, m] * P[m, n] for m in range(N)), D, N)
    return printed, reference.attend(*(U @ reordered for U in maps))[0]


def torch_attention(q, keys, v):
    return torch_attend(to_torch(q), to_torch(keys), to_torch(v))[0].numpy()
