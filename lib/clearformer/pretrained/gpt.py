"""GPT-2, whose matrices stand transposed, and GPT-NeoX (Pythia), with attention and network side by side."""

from typing import Any

from torch import Tensor, nn

from clearformer.blocks import Block
from clearformer.layers import FeedForward, LayerNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.pretrained.reach import ALL_ALIKE
from clearformer.pretrained.rope import flatten_rope
from clearformer.pretrained.tables import BLOCKS, TRANSPOSED, WORDS, Architecture, Layout, Row, without_fields
from clearformer.pretrained.together import Together

_BLOCK, _GPT2, _NEOX = "decoder.blocks.{i}.", "transformer.h.{i}.", "gpt_neox.layers.{i}."
# What only some families have; a table of another says that it is never there.
PLAIN = {
    "qk_norm": None,
    "joint_norm": False,
    "attend": None,
    "block": Block,
    "head": nn.Linear,
    "embedding_scale": 1.0,
}
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
    constants=PLAIN
    | {
        "n_kv_heads": None,
        "d_head": None,
        "rope": None,
        "window": None,
        "layers": (),
        "norm": LayerNorm,
        "feed_forward": FeedForward,
    },
    aliases={"lm_head.weight": "transformer.wte.weight"},
    ignored=(r"transformer\.h\.\d+\.attn\.(masked_)?bias",),  # the causal mask, stored as a buffer
)


def _by_head(stacked: Tensor, config: Any) -> Tensor:
    """Rows of queries, keys and values together for each head, from all queries, then all keys, then all values."""
    return stacked.unflatten(0, (3, config.n_heads, -1)).transpose(0, 1).flatten(0, 2)


def _by_kind(stacked: Tensor, config: Any) -> Tensor:
    return stacked.unflatten(0, (config.n_heads, 3, -1)).transpose(0, 1).flatten(0, 2)


HEAD_BY_HEAD = Layout("head by head", lambda ts, c: _by_kind(ts[0], c), lambda t, c: [_by_head(t, c)])


def _neox_rope(options: dict) -> dict:
    """As ``flatten_rope``, with the base and the share of features under the names that all others have."""
    named = {"rope_theta": options.get("rotary_emb_base")}
    if "rotary_pct" in options or "rope_parameters" not in options:
        named["partial_rotary_factor"] = options.get("rotary_pct", 0.25)
    return flatten_rope(options | named)


def _write_neox_rope(config: GPTConfig) -> dict:
    options = ALL_ALIKE.write(config)
    names = {"rotary_emb_base": "rope_theta", "rotary_pct": "partial_rotary_factor"}
    return options | {theirs: options.get(name, 1.0) for theirs, name in names.items()}


NEOX = Architecture(
    model_type="gpt_neox",
    class_name="GPTNeoXForCausalLM",
    bare="GPTNeoXModel",
    prefix="gpt_neox.",
    model=GPT,
    config=GPTConfig,
    rows=(
        Row("tokens.weight", "gpt_neox.embed_in.weight"),
        Row(_BLOCK + "attention_norm.*", _NEOX + "input_layernorm.*"),
        Row(_BLOCK + "attention.qkv.*", _NEOX + "attention.query_key_value.*", HEAD_BY_HEAD),
        Row(_BLOCK + "attention.out.*", _NEOX + "attention.dense.*"),
        Row(_BLOCK + "feed_forward_norm.*", _NEOX + "post_attention_layernorm.*"),
        Row(_BLOCK + "feed_forward.up.*", _NEOX + "mlp.dense_h_to_4h.*"),
        Row(_BLOCK + "feed_forward.down.*", _NEOX + "mlp.dense_4h_to_h.*"),
        Row("decoder.norm.*", "gpt_neox.final_layer_norm.*"),
        Row("head.weight", "embed_out.weight"),  # unless it is tied
    ),
    head=("head",),
    options=BLOCKS | WORDS | {"tied": "tie_word_embeddings", "block": "use_parallel_residual"},
    together=(Together(ALL_ALIKE.fields, ALL_ALIKE.read, _write_neox_rope),),
    plain=_neox_rope,
    defaults={"hidden_act": "gelu", "layer_norm_eps": 1e-5, "tie_word_embeddings": False}
    | {"use_parallel_residual": True},
    fixed={"attention_bias": True},
    constants=without_fields(PLAIN, "block")
    | {"n_kv_heads": None, "d_head": None, "norm": LayerNorm, "feed_forward": FeedForward},
    aliases={"embed_out.weight": "gpt_neox.embed_in.weight"},
    ignored=(r"gpt_neox\.layers\.\d+\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)",),
)
