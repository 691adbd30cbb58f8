"""DeepSeek-V2 and V3: keys and values from a latent vector, shared and routed experts, the first layers without."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from clearformer.attention import attend_fused
from clearformer.experts import GroupRouter, MixtureOfExperts, SharedExperts
from clearformer.layers import GatedFeedForward
from clearformer.models.latent import LatentGPT, LatentGPTConfig
from clearformer.models.options import Layer, each_layer
from clearformer.pretrained.experts import DENSE, NETWORK, dense_layers, read_experts, routed_layers
from clearformer.pretrained.llama import BLOCK, LLAMA, THEIRS
from clearformer.pretrained.reach import FIELDS, as_fields, written_rope
from clearformer.pretrained.rope import flatten_rope, read_rope
from clearformer.pretrained.tables import PAIRED, Row, without_fields
from clearformer.pretrained.together import Together, read_flag, read_number, read_whole
from clearformer.rope_scaling import YarnScaling

SOFTMAX = partial(torch.softmax, dim=-1)
EXPERT, THEIR_EXPERT = NETWORK + "routed.experts.{e}.", THEIRS + "mlp.experts.{e}."


def _routed(config: Any) -> dict[str, Any]:
    """What the routed experts of a model are built with."""
    said = getattr(config.feed_forward, "keywords", {})
    return getattr(said.get("routed"), "keywords", {})


def _narrowed(config: Any) -> range:
    return range(config.n_layers if config.d_query_latent is not None else 0)


def _one_map(config: Any) -> range:
    return range(config.n_layers if config.d_query_latent is None else 0)


def _read_layers(options: dict) -> dict:
    """Layers with experts behind some without; neighbours turn in pairs; scores grow where YaRN says so."""
    rope = read_rope(options)
    if read_flag(options, "rope_interleave", True):
        rope = partial(rope, interleaved=True)
    n_layers, n_dense = read_whole(options, "num_hidden_layers"), read_number(options, "first_k_dense_replace", 0)
    layers = [Layer(None, rope, GatedFeedForward if i < n_dense else None) for i in range(n_layers)]
    scale = _scale(options, rope)
    return as_fields(layers) | {"attend": None if scale is None else partial(attend_fused, scale=scale)}


def _read_layers_in_pairs(options: dict) -> dict:
    """V2 has no option for halves that turn."""
    return _read_layers(options | {"rope_interleave": True})


def _scale(options: dict, rope: Callable) -> float | None:
    """What scores are multiplied by; None for the usual. Source: the published code, ``softmax_scale``."""
    part, scaling = float(read_number(options["rope"], "mscale_all_dim", 0.0)), _scaling(rope)
    if not part or scaling is None or scaling.factor <= 1:
        return None
    width = read_whole(options, "qk_nope_head_dim") + read_whole(options, "qk_rope_head_dim")
    return _grown(width, part, scaling)


def _scaling(rope: Any) -> YarnScaling | None:
    found = getattr(rope, "keywords", {}).get("scaling")
    return found if isinstance(found, YarnScaling) else None


def _grown(width: int, part: float, scaling: YarnScaling) -> float:
    return width**-0.5 * (0.1 * part * math.log(scaling.factor) + 1.0) ** 2


def _write_layers(config: Any) -> dict:
    layers = each_layer(config)
    dense = [layer.feed_forward is not None for layer in layers]
    said = written_rope(layers)
    rope = next((layer.rope for layer in layers if layer.rope is not None), None)
    scale, scaling = getattr(config.attend, "keywords", {}).get("scale"), _scaling(rope)
    if scale is not None and scaling is not None and scaling.factor > 1:
        width = config.d_unturned + config.d_head
        part = (abs(scale * width**0.5) ** 0.5 - 1.0) / (0.1 * math.log(scaling.factor))
        nearest = round(part, 9)  # the number that somebody typed
        part = nearest if _grown(width, nearest, scaling) == scale else part
        said["rope_scaling"] = said["rope_scaling"] | {"mscale_all_dim": part}
    interleaved = getattr(rope, "keywords", {}).get("interleaved", False)
    return said | {"first_k_dense_replace": sum(dense), "rope_interleave": interleaved}


def _read_routing(options: dict) -> dict:
    sizes = read_experts(options, "n_routed_experts", "num_experts_per_tok", 64, 6)
    n_groups, top_groups = read_whole(options, "n_group", 1), read_whole(options, "topk_group", 1)
    n_experts, top_k = sizes["n_experts"], sizes["top_k"]
    if n_experts % n_groups or top_groups > n_groups or top_k > top_groups * (n_experts // n_groups):
        raise ValueError(
            f"from_pretrained: {top_k} of {n_experts} experts in topk_group={top_groups} of n_group={n_groups} in "
            "config.json, expected equal groups that hold as many."
        )
    return sizes | {"n_groups": n_groups, "top_groups": top_groups}


def _network(options: dict, sizes: dict, **router: Any) -> dict:
    """Shared and routed experts of these sizes."""
    groups = {name: sizes[name] for name in ("n_groups", "top_groups")}
    width, n_shared = read_whole(options, "moe_intermediate_size"), read_whole(options, "n_shared_experts")
    scale = float(read_number(options, "routed_scaling_factor"))
    if scale <= 0:
        raise ValueError(f"from_pretrained: routed_scaling_factor={scale} in config.json, expected a number above 0.")
    routed = partial(
        MixtureOfExperts,
        n_experts=sizes["n_experts"],
        top_k=sizes["top_k"],
        d_expert=width,
        router=partial(GroupRouter, **groups, **router, scale=scale),
    )
    return {"feed_forward": partial(SharedExperts, d_shared=width * n_shared, routed=routed)}


def _read_softmax(options: dict) -> dict:
    """V2: the best expert of a group speaks for it; without groups all of them are one."""
    if options["topk_method"] not in ("greedy", "group_limited_greedy"):
        came = options["topk_method"]
        raise ValueError(f"from_pretrained: topk_method={came!r} is not supported, only greedy, group_limited_greedy.")
    grouped = options["topk_method"] != "greedy"
    sizes = _read_routing(options if grouped else options | {"n_group": 1, "topk_group": 1})
    return _network(options, sizes, score=SOFTMAX, n_best=1, corrected=False)


def _read_sigmoids(options: dict) -> dict:
    """V3: the best two of a group speak for it, with a bias for those that are seldom chosen."""
    sizes = _read_routing(options)
    if sizes["n_groups"] > 1 and sizes["n_experts"] < 2 * sizes["n_groups"]:
        raise ValueError("from_pretrained: n_group in config.json leaves one expert a group, expected two or more.")
    return _network(options, sizes, normalise=read_flag(options, "norm_topk_prob", True))


def _write_routing(config: Any) -> dict:
    said, router = _routed(config), getattr(_routed(config).get("router"), "keywords", {})
    width = said.get("d_expert") or config.d_ff
    shared = getattr(config.feed_forward, "keywords", {}).get("d_shared", width)
    return {
        "n_routed_experts": said.get("n_experts"),
        "num_experts_per_tok": said.get("top_k", 1),
        "moe_intermediate_size": width,
        "n_shared_experts": shared // width,
        "n_group": router.get("n_groups", 1),
        "topk_group": router.get("top_groups", 1),
        "topk_method": "greedy" if router.get("n_groups", 1) == 1 else "group_limited_greedy",
        "routed_scaling_factor": router.get("scale", 1.0),
        "norm_topk_prob": router.get("normalise", False),
    }


def _write_sigmoids(config: Any) -> dict:
    return _write_routing(config) | {"topk_method": "noaux_tc"}


LATENT_OPTIONS = without_fields(LLAMA.options, "n_kv_heads", "d_head") | {
    "d_head": "qk_rope_head_dim",
    "d_unturned": "qk_nope_head_dim",
    "d_value": "v_head_dim",
    "d_latent": "kv_lora_rank",
    "d_query_latent": "q_lora_rank",
}
LATENT_DEFAULTS = {"qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "kv_lora_rank": 512}
ATTENTION = (
    Row(BLOCK + "attention.query_down.weight", THEIRS + "self_attn.q_a_proj.weight", only=_narrowed),
    Row(BLOCK + "attention.query_norm.weight", THEIRS + "self_attn.q_a_layernorm.weight", only=_narrowed),
    Row(BLOCK + "attention.query.weight", THEIRS + "self_attn.q_b_proj.weight", only=_narrowed),
    Row(BLOCK + "attention.query.weight", THEIRS + "self_attn.q_proj.weight", only=_one_map),
    Row(BLOCK + "attention.down.weight", THEIRS + "self_attn.kv_a_proj_with_mqa.weight"),
    Row(BLOCK + "attention.latent_norm.weight", THEIRS + "self_attn.kv_a_layernorm.weight"),
    Row(BLOCK + "attention.up.weight", THEIRS + "self_attn.kv_b_proj.weight"),
    Row(BLOCK + "attention.out.weight", THEIRS + "self_attn.o_proj.weight"),
)
SHARED = tuple(
    row._replace(
        ours=row.ours.replace("feed_forward.", "feed_forward.shared."),
        theirs=str(row.theirs).replace("mlp.", "mlp.shared_experts."),
        only=routed_layers,
    )
    for row in DENSE
)
DEEPSEEK_V2 = replace(  # DeepSeek-AI 2024 (DeepSeek-V2), section 2
    LLAMA,
    model_type="deepseek_v2",
    class_name="DeepseekV2ForCausalLM",
    bare="DeepseekV2Model",
    model=LatentGPT,
    config=LatentGPTConfig,
    build=LatentGPT,
    rows=(
        *(row for row in LLAMA.rows if ".attention." not in row.ours and ".feed_forward." not in row.ours),
        *ATTENTION,
        *(row._replace(only=dense_layers) for row in DENSE),
        *SHARED,
        Row(NETWORK + "routed.router.weight", THEIRS + "mlp.gate.weight", only=routed_layers),
        Row(EXPERT + "gate_up.weight", THEIR_EXPERT + "(gate|up)_proj.weight", PAIRED, routed_layers),
        Row(EXPERT + "down.weight", THEIR_EXPERT + "down_proj.weight", only=routed_layers),
    ),
    layers={"i": "n_layers", "e": lambda config: _routed(config).get("n_experts", 0)},
    options=LATENT_OPTIONS,
    together=(
        Together((*FIELDS, "attend"), _read_layers_in_pairs, _write_layers),
        Together(("feed_forward",), _read_softmax, _write_routing),
    ),
    plain=flatten_rope,
    defaults=LLAMA.defaults
    | LATENT_DEFAULTS
    | {"q_lora_rank": 1536, "n_shared_experts": 2, "moe_intermediate_size": 1407, "topk_method": "greedy"}
    | {"routed_scaling_factor": 1.0, "norm_topk_prob": False},
    fixed={"attention_bias": False, "mlp_bias": False, "norm_topk_prob": False, "scoring_func": "softmax"}
    | {"moe_layer_freq": 1, "rope_interleave": True},
    same={"num_key_value_heads": lambda options: options["num_attention_heads"]},
    constants=without_fields(LLAMA.constants, "feed_forward", "attend") | {"n_kv_heads": None},
)
DEEPSEEK_V3 = replace(  # DeepSeek-AI 2024 (DeepSeek-V3), section 2.1
    DEEPSEEK_V2,
    model_type="deepseek_v3",
    class_name="DeepseekV3ForCausalLM",
    bare="DeepseekV3Model",
    rows=(
        *DEEPSEEK_V2.rows,
        Row(NETWORK + "routed.router.correction", THEIRS + "mlp.gate.e_score_correction_bias", only=routed_layers),
    ),
    together=(
        Together((*FIELDS, "attend"), _read_layers, _write_layers),
        Together(("feed_forward",), _read_sigmoids, _write_sigmoids),
    ),
    defaults=LLAMA.defaults
    | LATENT_DEFAULTS
    | {"q_lora_rank": 1536, "n_shared_experts": 1, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_group": 8}
    | {"topk_group": 4, "moe_intermediate_size": 2048, "routed_scaling_factor": 2.5, "first_k_dense_replace": 3},
    fixed={"attention_bias": False, "scoring_func": "sigmoid", "topk_method": "noaux_tc", "moe_layer_freq": 1},
)
