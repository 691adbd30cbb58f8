"""Adapters in files: ``adapter_config.json`` beside ``adapter_model.safetensors``, as the package ``peft`` has them.

Where one map of ours is several of theirs, as queries, keys and values, their adapters are one of ours: the rows of B
are those of each in turn. If each had an A of its own, ours holds all of these, and B is zero where they do not meet.
"""

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from clearformer.checks import check_model, check_path, shorten
from clearformer.lora import LowRank, adapters, put
from clearformer.models.gpt import GPT
from clearformer.pretrained.convert import is_headless, weights, write_config
from clearformer.pretrained.folders import ARCHITECTURES
from clearformer.pretrained.tables import FLATTENED, TRANSPOSED, WITHOUT_BATCH, Architecture, Row, weight_names
from clearformer.weight_files import read_object, read_tensors, require_file, written_whole

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
FIRST = "base_model.model."  # in front of each name of a weight
NOT_LINEAR = (FLATTENED, WITHOUT_BATCH)
PLAIN = {"bias": "none", "use_dora": False, "modules_to_save": None, "layers_to_transform": None}
PATTERN = re.compile(r"\^?([\w.]+)\$?")  # of what may stand for a name; a regular expression is never run


class Map(NamedTuple):
    """A linear map of ours: its name, how many rows each of theirs has, and the names of those."""

    name: str
    rows: list[int]
    theirs: list[str]
    row: Row


def save_lora(model: nn.Module, folder: str | Path) -> None:
    """Write the adapters of ``model`` alone, so that ``load_lora`` reads them, and ``peft`` for the same base model.

    Raises: TypeError or ValueError for a model without adapters, of a kind that ``save_pretrained`` does not know, or
    with an adapter where their model has no linear map; OSError if the disk takes no more.
    """
    check_model("save_lora", model)
    folder = check_path("save_lora", "folder", folder, "a folder for the adapter")
    there = adapters(model)
    if not there:
        raise ValueError("save_lora: the model has no adapters, expected some of add_lora. Call it before training.")
    architecture = _architecture_of(model, "save_lora")
    maps = _maps(model, architecture)
    unknown = there.keys() - maps.keys()
    if unknown:
        raise ValueError(
            f"save_lora: {', '.join(sorted(unknown))} is no linear map of a {architecture.class_name}, expected "
            f"adapters at some of {', '.join(sorted({name.rpartition('.')[2] for name in maps}))}."
        )
    tensors, ranks, alphas = {}, {}, {}
    for name, layer in there.items():
        one = maps[name]
        for theirs, B in zip(one.theirs, _split(layer.B.detach(), one.row, model.config), strict=True):
            tensors[f"{FIRST}{theirs}.lora_A.weight"] = layer.A.detach().clone().cpu().contiguous()
            tensors[f"{FIRST}{theirs}.lora_B.weight"] = B.clone().cpu().contiguous()
            ranks[theirs], alphas[theirs] = len(layer.A), layer.scale * len(layer.A)
    config = _config(architecture, maps, ranks, alphas, causal=isinstance(model, GPT) and not is_headless(model))
    with written_whole("save_lora", folder, WEIGHTS, CONFIG, what="the adapter") as (weights_path, config_path):
        save_file(tensors, weights_path, metadata={"format": "pt"})
        config_path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def load_lora(model: nn.Module, folder: str | Path) -> list[str]:
    """Freeze ``model``, put the adapters of ``folder`` beside its linear maps, and say which maps these are.

    The file is one of ``save_lora`` or of ``peft``, made for the same base model.

    Raises: FileNotFoundError without the two files; ValueError if they are damaged, of another kind than LoRA, or do
    not fit the model, or if it has adapters already.
    """
    check_model("load_lora", model)
    folder = check_path("load_lora", "folder", folder, "a folder with an adapter")
    if adapters(model):
        raise ValueError("load_lora: the model has adapters already, expected none. Call merge_lora(model) before.")
    for name in (CONFIG, WEIGHTS):
        require_file("load_lora", folder / name)
    config = _checked_config(read_object("load_lora", folder / CONFIG), folder)
    tensors, _ = read_tensors("load_lora", folder / WEIGHTS)
    architecture = _architecture_of(model, "load_lora")
    made = _read_layers(model, architecture, config, tensors, folder)
    model.requires_grad_(False)
    for name, (A, B, scale) in made.items():
        layer = LowRank(model.get_submodule(name), len(A), scale=scale)
        layer.A.data.copy_(A)
        layer.B.data.copy_(B)
        put(model, name, layer)
    return list(adapters(model))


