"""Checks of the display equation of the closer look at a bias that does nothing, or does something."""

from math import exp, sqrt

from clearformer.reference.attention import attend

from tests.equations.registry import equation, table

N, S, K = 4, 6, 3


@equation("eq-key-bias", "d291008dd5")
def key_bias(rng):
    q, k, b, v = (rng.normal(size=size) for size in ((K, N), (K, S), K, (2, S)))
    _, without = attend(q * sqrt(K), k, v)
    _, with_bias = attend(q * sqrt(K), k + b[:, None], v)

    def score(n, s):
        return sum(q[i, n] * (k[i, s] + b[i]) for i in range(K))

    def score_without_bias(n, s):
        return sum(q[i, n] * k[i, s] for i in range(K))

    left = table(lambda s, n: exp(score(n, s)) / sum(exp(score(n, t)) for t in range(S)), S, N)
    right = table(
        lambda s, n: exp(score_without_bias(n, s)) / sum(exp(score_without_bias(n, t)) for t in range(S)), S, N
    )
    return [(left, with_bias), (right, with_bias), (left, without), (right, without)]
