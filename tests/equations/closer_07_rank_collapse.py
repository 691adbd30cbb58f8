"""Check of the display equation of a closer look at chapter 7: do tokens grow alike without residuals?"""

from math import sqrt

import numpy as np

from tests.equations.registry import equation, table

D, N = 5, 7


@equation("eq-tokens-apart", "8f73d6aa44")
def tokens_apart(rng):
    X = rng.normal(size=(D, N)) + 1
    mean = table(lambda d: sum(X[d, n] for n in range(N)) / N, D)
    distance = table(lambda d, n: X[d, n] - mean[d] * 1, D, N)
    printed = table(
        lambda _: (
            sqrt(sum(distance[d, n] ** 2 for d in range(D) for n in range(N)))
            / sqrt(sum(X[d, n] ** 2 for d in range(D) for n in range(N)))
        ),
        1,
    )
    return [(printed, [np.linalg.norm(X - X.mean(axis=1, keepdims=True)) / np.linalg.norm(X)])]
