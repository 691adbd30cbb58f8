"""What the configuration of a DeepSeek says together: larger scores, groups of experts, layers without; and refusals."""

import math
from dataclasses import replace

import pytest
import torch
from clearformer.layers import GatedFeedForward
from clearformer.models.options import LayerOptions
from clearformer.pretrained.convert import read_config, write_config
from clearformer.pretrained.folders import ARCHITECTURES

from tests.clearformer.decoders import LATENT, YARN

GROUPS = LATENT | {"n_group": 3, "topk_group": 2}
STRETCHED = {"rope_parameters": YARN | {"mscale": 0.707, "mscale_all_dim": 0.707}}
KINDS = pytest.mark.parametrize("kind", ["deepseek_v2", "deepseek_v3"])


@KINDS
def test_where_positions_are_stretched_scores_are_larger_and_the_number_comes_back(kind):
    """As the authors published both; transformers 5.2 does it for the third generation alone."""
    table = ARCHITECTURES[kind]
    config = read_config(table, GROUPS | STRETCHED).filled()
    expected = (4 + 6) ** -0.5 * (0.1 * 0.707 * math.log(4.0) + 1) ** 2
    assert config.attend.keywords["scale"] == expected and config.rope.keywords["scaling"].amplitude == 1.0
    options, misfits = write_config(table, config)
    assert not misfits and options["rope_scaling"]["mscale_all_dim"] == 0.707
    assert read_config(table, GROUPS).attend is None


@KINDS
def test_only_the_first_layers_may_be_without_experts(kind):
    table = ARCHITECTURES[kind]
    config = read_config(table, GROUPS | {"first_k_dense_replace": 2}).filled()
    assert [layer for exception in config.layers for layer in exception.layers] == [0, 1]
    dense = LayerOptions((2,), rope=config.rope, feed_forward=GatedFeedForward)
    _, misfits = write_config(table, replace(config, layers=(dense,)))
    assert misfits and "layers=" in misfits[0]


def test_the_second_generation_turns_neighbours_alone():
    """Catches halves that are saved as neighbours: nothing in its configuration says which."""
    table = ARCHITECTURES["deepseek_v2"]
    config = read_config(ARCHITECTURES["deepseek_v3"], GROUPS | {"rope_interleave": False}).filled()
    assert config.rope.keywords.get("interleaved", False) is False
    routing = read_config(table, GROUPS).feed_forward
    _, misfits = write_config(table, replace(config, feed_forward=routing))
    assert misfits and "rope=" in misfits[0]


@pytest.mark.parametrize(
    ("kind", "changes", "told"),
    [
        ("deepseek_v2", {"topk_method": "noaux_tc"}, "topk_method='noaux_tc'"),
        ("deepseek_v2", {"topk_method": ["greedy"]}, "topk_method="),
        ("deepseek_v2", {"topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 1}, "n_group=4"),
        ("deepseek_v2", {"norm_topk_prob": True}, "norm_topk_prob"),
        ("deepseek_v3", {"topk_group": 4}, "topk_group=4"),
        ("deepseek_v3", {"topk_group": 1, "num_experts_per_tok": 3}, "3 of 6 experts"),
        ("deepseek_v3", {"n_group": 6, "topk_group": 6}, "one expert a group"),
        ("deepseek_v3", {"routed_scaling_factor": 0}, "routed_scaling_factor"),
        ("deepseek_v3", {"num_key_value_heads": 2}, "num_key_value_heads"),
        ("deepseek_v3", {"qk_nope_head_dim": "4"}, "qk_nope_head_dim"),
        ("deepseek_v3", {"quantization_config": {"quant_method": "fp8"}}, "quantization_config"),
    ],
)
def test_what_a_deepseek_cannot_be_is_told(kind, changes, told):
    with pytest.raises(ValueError, match=f"^from_pretrained: .*{told}"), torch.device("meta"):
        read_config(ARCHITECTURES[kind], GROUPS | changes)
