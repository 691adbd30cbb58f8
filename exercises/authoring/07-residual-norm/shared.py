"""Checks of exercise 07: tokens in rows, far from mean 0 and spread 1, and an ε that can be seen."""

EPS = 1e-5
FAR = 60.0  # so far from 0 that a variance in one pass loses its digits in float32, and one of differences does not


def draw_tokens(rng, shape):
    """Tokens in rows, with a mean and a spread that a norm has work to do on; both differ from token to token."""
    each = (*shape[:-1], 1)
    means = rng.normal(size=each) + 2 * rng.choice([-1, 1])
    return means + rng.uniform(0.5, 3, size=each) * rng.normal(size=shape)
