"""DINOv2 with and without registers, and the towers for images of CLIP and SigLIP.

Each is a ViT: with scaled parts, with a norm before the blocks, or with a query after them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import nn

from clearformer.attention_pool import AttentionPool
from clearformer.block_variants import LayerScale, OutputNormBlock
from clearformer.layers import FeedForward, GatedFeedForward
from clearformer.models.vit import ViT, ViTConfig, every_token, first_and_mean_tokens, first_token
from clearformer.pretrained.tables import (
    ACTIVATIONS,
    FLATTENED,
    STACKED,
    WITHOUT_BATCH,
    Architecture,
    Layout,
    Row,
    without_fields,
)
from clearformer.pretrained.together import Together, read_flag, read_number, read_whole
from clearformer.pretrained.vit import OPTIONS, PLAIN

GATES = partial(GatedFeedForward, bias=True)
WITH_BATCH = Layout("with a first axis", lambda ts, c: ts[0][None], lambda t, c: [t[0]])


def _is_gated(config: Any) -> bool:
    return getattr(config.feed_forward, "func", None) is GatedFeedForward


def _layers(gated: bool) -> Callable[[Any], range]:
    """All layers of a model whose networks are of this kind; none of another's."""
    return lambda config: range(config.n_layers if _is_gated(config) == gated else 0)


def _dino(prefix: str) -> tuple[Row, ...]:
    ours, theirs = "encoder.blocks.{i}", prefix + "encoder.layer.{i}"
    return (
        Row("class_tokens", prefix + "embeddings.cls_token", WITHOUT_BATCH),
        Row("positions.weight", prefix + "embeddings.position_embeddings", WITHOUT_BATCH),
        Row("patches.weight", prefix + "embeddings.patch_embeddings.projection.weight", FLATTENED),
        Row("patches.bias", prefix + "embeddings.patch_embeddings.projection.bias"),
        Row(f"{ours}.attention_norm.*", f"{theirs}.norm1.*"),
        Row(f"{ours}.attention.qkv.*", f"{theirs}.attention.attention.(query|key|value).*", STACKED),
        Row(f"{ours}.attention.out.*", f"{theirs}.attention.output.dense.*"),
        Row(f"{ours}.attention_output_norm.weight", f"{theirs}.layer_scale1.lambda1"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.norm2.*"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.mlp.fc1.*", only=_layers(False)),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.mlp.fc2.*", only=_layers(False)),
        Row(f"{ours}.feed_forward.gate_up.*", f"{theirs}.mlp.weights_in.*", only=_layers(True)),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.mlp.weights_out.*", only=_layers(True)),
        Row(f"{ours}.feed_forward_output_norm.weight", f"{theirs}.layer_scale2.lambda1"),
        Row("encoder.norm.*", prefix + "layernorm.*"),
        Row("head.*", "classifier.*"),
    )


