"""Models of our GPT: GPT-2, whose matrices stand transposed; Llama, Mistral and Qwen, with all that is new in them."""

from dataclasses import replace
from functools import partial

from clearformer.checks import shorten
from clearformer.layers import FeedForward, GatedFeedForward, LayerNorm, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.pretrained.tables import BLOCKS, PAIRED, ROTARY_BASE, STACKED, TRANSPOSED, WORDS, Architecture, Row

_BLOCK, _GPT2, _LLAMA = "decoder.blocks.{i}.", "transformer.h.{i}.", "model.layers.{i}."
GPT2_OPTIONS = {
    "n_vocab": "vocab_size",
    "n_positions": "n_positions",
    "d_model": "n_embd",
    "n_heads": "n_head",
    "n_layers": "n_layer",
    "d_ff": "n_inner",
    "eps": "layer_norm_epsilon",
    "activation": "activation_function",
    "tied": "tie_word_embeddings",
}
LLAMA_OPTIONS = (
    BLOCKS
    | WORDS
    | {
        "n_kv_heads": "num_key_value_heads",
        "d_head": "head_dim",
        "eps": "rms_norm_eps",
        "tied": "tie_word_embeddings",
        "rope": "rope_theta",
    }
)


def _flatten_rope_options(options: dict) -> dict:
    """With what is said of rotary positions in options of its own: its place there has changed."""
    rope = options.get("rope_parameters") or options.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise ValueError(f"from_pretrained: {shorten(rope)} in config.json for rotary positions, expected an object.")
    older_kind = rope.get("type", "default")
    base = {"rope_theta": rope.get("rope_theta", ROTARY_BASE)}
    return base | options | {"rope_type": rope.get("rope_type", older_kind)}


def _biases_before_attention(config: GPTConfig) -> GPT:
    model = GPT(config)
    for block in model.decoder.blocks:
        block.attention.out.bias = None
    return model


GPT2 = Architecture(
    model_type="gpt2",
    class_name="GPT2LMHeadModel",
    bare="GPT2Model",
    prefix="transformer.",
    model=GPT,
    config=GPTConfig,
    rows=(
        Row("tokens.weight", "transformer.wte.weight"),
        Row("positions.weight", "transformer.wpe.weight"),
        Row(_BLOCK + "attention_norm.*", _GPT2 + "ln_1.*"),
        Row(_BLOCK + "attention.qkv.*", _GPT2 + "attn.c_attn.*", TRANSPOSED),
        Row(_BLOCK + "attention.out.*", _GPT2 + "attn.c_proj.*", TRANSPOSED),
        Row(_BLOCK + "feed_forward_norm.*", _GPT2 + "ln_2.*"),
        Row(_BLOCK + "feed_forward.up.*", _GPT2 + "mlp.c_fc.*", TRANSPOSED),
        Row(_BLOCK + "feed_forward.down.*", _GPT2 + "mlp.c_proj.*", TRANSPOSED),
        Row("decoder.norm.*", "transformer.ln_f.*"),
        Row("head.weight", "lm_head.weight"),  # unless it is tied
    ),
    head=("head",),
    options=GPT2_OPTIONS,
    defaults={"activation_function": "gelu_new", "tie_word_embeddings": True},
    fixed={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
    constants={
        "n_kv_heads": None,
        "d_head": None,
        "rope": None,
        "norm": LayerNorm,
        "qk_norm": None,
        "feed_forward": FeedForward,
    },
    aliases={"lm_head.weight": "transformer.wte.weight"},
    ignored=(r"transformer\.h\.\d+\.attn\.(masked_)?bias",),  # the causal mask, stored as a buffer
)
LLAMA = Architecture(
    model_type="llama",
    class_name="LlamaForCausalLM",
    bare="LlamaModel",
    prefix="model.",
    model=GPT,
    config=GPTConfig,
    rows=(
        Row("tokens.weight", "model.embed_tokens.weight"),
        Row(_BLOCK + "attention_norm.weight", _LLAMA + "input_layernorm.weight"),
        Row(_BLOCK + "attention.qkv.weight", _LLAMA + "self_attn.(q|k|v)_proj.weight", STACKED),
        Row(_BLOCK + "attention.out.weight", _LLAMA + "self_attn.o_proj.weight"),
        Row(_BLOCK + "feed_forward_norm.weight", _LLAMA + "post_attention_layernorm.weight"),
        Row(_BLOCK + "feed_forward.gate_up.weight", _LLAMA + "mlp.(gate|up)_proj.weight", PAIRED),
        Row(_BLOCK + "feed_forward.down.weight", _LLAMA + "mlp.down_proj.weight"),
        Row("decoder.norm.weight", "model.norm.weight"),
        Row("head.weight", "lm_head.weight"),  # unless it is tied
    ),
    head=("head",),
    build=partial(GPT, attention=partial(MultiHeadAttention, bias=False)),
    options=LLAMA_OPTIONS,
    defaults={"hidden_act": "silu", "rms_norm_eps": 1e-6, "tie_word_embeddings": False},
    plain=_flatten_rope_options,
    fixed={"rope_type": "default", "attention_bias": False, "mlp_bias": False},
    constants={"norm": RMSNorm, "qk_norm": None, "feed_forward": GatedFeedForward},
    aliases={"lm_head.weight": "model.embed_tokens.weight"},
    ignored=(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq",),
)
QWEN2 = replace(
    LLAMA,
    model_type="qwen2",
    class_name="Qwen2ForCausalLM",
    bare="Qwen2Model",
    rows=(*LLAMA.rows, Row(_BLOCK + "attention.qkv.bias", _LLAMA + "self_attn.(q|k|v)_proj.bias", STACKED)),
    build=_biases_before_attention,
    fixed={"rope_type": "default", "use_sliding_window": False},
)
QWEN3 = replace(  # Qwen Team 2025, section 2: no biases, norms of queries and keys in place of them
    LLAMA,
    model_type="qwen3",
    class_name="Qwen3ForCausalLM",
    bare="Qwen3Model",
    rows=(
        *LLAMA.rows,
        Row(_BLOCK + "attention.q_norm.weight", _LLAMA + "self_attn.q_norm.weight"),
        Row(_BLOCK + "attention.k_norm.weight", _LLAMA + "self_attn.k_norm.weight"),
    ),
    defaults=LLAMA.defaults | {"head_dim": 128, "num_key_value_heads": 32},
    fixed={"rope_type": "default", "attention_bias": False, "use_sliding_window": False},
    constants=LLAMA.constants | {"qk_norm": RMSNorm},
)
MISTRAL = replace(  # without its sliding window, as from version 0.2 on
    LLAMA,
    model_type="mistral",
    class_name="MistralForCausalLM",
    bare="MistralModel",
    defaults=LLAMA.defaults | {"sliding_window": 4096},
    fixed={"rope_type": "default", "sliding_window": None},
)
