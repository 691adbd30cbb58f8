"""Checks of the display equations of the closer look at chapter 6, can a mask replace positions?"""

import numpy as np
from clearformer.reference import attention as reference

from tests.equations.registry import equation, table

D, K, N = 8, 4, 5


@equation("eq-counting", "13d2c66ad4")
def counting(rng):
    v = np.eye(1, N)[0]
    middle = table(lambda n: sum(1 / (n + 1) * v[s] for s in range(n + 1)), N)
    right = table(lambda n: 1 / (n + 1), N)
    zeros = np.zeros((1, N))
    y = reference.attend(zeros, zeros, v[None], reference.causal_mask(N))[0][0]
    return [(middle, y), (right, y)]


@equation("eq-last-token", "6efcabb6a5")
def last_token(rng):
    X, order = rng.normal(size=(D, N)), [2, 0, 3, 1, 4]
    P = np.eye(N)[:, order]
    U_q, U_k, U_v = rng.normal(size=(3, K, D)) / 2

    def causal(X):
        return reference.attend(U_q @ X, U_k @ X, U_v @ X, reference.causal_mask(N))[0][:, -1]

    reordered = table(lambda d, n: sum(X[d, m] * P[m, n] for m in range(N)), D, N)
    return [(reordered, X[:, order]), (causal(reordered), causal(X))]
