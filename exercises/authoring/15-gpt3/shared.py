"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""


def draw_model(rng):
    V, N, D, M, F = (int(size) for size in rng.choice((23, 29, 31, 37, 41, 43, 47, 53), 5, replace=False))
    return V, N, D, M, F
