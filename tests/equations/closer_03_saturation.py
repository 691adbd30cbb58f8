"""Checks of the display equation of the closer look at the slope of the softmax."""

from clearformer.reference.functions import softmax, softmax_jacobian

from tests.equations.registry import equation, table

S = 7


@equation("eq-softmax-jacobian", "62dadb76c6")
def jacobian(rng):
    a = softmax(rng.normal(size=S), axis=0)
    printed = table(lambda s, r: a[s] * ((s == r) - a[r]), S, S)
    return printed, softmax_jacobian(a)
