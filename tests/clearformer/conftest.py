"""Inputs that several tests of the reference share."""

import numpy as np
import pytest

from tests.clearformer.heads import D, H, K, Kv


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def heads(rng):
    """U_q, U_k, U_v, U_o, all widths different."""
    return tuple(rng.normal(size=size) / 2 for size in ((H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv)))
