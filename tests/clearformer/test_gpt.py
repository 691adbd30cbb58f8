"""GPT: counts, causality, parity with a decoder put together by hand, learning, bad input."""

import inspect
import math

import pytest
import torch
import torch.nn.functional as F
from clearformer.layers import GatedFeedForward, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.positions import Rotary
from inline_snapshot import snapshot

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

V, N_POSITIONS, D, H, M, B, N = 13, 19, 24, 6, 2, 3, 7
CONFIG = GPTConfig(V, N_POSITIONS, D, H, M)
MODERN = GPTConfig(
    *(V, N_POSITIONS, D, 4, M),
    d_head=10,
    qk_norm=RMSNorm,
    d_ff=20,
    n_kv_heads=2,
    norm=RMSNorm,
    feed_forward=GatedFeedForward,
    activation=F.silu,
    rope=Rotary,
    tied=False,
)


def ids(batch=B, n=N):
    return torch.randint(V, (batch, n))


def n_parameters(config):
    """By formula: embedding and positions, then for each layer attention, feed-forward and two norms, then a norm."""
    D, F = config.d_model, config.d_ff or 4 * config.d_model
    layer = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return (config.n_vocab + config.n_positions) * D + config.n_layers * layer + 2 * D


@pytest.mark.parametrize("name", ["gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "gpt3-175b"])
def test_presets_have_the_parameters_of_the_formula(name):
    """Catches a wrong size, a missing bias, a head that is not tied; nothing is allocated on the meta device."""
    config = GPTConfig.preset(name)
    with torch.device("meta"):
        model = GPT(config)
    assert sum(p.numel() for p in model.parameters()) == n_parameters(config)


@pytest.mark.parametrize(("tied", "published"), [(True, 174_604_259_328), (False, 175_221_817_344)])
def test_the_175_billion_parameters_of_gpt3_to_the_last(tied, published):
    """Catches a formula above that is wrong in the same way as the model."""
    with torch.device("meta"):
        model = GPT(GPTConfig.preset("gpt3-175b", tied=tied))
    assert sum(p.numel() for p in model.parameters()) == published


def test_an_unknown_preset_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"gpt4.*gpt2, gpt2-medium"):
        GPTConfig.preset("gpt4")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("config", [CONFIG, MODERN], ids=["2019", "today"])
def test_the_future_changes_nothing(config, device):
    """Catches a missing causal mask, and a norm over the sequence."""
    model, x = random_module(GPT(config), torch.float64, device), ids().to(device)
    edited = x.clone()
    edited[:, 4:] = (edited[:, 4:] + 1) % V
    before, after = model(x), model(edited)
    assert_close(after[:, :4], before[:, :4])
    assert (after[:, 4] - before[:, 4]).abs().max() > 1e-3


@pytest.mark.parametrize("config", [CONFIG, MODERN], ids=["2019", "today"])
def test_the_order_of_the_words_matters(config):
    """Catches positions left out, and positions counted along the batch."""
    model = random_module(GPT(config))
    x = torch.tensor([[1, 2, 3], [2, 1, 3]])
    logits = model(x)
    assert (logits[0, -1] - logits[1, -1]).abs().max() > 1e-3
    assert_close(model(x.flip(0)), logits.flip(0))


@pytest.mark.parametrize("config", [CONFIG, MODERN], ids=["2019", "today"])
def test_chunks_with_a_cache_equal_one_forward_pass(config):
    """Catches a wrong offset of positions, and keys stored before they are turned."""
    model, x = random_module(GPT(config)), ids(n=9)
    cache = model.new_cache(B, 9)
    with torch.no_grad():
        chunks = [model(part, cache=cache) for part in x.split([4, 1, 3, 1], dim=1)]
        assert_close(torch.cat(chunks, 1), model(x))


def test_by_its_definition():
    """Catches a residual, a norm or a factor too many: the model written out with its own parts."""
    model, x = random_module(GPT(CONFIG)), ids()
    h = model.tokens.weight[x] + model.positions.weight[:N]
    for block in model.decoder.blocks:
        h = h + block.attention(block.attention_norm(h), causal=True)[0]
        h = h + block.feed_forward(block.feed_forward_norm(h))
    assert_close(model(x), model.decoder.norm(h) @ model.tokens.weight.T)


def test_weights_begin_as_published():
    """Catches the residual projections at full size, and an untied copy of the embedding."""
    model = GPT(GPTConfig(500, 64, 128, 4, 8))
    block = model.decoder.blocks[3]
    assert model.head.weight is model.tokens.weight
    assert block.attention.qkv.weight.std().item() == pytest.approx(0.02, rel=0.05)
    for part in (block.attention.out, block.feed_forward.down):
        assert part.weight.std().item() == pytest.approx(0.02 / math.sqrt(2 * 8), rel=0.05)
        assert not part.bias.any()
    loss = next_token_loss(model, *torch.randint(500, (2, 8, 64)))
    assert loss.item() == pytest.approx(math.log(500), rel=0.05)  # knows nothing yet


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("config", [CONFIG, MODERN], ids=["2019", "today"])
def test_learns_one_batch_by_heart(config, device):
    """Catches a gradient that does not reach a part, and a loss against the wrong targets."""
    model, x = GPT(config).to(device), ids(n=N + 1).to(device)
    x[:, 0] = torch.arange(B)  # else the rows could begin alike and nobody could tell them apart
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(120):
        loss = next_token_loss(model, x[:, :-1], x[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        assert all(p.grad is not None for p in model.parameters())
        optimizer.step()
    assert loss.item() < 0.05


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (torch.zeros(B, N), TypeError, "float32"),
        (torch.full((B, N), V), ValueError, rf"id {V} .*\b0 to {V - 1}\b"),
        (torch.full((B, N), -1), ValueError, "id -1 "),
        (torch.zeros(N, dtype=torch.long), ValueError, r"\(7,\)"),
        (torch.zeros(0, N, dtype=torch.long), ValueError, r"\(0, 7\)"),
        (torch.zeros(B, N_POSITIONS + 1, dtype=torch.long), ValueError, f"{N_POSITIONS + 1} tokens.*{N_POSITIONS}"),
    ],
)
def test_bad_ids_are_named(wrong, error, message):
    forward = inspect.unwrap(GPT.forward)  # without the shape checks that the tests add
    with pytest.raises(error, match=message):
        forward(GPT(CONFIG), wrong)


@pytest.mark.parametrize("rope", [None, Rotary])
def test_heads_that_do_not_divide_the_width_are_named(rope):
    """Catches an odd width per head that Rotary complains of, and a division by 0."""
    assert refusal(ValueError, GPT, GPTConfig(11, 7, 24, 5, 1, rope=rope)) == snapshot(
        "MultiHeadAttention: d_model=24 cannot be split into n_heads=5 equal heads. Choose n_heads from [1, 2, 3, 4, 6, 8, 12, 24] or change d_model."
    )
    assert refusal(ValueError, GPTConfig, 11, 7, 24, 0, 1, rope=rope) == snapshot(
        "GPTConfig: n_heads=0, expected a whole number of at least 1."
    )
