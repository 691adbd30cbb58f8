"""ViT: norm first, exact GELU, a class token; patches are cut by a convolution there."""

from clearformer.models.vit import ViT, ViTConfig, first_token
from clearformer.pretrained.tables import BLOCK_OPTIONS, FLATTENED, STACKED, WITHOUT_BATCH, Architecture, Row


def vit_blocks(ours: str, theirs: str) -> tuple[Row, ...]:
    """The rows of one block, which MAE has twice."""
    qkv = tuple(f"{theirs}.attention.attention.{part}.*" for part in ("query", "key", "value"))
    return (
        Row(f"{ours}.attention_norm.*", f"{theirs}.layernorm_before.*"),
        Row(f"{ours}.attention.qkv.*", qkv, STACKED),
        Row(f"{ours}.attention.out.*", f"{theirs}.attention.output.dense.*"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.layernorm_after.*"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.intermediate.dense.*"),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.output.dense.*"),
    )


def vit_encoder(positions: str) -> tuple[Row, ...]:
    """The rows of patches and encoder; ``positions`` is our name for theirs."""
    return (
        Row("class_tokens", "vit.embeddings.cls_token", WITHOUT_BATCH),
        Row(positions, "vit.embeddings.position_embeddings", WITHOUT_BATCH),
        Row("patches.weight", "vit.embeddings.patch_embeddings.projection.weight", FLATTENED),
        Row("patches.bias", "vit.embeddings.patch_embeddings.projection.bias"),
        *vit_blocks("encoder.blocks.{i}", "vit.encoder.layer.{i}"),
        Row("encoder.norm.*", "vit.layernorm.*"),
    )


OPTIONS = {"image_size": "image_size", "patch_size": "patch_size", "n_channels": "num_channels"} | BLOCK_OPTIONS
DEFAULTS = {"num_channels": 3}

VIT = Architecture(
    model_type="vit",
    class_name="ViTForImageClassification",
    bare="ViTModel",
    model=ViT,
    config=ViTConfig,
    rows=(*vit_encoder("positions.weight"), Row("head.*", "classifier.*")),
    head=("head",),
    layers={"i": "n_layers"},
    options=OPTIONS | {"n_classes": "num_labels"},
    prefix="vit.",
    defaults=DEFAULTS,
    fixed={"qkv_bias": True},
    constants={"n_class_tokens": 1, "pool": first_token},
    ignored=(r"vit\.pooler\..*",),
)
