"""Llama and its kin: rotary positions, RMSNorm, SwiGLU, and what each family has besides."""

from dataclasses import replace
from functools import partial
from typing import Any

from torch import nn

from clearformer.attention import attend_fused
from clearformer.block_variants import OutputNormBlock, Scale, ScaledHead
from clearformer.blocks import Block
from clearformer.layers import GatedFeedForward, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.pretrained.gpt import PLAIN
from clearformer.pretrained.reach import ALL_ALIKE, ONE_WINDOW, SOME_UNTURNED, UPPER_WINDOWS
from clearformer.pretrained.rope import flatten_rope
from clearformer.pretrained.tables import BLOCKS, PAIRED, STACKED, WORDS, Architecture, Row, without_fields
from clearformer.pretrained.together import Together, d_head, read_number

BLOCK, THEIRS = "decoder.blocks.{i}.", "model.layers.{i}."
LLAMA_OPTIONS = (
    BLOCKS
    | WORDS
    | {
        "n_kv_heads": "num_key_value_heads",
        "d_head": "head_dim",
        "eps": "rms_norm_eps",
        "tied": "tie_word_embeddings",
    }
)


def _biases_before_attention(config: GPTConfig) -> GPT:
    model = GPT(config)
    for block in model.decoder.blocks:
        block.attention.out.bias = None
    return model


