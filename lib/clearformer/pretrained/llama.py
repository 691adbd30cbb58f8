"""Llama, and Qwen 2: RMSNorm first, rotary positions, SwiGLU, shared keys and values; biases, if any, at q, k and v."""

from dataclasses import replace
from functools import partial

from clearformer.layers import GatedFeedForward, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import Rotary
from clearformer.pretrained.tables import ACTIVATIONS, BLOCK_OPTIONS, PAIRED, STACKED, Architecture, Row

OPTIONS = BLOCK_OPTIONS | {
    "n_vocab": "vocab_size", "n_positions": "max_position_embeddings", "n_kv_heads": "num_key_value_heads",
    "eps": "rms_norm_eps", "tied": "tie_word_embeddings", "rope": "rope_theta",
}  # fmt: skip
DEFAULTS = {"hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False}
_OURS, _THEIRS = "decoder.blocks.{i}.", "model.layers.{i}."


def _plain(options):
    """With what was said of rotary positions in options of its own: its place there has changed."""
    rope = options.get("rope_parameters") or options.get("rope_scaling") or {}
    kind = {"rope_type": rope.get("rope_type", rope.get("type", "default"))}
    return {"rope_theta": rope.get("rope_theta", 10000.0)} | options | kind


def _bases(rope):
    """The wavelength of these rotary positions, in a list; an empty one for anything else."""
    plain = getattr(rope, "func", rope) is Rotary
    return [getattr(rope, "keywords", {}).get("base", 10000.0)] if plain else []


def _biases_before_attention(config):
    model = GPT(config)
    for block in model.decoder.blocks:
        block.attention.out.bias = None
    return model


LLAMA = Architecture(
    *("llama", "LlamaForCausalLM", "LlamaModel", GPT, GPTConfig),
    rows=(
        Row("tokens.weight", "model.embed_tokens.weight"),
        Row(_OURS + "attention_norm.weight", _THEIRS + "input_layernorm.weight"),
        Row(_OURS + "attention.qkv.weight", _THEIRS + "self_attn.(q|k|v)_proj.weight", STACKED),
        Row(_OURS + "attention.out.weight", _THEIRS + "self_attn.o_proj.weight"),
        Row(_OURS + "feed_forward_norm.weight", _THEIRS + "post_attention_layernorm.weight"),
        Row(_OURS + "feed_forward.gate_up.weight", _THEIRS + "mlp.(gate|up)_proj.weight", PAIRED),
        Row(_OURS + "feed_forward.down.weight", _THEIRS + "mlp.down_proj.weight"),
        Row("decoder.norm.weight", "model.norm.weight"),
        Row("head.weight", "lm_head.weight"),  # unless it is tied
    ),
    build=partial(GPT, attention=partial(MultiHeadAttention, bias=False)),
    layers={"i": "n_layers"},
    options=OPTIONS,
    prefix="model.",
    values={"activation": ACTIVATIONS, "rope": (lambda theta: partial(Rotary, base=float(theta)), _bases)},
    defaults=DEFAULTS,
    plain=_plain,
    fixed={"rope_type": "default", "attention_bias": False, "mlp_bias": False},
    same={"head_dim": lambda o: o["hidden_size"] // (o["num_attention_heads"] or 1)},
    constants={"norm": RMSNorm, "feed_forward": GatedFeedForward},
    aliases={"lm_head.weight": "model.embed_tokens.weight"},
    ignored=(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq",),
)
QWEN2 = replace(
    LLAMA,
    **{"model_type": "qwen2", "class_name": "Qwen2ForCausalLM", "bare": "Qwen2Model"},
    rows=(*LLAMA.rows, Row(_OURS + "attention.qkv.bias", _THEIRS + "self_attn.(q|k|v)_proj.bias", STACKED)),
    build=_biases_before_attention,
    fixed={"rope_type": "default", "use_sliding_window": False},
)
