"""Layers with another window or other positions: which layer has which, and what cannot be meant."""

from functools import partial

import torch
from clearformer.attention import attend_softcapped, window_mask
from clearformer.block_variants import OutputNormBlock, ScaledHead
from clearformer.experts import MixtureOfExperts
from clearformer.layers import FeedForward, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.modernbert import ModernBERT, ModernBERTConfig
from clearformer.models.options import Layer, LayerOptions, each_layer
from clearformer.positions import Rotary
from inline_snapshot import snapshot

from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

V, N_POSITIONS, D, H, M, B, N = 13, 19, 24, 4, 4, 2, 9
SLOW = partial(Rotary, base=1e6)
OWN = (LayerOptions((1,), window=3), LayerOptions((0, 3), rope=SLOW))


def config(**changes) -> GPTConfig:
    return GPTConfig(V, N_POSITIONS, D, H, M, **{"rope": Rotary, "window": 5, "layers": OWN} | changes)


def test_an_exception_replaces_window_and_rope_of_its_layers_alone():
    every, turned = Layer(5, Rotary), Layer(None, SLOW)
    assert each_layer(config()) == [turned, Layer(3, None), every, turned]


def test_a_layer_may_have_a_network_of_its_own_with_the_activation_of_all():
    """Catches experts in a layer that is to have none, and an activation that is lost on the way."""
    routed = partial(MixtureOfExperts, n_experts=3)
    model = GPT(
        config(feed_forward=routed, activation=torch.tanh, layers=(LayerOptions((2,), feed_forward=FeedForward),))
    )
    networks = [block.feed_forward for block in model.decoder.blocks]
    assert [type(network).__name__ for network in networks] == ["MixtureOfExperts"] * 2 + [
        "FeedForward",
        "MixtureOfExperts",
    ]
    assert networks[2].activation is networks[0].experts[0].activation is torch.tanh


def test_each_layer_is_built_with_its_own_and_layers_alike_share_a_table():
    attention = [block.attention for block in GPT(config()).decoder.blocks]
    assert [part.window for part in attention] == [None, 3, 5, None]
    assert attention[0].rope is attention[3].rope is not attention[2].rope and attention[1].rope is None


def test_a_window_hides_what_is_further_back():
    """Catches a window that is one too wide or too narrow: the same model with its masks by hand."""
    model = random_module(GPT(config(layers=())))
    ids = torch.randint(V, (B, N))
    open_model = GPT(config(layers=(), window=None)).double()
    open_model.load_state_dict(model.state_dict())
    assert_close(model(ids), open_model(ids, window_mask(N, width=5)))


def test_a_window_of_an_encoder_reaches_to_both_sides():
    """Catches a window that looks back alone, and one that is cut to what a decoder sees."""
    near = (LayerOptions((0, 1), window=3, rope=SLOW),)
    model = random_module(ModernBERT(ModernBERTConfig(V, N_POSITIONS, D, H, 2, layers=near)))
    open_model = ModernBERT(ModernBERTConfig(V, N_POSITIONS, D, H, 2, rope=SLOW)).double()
    open_model.load_state_dict(model.state_dict())
    ids, seen = torch.randint(V, (B, N)), window_mask(N, width=3, both_sides=True)
    assert_close(model(ids), open_model(ids, seen))
    shown = torch.arange(N) < torch.tensor([[N], [N - 2]])
    expected = open_model(ids, seen & shown[:, None, None])
    assert_close(model(ids, shown[:, None, None])[shown], expected[shown])


def test_what_a_layer_of_your_own_does_not_know_is_not_passed_on():
    """Catches an attention of one's own that has to take every option there is."""
    given = []

    def attention(d_model, n_heads, *, n_kv_heads, d_head, qk_norm, rope):
        given.append(d_head)
        return torch.nn.Identity()

    GPT(GPTConfig(V, N_POSITIONS, D, H, M), attention=attention)
    assert given == [D // H] * M


@torch.no_grad()
def test_everything_at_once_in_chunks_with_a_cache():
    """Catches a window, a cap or a joint norm that meets a cache otherwise than a whole text."""
    parts = {"n_kv_heads": 2, "qk_norm": RMSNorm, "joint_norm": True, "norm": RMSNorm, "block": OutputNormBlock}
    parts |= {"attend": partial(attend_softcapped, cap=3.0, scale=0.4), "embedding_scale": 3.0}
    model = random_module(GPT(config(**parts, head=partial(ScaledHead, cap=4.0, scale=0.5))))
    ids, cache = torch.randint(V, (B, N)), model.new_cache(B, N)
    assert_close(torch.cat([model(part, cache=cache) for part in ids.split([4, 1, 3, 1], 1)], 1), model(ids))


def test_exceptions_that_cannot_be_are_named():
    """Catches a layer that is not there, and one that gets what the last of two exceptions says."""
    assert refusal(ValueError, config, layers=(LayerOptions((4,)),)) == snapshot(
        "GPTConfig: layer 4 in layers is none of 4, expected each of 0 to 3 once."
    )
    assert refusal(ValueError, config, layers=(LayerOptions((1,)), LayerOptions((1,)))) == snapshot(
        "GPTConfig: layer 1 in layers stands twice, expected each of 0 to 3 once."
    )
    assert refusal(ValueError, LayerOptions, (1, -1)) == snapshot(
        "LayerOptions: layers=-1, expected a whole number of at least 0."
    )
    assert refusal(ValueError, LayerOptions, (1,), window=0) == snapshot(
        "LayerOptions: window=0, expected a whole number of at least 1."
    )
