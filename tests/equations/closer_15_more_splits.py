"""Check of the display equation of the closer look at pipelines, long windows and experts."""

import numpy as np
from clearformer.reference import attention as reference
from clearformer.reference.multihead import multi_head_concatenated

from tests.equations.registry import equation, table


@equation("eq-split-heads-workers", "e27f8c9d2b")
def split_heads_workers(rng):
    d, k, n, heads, R = 6, 2, 4, [range(0, 2), range(2, 3)], 2
    U_q, U_k, U_v = rng.normal(size=(3, 3, k, d))
    U = rng.normal(size=(3, d, k))
    X = rng.normal(size=(d, n))
    A = np.stack([reference.attend(U_q[h] @ X, U_k[h] @ X, X)[1] for h in range(3)])
    values = table(lambda h, i, s: sum(U_v[h, i, e] * X[e, s] for e in range(d)), 3, k, n)
    averaged = table(lambda h, i, t: sum(values[h, i, s] * A[h, s, t] for s in range(n)), 3, k, n)
    printed = table(
        lambda i, t: sum(sum(U[h, i, j] * averaged[h, j, t] for j in range(k) for h in heads[r]) for r in range(R)),
        d,
        n,
    )
    return printed, multi_head_concatenated(X, U_q, U_k, U_v, U)[0]
