"""What every model asks of its input before it starts; the messages name the offending value."""

from typing import ClassVar

import torch
from torch import Tensor

from clearformer.shapes import extremes


def check_ids(caller: str, ids: Tensor, n_vocab: int, n_positions: int, *, start: int = 0) -> None:
    """``start`` is the number of tokens that a cache already holds; ids are looked at where ``extremes`` can.

    Raises: TypeError for ids that are no whole numbers; ValueError for another shape, an empty batch, more tokens
    than positions, or an id outside the vocabulary.
    """
    if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
        kind = ids.dtype if isinstance(ids, Tensor) else type(ids).__name__
        raise TypeError(f"{caller}: ids are {kind}, expected a tensor of whole numbers. Convert them with .long().")
    if ids.ndim != 2 or ids.numel() == 0:
        raise ValueError(
            f"{caller}: ids have shape {tuple(ids.shape)}, expected (batch, tokens) with at least one of each. "
            "Add the batch axis with ids[None], or leave empty batches out."
        )
    if start + ids.shape[1] > n_positions:
        raise ValueError(
            f"{caller}: {start + ids.shape[1]} tokens, but the model has n_positions={n_positions}. "
            f"Keep the last {n_positions}, or build the model with more positions."
        )
    low, high = extremes(ids) or (0, 0)
    if low < 0 or high >= n_vocab:
        raise ValueError(
            f"{caller}: id {low if low < 0 else high} is outside the vocabulary, expected 0 to {n_vocab - 1}. "
            "Use the tokeniser the model was made for; hide padding with a mask, not with a special id."
        )


def check_images(caller: str, images: Tensor, n_channels: int, image_size: int) -> None:
    """Raises: TypeError for images that are no floating-point tensor; ValueError for another shape or no images."""
    if not isinstance(images, Tensor) or not images.is_floating_point():
        kind = images.dtype if isinstance(images, Tensor) else type(images).__name__
        raise TypeError(f"{caller}: images are {kind}, expected a floating-point tensor. Convert with .float() / 255.")
    expected = (n_channels, image_size, image_size)
    if images.ndim != 4 or images.shape[1:] != expected or images.shape[0] == 0:
        raise ValueError(
            f"{caller}: images have shape {tuple(images.shape)}, expected (batch, channels, rows, columns) = "
            f"(at least 1, {', '.join(map(str, expected))}). Resize or crop them, or build the model for their size."
        )


class Presets:
    """What a configuration inherits: the sizes of published models, under their names in ``PRESETS``."""

    PRESETS: ClassVar[dict[str, dict]] = {}

    @classmethod
    def preset(cls, name: str, **changes):
        """A published model's configuration, ``changes`` made to it. Raises: ValueError for an unknown name."""
        if name not in cls.PRESETS:
            raise ValueError(f"{cls.__name__}.preset: there is no {name!r}. Choose one of {', '.join(cls.PRESETS)}.")
        return cls(**(cls.PRESETS[name] | changes))
