"""Checks of the display equations of the closer look at symmetric scores."""

from math import tanh

from clearformer.reference import attention as reference

from tests.equations.registry import equation, table

D, K, F, N, S = 8, 3, 4, 6, 7


@equation("eq-mutual", "a8efca919d")
def mutual(rng):
    X, U = rng.normal(size=(D, N)), rng.normal(size=(K, D))
    c, projected = reference.scores_projected(X, U), U @ X
    printed = table(
        lambda s, n: (c[s, s] + c[n, n]) / 2 - sum((projected[k, s] - projected[k, n]) ** 2 for k in range(K)) / 2, N, N
    )
    return printed, c


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
