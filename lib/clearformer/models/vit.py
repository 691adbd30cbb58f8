"""ViT: an encoder whose tokens are the patches of an image."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.blocks import Block, Encoder
from clearformer.layers import FeedForward
from clearformer.models.init import block_parts, truncated_normal
from clearformer.models.validate import Presets, check_images, or_else
from clearformer.patches import patchify
from clearformer.positions import LearnedPositions
from clearformer.shapes import shaped_module


def first_token(x: Float[Tensor, "B N D"]) -> Float[Tensor, "B D"]:
    """The class token, which has collected what the head needs. Source: Devlin et al. 2019; turner-v2, section 4.2."""
    return x[:, 0]


def mean_tokens(x: Float[Tensor, "B N D"]) -> Float[Tensor, "B D"]:
    """The average over the tokens. Source: turner-v2, section 4.2."""
    return x.mean(1)


def sum_tokens(x: Float[Tensor, "B N D"]) -> Float[Tensor, "B D"]:
    """The sum over the tokens."""
    return x.sum(1)


def first_and_mean_tokens(x: Float[Tensor, "B N D"]) -> Float[Tensor, "B D2"]:
    """The class token beside the average over all others. Source: Oquab et al. 2024 (DINOv2), the published code."""
    return torch.cat((x[:, 0], x[:, 1:].mean(1)), dim=1)


def every_token(x: Float[Tensor, "B N D"]) -> Float[Tensor, "B N D"]:
    """All tokens as they are, for a ``head`` that looks at them itself, as ``AttentionPool``."""
    return x


@dataclass(frozen=True)
class ViTConfig(Presets):
    """The sizes of a ViT for square images.

    With ``n_class_tokens=0`` take ``mean_tokens`` or ``sum_tokens`` as ``pool``; ``d_ff`` is 4 D unless given;
    ``position_std`` is the standard deviation of the positions at the start. ``block``, ``feed_forward`` and ``head``
    are those of ``GPTConfig``; the head gets what ``pool`` gives. Without ``patch_bias`` the projection of the patches
    has no bias; with ``norm_embeddings`` patches and positions are normed before the first block. ``n_registers``
    learned tokens stand between the class token and the patches, with no position; ``pool`` does not get them.

    Raises: ValueError if patches of ``patch_size`` do not fill the image, or ``pool`` takes a token that is not there.
    """

    image_size: int
    patch_size: int
    n_channels: int
    n_classes: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int | None = None
    n_class_tokens: int = 1
    pool: Callable[[Tensor], Tensor] = first_token
    position_std: float = 0.02
    eps: float = 1e-12
    activation: Callable[[Tensor], Tensor] = F.gelu
    block: Callable[..., nn.Module] = Block
    feed_forward: Callable[..., nn.Module] = FeedForward
    head: Callable[..., nn.Module] = nn.Linear
    patch_bias: bool = True
    norm_embeddings: bool = False
    n_registers: int = 0

    LEAST: ClassVar = {"n_class_tokens": 0, "n_registers": 0}
    FITS: ClassVar = Presets.FITS | {"position_std": (lambda std: 0 <= std < math.inf, "at least 0, and finite")}

    def __post_init__(self):
        super().__post_init__()
        count_patches(self)
        if self.n_class_tokens < 1 and self.pool in (first_token, first_and_mean_tokens):
            name = self.pool.__name__
            raise ValueError(f"ViTConfig: n_class_tokens=0, expected pool=mean_tokens or sum_tokens, not {name}.")

    def filled(self) -> "ViTConfig":
        return replace(self, d_ff=or_else(self.d_ff, 4 * self.d_model))


def count_patches(config) -> int:
    """How many tokens an image gives. Raises: ValueError if patches of ``patch_size`` do not fill it."""
    image, patch = config.image_size, config.patch_size
    if patch < 1 or image % patch:
        raise ValueError(
            f"{type(config).__name__}: patch_size={patch} does not divide image_size={image}. Choose one that does."
        )
    return (image // patch) ** 2


# Dosovitskiy et al. 2021, table 1.
ViTConfig.PRESETS = {
    f"vit-{name}-patch{patch}-224": {
        "image_size": 224,
        "patch_size": patch,
        "n_channels": 3,
        "n_classes": 1000,
        "d_model": D,
        "n_heads": H,
        "n_layers": M,
    }
    for name, patch, D, H, M in (("base", 16, 768, 12, 12), ("base", 32, 768, 12, 12), ("large", 16, 1024, 16, 24))
}


class ViT(nn.Module):
    r"""Cut into patches, project each, add where it stood, encode, pool, classify.

    .. math:: x^{(0)}_0 = c + p_0, \qquad x^{(0)}_n = W \,\mathrm{patch}_n + b + p_n, \qquad
              \mathrm{logits} = W_c \,\mathrm{pool}(\mathrm{norm}(x^{(M)})) + b_c

    Source: Dosovitskiy et al. 2021, eq. 1 to 4; turner-v2, section 4.2; for registers Darcet et al. 2024.
    Cost: 2 FLOPs a token for every weight in a matrix, and 4 D N M for attention over N tokens.
    """

    def __init__(self, config: ViTConfig):
        super().__init__()
        self.config = config = config.filled()
        D, n_tokens = config.d_model, config.n_class_tokens + count_patches(config)
        self.patches = nn.Linear(config.n_channels * config.patch_size**2, D, bias=config.patch_bias)
        self.class_tokens = nn.Parameter(torch.zeros(config.n_class_tokens, D))
        self.registers = nn.Parameter(torch.zeros(config.n_registers, D)) if config.n_registers else None
        self.positions = LearnedPositions(n_tokens, D)
        parts = block_parts(config, feed_forward=config.feed_forward)
        self.norm = parts["norm"](D) if config.norm_embeddings else nn.Identity()
        self.encoder = Encoder(config.n_layers, D, config.n_heads, config.d_ff, block=config.block, **parts)
        width = config.pool(torch.empty(1, n_tokens, D, device="meta")).shape[-1]
        self.head = config.head(width, config.n_classes)
        self.apply(truncated_normal)
        nn.init.normal_(self.positions.weight, std=config.position_std)

    def forward(self, images: Float[Tensor, "B C rows columns"]) -> Float[Tensor, "B V"]:
        """The logits of the classes; errors as in ``encode``."""
        x, c = self.encode(images), self.config
        if c.n_registers:
            x = torch.cat((x[:, : c.n_class_tokens], x[:, c.n_class_tokens + c.n_registers :]), dim=1)
        return self.head(c.pool(x))

    @shaped_module
    def encode(self, images: Float[Tensor, "B C rows columns"]) -> Float[Tensor, "B N D"]:
        """What the model makes of every token, the class token first, then the registers.

        Raises: TypeError for images that are no floats; ValueError for another size or number of channels, or none.
        """
        check_images("ViT", images, self.config.n_channels, self.config.image_size)
        x = self.patches(patchify(images, self.config.patch_size))
        x = torch.cat((self.class_tokens.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.positions.weight
        if self.registers is not None:
            first, n = self.registers.expand(x.shape[0], -1, -1), self.config.n_class_tokens
            x = torch.cat((x[:, :n], first, x[:, n:]), dim=1)
        return self.encoder(self.norm(x))
