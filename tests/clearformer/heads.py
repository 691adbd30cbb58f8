"""Sizes and masks for the tests of several heads in the reference: all sizes different."""

import numpy as np
from clearformer.reference.attention import causal_mask, padding_mask

D, H, K, Kv, N, S = 6, 3, 4, 2, 5, 7


def some_mask(rng, n_targets):
    """Random, with one target that may look at everything and one that may look at nothing."""
    mask = rng.random((S, n_targets)) > 0.4
    mask[:, 0], mask[:, 1] = True, False
    return mask


MASKS = {
    "none": lambda size: None,
    "causal": causal_mask,
    "padding": lambda size: padding_mask(np.array([4, 2, 9, 9, 9])[:size], 9),
    "blind": lambda size: causal_mask(size) & (np.arange(size) != 2)[None, :],
}
