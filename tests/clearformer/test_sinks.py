"""Attention with a learned sink in each head, written out; alone, in groups, with masks, a window and a cache."""

import math
from functools import partial

import pytest
import torch
from clearformer.attention import attend, causal_mask, padding_mask, window_mask
from clearformer.cache import KVCache
from clearformer.distances import DistanceBuckets
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.sinks import SinkAttention

from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

B, N, D, H, K = 2, 7, 12, 4, 3


def by_hand(layer: SinkAttention, x: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """One head after the other, with a sum of exponentials that has one term more."""
    q, k, v = layer.qkv(x).split(layer.widths, dim=2)
    outputs, weights = [], []
    for h in range(H):
        group = h // (H // layer.n_kv_heads)
        scores = q[..., h * K : (h + 1) * K] @ k[..., group * K : (group + 1) * K].mT / math.sqrt(K)
        powers = scores.exp() * seen
        weights.append(powers / (powers.sum(-1, keepdim=True) + layer.sinks[h].exp()))
        outputs.append(weights[-1] @ v[..., group * K : (group + 1) * K])
    return layer.out(torch.cat(outputs, -1)), torch.stack(weights, 1)


@pytest.mark.parametrize("n_kv_heads", [H, 2, 1])
@pytest.mark.parametrize("window", [None, 3])
@torch.no_grad()
def test_the_sum_has_one_term_more(n_kv_heads, window):
    layer = random_module(SinkAttention(D, H, n_kv_heads=n_kv_heads, window=window, attend=attend))
    x, ids = torch.randn(B, N, D, dtype=torch.float64), torch.randint(2, (B, N))
    ids[:, 0] = 1
    padding = padding_mask(ids, 0)
    seen = causal_mask(N) if window is None else window_mask(N, width=window)
    y, weights = layer(x, None, padding, causal=True)
    expected, expected_weights = by_hand(layer, x, (seen & padding)[:, 0])
    assert_close(y, expected)
    if window is None:
        assert_close(weights, expected_weights)
    fused = SinkAttention(D, H, n_kv_heads=n_kv_heads, window=window).double()
    fused.load_state_dict(layer.state_dict())
    assert_close(fused(x, None, padding, causal=True)[0], expected)


@torch.no_grad()
def test_a_bias_is_for_the_sources_and_not_for_the_sink():
    """Catches a bias that is moved by a source, or that the sink gets as well."""
    distances = DistanceBuckets(H, n_buckets=8, max_distance=9, ahead=False)
    layer = random_module(SinkAttention(D, H, relative=distances, attend=attend))
    x = torch.randn(B, N, D, dtype=torch.float64)
    q, k, _ = layer.qkv(x).view(B, N, 3, H, K).permute(2, 0, 3, 1, 4)
    scores = q @ k.mT / math.sqrt(K) + layer.relative(q, N)
    powers = scores.exp() * causal_mask(N)
    assert_close(layer(x, causal=True)[1], powers / (powers.sum(-1, keepdim=True) + layer.sinks.exp()[:, None, None]))


@torch.no_grad()
def test_in_half_precision_it_is_nearly_the_same():
    """Catches a sink that stays in float32 beside keys that do not."""
    layer, x = random_module(SinkAttention(D, H), torch.float32), torch.randn(B, N, D)
    with torch.autocast("cpu", torch.bfloat16):
        y = layer(x, causal=True)[0]
    assert y.dtype == torch.bfloat16 and torch.allclose(y.float(), layer(x, causal=True)[0], atol=0.1)


@torch.no_grad()
def test_in_chunks_with_a_cache_it_is_the_same():
    layer, x = random_module(SinkAttention(D, H, n_kv_heads=2, window=4)), torch.randn(B, N, D, dtype=torch.float64)
    cache = KVCache(1, B, 2, N, K, dtype=torch.float64)[0]
    chunks = [layer(part, causal=True, cache=cache)[0] for part in x.split([3, 1, 2, 1], 1)]
    assert_close(torch.cat(chunks, 1), layer(x, causal=True)[0])


def test_a_sink_that_is_never_reached_changes_nothing_and_one_that_is_learns():
    layer, x = random_module(SinkAttention(D, H)), torch.randn(B, N, D, dtype=torch.float64)
    plain = MultiHeadAttention(D, H).double()
    plain.load_state_dict(layer.state_dict(), strict=False)
    layer(x)[0].square().sum().backward()
    assert (layer.sinks.grad.abs() > 0).all()
    with torch.no_grad():
        layer.sinks.fill_(-1e9)
        assert_close(layer(x)[0], plain(x)[0])


def test_a_model_is_built_with_it():
    model = GPT(GPTConfig(11, 9, D, H, 2, rope=partial(Rotary, base=50.0), d_head=4), attention=SinkAttention)
    assert [block.attention.sinks.shape for block in model.decoder.blocks] == [(H,), (H,)]
