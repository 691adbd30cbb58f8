"""Attention from a latent vector, head by head; its cache, in a model that writes, rolls on and is exported."""

import math

import pytest
import torch
from clearformer.attention import attend, causal_mask
from clearformer.cache import KVCache
from clearformer.generation import generate
from clearformer.latent import LatentAttention
from clearformer.layers import RMSNorm
from clearformer.models.latent import LatentGPT, LatentGPTConfig
from clearformer.models.options import LayerOptions
from clearformer.positions import Rotary

from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

B, N, D, H = 2, 7, 12, 3
WIDTHS = {"d_latent": 5, "d_turned": 4, "d_unturned": 3, "d_value": 6}
CONFIG = LatentGPTConfig(
    11, 30, D, H, 2, rope=Rotary, d_head=4, **{name: width for name, width in WIDTHS.items() if name != "d_turned"}
)


@pytest.mark.parametrize("d_query_latent", [None, 8])
@torch.no_grad()
def test_each_head_has_keys_and_values_of_its_own_from_the_latent_vector(d_query_latent):
    """Catches features in another order, and a turned key that is not the same for all heads."""
    rope = Rotary(4, N, interleaved=True).double()
    layer = random_module(
        LatentAttention(D, H, **WIDTHS, d_query_latent=d_query_latent, rope=rope, attend=attend), torch.float64
    )
    x = torch.randn(B, N, D, dtype=torch.float64)
    y, weights = layer(x, causal=True)
    latent = layer.latent_norm(x @ layer.down.weight[:5].T)
    shared = rope((x @ layer.down.weight[5:].T)[:, None], slice(0, N))[:, 0]
    narrowed = x if d_query_latent is None else layer.query_norm(layer.query_down(x))
    outputs = []
    for h in range(H):
        queries = narrowed @ layer.query.weight[7 * h : 7 * h + 7].T
        turned = rope(queries[:, None, :, 3:], slice(0, N))[:, 0]
        made = latent @ layer.up.weight[9 * h : 9 * h + 9].T
        scores = (queries[..., :3] @ made[..., :3].mT + turned @ shared.mT) / math.sqrt(7)
        A = scores.masked_fill(~causal_mask(N), -math.inf).softmax(-1)
        assert_close(weights[:, h], A)
        outputs.append(A @ made[..., 3:])
    assert_close(y, layer.out(torch.cat(outputs, 2)))


@torch.no_grad()
def test_a_cache_holds_a_latent_vector_and_one_key_for_all_heads():
    layer = random_module(LatentAttention(D, H, **WIDTHS, rope=Rotary(4, N)), torch.float64)
    x, cache = torch.randn(B, N, D, dtype=torch.float64), KVCache(1, B, 1, N, 4, d_value=5, dtype=torch.float64)
    parts = [layer(x[:, part], causal=True, cache=cache[0])[0] for part in (slice(0, 4), slice(4, 5), slice(5, N))]
    assert_close(torch.cat(parts, 1), layer(x, causal=True)[0])
    assert (cache[0].k.shape, cache[0].v.shape) == ((B, 1, N, 4), (B, 1, N, 5))


@torch.no_grad()
def test_a_model_writes_the_same_with_and_without_a_cache_and_beyond_it():
    model = random_module(LatentGPT(CONFIG), torch.float64).eval()
    prompts = [[1, 2, 3], [4], [5, 6, 7, 8]]
    rows = [generate(model, prompts, 9, cached=cached) for cached in (True, False)]
    assert all(torch.equal(a, b) for a, b in zip(*rows, strict=True))
    assert generate(model, torch.tensor([[1, 2]]), 40, n_sinks=2).shape == (1, 42)
    numbers = sum(layer.k.numel() + layer.v.numel() for layer in model.new_cache(1, 30).layers)
    assert numbers == 2 * 30 * (4 + 5)


@pytest.mark.parametrize("d_query_latent", [None, 8])
def test_no_map_of_it_has_a_bias(d_query_latent):
    """Catches weights that no published file has."""
    layer = LatentAttention(D, H, **WIDTHS, d_query_latent=d_query_latent)
    assert not [name for name, _ in layer.named_parameters() if name.endswith("bias")]


def test_what_a_latent_attention_has_not_is_told():
    layer = LatentAttention(D, H, **WIDTHS)
    with pytest.raises(ValueError, match="LatentAttention: a source"):
        layer(torch.zeros(B, N, D), torch.zeros(B, N, D))
    for name, wrong in (("d_latent", 0), ("d_turned", 0), ("d_unturned", 0), ("d_value", -2), ("d_query_latent", -1)):
        with pytest.raises(ValueError, match=f"LatentAttention: {name}="):
            LatentAttention(D, H, **WIDTHS | {name: wrong})
    for changes in ({"n_kv_heads": 1}, {"qk_norm": RMSNorm}, {"window": 3}, {"joint_norm": True}):
        with pytest.raises(ValueError, match=f"LatentGPTConfig: {next(iter(changes))} was given"):
            LatentGPTConfig(11, 30, D, H, 2, **changes)
    with pytest.raises(ValueError, match="LatentGPTConfig: window was given"):
        LatentGPTConfig(11, 30, D, H, 2, layers=(LayerOptions((1,), window=3),))
    with pytest.raises(ValueError, match="there is no 'gpt2'"):
        LatentGPTConfig.preset("gpt2")
