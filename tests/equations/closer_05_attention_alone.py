"""Checks of the display equations of the closer look at what attention alone cannot do."""

from math import exp

import numpy as np
from clearformer.reference.attention import self_attention
from clearformer.reference.multihead import multi_head

from tests.equations.registry import equation, table

D, K, N, H = 4, 3, 5, 2


def layer(rng, n_heads=H):
    """U_q and U_k of every head, and V."""
    return *rng.normal(size=(2, n_heads, K, D)), rng.normal(size=(n_heads, D, D))


@equation("eq-fixed-layers", "45cc2ea6e1")
def fixed_layers(rng):
    """Both sides, for two real layers whose weights are kept."""
    X, first, second = rng.normal(size=(D, N)), layer(rng), layer(rng)
    Y, A = multi_head(X, *first)
    result, A_next = multi_head(Y, *second)
    V, V_next = first[2], second[2]
    heads = range(H)
    inner = table(
        lambda d, n: sum(V[h, d, e] * X[e, s] * A[h, s, n] for h in heads for e in range(D) for s in range(N)), D, N
    )
    left = table(
        lambda d, n: sum(
            V_next[g, d, e] * inner[e, s] * A_next[g, s, n] for g in heads for e in range(D) for s in range(N)
        ),
        D,
        N,
    )
    V_merged = table(lambda g, h, d, e: sum(V_next[g, d, c] * V[h, c, e] for c in range(D)), H, H, D, D)
    A_merged = table(lambda g, h, s, n: sum(A[h, s, r] * A_next[g, r, n] for r in range(N)), H, H, N, N)
    right = table(
        lambda d, n: sum(
            V_merged[g, h, d, e] * X[e, s] * A_merged[g, h, s, n]
            for g in heads
            for h in heads
            for e in range(D)
            for s in range(N)
        ),
        D,
        N,
    )
    return [(left, result), (right, result)]


@equation("eq-lone-token", "ec2517b4fc")
def lone_token(rng):
    """Three layers of two heads with residual connections, on one token and on five equal ones."""
    layers, x = [layer(rng) for _ in range(3)], rng.normal(size=(D, 1))
    V = np.stack([V for _, _, V in layers])
    brackets = table(lambda m, d, e: (d == e) + sum(V[m, h, d, e] for h in range(H)), 3, D, D)
    printed = table(
        lambda d, n: sum(
            brackets[2, d, b] * brackets[1, b, c] * brackets[0, c, e] * x[e, n]
            for b in range(D)
            for c in range(D)
            for e in range(D)
        ),
        D,
        1,
    )

    def stack(X):
        for weights in layers:
            X = X + multi_head(X, *weights)[0]
        return X

    return [(printed, stack(x)), (printed.repeat(N, axis=1), stack(x.repeat(N, axis=1)))]


@equation("eq-gate", "d9cfb8f398")
def gate(rng):
    x, U_q, U_k = rng.normal(size=D), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    score = table(
        lambda _: sum(x[d] * U_k[k, d] * U_q[k, e] * x[e] for d in range(D) for k in range(K) for e in range(D)), 1
    )
    printed = table(lambda i: exp(score[i]) / (exp(score[i]) + 1), 1)
    X = np.column_stack([np.zeros(D), x])
    return printed, self_attention(X, U_q, U_k)[1][1, 1:]
