"""Checks of the display equations of chapter 3, self-attention."""

from itertools import product
from math import exp, sqrt, tanh

import numpy as np
from clearformer.attention import attend as torch_attend
from clearformer.layout import to_torch
from clearformer.reference import attention as reference
from clearformer.reference.functions import softmax, softmax_jacobian

from tests.equations.registry import equation, table

D, K, Kv, F, N, S = 8, 3, 5, 4, 6, 7


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


@equation("eq-mutual", "a8efca919d")
def mutual(rng):
    X, U = rng.normal(size=(D, N)), rng.normal(size=(K, D))
    c, projected = reference.scores_projected(X, U), U @ X
    printed = table(
        lambda s, n: (c[s, s] + c[n, n]) / 2 - sum((projected[k, s] - projected[k, n]) ** 2 for k in range(K)) / 2, N, N
    )
    return printed, c


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


@equation("eq-additive-score", "5f1ba06656")
def additive_score(rng):
    q, keys, w = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=F)
    W_q, W_k = rng.normal(size=(F, K)), rng.normal(size=(F, K))
    printed = table(
        lambda s, n: sum(
            w[f] * tanh(sum(W_q[f, k] * q[k, n] for k in range(K)) + sum(W_k[f, k] * keys[k, s] for k in range(K)))
            for f in range(F)
        ),
        S,
        N,
    )
    return printed, reference.scores_additive(q, keys, W_q, W_k, w)


@equation("eq-values", "341d6f0e3c")
def values(rng):
    X, A, U_v = rng.normal(size=(D, S)), softmax(rng.normal(size=(S, N)), axis=0), rng.normal(size=(Kv, D))
    v = table(lambda i, s: sum(U_v[i, d] * X[d, s] for d in range(D)), Kv, S)
    printed = table(lambda i, n: sum(v[i, s] * A[s, n] for s in range(S)), Kv, N)
    return printed, reference.weighted_average(U_v @ X, A)


@equation("eq-lecture-matrix", "632d06fb0f")
def lecture_matrix(rng):
    inputs, W_Q, W_K, W_V = (rng.normal(size=size) for size in ((N, D), (D, K), (D, K), (D, Kv)))
    q = table(lambda n, k: sum(inputs[n, d] * W_Q[d, k] for d in range(D)), N, K)
    keys = table(lambda n, k: sum(inputs[n, d] * W_K[d, k] for d in range(D)), N, K)
    v = table(lambda n, i: sum(inputs[n, d] * W_V[d, i] for d in range(D)), N, Kv)
    e = table(lambda n, m: exp(sum(q[n, k] * keys[m, k] for k in range(K))), N, N)
    printed = table(lambda n, i: sum(e[n, m] * v[m, i] for m in range(N)) / sum(e[n, m] for m in range(N)), N, Kv)
    A = reference.attention_weights(reference.scores_query_key(inputs.T, W_Q.T, W_K.T))
    return printed, reference.weighted_average(W_V.T @ inputs.T, A).T


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


@equation("eq-scaled-attention", "9a5435ff63")
def scaled_attention(rng):
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    c = table(lambda s, n: sum(keys[k, s] * q[k, n] for k in range(K)) / sqrt(K), S, N)
    A = table(lambda s, n: exp(c[s, n]) / sum(exp(c[r, n]) for r in range(S)), S, N)
    printed = table(lambda i, n: sum(v[i, s] * A[s, n] for s in range(S)), Kv, N)
    return [(printed, reference.attend(q, keys, v)[0]), (printed.T[None], torch_attention(q, keys, v))]


@equation("eq-softmax-jacobian", "62dadb76c6")
def jacobian(rng):
    a = softmax(rng.normal(size=S), axis=0)
    printed = table(lambda s, r: a[s] * ((s == r) - a[r]), S, S)
    return printed, softmax_jacobian(a)


@equation("eq-cross-attention", "777a8b506e")
def cross_attention(rng):
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    e = table(lambda s, n: exp(sum(keys[k, s] * q[k, n] for k in range(K)) / sqrt(K)), S, N)
    printed = table(lambda i, n: sum(v[i, s] * e[s, n] / sum(e[r, n] for r in range(S)) for s in range(S)), Kv, N)
    return [(printed, reference.attend(q, keys, v)[0]), (printed.T[None], torch_attention(q, keys, v))]


@equation("eq-equivariance", "9cf3af4ebc")
def equivariance(rng):
    X, U_q, U_k = rng.normal(size=(D, N)), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    P = np.eye(N)[:, [2, 0, 3, 1, 5, 4]]
    Y, _ = reference.self_attention(X, U_q, U_k)
    printed = table(lambda d, n: sum(Y[d, m] * P[m, n] for m in range(N)), D, N)
    reordered = table(lambda d, n: sum(X[d, m] * P[m, n] for m in range(N)), D, N)
    return printed, reference.self_attention(reordered, U_q, U_k)[0]


@equation("eq-linear-in-values", "fe435c917c")
def linear_in_values(rng):
    q, keys = rng.normal(size=(K, N)), rng.normal(size=(K, S))
    v, w, lam, mu = rng.normal(size=(Kv, S)), rng.normal(size=(Kv, S)), 3.0, -2.0
    left, right = reference.attend(q, keys, v)[0], reference.attend(q, keys, w)[0]
    printed = table(lambda i, n: lam * left[i, n] + mu * right[i, n], Kv, N)
    mixed = table(lambda i, s: lam * v[i, s] + mu * w[i, s], Kv, S)
    return printed, reference.attend(q, keys, mixed)[0]


def torch_attention(q, keys, v):
    return torch_attend(to_torch(q), to_torch(keys), to_torch(v))[0].numpy()
