"""Checks of the display equations of the closer look at what is linear in attention."""

from clearformer.reference import attention as reference

from tests.equations.registry import equation, table

K, Kv, N, S = 3, 5, 6, 7


@equation("eq-linear-in-values", "fe435c917c")
def linear_in_values(rng):
    q, keys = rng.normal(size=(K, N)), rng.normal(size=(K, S))
    v, w, lam, mu = rng.normal(size=(Kv, S)), rng.normal(size=(Kv, S)), 3.0, -2.0
    left, right = reference.attend(q, keys, v)[0], reference.attend(q, keys, w)[0]
    printed = table(lambda i, n: lam * left[i, n] + mu * right[i, n], Kv, N)
    mixed = table(lambda i, s: lam * v[i, s] + mu * w[i, s], Kv, S)
    return printed, reference.attend(q, keys, mixed)[0]
