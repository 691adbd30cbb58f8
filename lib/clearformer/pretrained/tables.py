"""What a table of weights consists of."""

import inspect
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.block_variants import ParallelBlock
from clearformer.blocks import Block
from clearformer.layers import gelu_sigmoid, gelu_tanh
from clearformer.positions import Rotary
from clearformer.pretrained.together import Together

ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "quick_gelu": gelu_sigmoid,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
}
# For a field of ours what each value of theirs is with us; of several with the same meaning the first is written.
VALUES: dict[str, dict] = {
    "activation": ACTIVATIONS,
    "scale": {True: None, False: 1.0},
    "block": {True: ParallelBlock, False: Block},
}
ROTARY_BASE = inspect.signature(Rotary).parameters["base"].default
# what all but GPT-2 and Marian call the sizes of their blocks
BLOCKS = {
    "d_model": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_layers": "num_hidden_layers",
    "d_ff": "intermediate_size",
    "eps": "layer_norm_eps",
    "activation": "hidden_act",
}
WORDS = {"n_vocab": "vocab_size", "n_positions": "max_position_embeddings"}
TIED = {"tie_word_embeddings": True}
OTHERS = (
    "Small ones that load are openai-community/gpt2, google-bert/bert-base-uncased, Qwen/Qwen3-0.6B, "
    "google/gemma-3-270m, EleutherAI/pythia-70m and HuggingFaceTB/SmolLM2-135M-Instruct."
)


class Layout(NamedTuple):
    """How their tensors become ours and ours theirs, given our configuration."""

    name: str
    load: Callable[[list[Tensor], Any], Tensor]
    save: Callable[[Tensor, Any], list[Tensor]]


SAME = Layout("as it is", lambda ts, c: ts[0], lambda t, c: [t])
TRANSPOSED = Layout("transposed", lambda ts, c: ts[0].t(), lambda t, c: [t.t()])
STACKED = Layout("stacked", lambda ts, c: torch.cat(ts), lambda t, c: _queries_keys_values(t, c))
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


def _queries_keys_values(stacked: Tensor, config: Any) -> list[Tensor]:
    """The three parts; keys and values may have fewer heads, ``n_kv_heads``."""
    n_queries = config.n_heads
    n_keys = getattr(config, "n_kv_heads", None) or n_queries
    rows_of_a_head = len(stacked) // (n_queries + 2 * n_keys)
    rows_of_keys = n_keys * rows_of_a_head
    rows_of_queries = len(stacked) - 2 * rows_of_keys
    return list(stacked.split((rows_of_queries, rows_of_keys, rows_of_keys)))


class Row(NamedTuple):
    """One line of a table: our name, theirs, and the layout.

    ``*`` stands for weight and bias, ``(a|b)`` for two of theirs; ``{i}`` and other letters count
    ``Architecture.layers``. ``only`` says of a configuration in which layers the row is there, all unless given.
    """

    ours: str
    theirs: str | tuple[str, ...]
    layout: Layout = SAME
    only: Callable[[Any], Container[int]] | None = None


@dataclass(frozen=True)
class Architecture:
    """Everything that is known about one kind of model of theirs.

    Several architectures may share one class of ours. The configuration and the names of the weights then say which of
    them a model is.
    """

    # What it is called, and the classes.
    model_type: str  # theirs, in config.json
    class_name: str  # theirs, with a head
    bare: str  # theirs, without one
    prefix: str  # of their names; missing where there is no head
    model: type[nn.Module]  # ours
    config: type  # of ours
    # Weights.
    rows: tuple[Row, ...]
    options: dict[str, str]  # for each field of our configuration their option
    layers: dict[str, str | Callable[[Any], int]] = field(
        default_factory=lambda: {"i": "n_layers"}
    )  # what letters count
    stacked: tuple[str, ...] = ()  # patterns of their tensors that hold one for each expert; the rows say ``name.{e}``
    # Configuration: more of their options.
    defaults: dict[str, object] = field(default_factory=dict)  # what an option means that is missing
    fixed: dict[str, object] = field(default_factory=dict)  # the one value that an option may have
    same: dict[str, Callable[[dict], object]] = field(default_factory=dict)  # that value, computed from other options
    constants: dict[str, object] = field(default_factory=dict)  # fields of ours for which they have no option
    together: tuple[Together, ...] = ()  # fields of ours that several of their options say together
    # Weights: names.
    renames: tuple[tuple[str, str], ...] = ()  # patterns of older names, and what they are today
    aliases: dict[str, str] = field(default_factory=dict)  # second names of weights that are tied
    copies: tuple[str, ...] = ()  # those of the second names under which a weight is written once more
    head: tuple[str, ...] = ()  # what ours lacks where theirs has no head
    ignored: tuple[str, ...] = ()  # patterns of what holds nothing that we need
    # What is done besides.
    build: Callable[..., nn.Module] | None = None  # makes our model, where its class alone does not
    plain: Callable[[dict], dict] = dict  # puts their options into one form
    told: Callable[[dict, dict[str, Tensor]], dict] | None = None  # adds to the options what only the weights tell


def without_fields(fields: dict, *names: str) -> dict:
    """The fields or options of another family but for some, which this one says otherwise."""
    return {name: value for name, value in fields.items() if name not in names}


def weight_names(architecture: Architecture, config: Any, *, headless: bool = False) -> Iterator[Row]:
    """The table written out: one row for every weight of a model with this configuration."""
    for row in architecture.rows:
        if headless and row.ours.split(".")[0] in architecture.head:
            continue
        if row.ours == "head.weight" and getattr(config, "tied", False):
            continue
        for one in _of_each_layer(row, architecture, config):
            yield from _weight_and_bias(one)


def _of_each_layer(row: Row, architecture: Architecture, config: Any) -> Iterator[Row]:
    """A row for each layer, and for each expert, its number in place of the letter; the row itself without a letter."""
    rows = [Row(row.ours, _sources(str(row.theirs)), row.layout)]
    for letter, size in architecture.layers.items():
        place = f"{{{letter}}}"
        if place not in row.ours:
            continue
        n = size(config) if callable(size) else getattr(config, size)
        there = range(n) if row.only is None or letter == "e" else [i for i in range(n) if i in row.only(config)]
        rows = [
            Row(
                one.ours.replace(place, str(number)),
                tuple(source.replace(place, str(number)) for source in one.theirs),
                one.layout,
            )
            for one in rows
            for number in there
        ]
    yield from rows


def _sources(theirs: str) -> tuple[str, ...]:
    """``attn.(q|k).weight`` is ``attn.q.weight`` and ``attn.k.weight``."""
    before, opening, rest = theirs.partition("(")
    if not opening:
        return (theirs,)
    among, _, after = rest.partition(")")
    return tuple(f"{before}{part}{after}" for part in among.split("|"))


def _weight_and_bias(row: Row) -> Iterator[Row]:
    if not row.ours.endswith("*"):
        yield row
        return
    for kind in ("weight", "bias"):
        theirs = tuple(source.replace("*", kind) for source in row.theirs)
        yield Row(row.ours.replace("*", kind), theirs, row.layout)
