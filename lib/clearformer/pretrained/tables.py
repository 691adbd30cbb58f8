"""What a table of weights consists of."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.layers import gelu_tanh
from clearformer.positions import Rotary

ACTIVATIONS = {"gelu": F.gelu, "gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "relu": F.relu}
ACTIVATIONS |= {"silu": F.silu, "swish": F.silu}
# ours for each value of theirs, or two functions: ours from theirs, and the reverse in a list that may be empty
VALUES: dict[str, dict | tuple] = {"activation": ACTIVATIONS, "scale": {True: None, False: 1.0}}


def _rotary(base: float) -> partial:
    return partial(Rotary, base=float(base))


def _bases(rope) -> list[float]:
    """The base of a ``Rotary``, given as the class or as a partial of it; none of anything else."""
    if rope is Rotary:
        return [10000.0]
    return [rope.keywords.get("base", 10000.0)] if getattr(rope, "func", None) is Rotary else []


VALUES["rope"] = (_rotary, _bases)
# what all but GPT-2 and Marian call the sizes of their blocks
BLOCKS = {
    "d_model": "hidden_size", "n_heads": "num_attention_heads", "n_layers": "num_hidden_layers",
    "d_ff": "intermediate_size", "eps": "layer_norm_eps", "activation": "hidden_act",
}  # fmt: skip
WORDS = {"n_vocab": "vocab_size", "n_positions": "max_position_embeddings"}
TIED = {"tie_word_embeddings": True}


class Layout(NamedTuple):
    """How their tensors become ours and ours theirs, given our configuration."""

    name: str
    load: Callable[[list[Tensor], Any], Tensor]
    save: Callable[[Tensor, Any], list[Tensor]]


SAME = Layout("as it is", lambda ts, c: ts[0], lambda t, c: [t])
TRANSPOSED = Layout("transposed", lambda ts, c: ts[0].t(), lambda t, c: [t.t()])
STACKED = Layout("stacked", lambda ts, c: torch.cat(ts), lambda t, c: _by_heads(t, c))
PAIRED = Layout("one above the other", lambda ts, c: torch.cat(ts), lambda t, c: list(t.chunk(2)))
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


def _by_heads(stacked, config):
    """Queries, keys and values; of the latter ``n_kv_heads`` may be fewer."""
    shared = getattr(config, "n_kv_heads", None) or config.n_heads
    rows = len(stacked) * shared // (config.n_heads + 2 * shared)
    return list(stacked.split((len(stacked) - 2 * rows, rows, rows)))


class Row(NamedTuple):
    """One line of a table: our name, theirs, and the layout.

    ``*`` stands for weight and bias, ``(a|b)`` for two of theirs; ``{i}`` and ``{j}`` count ``Architecture.layers``.
    """

    ours: str
    theirs: str | tuple[str, ...]
    layout: Layout = SAME


@dataclass(frozen=True)
class Architecture:
    """Everything that is known about one kind of model of theirs.

    Theirs are ``class_name`` and ``bare``, the same without a head; ``head`` names what ours then lacks. Several may
    share one ``model``, which ``build`` makes: its configuration and the names of its weights say which of them it is.

    Weights: ``rows``; ``layers`` gives the field of our configuration that each letter counts up to; ``prefix`` is
    missing in checkpoints without a head; ``renames`` are older names, ``aliases`` second names of a weight, and
    ``ignored`` patterns of what holds nothing we need.

    Configuration, after ``plain`` has put theirs in one form: ``options`` has their option for each field of ours,
    ``defaults`` what a missing option means. ``fixed`` options must have that value, those in ``same`` what follows
    from others; ``constants`` are fields of ours that they have no option for.
    """

    model_type: str
    class_name: str
    bare: str
    prefix: str
    model: type[nn.Module]
    config: type
    rows: tuple[Row, ...]
    options: dict[str, str]
    layers: dict[str, str] = field(default_factory=lambda: {"i": "n_layers"})
    defaults: dict[str, object] = field(default_factory=dict)
    fixed: dict[str, object] = field(default_factory=dict)
    same: dict[str, Callable[[dict], object]] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    head: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    build: Callable[..., nn.Module] | None = None
    plain: Callable[[dict], dict] = dict


def weight_names(architecture: Architecture, config, *, headless: bool = False) -> Iterator[Row]:
    """The table written out: one row for every weight of a model with this configuration."""
    for ours, theirs, layout in architecture.rows:
        if (headless and ours.split(".")[0] in architecture.head) or (ours == "head.weight" and config.tied):
            continue
        before, *among = re.split(r"[(|)]", theirs)
        sources = [before + part + among[-1] for part in among[:-1]] or [before]
        letter = next((letter for letter in architecture.layers if f"{{{letter}}}" in ours), None)
        for layer in range(getattr(config, architecture.layers[letter]) if letter else 1):
            for kind in ("weight", "bias") if ours.endswith("*") else ("",):
                names = [name.replace(f"{{{letter}}}", str(layer)).replace("*", kind) for name in (ours, *sources)]
                yield Row(names[0], tuple(names[1:]), layout)
