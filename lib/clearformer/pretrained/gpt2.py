"""GPT-2: norm first, GELU by the tanh formula, tied head; its matrices stand transposed."""

from clearformer.layers import FeedForward, LayerNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.pretrained.tables import TRANSPOSED, Architecture, Row

OPTIONS = {
    "n_vocab": "vocab_size", "n_positions": "n_positions", "d_model": "n_embd", "n_heads": "n_head",
    "n_layers": "n_layer", "d_ff": "n_inner", "eps": "layer_norm_epsilon", "activation": "activation_function",
    "tied": "tie_word_embeddings",
}  # fmt: skip
FIXED = {
    "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False,
    "tie_word_embeddings": True,
}  # fmt: skip

GPT2 = Architecture(
    model_type="gpt2",
    class_name="GPT2LMHeadModel",
    bare="GPT2Model",
    model=GPT,
    config=GPTConfig,
    rows=(
        Row("tokens.weight", "transformer.wte.weight"),
        Row("positions.weight", "transformer.wpe.weight"),
        Row("decoder.blocks.{i}.attention_norm.*", "transformer.h.{i}.ln_1.*"),
        Row("decoder.blocks.{i}.attention.qkv.*", "transformer.h.{i}.attn.c_attn.*", TRANSPOSED),
        Row("decoder.blocks.{i}.attention.out.*", "transformer.h.{i}.attn.c_proj.*", TRANSPOSED),
        Row("decoder.blocks.{i}.feed_forward_norm.*", "transformer.h.{i}.ln_2.*"),
        Row("decoder.blocks.{i}.feed_forward.up.*", "transformer.h.{i}.mlp.c_fc.*", TRANSPOSED),
        Row("decoder.blocks.{i}.feed_forward.down.*", "transformer.h.{i}.mlp.c_proj.*", TRANSPOSED),
        Row("decoder.norm.*", "transformer.ln_f.*"),
    ),
    layers={"i": "n_layers"},
    options=OPTIONS,
    prefix="transformer.",
    defaults={"activation_function": "gelu_new"},
    fixed=FIXED,
    constants={"n_kv_heads": None, "rope": None, "norm": LayerNorm, "feed_forward": FeedForward, "tied": True},
    aliases={"lm_head.weight": "transformer.wte.weight"},
    ignored=(r"transformer\.h\.\d+\.attn\.(masked_)?bias",),  # the causal mask, stored as a buffer
)
