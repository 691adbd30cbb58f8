"""What the checks of exercise 03 draw: sizes that do not divide each other; ordinary, saturated and huge scores."""

import numpy as np
from clearcheck.author.cases import draw_sizes

LARGE = 1e-3  # what float32 rounds in scores of some thousands moves weights by so much


def tokens_and_maps(rng, n_tokens=None, square=False, sizes=None):
    """Tokens in rows, N × D, and the maps that stand to the right of them: D × K twice, and D × V."""
    N, D, K, V = sizes or draw_sizes(rng, 4)
    K, V = (D, D) if square else (K, V)
    x = rng.normal(size=(n_tokens or N, D))
    W_q, W_k, W_v = (rng.normal(size=(D, width)) / np.sqrt(D) for width in (K, K, V))
    return x, W_q, W_k, W_v


def far_apart(rng):
    """Ordinary weights of scores that are about 1e4 for every other query and about −1e4 for the rest."""
    x, W_q, W_k, W_v = tokens_and_maps(rng)
    x[:, 0], x[:, 1] = 1.0, np.where(np.arange(len(x)) % 2, 1.0, -1.0)
    W_q[:, 0], W_k[:, 0] = 1e4 * np.sqrt(W_q.shape[1]) * np.eye(len(W_q))[1], np.eye(len(W_k))[0]
    return x, W_q, W_k, W_v


def scores_of_rows(x, W_q, W_k, W_v):
    return x @ W_q @ (x @ W_k).T / np.sqrt(W_q.shape[1])