def _architecture_of(model: nn.Module, caller: str) -> Architecture:
    """The family whose weights a model has, if its adapters are left out."""
    own = {name.replace(".linear.", ".") for name in weights(model) if not re.search(r"\.[AB]$", name)}
    candidates = [a for a in ARCHITECTURES.values() if type(model) is a.model]
    candidates.sort(key=lambda a: a.model_type != getattr(model, "family", None))
    for architecture in candidates:
        _, misfits = write_config(architecture, model.config)
        rows = weight_names(architecture, model.config, headless=is_headless(model))
        if not misfits and own == {row.ours for row in rows}:
            return architecture
    raise ValueError(
        f"{caller}: this {type(model).__name__} is of no family that save_pretrained knows, so its weights have no "
        "names in such a file. Keep the adapter with train(..., folder=...), or merge it."
    )


def _maps(model: nn.Module, architecture: Architecture) -> dict[str, Map]:
    """The linear maps of a model that are linear maps of theirs, by our name."""
    headless, found = is_headless(model), {}
    for row in weight_names(architecture, model.config, headless=headless):
        name = row.ours.removesuffix(".weight")
        if name == row.ours or row.layout in NOT_LINEAR:
            continue
        module = model.get_submodule(name)
        linear = module.linear if isinstance(module, LowRank) else module
        if isinstance(linear, nn.Linear):
            theirs = [_their_module(source, architecture, headless) for source in row.theirs]
            numbers = torch.empty(linear.out_features, 0, device="meta")
            rows = [len(part) for part in _split(numbers, row, model.config)]
            found[name] = Map(name, rows, theirs, row)
    return found


def _their_module(weight: str, architecture: Architecture, headless: bool) -> str:
    """The name of the module with this weight, in a model without a head that of the bare one."""
    return weight.removesuffix(".weight").removeprefix(architecture.prefix if headless else "")


def _split(B: Tensor, row: Row, config: Any) -> list[Tensor]:
    """The rows of B, or of a whole weight, for each map of theirs; a transposed one has its B as it is."""
    return [B] if row.layout is TRANSPOSED else row.layout.save(B, config)


def _config(
    architecture: Architecture,
    maps: dict[str, Map],
    ranks: dict[str, int],
    alphas: dict[str, float],
    *,
    causal: bool,
) -> dict:
    """What ``peft`` wants to know: the rank and the alpha of most, and of each that has another."""
    rank = Counter(ranks.values()).most_common(1)[0][0]
    alpha = Counter(alphas.values()).most_common(1)[0][0]
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM" if causal else None,
        "base_model_name_or_path": None,
        "r": rank,
        "lora_alpha": _whole(alpha),
        "rank_pattern": {name: r for name, r in ranks.items() if r != rank},
        "alpha_pattern": {name: _whole(a) for name, a in alphas.items() if a != alpha},
        "target_modules": _shortest(list(ranks), [name for one in maps.values() for name in one.theirs]),
        "fan_in_fan_out": any(one.row.layout is TRANSPOSED for one in maps.values()),
        "lora_dropout": 0.0,
        "inference_mode": True,
    } | PLAIN


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _shortest(adapted: list[str], every: list[str]) -> list[str]:
    """The last parts of the names, if no other map ends so; else the whole names."""
    ends = sorted({name.rpartition(".")[2] for name in adapted})
    others = {name.rpartition(".")[2] for name in set(every) - set(adapted)}
    return sorted(adapted) if others & set(ends) else ends


