"""Checks of the display equations of the closer look at chapter 6, can a mask replace positions?"""

import numpy as np
from clearformer.reference import attention as reference

from tests.equations.registry import equation, table

D, K, N = 8, 4, 5


@equation("eq-last-token", "6efcabb6a5")
def last_token(rng):
    X, order = rng.normal(size=(D, N)), [2, 0, 3, 1, 4]
    P = np.eye(N)[:, order]
    U_q, U_k, U_v = rng.normal(size=(3, K, D)) / 2

    def causal(X):
        return reference.attend(U_q @ X, U_k @ X, U_v @ X, reference.causal_mask(N))[0][:, -1]

    reordered = table(lambda d, n: sum(X[d, m] * P[m, n] for m in range(N)), D, N)
    return [(reordered, X[:, order]), (causal(reordered), causal(X))]
