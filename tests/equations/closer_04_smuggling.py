"""Checks of the display equations of the closer look at two answers through one head."""

import numpy as np
from clearformer.reference.multihead import multi_head

from tests.equations.registry import equation, table

DAYS, K = 7, 3


@equation("eq-heads-look-up", "ebf639ba6c")
def heads_look_up(rng):
    """What the temperatures add to the outputs for one day, where scores see the names alone."""
    H, D, day = 2, DAYS + 1, 3
    U_q, U_k = rng.normal(size=(2, H, K, D))
    U_q[..., -1] = U_k[..., -1] = 0
    V, t = rng.normal(size=(H, D, D)), rng.normal(size=DAYS)
    X, cold = (np.vstack([np.eye(DAYS), row]) for row in (t, np.zeros(DAYS)))
    Y, A = multi_head(X, U_q, U_k, V)
    v, a = V[:, :, -1], A[:, :, day]
    heads = table(lambda d, s: sum(v[h, d] * a[h, s] for h in range(H)), D, DAYS)
    assert np.linalg.matrix_rank(heads) == H
    return heads @ t, (Y - multi_head(cold, U_q, U_k, V)[0])[:, day]


@equation("eq-look-ups", "b1dec418ba")
def look_ups(rng):
    """Among matrices of rank H the truncated singular value decomposition is nearest; no other one comes nearer."""
    n_look_ups, pairs = 5, []
    P = np.eye(DAYS)[rng.permutation(DAYS)[:n_look_ups]]
    left, sizes, right = np.linalg.svd(P, full_matrices=False)
    for n_heads in (1, 2, 3, 5):
        best = (left[:, :n_heads] * sizes[:n_heads]) @ right[:n_heads]
        pairs.append((table(lambda _, n_heads=n_heads: n_look_ups - n_heads, 1), [((P - best) ** 2).sum()]))
        for _ in range(50):
            v, a = rng.normal(size=(n_look_ups, n_heads)), rng.dirichlet(np.ones(DAYS), size=n_heads)
            best_v = P @ np.linalg.pinv(a) if rng.random() < 0.5 else v
            assert ((P - best_v @ a) ** 2).sum() >= n_look_ups - n_heads - 1e-9
    return pairs
