"""Checks of exercise 03: sizes that do not divide each other; ordinary, saturated and huge scores."""

import numpy as np
from clearcheck.author.cases import draw_sizes


def rows_and_maps(rng, n_tokens=None, square=False, sizes=None):
    N, D, K, V = sizes or draw_sizes(rng, 4)
    K, V = (D, D) if square else (K, V)
    X_rows = rng.normal(size=(n_tokens or N, D))
    U_q, U_k, U_v = (rng.normal(size=(height, D)) / np.sqrt(D) for height in (K, K, V))
    return X_rows, U_q, U_k, U_v


def far_apart(rng):
    """Ordinary weights of scores that are about 1e4 for every other query and about −1e4 for the rest."""
    X_rows, U_q, U_k, U_v = rows_and_maps(rng)
    X_rows[:, 0], X_rows[:, 1] = 1.0, np.where(np.arange(len(X_rows)) % 2, 1.0, -1.0)
    U_q[0], U_k[0] = 1e4 * np.sqrt(len(U_q)) * np.eye(len(U_q[0]))[1], np.eye(len(U_q[0]))[0]
    return X_rows, U_q, U_k, U_v
