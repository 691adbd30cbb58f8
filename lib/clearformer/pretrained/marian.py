"""Marian, the translators of OPUS, and its kin: BART with learned positions, mBART with the norm first."""

from dataclasses import replace

from torch import nn

from clearformer.layers import FeedForward, LayerNorm
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.pretrained.tables import STACKED, TIED, WITHOUT_BATCH, Architecture, Row

OPTIONS = {
    "n_vocab": "vocab_size",
    "n_positions": "max_position_embeddings",
    "d_model": "d_model",
    "d_ff": "encoder_ffn_dim",
    "n_heads": "encoder_attention_heads",
    "n_layers": "encoder_layers",
    "n_decoder_layers": "decoder_layers",
    "n_decoder_heads": "decoder_attention_heads",
    "d_decoder_ff": "decoder_ffn_dim",
    "padding": "pad_token_id",
    "start": "decoder_start_token_id",
    "end": "eos_token_id",
    "activation": "activation_function",
    "scale": "scale_embedding",
}
FIXED = {
    "share_encoder_decoder_embeddings": True,
    "tie_word_embeddings": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "static_position_embeddings": True,
}
_CROSS, _ENCODER_ATTN = "decoder.blocks.{j}.cross", "model.decoder.layers.{j}.encoder_attn"
# What only some families have; a table of another says that it is never there.
PLAIN = {
    "norm": LayerNorm,
    "feed_forward": FeedForward,
    "attend": None,
    "d_head": None,
    "distances": None,
    "shared_distances": True,
    "head": nn.Linear,
    "tied": True,
}
SHARED = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")


def _block(ours: str, theirs: str) -> tuple[Row, ...]:
    return (
        Row(f"{ours}.attention.qkv.*", f"{theirs}.self_attn.(q|k|v)_proj.*", STACKED),
        Row(f"{ours}.attention.out.*", f"{theirs}.self_attn.out_proj.*"),
        Row(f"{ours}.attention_norm.*", f"{theirs}.self_attn_layer_norm.*"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.fc1.*"),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.fc2.*"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.final_layer_norm.*"),
    )


MARIAN = Architecture(
    model_type="marian",
    class_name="MarianMTModel",
    bare="MarianMTModel",
    prefix="model.",
    model=Seq2Seq,
    config=Seq2SeqConfig,
    rows=(
        Row("tokens.weight", "model.shared.weight"),
        *_block("encoder.blocks.{i}", "model.encoder.layers.{i}"),
        *_block("decoder.blocks.{j}", "model.decoder.layers.{j}"),
        Row(_CROSS + ".qkv.*", _ENCODER_ATTN + ".(q|k|v)_proj.*", STACKED),
        Row(_CROSS + ".out.*", _ENCODER_ATTN + ".out_proj.*"),
        Row(_CROSS + "_norm.*", _ENCODER_ATTN + "_layer_norm.*"),
        Row("head.bias", "final_logits_bias", WITHOUT_BATCH),
    ),
    layers={"i": "n_layers", "j": "n_decoder_layers"},
    options=OPTIONS,
    defaults={"activation_function": "gelu", "scale_embedding": False},
    fixed=FIXED,
    same={"decoder_vocab_size": lambda o: o["vocab_size"]},
    constants=PLAIN
    | {
        "eps": 1e-5,
        "interleaved": False,
        "first_position": None,
        "norm_embeddings": False,
        "norm_first": False,
    },
    aliases=dict.fromkeys(SHARED, "model.shared.weight"),
    ignored=(r"model\.(en|de)coder\.embed_positions\.weight",),  # fixed waves, which we compute
)

BART = replace(  # Lewis et al. 2020, section 2.1
    MARIAN,
    model_type="bart",
    class_name="BartForConditionalGeneration",
    bare="BartModel",
    rows=(
        *MARIAN.rows,
        Row("source_positions.weight", "model.encoder.embed_positions.weight"),
        Row("target_positions.weight", "model.decoder.embed_positions.weight"),
        Row("source_norm.*", "model.encoder.layernorm_embedding.*"),
        Row("target_norm.*", "model.decoder.layernorm_embedding.*"),
    ),
    head=("head",),
    fixed=TIED
    | {"normalize_before": False, "add_final_layer_norm": False}  # in older files, and always so
    | {"normalize_embedding": True, "static_position_embeddings": False},
    same={},
    constants=PLAIN
    | {"eps": 1e-5, "interleaved": True, "first_position": 2, "norm_embeddings": True, "norm_first": False},
    ignored=(),
)
MBART = replace(  # Liu et al. 2020, section 2.2
    BART,
    model_type="mbart",
    class_name="MBartForConditionalGeneration",
    bare="MBartModel",
    rows=(
        *BART.rows,
        Row("encoder.norm.*", "model.encoder.layer_norm.*"),
        Row("decoder.norm.*", "model.decoder.layer_norm.*"),
    ),
    fixed=BART.fixed | {"normalize_before": True, "add_final_layer_norm": True},
    constants=BART.constants | {"norm_first": True},
)
