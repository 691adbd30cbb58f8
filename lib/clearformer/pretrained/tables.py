"""What a table of weights consists of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.layers import gelu_tanh

ACTIVATIONS = {
    "gelu": F.gelu, "gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "relu": F.relu, "silu": F.silu,
    "swish": F.silu,
}  # fmt: skip
# what BERT, ViT and MAE call the sizes of their blocks
BLOCK_OPTIONS = {
    "d_model": "hidden_size", "n_heads": "num_attention_heads", "n_layers": "num_hidden_layers",
    "d_ff": "intermediate_size", "eps": "layer_norm_eps", "activation": "hidden_act",
}  # fmt: skip


class Layout(NamedTuple):
    """How their tensors become ours and ours theirs, given our configuration."""

    name: str
    load: Callable[[list[Tensor], object], Tensor]
    save: Callable[[Tensor, object], list[Tensor]]


SAME = Layout("as it is", lambda ts, c: ts[0], lambda t, c: [t])
TRANSPOSED = Layout("transposed", lambda ts, c: ts[0].t(), lambda t, c: [t.t()])
STACKED = Layout("stacked", lambda ts, c: torch.cat(ts), lambda t, c: list(t.chunk(3)))
WITHOUT_BATCH = Layout("without the first axis", lambda ts, c: ts[0][0], lambda t, c: [t[None]])
FLATTENED = Layout(
    "a convolution's pixels in one row",
    lambda ts, c: ts[0].flatten(1),
    lambda t, c: [t.unflatten(1, (c.n_channels, c.patch_size, c.patch_size))],
)
COLOURS_FIRST = Layout(
    "colour by colour instead of pixel by pixel",
    lambda ts, c: ts[0].unflatten(0, (-1, c.n_channels)).transpose(0, 1).flatten(0, 1),
    lambda t, c: [t.unflatten(0, (c.n_channels, -1)).transpose(0, 1).flatten(0, 1)],
)


class Row(NamedTuple):
    """One line of a table: our name, theirs, and the layout.

    ``*`` stands for weight and bias; ``{i}`` and ``{j}`` count layers, as ``Architecture.layers`` says.
    """

    ours: str
    theirs: str | tuple[str, ...]
    layout: Layout = SAME


@dataclass(frozen=True)
class Architecture:
    """Everything that is known about one kind of model of theirs.

    Theirs are ``class_name`` and ``bare``, the same without a head; ``head`` names what ours then lacks. Several may
    share one ``model``: which of them a model is, its configuration and the names of its weights decide.

    Weights: ``rows``; ``layers`` gives the field of our configuration that each letter counts up to; ``prefix`` is
    missing in checkpoints without a head; ``renames`` are older names, ``aliases`` second names of a weight, and
    ``ignored`` patterns of what holds nothing we need.

    Configuration: ``options`` has their option for each field of ours, ``values`` their values for those fields that
    differ in it, ``defaults`` what a missing option means. ``fixed`` options must have that value, those in ``same``
    that of another option; ``constants`` are fields of ours that they have no option for.
    """

    model_type: str
    class_name: str
    bare: str
    model: type[nn.Module]
    config: type
    rows: tuple[Row, ...]
    layers: dict[str, str]
    options: dict[str, str]
    prefix: str
    values: dict[str, dict] = field(default_factory=lambda: {"activation": ACTIVATIONS})
    defaults: dict[str, object] = field(default_factory=dict)
    fixed: dict[str, object] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    head: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def weight_names(architecture: Architecture, config) -> Iterator[Row]:
    """The table written out: one row for every weight of a model with this configuration."""
    for ours, theirs, layout in architecture.rows:
        theirs = (theirs,) if isinstance(theirs, str) else theirs
        letter = next((letter for letter in architecture.layers if f"{{{letter}}}" in ours), None)
        for layer in range(getattr(config, architecture.layers[letter]) if letter else 1):
            for kind in ("weight", "bias") if ours.endswith("*") else ("",):
                names = [name.replace(f"{{{letter}}}", str(layer)).replace("*", kind) for name in (ours, *theirs)]
                yield Row(names[0], tuple(names[1:]), layout)
