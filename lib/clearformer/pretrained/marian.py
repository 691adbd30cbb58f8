"""Marian, the translators of OPUS: norm after, one embedding for all, sines before cosines, a bias at the end."""

from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.pretrained.tables import ACTIVATIONS, STACKED, WITHOUT_BATCH, Architecture, Row

OPTIONS = {
    "n_vocab": "vocab_size", "n_positions": "max_position_embeddings", "d_model": "d_model",
    "d_ff": "encoder_ffn_dim", "n_heads": "encoder_attention_heads", "n_layers": "encoder_layers",
    "n_decoder_layers": "decoder_layers", "n_decoder_heads": "decoder_attention_heads",
    "d_decoder_ff": "decoder_ffn_dim", "padding": "pad_token_id", "start": "decoder_start_token_id",
    "end": "eos_token_id", "activation": "activation_function", "scale": "scale_embedding",
}  # fmt: skip
FIXED = {
    "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "normalize_before": False,
    "normalize_embedding": False, "add_final_layer_norm": False, "static_position_embeddings": True,
}  # fmt: skip
SHARED = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")


def _attention(ours: str, theirs: str, norm: str) -> tuple[Row, ...]:
    return (
        Row(f"{ours}.qkv.*", tuple(f"{theirs}.{part}_proj.*" for part in ("q", "k", "v")), STACKED),
        Row(f"{ours}.out.*", f"{theirs}.out_proj.*"),
        Row(f"{norm}.*", f"{theirs}_layer_norm.*"),
    )


def _block(ours: str, theirs: str) -> tuple[Row, ...]:
    return (
        *_attention(f"{ours}.attention", f"{theirs}.self_attn", f"{ours}.attention_norm"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.fc1.*"),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.fc2.*"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.final_layer_norm.*"),
    )


MARIAN = Architecture(
    model_type="marian",
    class_name="MarianMTModel",
    bare="MarianMTModel",
    model=Seq2Seq,
    config=Seq2SeqConfig,
    rows=(
        Row("tokens.weight", "model.shared.weight"),
        *_block("encoder.blocks.{i}", "model.encoder.layers.{i}"),
        *_block("decoder.blocks.{j}", "model.decoder.layers.{j}"),
        *_attention(
            "decoder.blocks.{j}.cross", "model.decoder.layers.{j}.encoder_attn", "decoder.blocks.{j}.cross_norm"
        ),
        Row("head.bias", "final_logits_bias", WITHOUT_BATCH),
    ),
    layers={"i": "n_layers", "j": "n_decoder_layers"},
    options=OPTIONS,
    prefix="model.",
    values={"activation": ACTIVATIONS, "scale": {True: None, False: 1.0}},
    defaults={"activation_function": "gelu", "scale_embedding": False},
    fixed=FIXED,
    same={"decoder_vocab_size": "vocab_size"},
    constants={"eps": 1e-5, "interleaved": False},
    aliases=dict.fromkeys(SHARED, "model.shared.weight"),
    ignored=(r"model\.(en|de)coder\.embed_positions\.weight",),  # fixed waves, which we compute
)
