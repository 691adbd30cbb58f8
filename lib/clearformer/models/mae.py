"""MAE: an encoder sees a quarter of the patches, a small decoder draws the rest; what is learned is the encoder."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from clearformer.blocks import Encoder
from clearformer.checks import check_real
from clearformer.models.init import block_parts, glorot
from clearformer.models.validate import Presets, check_images, or_else
from clearformer.models.vit import ViT, ViTConfig, count_patches, first_token
from clearformer.patches import patchify
from clearformer.positions import sinusoidal
from clearformer.shapes import shaped_module

_RATIO = (lambda ratio: 0 < ratio < 1, "between 0 and 1")


@dataclass(frozen=True)
class MAEConfig(Presets):
    """The sizes of encoder and decoder; their ``d_ff`` are 4 D unless given.

    Raises: ValueError if patches do not fill the image, or a width is no multiple of 4, which the positions need.
    """

    image_size: int
    patch_size: int
    n_channels: int
    d_model: int
    n_heads: int
    n_layers: int
    d_decoder: int
    n_decoder_heads: int
    n_decoder_layers: int
    d_ff: int | None = None
    d_decoder_ff: int | None = None
    mask_ratio: float = 0.75
    eps: float = 1e-12
    activation: Callable[[Tensor], Tensor] = F.gelu

    FITS: ClassVar = Presets.FITS | {"mask_ratio": _RATIO}

    def __post_init__(self):
        super().__post_init__()
        count_patches(self)
        for name in ("d_model", "d_decoder"):
            if getattr(self, name) % 4:
                raise ValueError(
                    f"MAEConfig: {name}={getattr(self, name)}, expected a multiple of 4: a sine and a cosine for each "
                    "of two coordinates."
                )

    def filled(self) -> "MAEConfig":
        d_ff = or_else(self.d_ff, 4 * self.d_model)
        return replace(self, d_ff=d_ff, d_decoder_ff=or_else(self.d_decoder_ff, 4 * self.d_decoder))


# He et al. 2022, section 4.
MAEConfig.PRESETS = {
    f"vit-mae-{name}": {
        "image_size": 224,
        "patch_size": 16,
        "n_channels": 3,
        "d_model": D,
        "n_heads": H,
        "n_layers": M,
        "d_decoder": 512,
        "n_decoder_heads": 16,
        "n_decoder_layers": 8,
    }
    for name, D, H, M in (("base", 768, 12, 12), ("large", 1024, 16, 24))
}


class MAE(nn.Module):
    """Hide patches, encode the visible ones alone, put a learned token where one is missing, decode to pixels.

    Source: He et al. 2022, section 3 and figure 1.
    Cost: with a ratio of 0.75 a quarter of the encoder's FLOPs per token, and all of the small decoder's.
    """

    def __init__(self, config: MAEConfig):
        super().__init__()
        self.config = c = config.filled()
        n_pixels, side = c.n_channels * c.patch_size**2, c.image_size // c.patch_size
        self.patches = nn.Linear(n_pixels, c.d_model)
        self.class_tokens = nn.Parameter(torch.zeros(1, c.d_model))
        self.register_buffer("positions", sines_in_the_plane(side, c.d_model))
        self.encoder = Encoder(c.n_layers, c.d_model, c.n_heads, c.d_ff, **block_parts(c))
        self.to_decoder = nn.Linear(c.d_model, c.d_decoder)
        self.mask_token = nn.Parameter(torch.zeros(1, c.d_decoder))
        self.register_buffer("decoder_positions", sines_in_the_plane(side, c.d_decoder))
        sizes = (c.n_decoder_layers, c.d_decoder, c.n_decoder_heads, c.d_decoder_ff)
        self.decoder = Encoder(*sizes, **block_parts(c))
        self.head = nn.Linear(c.d_decoder, n_pixels)
        self.apply(glorot)
        for token in (self.class_tokens, self.mask_token):
            nn.init.normal_(token, std=0.02)

    @shaped_module
    def forward(
        self,
        images: Float[Tensor, "B C rows columns"],
        noise: Float[Tensor, "B N"] | None = None,
        *,
        mask_ratio: float | None = None,
    ) -> tuple[Float[Tensor, "B N P"], Bool[Tensor, "B N"]]:
        """All patches as the model draws them, in the order of ``patchify``, and True where one was hidden.

        The patches with the largest ``noise`` are hidden, random ones without it.

        Raises: TypeError for images that are no floating-point tensor; ValueError for another size or number of
        channels, an empty batch, noise of another shape, or a ratio that leaves no patch visible.
        """
        check_images("MAE", images, self.config.n_channels, self.config.image_size)
        patches = patchify(images, self.config.patch_size)
        noise = torch.rand(patches.shape[:2], device=images.device) if noise is None else noise
        N = patches.shape[1]
        ratio = self.config.mask_ratio if mask_ratio is None else check_real("MAE", "mask_ratio", mask_ratio, *_RATIO)
        n_visible = int(N * (1 - ratio) + 1e-9)  # 10 patches and a ratio of 0.9 give one, not 0.9999
        if noise.shape != patches.shape[:2]:
            expected = f"one number for every patch: {tuple(patches.shape[:2])}"
            raise ValueError(f"MAE: noise of shape {tuple(noise.shape)}, expected {expected}.")
        if not 1 <= n_visible < N:
            raise ValueError(
                f"MAE: mask_ratio={ratio} leaves {n_visible} of {N} patches visible, expected 1 to {N - 1}. "
                "Choose a ratio between 0 and 1."
            )
        order = noise.argsort(dim=1)  # from the least noise to the most
        x = self.patches(patches) + self.positions[1:]
        visible = x.gather(1, order[:, :n_visible, None].expand(-1, -1, x.shape[-1]))
        first = (self.class_tokens + self.positions[:1]).expand(x.shape[0], -1, -1)
        y = self.to_decoder(self.encoder(torch.cat((first, visible), dim=1)))
        place = order.argsort(dim=1)  # where in the shuffled row each patch stands
        hidden = self.mask_token.expand(y.shape[0], x.shape[1] - n_visible, -1)
        drawn = torch.cat((y[:, 1:], hidden), dim=1).gather(1, place[..., None].expand(-1, -1, y.shape[-1]))
        y = self.decoder(torch.cat((y[:, :1], drawn), dim=1) + self.decoder_positions)
        return self.head(y[:, 1:]), place >= n_visible

    def classifier(self, n_classes: int, pool: Callable[[Tensor], Tensor] = first_token) -> ViT:
        """A ViT that starts with a copy of the encoder and a new head.

        Source: He et al. 2022, section 3, "MAE encoder", and section 4.1, fine-tuning.
        """
        c = self.config
        sizes = (c.image_size, c.patch_size, c.n_channels, n_classes, c.d_model, c.n_heads, c.n_layers, c.d_ff)
        vit = ViT(ViTConfig(*sizes, pool=pool, eps=c.eps, activation=c.activation)).to(self.positions)
        weights = {name: w for name, w in self.state_dict().items() if name in vit.state_dict() and "head" not in name}
        vit.load_state_dict({**vit.state_dict(), **weights, "positions.weight": self.positions})
        return vit


def reconstruction_loss(
    model: MAE,
    images: Float[Tensor, "B C rows columns"],
    noise: Float[Tensor, "B N"] | None = None,
    *,
    normalise: bool = False,
) -> Float[Tensor, ""]:
    """The mean squared error of the hidden pixels; with ``normalise`` against patches of mean 0 and variance 1.

    Source: He et al. 2022, section 3, "Reconstruction target".
    """
    drawn, hidden = model(images, noise)
    patches = patchify(images, model.config.patch_size)
    if normalise:
        patches = (patches - patches.mean(-1, keepdim=True)) / (patches.var(-1, keepdim=True) + 1e-6).sqrt()
    errors = (drawn - patches).square().mean(-1)
    return (errors * hidden).sum() / hidden.sum()


def sines_in_the_plane(side: int, d_model: int) -> Float[Tensor, "N D"]:
    """Waves of the column, then waves of the row, for every patch of a square; zeros for the class token.

    Source: He et al. 2022, section 3, "MAE encoder"; the order is that of the published code.
    """
    waves = sinusoidal(side, d_model // 2, interleaved=False)
    plane = torch.cat((waves.repeat(side, 1), waves.repeat_interleave(side, dim=0)), dim=1)
    return torch.cat((torch.zeros(1, d_model), plane))
