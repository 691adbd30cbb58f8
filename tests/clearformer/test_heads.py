"""Heads with a width of their own, whose queries and keys are normed: by the reference, in half precision, laid out."""

import copy
from inspect import unwrap

import numpy as np
import pytest
import torch
from clearbook.columns import to_reference
from clearformer.attention import attend
from clearformer.generation import generate, prepare_for_generation
from clearformer.layers import LayerNorm, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.reference import attention as reference
from clearformer.reference.layers import rms_norm

from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close
from tests.clearformer.writers import NORMED, gpt, prompts

D, H, G, K, N, S = 24, 6, 2, 10, 5, 7
EPS = 0.3  # large enough to be seen


def normed(d_head):
    return RMSNorm(d_head, eps=EPS)


def by_the_reference(layer, x, source):
    """Each head in columns: the matrices of its queries, keys and values, the norms of the first two, the output's."""
    split = [part.detach().numpy() for part in layer.qkv.weight.split(layer.widths)]
    W_q, W_k, W_v = (part.reshape(-1, K, D) for part in split)
    W_o = layer.out.weight.detach().numpy().reshape(D, H, K)
    gamma_q, gamma_k = (norm.weight.detach().numpy() for norm in (layer.q_norm, layer.k_norm))
    X, Z = to_reference(x), to_reference(source)
    Y = np.zeros((D, N))
    for h in range(H):
        g = h // (H // G)
        queries, keys = rms_norm(W_q[h] @ X, gamma_q, EPS), rms_norm(W_k[g] @ Z, gamma_k, EPS)
        Y += W_o[:, h] @ reference.attend(queries, keys, W_v[g] @ Z)[0]
    return torch.as_tensor(Y.T)[None]


@pytest.mark.parametrize("cross", [False, True])
def test_normed_heads_equal_the_reference(cross):
    """Catches a norm over all heads, one for both queries and keys, one of the values, and none across a source."""
    layer = random_module(MultiHeadAttention(D, H, n_kv_heads=G, d_head=K, qk_norm=normed, bias=False))
    x, source = torch.randn(1, N, D, dtype=torch.float64), torch.randn(1, S, D, dtype=torch.float64)
    y, _ = layer(x, source) if cross else layer(x)
    assert_close(y, by_the_reference(layer, x, source if cross else x))


def test_queries_and_keys_are_normed_before_they_are_turned():
    """Catches the other order, which differs since the features of a pair have scales of their own."""
    layer = random_module(MultiHeadAttention(D, 5, d_head=K, qk_norm=RMSNorm, rope=Rotary(K, N, dtype=torch.float64)))
    seen = {}
    layer.attend = lambda q, k, v, mask, causal: seen.update(q=q, k=k) or attend(q, k, v, mask, causal=causal)
    x = torch.randn(1, N, D, dtype=torch.float64)
    layer(x)
    for name, norm, part in (("q", layer.q_norm, 0), ("k", layer.k_norm, 1)):
        projected = layer.qkv(x).split(layer.widths, dim=2)[part].unflatten(2, (-1, K)).transpose(1, 2)
        assert_close(seen[name], layer.rope(norm(projected), slice(0, N)))


def test_the_configuration_builds_the_heads_with_its_epsilon():
    config = GPTConfig(11, N, D, 5, 1, d_head=K, eps=EPS, qk_norm=RMSNorm)
    attention = GPT(config).decoder.blocks[0].attention
    assert attention.q_norm is not attention.k_norm and attention.q_norm.eps == attention.k_norm.eps == EPS
    assert attention.widths == (5 * K,) * 3 and attention.out.weight.shape == (D, 5 * K)
    assert GPTConfig(11, N, D, 6, 1).filled().d_head == D // 6


def test_weights_of_normed_heads_are_stored_and_loaded():
    """Catches a norm that is no module of its own, so that a checkpoint lacks it."""
    model, other, ids = gpt(NORMED), gpt(NORMED), prompts()
    stored = model.state_dict()
    assert {"decoder.blocks.0.attention.q_norm.weight", "decoder.blocks.1.attention.k_norm.weight"} <= stored.keys()
    with torch.no_grad():
        assert not torch.equal(model(ids), other(ids))
        other.load_state_dict(stored)
        assert torch.equal(model(ids), other(ids))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_normed_heads_write_in_half_precision(dtype):
    """Catches keys that a norm gives in float32, which no cache of half precision takes."""
    model, ids = gpt(NORMED), prompts()
    with torch.no_grad():
        expected = model(ids)
        model.to(dtype)
        torch.testing.assert_close(model(ids).double(), expected, rtol=0.05, atol=0.1)
    assert generate(model, ids, 6).shape == (len(ids), ids.shape[1] + 6)


def test_normed_heads_write_the_same_prepared():
    model, ids = gpt(NORMED), prompts()
    prepared = prepare_for_generation(copy.deepcopy(model))
    attention = prepared.decoder.blocks[0].attention
    assert attention.qkv.weight.t().is_contiguous() and attention.out.weight.is_contiguous()
    assert torch.equal(generate(prepared, ids, 9), generate(model, ids, 9, cached=False))


@pytest.mark.parametrize("wrong", [3, "RMSNorm", len])
def test_a_norm_of_queries_and_keys_that_builds_nothing_is_named(wrong):
    build = unwrap(MultiHeadAttention.__init__)
    layer = MultiHeadAttention.__new__(MultiHeadAttention)
    with pytest.raises(TypeError, match=r"^MultiHeadAttention: qk_norm=.*, such as layers\.RMSNorm"):
        build(layer, D, H, qk_norm=wrong)


def test_another_norm_may_be_chosen():
    layer = MultiHeadAttention(D, H, qk_norm=LayerNorm)
    assert isinstance(layer.q_norm, LayerNorm) and layer.q_norm.weight.shape == (D // H,)
