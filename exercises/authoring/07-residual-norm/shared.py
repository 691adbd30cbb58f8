"""Checks of exercise 07: tokens far from mean 0 and spread 1, random scales and shifts, an ε that can be seen."""

EPS = 1e-5


def draw_tokens(rng, shape):
    """Tokens with a mean and a spread that a norm has work to do on; both differ from token to token."""
    N = shape[-1]
    means = rng.normal(size=(*shape[:-2], 1, N)) + 2 * rng.choice([-1, 1])
    return means + rng.uniform(0.5, 3, size=(*shape[:-2], 1, N)) * rng.normal(size=shape)
