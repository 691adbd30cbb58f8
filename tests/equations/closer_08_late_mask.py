"""Checks of the display equations of the closer look at a late mask."""

from math import sqrt

from clearformer.reference.attention import attend, causal_mask
from clearformer.reference.functions import softmax

from tests.equations.registry import equation, table

K, N, V = 3, 6, 5


@equation("eq-leak", "a8cb60b704")
def leak(rng):
    q, keys, v = rng.normal(size=(K, N)), rng.normal(size=(K, N)), rng.normal(size=(V, N))
    A, A_all = attend(q, keys, v, causal_mask(N))[1], attend(q, keys, v)[1]
    f = table(lambda n: 1 - sum(A_all[r, n] for r in range(n + 1, N)), N)
    printed = table(lambda s, n: f[n] * A[s, n], N, N)
    late = softmax(keys.T @ q / sqrt(K), axis=0) * causal_mask(N)
    return [(f, late.sum(axis=0)), (printed, late)]
