"""What ``info`` counts and prints of a model, by hand: parts by size, work of a latent attention, parts with options."""

from functools import partial

from clearformer.commands import costs, description
from clearformer.layers import RMSNorm
from clearformer.models.latent import LatentGPT, LatentGPTConfig
from clearformer.positions import Rotary


def model():
    sizes = {"d_head": 4, "d_latent": 5, "d_unturned": 3, "d_value": 6}
    return LatentGPT(LatentGPTConfig(11, 30, 12, 3, 2, rope=Rotary, **sizes))


def test_the_largest_part_comes_first():
    sizes = [*costs.weights_by_part(model()).values()]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) > 2


def test_a_latent_attention_compares_both_parts_of_a_key_and_adds_up_a_value():
    """Three heads, two layers, thirty tokens; 2 FLOPs for each of 3 + 4 features of a key, and 6 of a value."""
    assert costs.flops_of_attention(model()) == 2 * 3 * 2 * 30 * (3 + 4 + 6)
    told = dict(description._one_token(model()))
    assert told[""].startswith(f"{description._round(2 * 3 * 2 * 30 * (3 + 4 + 6))} FLOP to look back")


def test_a_part_is_told_with_its_options_and_anything_else_as_it_prints():
    assert description._value(partial(RMSNorm, eps=0.5)) == "RMSNorm, eps=0.5"
    assert description._value((1, 2)) == "(1, 2)"