def _read_network(options: dict) -> dict:
    """The hidden width as a ratio; with gates two thirds of it, in steps of 8, and always SiLU."""
    said = options.get("hidden_act", "gelu")
    if not isinstance(said, str) or said not in ACTIVATIONS:
        raise ValueError(f"from_pretrained: hidden_act={said!r} is not supported, only {', '.join(ACTIVATIONS)}.")
    width = int(read_whole(options, "hidden_size") * read_number(options, "mlp_ratio", 4))
    if width < 1:
        raise ValueError(f"from_pretrained: mlp_ratio={options['mlp_ratio']} in config.json leaves no hidden unit.")
    if read_flag(options, "use_swiglu_ffn", False):
        return {"d_ff": (int(width * 2 / 3) + 7) // 8 * 8, "feed_forward": GATES, "activation": F.silu}
    return {"d_ff": width, "feed_forward": FeedForward, "activation": ACTIVATIONS[said]}


def _write_network(config: Any) -> dict:
    gated = _is_gated(config)
    width = config.d_ff * (1.5 if gated else 1.0)
    names = (name for name, function in ACTIVATIONS.items() if function == config.activation)
    return {"mlp_ratio": width / config.d_model, "use_swiglu_ffn": gated, "hidden_act": next(names, None)}


IMAGES = without_fields(OPTIONS, "d_ff", "activation")
DINOV2 = Architecture(  # Oquab et al. 2024, section 4, and the published code
    model_type="dinov2",
    class_name="Dinov2ForImageClassification",
    bare="Dinov2Model",
    prefix="dinov2.",
    model=ViT,
    config=ViTConfig,
    rows=_dino("dinov2."),
    head=("head",),
    options=IMAGES | {"n_classes": "num_labels"},
    together=(
        Together(("d_ff", "feed_forward", "activation"), _read_network, _write_network),
        Together((), lambda options: {}, lambda config: {"use_mask_token": False}),  # it is for pretraining alone
    ),
    defaults={"num_channels": 3, "patch_size": 14, "layer_norm_eps": 1e-6},
    fixed={"qkv_bias": True},
    constants=without_fields(PLAIN, "feed_forward")
    | {"n_class_tokens": 1, "pool": first_and_mean_tokens, "block": partial(OutputNormBlock, output_norm=LayerScale)},
    ignored=(r"dinov2\.embeddings\.mask_token",),
)
DINOV2_WITH_REGISTERS = replace(  # Darcet et al. 2024
    DINOV2,
    model_type="dinov2_with_registers",
    class_name="Dinov2WithRegistersForImageClassification",
    bare="Dinov2WithRegistersModel",
    prefix="dinov2_with_registers.",
    rows=(
        *_dino("dinov2_with_registers."),
        Row("registers", "dinov2_with_registers.embeddings.register_tokens", WITHOUT_BATCH),
    ),
    options=DINOV2.options | {"n_registers": "num_register_tokens"},
    together=DINOV2.together[:1],
    defaults=DINOV2.defaults | {"patch_size": 16, "num_register_tokens": 4},
    constants=without_fields(DINOV2.constants, "n_registers"),
    ignored=(r"dinov2_with_registers\.embeddings\.mask_token",),
)


def _tower(ours: str, theirs: str) -> tuple[Row, ...]:
    return (
        Row("positions.weight", "vision_model.embeddings.position_embedding.weight"),
        Row("patches.weight", "vision_model.embeddings.patch_embedding.weight", FLATTENED),
        Row(f"{ours}.attention_norm.*", f"{theirs}.layer_norm1.*"),
        Row(f"{ours}.attention.qkv.*", f"{theirs}.self_attn.(q|k|v)_proj.*", STACKED),
        Row(f"{ours}.attention.out.*", f"{theirs}.self_attn.out_proj.*"),
        Row(f"{ours}.feed_forward_norm.*", f"{theirs}.layer_norm2.*"),
        Row(f"{ours}.feed_forward.up.*", f"{theirs}.mlp.fc1.*"),
        Row(f"{ours}.feed_forward.down.*", f"{theirs}.mlp.fc2.*"),
        Row("encoder.norm.*", "vision_model.post_layernorm.*"),
    )


CLIP = Architecture(  # Radford et al. 2021, section 2.4
    model_type="clip_vision_model",
    class_name="CLIPVisionModelWithProjection",
    bare="CLIPVisionModel",
    prefix="vision_model.",
    model=ViT,
    config=ViTConfig,
    rows=(
        *_tower("encoder.blocks.{i}", "vision_model.encoder.layers.{i}"),
        Row("class_tokens", "vision_model.embeddings.class_embedding", WITH_BATCH),
        Row("norm.*", "vision_model.pre_layrnorm.*"),
        Row("head.weight", "visual_projection.weight"),
    ),
    head=("head",),
    options=OPTIONS | {"n_classes": "projection_dim"},
    defaults={"num_channels": 3, "layer_norm_eps": 1e-5, "hidden_act": "quick_gelu", "projection_dim": 512},
    constants=PLAIN
    | {"n_class_tokens": 1, "pool": first_token, "patch_bias": False, "norm_embeddings": True}
    | {"head": partial(nn.Linear, bias=False)},
    ignored=(r"vision_model\.embeddings\.position_ids",),
)


def _read_pool(options: dict) -> dict:
    """The query has as many heads and hidden units as the blocks."""
    eps = float(read_number(options, "layer_norm_eps"))
    sizes = {"n_heads": read_whole(options, "num_attention_heads"), "d_ff": read_whole(options, "intermediate_size")}
    activation = ACTIVATIONS.get(options["hidden_act"], F.gelu)
    return {"head": partial(AttentionPool, **sizes, activation=activation, eps=eps)}


SIGLIP = replace(  # Zhai et al. 2023, section 4
    CLIP,
    model_type="siglip_vision_model",
    class_name="SiglipVisionModel",
    bare="SiglipVisionModel",
    rows=(
        *_tower("encoder.blocks.{i}", "vision_model.encoder.layers.{i}"),
        Row("patches.bias", "vision_model.embeddings.patch_embedding.bias"),
        Row("head.query", "vision_model.head.probe"),
        Row("head.attention.qkv.weight", "vision_model.head.attention.in_proj_weight"),
        Row("head.attention.qkv.bias", "vision_model.head.attention.in_proj_bias"),
        Row("head.attention.out.*", "vision_model.head.attention.out_proj.*"),
        Row("head.norm.*", "vision_model.head.layernorm.*"),
        Row("head.feed_forward.up.*", "vision_model.head.mlp.fc1.*"),
        Row("head.feed_forward.down.*", "vision_model.head.mlp.fc2.*"),
    ),
    options=OPTIONS,
    together=(
        Together(("n_classes",), lambda o: {"n_classes": read_whole(o, "hidden_size")}, lambda config: {}),
        Together(("head",), _read_pool, lambda config: {}),
    ),
    defaults={"num_channels": 3, "layer_norm_eps": 1e-6, "hidden_act": "gelu_pytorch_tanh"},
    fixed={"vision_use_head": True},
    constants=without_fields(PLAIN, "head") | {"n_class_tokens": 0, "pool": every_token},
)
