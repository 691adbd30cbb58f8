"""Attention with bounded scores: the formula, the one of Gemma 2, and a cap that is reached."""

import inspect
import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from clearbook.columns import to_reference, to_torch
from clearformer.attention import attend, attend_softcapped, causal_mask
from clearformer.cache import KVCache
from clearformer.multihead import MultiHeadAttention
from clearformer.reference.attention import attention_weights, weighted_average

from tests.clearformer.attention_variants import K, Kv, N, S, biases, inputs, masks
from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close
from tests.lazy_module import LazyModule

gemma2 = LazyModule("transformers.models.gemma2.modeling_gemma2")
CAP = 0.5  # less than many scores


def test_softcapped_attention_equals_its_formula_in_numpy():
    """Catches a cap before the scores are divided by the root of K, and one on the weights."""
    rng = np.random.default_rng(5)
    Q, Keys, Values = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    mask = rng.random((S, N)) > 0.4
    A = attention_weights(CAP * np.tanh(Keys.T @ Q / np.sqrt(K) / CAP), mask)
    y, a = attend_softcapped(*map(to_torch, (Q, Keys, Values)), torch.as_tensor(mask.T), cap=CAP)
    np.testing.assert_allclose(to_reference(y), weighted_average(Values, A), atol=1e-12)
    np.testing.assert_allclose(to_reference(a), A, atol=1e-12)


def test_softcapped_attention_is_that_of_gemma_2():
    """Parity with transformers, causal and under a cap that is reached."""
    q, k, v = (10 * t for t in inputs(torch.float32))
    hidden = torch.zeros(N, S).masked_fill(~causal_mask(N, S), -math.inf)
    layer = SimpleNamespace(num_key_value_groups=1, training=False)
    expected, weights = gemma2.eager_attention_forward(layer, q, k, v, hidden, scaling=K**-0.5, softcap=50.0)
    y, a = attend_softcapped(q, k, v, causal=True)
    assert (q @ k.mT / K**0.5).abs().max() > 50
    assert_close(y, expected.transpose(1, 2))
    assert_close(a, weights)


def test_no_score_goes_beyond_the_cap():
    """Two weights of a row differ by a factor of e^(2c) at most, however large the scores are."""
    q, k, v = inputs()
    _, weights = attend_softcapped(1e4 * q, k, v, cap=CAP)
    ratio = weights.amax(-1) / weights.amin(-1)
    assert ratio.max() <= math.exp(2 * CAP) + 1e-9 and ratio.max() == pytest.approx(math.exp(2 * CAP))


def test_a_cap_that_is_reached_hides_no_less():
    """Catches a mask or a bias that is capped too: hidden sources would get a weight."""
    q, k, v = inputs()
    mask = masks("cpu")["a row that sees nothing"]
    bias = torch.zeros(N, S, dtype=torch.float64).masked_fill(~causal_mask(N, S), -math.inf)
    _, weights = attend_softcapped(1e4 * q, k, v, mask, bias=bias, cap=CAP)
    shown = mask & causal_mask(N, S)
    assert (weights[..., ~shown] == 0).all() and (weights[..., shown] > 0).all()
    assert_close(weights, attend_softcapped(1e4 * q, k, v, mask, causal=True, cap=CAP)[1])


def test_a_bias_is_added_above_the_cap():
    q, k, v = inputs()
    bias = 4 * biases("cpu")["all"]
    ratio = attend_softcapped(q, k, v, bias=bias, cap=CAP)[1] / attend_softcapped(q, k, v, cap=CAP)[1]
    assert_close((ratio.log() - bias).diff(), torch.zeros(*bias.shape[:-1], S - 1, dtype=torch.float64))


def test_gradients_under_a_cap_equal_finite_differences():
    q, k, v = (t[:1, :1].detach().requires_grad_() for t in inputs())
    mask = masks("cpu")["a row that sees nothing"]
    assert torch.autograd.gradcheck(lambda *leaves: attend_softcapped(*leaves, mask, cap=CAP)[0], (q, k, v))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@torch.no_grad()
def test_softcapped_heads_write_token_by_token(n_kv_heads):
    """Catches a cap that is lost in groups of heads or beside a cache."""
    layer = random_module(MultiHeadAttention(24, 6, n_kv_heads=n_kv_heads))
    x = torch.randn(2, N, 24, dtype=torch.float64)
    uncapped, _ = layer(x, causal=True)
    layer.attend = partial(attend_softcapped, cap=CAP)
    whole, weights = layer(x, causal=True)
    cache = KVCache(1, 2, n_kv_heads, N, 4, dtype=torch.float64)[0]
    assert_close(torch.cat([layer(step, causal=True, cache=cache)[0] for step in x.split(1, dim=1)], dim=1), whole)
    assert weights.shape == (2, 6, N, N) and not torch.allclose(whole, uncapped)


@pytest.mark.parametrize(
    ("cap", "error"),
    [(0, ValueError), (-50.0, ValueError), (math.inf, ValueError), (math.nan, ValueError), ("50", TypeError)],
)
def test_a_cap_that_is_none_is_named(cap, error):
    with pytest.raises(error, match=r"^attend_softcapped: cap=.*, expected (a number, )?above 0, and finite\."):
        inspect.unwrap(attend_softcapped)(*inputs(), cap=cap)


def test_the_default_cap_hardly_changes_small_scores():
    q, k, v = inputs()
    assert (attend_softcapped(q, k, v)[0] - attend(q, k, v)[0]).abs().max() < 1e-2
