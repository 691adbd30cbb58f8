"""ViT and MAE: norm first, exact GELU, a class token; a convolution cuts patches, MAE draws them pixel by pixel."""

from torch import nn

from clearformer.blocks import Block
from clearformer.layers import FeedForward
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.vit import ViT, ViTConfig, first_token
from clearformer.pretrained.tables import BLOCKS, COLOURS_FIRST, FLATTENED, STACKED, WITHOUT_BATCH, Architecture, Row


def _blocks(ours: str, theirs: str) -> tuple[Row, ...]:
    return (
        Row(f"{ours}.attention_norm.*", f"{theirs}.layernorm_before.*"),
        Row(f"{ours}.attention.qkv.*", f"{theirs}.attention.attention.(query|key|value).*", STACKED),
        Row(f"{ours}.attention.out.*", f"{theirs}.attention.output.dense.*"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.layernorm_after.*"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.intermediate.dense.*"),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.output.dense.*"),
    )


def _encoder(positions: str) -> tuple[Row, ...]:
    return (
        Row("class_tokens", "vit.embeddings.cls_token", WITHOUT_BATCH),
        Row(positions, "vit.embeddings.position_embeddings", WITHOUT_BATCH),
        Row("patches.weight", "vit.embeddings.patch_embeddings.projection.weight", FLATTENED),
        Row("patches.bias", "vit.embeddings.patch_embeddings.projection.bias"),
        *_blocks("encoder.blocks.{i}", "vit.encoder.layer.{i}"),
        Row("encoder.norm.*", "vit.layernorm.*"),
    )


OPTIONS = {"image_size": "image_size", "patch_size": "patch_size", "n_channels": "num_channels"} | BLOCKS
DECODER_OPTIONS = {
    "d_decoder": "decoder_hidden_size",
    "n_decoder_heads": "decoder_num_attention_heads",
    "n_decoder_layers": "decoder_num_hidden_layers",
    "d_decoder_ff": "decoder_intermediate_size",
    "mask_ratio": "mask_ratio",
}

# What only some families have; a table of another says that it is never there.
PLAIN = {
    "block": Block,
    "feed_forward": FeedForward,
    "head": nn.Linear,
    "patch_bias": True,
    "norm_embeddings": False,
    "n_registers": 0,
}
VIT = Architecture(
    model_type="vit",
    class_name="ViTForImageClassification",
    bare="ViTModel",
    prefix="vit.",
    model=ViT,
    config=ViTConfig,
    rows=(*_encoder("positions.weight"), Row("head.*", "classifier.*")),
    head=("head",),
    options=OPTIONS | {"n_classes": "num_labels"},
    defaults={"num_channels": 3},
    fixed={"qkv_bias": True},
    constants=PLAIN | {"n_class_tokens": 1, "pool": first_token},
    ignored=(r"vit\.pooler\..*",),
)
MAE_ARCHITECTURE = Architecture(
    model_type="vit_mae",
    class_name="ViTMAEForPreTraining",
    bare="ViTMAEModel",
    prefix="vit.",
    model=MAE,
    config=MAEConfig,
    rows=(
        *_encoder("positions"),
        Row("to_decoder.*", "decoder.decoder_embed.*"),
        Row("mask_token", "decoder.mask_token", WITHOUT_BATCH),
        Row("decoder_positions", "decoder.decoder_pos_embed", WITHOUT_BATCH),
        *_blocks("decoder.blocks.{j}", "decoder.decoder_layers.{j}"),
        Row("decoder.norm.*", "decoder.decoder_norm.*"),
        Row("head.*", "decoder.decoder_pred.*", COLOURS_FIRST),
    ),
    head=("to_decoder", "mask_token", "decoder_positions", "decoder", "head"),
    layers={"i": "n_layers", "j": "n_decoder_layers"},
    options=OPTIONS | DECODER_OPTIONS,
    defaults={"num_channels": 3},
    fixed={"qkv_bias": True},
    renames=((r"^decoder\.decoder_encoder\.layer\.", "decoder.decoder_layers."),),  # as transformers 5 writes it
)
