"""``python -m clearformer info FOLDER``: what a folder holds, what it weighs, and what it costs to use."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from clearformer import checkpoint
from clearformer.checks import shorten
from clearformer.commands import costs, settings
from clearformer.commands.folders import find_folder, lacking
from clearformer.models.gpt import GPT
from clearformer.models.seq2seq import Seq2Seq
from clearformer.pretrained.adapters import CONFIG as ADAPTER
from clearformer.pretrained.adapters import WEIGHTS as ADAPTER_WEIGHTS
from clearformer.pretrained.convert import build_model, fitting_rows, read_config
from clearformer.pretrained.folders import CONFIG, architecture_of, read_json, read_weights
from clearformer.weight_files import read_object, read_tensors, require_file

SELDOM = ("block", "head", "embedding_scale")  # told only where they are not what they always are


def run(options: Namespace) -> int:
    """Print it; 0 for a folder that loads, 1 for one that does not, with the reason."""
    folder = find_folder("info", options.folder)
    print(folder)
    if (folder / settings.NAME).is_file():
        _print("Run of train", _run(folder))
    if (folder / ADAPTER).is_file():
        _print("Adapter", _adapter(folder))
    reason = lacking(folder)
    if not reason:
        try:
            return _describe(folder)
        except (ValueError, TypeError, OSError) as error:
            reason = str(error)
    print(f"\nDoes not load: {reason}")
    return 1


def _describe(folder: Path) -> int:
    """All of a model whose configuration can be read; its weights are looked at by their shapes."""
    said = read_json(folder / CONFIG)
    architecture = architecture_of(said)
    with torch.device("meta"):
        model = build_model(architecture, read_config(architecture, said))
    kind = {"kind": f"{architecture.model_type}, a {type(model).__name__} of this library"}
    _print("Configuration", (kind | _configuration(model)).items())
    parts = costs.weights_by_part(model)
    total = sum(parts.values())
    _print("Weights", [(name, f"{n:,}") for name, n in (parts | {"together": total}).items()])
    _print("Memory for the weights", [(name, _bytes(n * total)) for name, n in costs.BYTES.items()])
    _print("One token", _one_token(model))
    _, _, headless = fitting_rows(model, architecture, read_weights(folder, said))
    print(f"\nLoads: from_pretrained({str(folder)!r}){', without a head' if headless else ''}")
    return 0


def _configuration(model: nn.Module) -> dict[str, str]:
    """The fields that hold something."""
    config: Any = model.config
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    usual = {field.name: field.default for field in fields(config) if field.name in SELDOM}
    return {
        name: _value(value)
        for name, value in values.items()
        if value not in (None, (), False) and value != usual.get(name)
    }


def _value(value: Any) -> str:
    if isinstance(value, int | float | str):
        return str(value)
    options = "".join(f", {k}={_value(v)}" for k, v in getattr(value, "keywords", {}).items())
    name = getattr(getattr(value, "func", value), "__name__", None)
    return f"{name}{options}" if name else shorten(value)


def _one_token(model: nn.Module) -> Iterator[tuple[str, str]]:
    """What is computed for it, and what is kept of it."""
    if isinstance(model, Seq2Seq):
        return
    yield "computes", f"{_round(costs.flops_of_weights(model))} FLOP with the weights"
    if isinstance(model, GPT):
        attention = _round(costs.flops_of_attention(model))
        yield "", f"{attention} FLOP to look back, at the end of a full context"
        n = costs.cached_numbers(model)
        yield "keeps", ", ".join(f"{_bytes(size * n)} in {name}" for name, size in costs.BYTES.items() if size > 1)


def _run(folder: Path) -> Iterator[tuple[str, str]]:
    chosen = settings.read(folder, "info")
    yield from (
        (name, str(value)) for name, value in asdict(chosen).items() if value is not None and name != "checksum"
    )
    if checkpoint.has_checkpoint(folder):
        done, bits = settings.progress(folder, "info")
        yield "done", f"{done:,} of {chosen.steps:,} steps, {bits:.2f} bits a character held out"


def _adapter(folder: Path) -> Iterator[tuple[str, str]]:
    said = read_object("info", folder / ADAPTER)
    for name in ("peft_type", "base_model_name_or_path", "r", "lora_alpha", "target_modules"):
        if said.get(name) is not None:
            yield name, shorten(said[name])
    require_file("info", folder / ADAPTER_WEIGHTS)
    tensors, _ = read_tensors("info", folder / ADAPTER_WEIGHTS)
    yield "weights", f"{sum(t.numel() for t in tensors.values()):,}"


def _print(title: str, rows: Any) -> None:
    rows = [*rows]
    if not rows:
        return
    print(f"\n{title}")
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"  {name:{width}}  {value}")


def _bytes(n: int | float) -> str:
    return _scaled(n, (" bytes", " KB", " MB", " GB", " TB"))


def _round(n: int | float) -> str:
    return _scaled(n, ("", " thousand", " million", " billion", " trillion"))


def _scaled(n: int | float, units: tuple[str, ...]) -> str:
    """A number with three digits or so, and its unit, each a thousand times the one before."""
    place = 0
    while n >= 1000 and place < len(units) - 1:
        n, place = n / 1000, place + 1
    return (f"{n:.0f}" if n >= 100 or not place else f"{n:.1f}") + units[place]
