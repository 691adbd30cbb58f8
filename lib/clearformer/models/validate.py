"""What every model asks of its input before it starts; the messages name the offending value."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from types import UnionType
from typing import ClassVar, get_args

import torch
from torch import Tensor

from clearformer.checks import check_callable, check_function, check_real, check_whole, shorten
from clearformer.models.options import check_layers
from clearformer.shapes import extremes

ID_DTYPES = (torch.int64, torch.int32)
VOCABULARY = "the vocabulary"
ADVICE = {
    VOCABULARY: "Use the tokeniser the model was made for; hide padding with a mask, not with a special id.",
    "the kinds of sentence": "Number the sentences from 0 on, or build the model with more n_segments.",
}


def check_ids(
    caller: str,
    ids: Tensor,
    n_ids: int,
    n_positions: int,
    *,
    start: int = 0,
    device: torch.device | None = None,
    of: str = VOCABULARY,
) -> None:
    """``start`` is the number of tokens that a cache already holds; ids are looked at where ``extremes`` can, and
    ``of`` says, for messages, what they number.

    Raises: TypeError for ids that are no whole numbers; ValueError for another shape, an empty batch, more tokens
    than positions, an id that does not exist, or ids on another ``device`` than the model's.
    """
    if not isinstance(ids, Tensor) or ids.dtype not in ID_DTYPES:
        kind = ids.dtype if isinstance(ids, Tensor) else type(ids).__name__
        raise TypeError(f"{caller}: ids are {kind}, expected a tensor of int64 or int32. Convert them with .long().")
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
    if device is not None and ids.device != device:
        raise ValueError(f'{caller}: ids are on {ids.device}, the model is on {device}. Move them: ids.to("{device}").')
    low, high = extremes(ids) or (0, 0)
    if low < 0 or high >= n_ids:
        wrong = low if low < 0 else high
        raise ValueError(f"{caller}: id {wrong} is outside {of}, expected 0 to {n_ids - 1}. {ADVICE[of]}")


def check_images(caller: str, images: Tensor, n_channels: int, image_size: int) -> None:
    """Check kind and shape of images.

    Raises: TypeError for images that are no floating-point tensor; ValueError for another shape or no images.
    """
    if not isinstance(images, Tensor) or not images.is_floating_point():
        kind = images.dtype if isinstance(images, Tensor) else type(images).__name__
        raise TypeError(f"{caller}: images are {kind}, expected a floating-point tensor. Convert with .float() / 255.")
    expected = (n_channels, image_size, image_size)
    if images.ndim != 4 or images.shape[1:] != expected or images.shape[0] == 0:
        raise ValueError(
            f"{caller}: images have shape {tuple(images.shape)}, expected (batch, channels, rows, columns) = "
            f"(at least 1, {', '.join(map(str, expected))}). Resize or crop them, or build the model for their size."
        )


@dataclass(frozen=True)
class Presets:
    """What a configuration inherits: checks of its sizes, and those of published models, under their names.

    A whole number is at least 1 unless ``LEAST`` says another bound, a fraction fits what ``FITS`` says of it. A field
    that may be None is left open: ``filled`` says what a model then takes.
    """

    PRESETS: ClassVar[dict[str, dict]] = {}
    LEAST: ClassVar[dict[str, int]] = {}
    FITS: ClassVar[dict[str, tuple[Callable[[float], bool], str]]] = {
        "eps": (lambda eps: 0 <= eps < math.inf, "at least 0, and finite"),
        "embedding_scale": (lambda scale: 0 < scale < math.inf, "above 0, and finite"),
    }

    def __post_init__(self):
        caller = type(self).__name__
        for field in fields(self):
            name, value, kinds = field.name, getattr(self, field.name), _kinds(field.type)
            if value is None and type(None) in kinds:
                continue
            if int in kinds:
                object.__setattr__(self, name, check_whole(caller, name, value, self.LEAST.get(name, 1)))
            elif float in kinds:
                object.__setattr__(self, name, check_real(caller, name, value, *self.FITS[name]))
            elif bool in kinds and not isinstance(value, bool):
                raise TypeError(f"{caller}: {name}={shorten(value)}, expected True or False.")
            elif name == "activation":
                check_function(caller, name, value, "torch.nn.functional.gelu")
            elif name == "layers":
                object.__setattr__(self, name, check_layers(caller, value, vars(self)["n_layers"]))
            elif bool not in kinds:
                check_callable(caller, name, value, "a class of modules, or a partial of one")

    def filled(self):
        """The configuration with what a model takes where it leaves a size open."""
        return self

    @classmethod
    def preset(cls, name: str, **changes):
        """A published model's configuration, ``changes`` made to it. Raises: ValueError for an unknown name."""
        if name not in cls.PRESETS:
            raise ValueError(f"{cls.__name__}.preset: there is no {name!r}. Choose one of {', '.join(cls.PRESETS)}.")
        return cls(**(cls.PRESETS[name] | changes))


def or_else(value, otherwise):
    """``value``, or what stands for None."""
    return otherwise if value is None else value


def _kinds(annotation) -> tuple:
    """The members of a union, or the one type that it is."""
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
