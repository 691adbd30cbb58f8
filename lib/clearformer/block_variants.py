"""Blocks that join their parts otherwise than ``Block`` does: norms of what is written, or both parts side by side."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.blocks import Block, Parts
from clearformer.checks import check_callable, check_flag, check_real, check_whole
from clearformer.layers import LayerNorm


class OutputNormBlock(Block):
    r"""What attention and network write goes through a norm of its own before it is added.

    .. math:: x \leftarrow x + \mathrm{norm}_2(f(\mathrm{norm}_1(x)))

    With ``norm_inputs=False`` the first norm is left out. ``output_norm(d_model)`` builds the second, unless given as
    ``norm`` does; ``Scale`` makes it a number.

    Source: Gemma Team 2024 (Gemma 2), section 2, both norms; OLMo Team 2024 (OLMo 2), section 3, the second alone.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm: Callable[[int], nn.Module] = LayerNorm,
        norm_inputs: bool = True,
        output_norm: Callable[[int], nn.Module] | None = None,
        **parts,
    ):
        first = norm if check_flag("OutputNormBlock", "norm_inputs", norm_inputs) else _no_norm
        super().__init__(d_model, n_heads, d_ff, norm=first, **parts)
        written = norm if output_norm is None else output_norm
        check_callable("OutputNormBlock", "output_norm", written, "layers.RMSNorm")
        self.attention_output_norm, self.feed_forward_output_norm = written(d_model), written(d_model)
        self.cross_output_norm = None if self.cross is None else written(d_model)

    def joined(self, x: Tensor, parts: Parts) -> Tensor:
        output_norms = (self.attention_output_norm, self.cross_output_norm, self.feed_forward_output_norm)
        for (part, norm), output_norm in zip(parts, filter(None, output_norms), strict=True):
            x = x + output_norm(part(norm(x)))
        return x


class ParallelBlock(Block):
    r"""Attention and network read the same tokens, and both are added at once.

    .. math:: x \leftarrow x + \mathrm{attention}(\mathrm{norm}_1(x)) + f(\mathrm{norm}_2(x))

    Source: Wang and Komatsuzaki 2021 (GPT-J); Black et al. 2022 (GPT-NeoX-20B), section 2.1, with a norm for each.
    """

    def joined(self, x: Tensor, parts: Parts) -> Tensor:
        return sum((part(norm(x)) for part, norm in parts), x)


class Scale(nn.Module):
    """Every number times ``factor``, which is not learned. Raises: TypeError or ValueError for no finite number."""

    def __init__(self, d_model: int, *, factor: float):
        super().__init__()
        self.factor = check_real("Scale", "factor", factor, lambda f: abs(f) < float("inf"), "a finite one")

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return x * self.factor


class LayerScale(nn.Module):
    r"""Every feature times a learned number of its own, which is ``start`` at first.

    .. math:: y_d = \lambda_d \, x_d

    ``OutputNormBlock(output_norm=LayerScale)`` scales what each part writes.

    Source: Touvron et al. 2021 (CaiT), eq. 4, with a ``start`` near 0; 1 in DINOv2, as published.
    """

    def __init__(self, d_model: int, *, start: float = 1.0):
        super().__init__()
        start = check_real("LayerScale", "start", start, lambda s: abs(s) < float("inf"), "a finite one")
        self.weight = nn.Parameter(torch.full((check_whole("LayerScale", "d_model", d_model),), start))

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return x * self.weight


class ScaledHead(nn.Linear):
    r"""Logits times ``scale``, and with ``cap`` kept between ``-cap`` and ``cap``.

    .. math:: c \tanh(s \, W x / c)

    Source: Gemma Team 2024 (Gemma 2), section 2, with a cap of 30 and no scale.
    """

    def __init__(self, d_model: int, n_vocab: int, *, bias: bool = False, scale: float = 1.0, cap: float | None = None):
        n_vocab = check_whole("ScaledHead", "n_vocab", n_vocab)
        d_model = check_whole("ScaledHead", "d_model", d_model)
        super().__init__(d_model, n_vocab, bias=check_flag("ScaledHead", "bias", bias))
        self.scale = check_real("ScaledHead", "scale", scale, _is_positive, "above 0, and finite")
        self.cap = None if cap is None else check_real("ScaledHead", "cap", cap, _is_positive, "above 0, and finite")

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        logits = super().forward(x) * self.scale
        return logits if self.cap is None else self.cap * (logits / self.cap).tanh()


def _no_norm(d_model: int) -> nn.Module:
    return nn.Identity()


def _is_positive(number: float) -> bool:
    return 0 < number < float("inf")