def _checked_config(config: dict, folder: Path) -> dict:
    """Raises: ValueError for another kind of adapter, and for what ours cannot be."""
    wrong = [name for name, value in PLAIN.items() if config.get(name, value) not in (value, None, [], {})]
    if config.get("peft_type") != "LORA" or wrong:
        came = ", ".join(f"{name}={shorten(config.get(name))}" for name in (wrong or ["peft_type"]))
        raise ValueError(f"load_lora: {folder / CONFIG} has {came}, expected LORA beside linear maps, and no more.")
    numbers = {"lora_alpha": config.get("lora_alpha")} | _pattern(config, "alpha_pattern", folder)
    for name, value in numbers.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ValueError(f"load_lora: {name}={shorten(value)} in {folder / CONFIG}, expected a finite number.")
    return config


def _pattern(config: dict, name: str, folder: Path) -> dict:
    pattern = config.get(name) or {}
    if not isinstance(pattern, dict) or not all(PATTERN.fullmatch(key) for key in pattern):
        raise ValueError(
            f"load_lora: {name}={shorten(pattern)} in {folder / CONFIG}, expected names of modules or their ends."
        )
    return pattern


def _read_layers(
    model: nn.Module, architecture: Architecture, config: dict, tensors: dict[str, Tensor], folder: Path
) -> dict[str, tuple[Tensor, Tensor, float]]:
    """A, B and the scale of each adapter of ours. Raises: ValueError with all weights that have no place."""
    tensors, made, wrong = dict(tensors), {}, []
    alphas = _pattern(config, "alpha_pattern", folder)
    for one in _maps(model, architecture).values():
        n_columns = model.get_submodule(one.name).in_features
        parts = []
        for theirs, n_rows in zip(one.theirs, one.rows, strict=True):
            names = [f"{FIRST}{theirs}.lora_{letter}.weight" for letter in "AB"]
            A, B = (tensors.pop(name, None) for name in names)
            if A is None and B is None:
                parts.append(None)
            elif A is None or B is None or A.shape != (len(A), n_columns) or B.shape != (n_rows, len(A)):
                shapes = " and ".join(str(None if t is None else tuple(t.shape)) for t in (A, B))
                wrong.append(f"{theirs} has A and B of shape {shapes}, expected (r, {n_columns}) and ({n_rows}, r)")
                parts.append(None)
            else:
                alpha = next((value for key, value in alphas.items() if _ends(theirs, key)), config["lora_alpha"])
                parts.append((A, B, alpha / (math.sqrt(len(A)) if config.get("use_rslora") else len(A))))
        if any(parts):
            made[one.name] = _joined(parts, one, model.config)
    wrong += [f"{name} is no adapter of a linear map of this model" for name in tensors]
    if wrong or not made:
        reasons = "; ".join(sorted(wrong)) or "it holds no adapter"
        raise ValueError(f"load_lora: {folder / WEIGHTS} does not fit the {type(model).__name__}: {reasons}.")
    return made


def _ends(name: str, key: str) -> bool:
    return f".{name}".endswith("." + key.strip("^$"))


def _joined(parts: list, one: Map, config: Any) -> tuple[Tensor, Tensor, float]:
    """Adapters of several maps as one: by their common A, or with the A of each."""
    there = [part for part in parts if part is not None]
    A, _, scale = there[0]
    if len(there) == len(parts) and all(torch.equal(A, a) and s == scale for a, _, s in there):
        return A, _load([B for _, B, _ in there], one, config), scale
    columns, total = 0, sum(len(a) for a, _, _ in there)
    Bs = []
    for part, n_rows in zip(parts, one.rows, strict=True):
        B = A.new_zeros(n_rows, total)
        if part is not None:
            a, b, s = part
            B[:, columns : columns + len(a)] = b * (s / scale)
            columns += len(a)
        Bs.append(B)
    return torch.cat([a for a, _, _ in there]), _load(Bs, one, config), scale


def _load(Bs: list[Tensor], one: Map, config: Any) -> Tensor:
    return Bs[0] if one.row.layout is TRANSPOSED else one.row.layout.load(Bs, config)
