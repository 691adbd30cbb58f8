"""Checks of exercise 04: heads, tokens, widths and batch that do not divide each other."""

import numpy as np
from clearcheck.author.cases import draw_sizes

IN_FLOAT32 = 1e-5
LARGE = 1e-3  # what float32 rounds in scores of some thousands moves the outputs by so much


def arrays_of_heads(q, n_heads):
    return np.stack(np.split(q, n_heads, axis=-1), axis=1)


def heads_of_a_batch(rng, **given):
    """B, H, N and K, with some of them given."""
    drawn = dict(zip("BHNK", draw_sizes(rng, 4), strict=True)) | given
    return tuple(drawn[letter] for letter in "BHNK")


def tokens_to_split(rng, **given):
    B, H, N, K = heads_of_a_batch(rng, **given)
    return rng.normal(size=(B, N, H * K)), H
