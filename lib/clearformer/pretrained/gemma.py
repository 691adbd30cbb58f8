"""Gemma, its second and its third generation (the text models): norms around 1, wide heads, scaled embeddings."""

from dataclasses import replace
from functools import partial
from typing import Any

from torch import nn

from clearformer.attention import attend_fused, attend_softcapped
from clearformer.block_variants import OutputNormBlock, ScaledHead
from clearformer.layers import RMSNorm
from clearformer.models.options import Layer
from clearformer.pretrained.llama import BLOCK, LLAMA, QK_NORMS, THEIRS
from clearformer.pretrained.reach import (
    FULL,
    SLIDING,
    every_second_window,
    layer_types,
    positive_or_none,
    reaches,
    rope_of_kind,
    written_rope,
    written_ropes_of_kinds,
    written_types,
)
from clearformer.pretrained.tables import Row, without_fields
from clearformer.pretrained.together import Together, d_head, read_number, read_whole

NORM = partial(RMSNorm, around_one=True)
# The embedding times the root of its width; in config.json nothing says so.
ROOT = Together(
    ("embedding_scale",), lambda options: {"embedding_scale": read_whole(options, "hidden_size") ** 0.5}, lambda c: {}
)
DEFAULTS = {"tie_word_embeddings": True, "head_dim": 256, "rms_norm_eps": 1e-6}
GEMMA_CONSTANTS = without_fields(LLAMA.constants, "embedding_scale") | {"norm": NORM}
FIXED = {"attention_bias": False}


def _written(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """With a norm before and one after each part, of which theirs has other names."""
    return (
        *(row for row in rows if "feed_forward_norm" not in row.ours),
        Row(BLOCK + "attention_output_norm.weight", THEIRS + "post_attention_layernorm.weight"),
        Row(BLOCK + "feed_forward_norm.weight", THEIRS + "pre_feedforward_layernorm.weight"),
        Row(BLOCK + "feed_forward_output_norm.weight", THEIRS + "post_feedforward_layernorm.weight"),
    )


def _read_caps(options: dict) -> dict:
    """How scores are scaled, and the caps of scores and logits."""
    scalar = read_number(options, "query_pre_attn_scalar", 256)
    if scalar <= 0:
        raise ValueError(f"from_pretrained: query_pre_attn_scalar={scalar} in config.json, expected one above 0.")
    scale = float(scalar) ** -0.5
    given: dict[str, Any] = {} if scale == d_head(options) ** -0.5 else {"scale": scale}
    cap, last = (positive_or_none(options, name) for name in ("attn_logit_softcapping", "final_logit_softcapping"))
    if cap is None:
        attend = partial(attend_fused, **given) if given else None
    else:
        attend = partial(attend_softcapped, cap=cap, **given)
    return {"attend": attend, "head": nn.Linear if last is None else partial(ScaledHead, cap=last)}


def _write_caps(config: Any) -> dict:
    scores, logits = (getattr(part, "keywords", {}) for part in (config.attend, config.head))
    scale = scores.get("scale", config.d_head**-0.5)
    exact, nearest = scale**-2, round(scale**-2)
    return {
        "query_pre_attn_scalar": nearest if nearest and nearest**-0.5 == scale else exact,
        "attn_logit_softcapping": scores.get("cap"),
        "final_logit_softcapping": logits.get("cap"),
    }


CAPS = Together(("attend", "head"), _read_caps, _write_caps)


def _local_and_global(options: dict) -> list[Layer]:
    """Gemma 3: five layers of six look back over a window, with rotary positions of another base."""
    every, window = read_whole(options, "sliding_window_pattern", 6), read_whole(options, "sliding_window", 4096)
    kinds = layer_types(options, lambda layer: (layer + 1) % every != 0)
    ropes = {FULL: rope_of_kind(options, FULL, "rope_theta", 1e6)}
    ropes[SLIDING] = rope_of_kind(options, SLIDING, "rope_local_base_freq", 1e4)
    return [Layer(window if kind == SLIDING else None, ropes[kind]) for kind in kinds]


def _write_second(layers: list[Layer]) -> dict:
    return written_types(layers) | written_rope(layers)


def _write_local_and_global(layers: list[Layer]) -> dict:
    return written_types(layers) | written_ropes_of_kinds(layers, "rope_theta", "rope_local_base_freq")


GEMMA = replace(
    LLAMA,
    model_type="gemma",
    class_name="GemmaForCausalLM",
    bare="GemmaModel",
    together=(*LLAMA.together, ROOT),
    defaults=DEFAULTS | {"hidden_act": "gelu_pytorch_tanh", "num_key_value_heads": 16},
    fixed=FIXED | {"use_bidirectional_attention": False},
    constants=GEMMA_CONSTANTS,
)
GEMMA2 = replace(
    GEMMA,
    model_type="gemma2",
    class_name="Gemma2ForCausalLM",
    bare="Gemma2Model",
    rows=_written(LLAMA.rows),
    options=LLAMA.options | {"activation": "hidden_activation"},
    together=(reaches(every_second_window(4096), _write_second), ROOT, CAPS),
    defaults=DEFAULTS
    | {"hidden_activation": "gelu_pytorch_tanh", "num_key_value_heads": 4, "sliding_window": 4096}
    | {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
    constants=without_fields(GEMMA_CONSTANTS, "attend", "head") | {"block": OutputNormBlock},
)
GEMMA3 = replace(
    GEMMA2,
    model_type="gemma3_text",
    class_name="Gemma3ForCausalLM",
    bare="Gemma3TextModel",
    rows=(*GEMMA2.rows, *QK_NORMS),
    together=(reaches(_local_and_global, _write_local_and_global), ROOT, CAPS),
    defaults=DEFAULTS | {"hidden_activation": "gelu_pytorch_tanh", "num_key_value_heads": 4},
    constants=GEMMA2.constants | {"qk_norm": NORM},
)