LLAMA = Architecture(
    model_type="llama",
    class_name="LlamaForCausalLM",
    bare="LlamaModel",
    prefix="model.",
    model=GPT,
    config=GPTConfig,
    rows=(
        Row("tokens.weight", "model.embed_tokens.weight"),
        Row(BLOCK + "attention_norm.weight", THEIRS + "input_layernorm.weight"),
        Row(BLOCK + "attention.qkv.weight", THEIRS + "self_attn.(q|k|v)_proj.weight", STACKED),
        Row(BLOCK + "attention.out.weight", THEIRS + "self_attn.o_proj.weight"),
        Row(BLOCK + "feed_forward_norm.weight", THEIRS + "post_attention_layernorm.weight"),
        Row(BLOCK + "feed_forward.gate_up.weight", THEIRS + "mlp.(gate|up)_proj.weight", PAIRED),
        Row(BLOCK + "feed_forward.down.weight", THEIRS + "mlp.down_proj.weight"),
        Row("decoder.norm.weight", "model.norm.weight"),
        Row("head.weight", "lm_head.weight"),  # unless it is tied
    ),
    head=("head",),
    build=partial(GPT, attention=partial(MultiHeadAttention, bias=False)),
    options=LLAMA_OPTIONS,
    defaults={"hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False},
    together=(ALL_ALIKE,),
    plain=flatten_rope,
    fixed={"attention_bias": False, "mlp_bias": False},
    constants=PLAIN | {"norm": RMSNorm, "feed_forward": GatedFeedForward},
    aliases={"lm_head.weight": "model.embed_tokens.weight"},
    ignored=(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq",),
)
QWEN2 = replace(
    LLAMA,
    model_type="qwen2",
    class_name="Qwen2ForCausalLM",
    bare="Qwen2Model",
    rows=(*LLAMA.rows, Row(BLOCK + "attention.qkv.bias", THEIRS + "self_attn.(q|k|v)_proj.bias", STACKED)),
    build=_biases_before_attention,
    together=(UPPER_WINDOWS,),
    fixed={},
)
QK_NORMS = (
    Row(BLOCK + "attention.q_norm.weight", THEIRS + "self_attn.q_norm.weight"),
    Row(BLOCK + "attention.k_norm.weight", THEIRS + "self_attn.k_norm.weight"),
)
QWEN3 = replace(  # Qwen Team 2025, section 2: no biases, norms of queries and keys in place of them
    LLAMA,
    model_type="qwen3",
    class_name="Qwen3ForCausalLM",
    bare="Qwen3Model",
    rows=(*LLAMA.rows, *QK_NORMS),
    together=(UPPER_WINDOWS,),
    defaults=LLAMA.defaults | {"head_dim": 128, "num_key_value_heads": 32},
    fixed={"attention_bias": False},
    constants=LLAMA.constants | {"qk_norm": RMSNorm},
)
MISTRAL = replace(
    LLAMA,
    model_type="mistral",
    class_name="MistralForCausalLM",
    bare="MistralModel",
    together=(ONE_WINDOW,),
    defaults=LLAMA.defaults | {"sliding_window": 4096, "num_key_value_heads": 8},
    fixed={},
)
SMOLLM3 = replace(
    LLAMA,
    model_type="smollm3",
    class_name="SmolLM3ForCausalLM",
    bare="SmolLM3Model",
    together=(SOME_UNTURNED,),
    defaults=LLAMA.defaults | {"tie_word_embeddings": True, "num_key_value_heads": 4, "rope_theta": 2_000_000.0},
)


def _phi3_rope(options: dict) -> dict:
    """As ``flatten_rope``; the one scaling of this family had other names before."""
    options = flatten_rope(options)
    older = options["rope"].get("rope_type", options["rope"].get("type"))
    if older in ("su", "yarn"):
        options["rope"] = options["rope"] | {"rope_type": "longrope"}
    return options


PHI3 = replace(  # queries, keys and values in one matrix, gates and hidden units in another, as with us
    LLAMA,
    model_type="phi3",
    class_name="Phi3ForCausalLM",
    bare="Phi3Model",
    rows=(
        *(row for row in LLAMA.rows if "qkv" not in row.ours and "gate_up" not in row.ours),
        Row(BLOCK + "attention.qkv.weight", THEIRS + "self_attn.qkv_proj.weight"),
        Row(BLOCK + "feed_forward.gate_up.weight", THEIRS + "mlp.gate_up_proj.weight"),
    ),
    together=(ONE_WINDOW,),
    plain=_phi3_rope,
    defaults={"hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
    | {"original_max_position_embeddings": 4096},
    fixed={"attention_bias": False},
)
OLMO2 = replace(  # OLMo Team 2024, section 3: norms of what is written, and of all queries and all keys
    LLAMA,
    model_type="olmo2",
    class_name="Olmo2ForCausalLM",
    bare="Olmo2Model",
    rows=(
        *(row for row in LLAMA.rows if "attention_norm" not in row.ours and "feed_forward_norm" not in row.ours),
        *QK_NORMS,
        Row(BLOCK + "attention_output_norm.weight", THEIRS + "post_attention_layernorm.weight"),
        Row(BLOCK + "feed_forward_output_norm.weight", THEIRS + "post_feedforward_layernorm.weight"),
    ),
    defaults=LLAMA.defaults | {"rms_norm_eps": 1e-5},
    fixed={"attention_bias": False},
    constants=LLAMA.constants
    | {"qk_norm": RMSNorm, "joint_norm": True, "block": partial(OutputNormBlock, norm_inputs=False)},
)


def _read_granite(options: dict) -> dict:
    """Four numbers: at the embedding, the scores, what is written, and the logits."""
    names = ("attention_multiplier", "residual_multiplier", "logits_scaling")
    scores, written, logits = (float(read_number(options, name, 1.0)) for name in names)
    if logits == 0:
        raise ValueError("from_pretrained: logits_scaling=0 in config.json, expected a number above 0.")
    return {
        "attend": None if scores == d_head(options) ** -0.5 else partial(attend_fused, scale=scores),
        "block": Block if written == 1 else partial(OutputNormBlock, output_norm=partial(Scale, factor=written)),
        "head": nn.Linear if logits == 1 else partial(ScaledHead, scale=1 / logits),
    }


def _write_granite(config: Any) -> dict:
    scores, written, logits = (getattr(part, "keywords", {}) for part in (config.attend, config.block, config.head))
    factor = getattr(written.get("output_norm"), "keywords", {}).get("factor", 1.0)
    return {
        "attention_multiplier": scores.get("scale", config.d_head**-0.5),
        "residual_multiplier": factor,
        "logits_scaling": reciprocal(logits.get("scale", 1.0)),
    }


def reciprocal(x: float) -> float:
    """1 / x, a whole number where 1 over that is x."""
    nearest = float(round(1 / x))
    return nearest if nearest and 1 / nearest == x else 1 / x


GRANITE = replace(
    LLAMA,
    model_type="granite",
    class_name="GraniteForCausalLM",
    bare="GraniteModel",
    options=LLAMA.options | {"embedding_scale": "embedding_multiplier"},
    together=(ALL_ALIKE, Together(("attend", "block", "head"), _read_granite, _write_granite)),
    constants=without_fields(LLAMA.constants, "attend", "block", "head", "embedding_scale"),
)
