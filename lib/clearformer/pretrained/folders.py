"""Folders as Hugging Face keeps them: ``config.json`` beside safetensors in one file or several; never a pickle."""

import json
import re
from functools import reduce
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from clearformer.pretrained.bert import BERT_ARCHITECTURE
from clearformer.pretrained.convert import filled, load_weights, read_config, save_weights, write_config
from clearformer.pretrained.gpt2 import GPT2
from clearformer.pretrained.mae import MAE_ARCHITECTURE
from clearformer.pretrained.marian import MARIAN
from clearformer.pretrained.tables import Architecture
from clearformer.pretrained.vit import VIT

ARCHITECTURES = {a.model_type: a for a in (GPT2, BERT_ARCHITECTURE, VIT, MAE_ARCHITECTURE, MARIAN)}
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
FETCHED = [CONFIG, "model*.safetensors", INDEX]


def from_pretrained(
    folder_or_hub_id: str | Path, *, dtype: torch.dtype | None = None, revision: str | None = None
) -> nn.Module:
    """Our model with the weights of a checkpoint, in evaluation mode, on the CPU.

    A name that is no folder here is fetched from the Hugging Face hub, which needs ``huggingface_hub`` and a network;
    ``revision`` is then a branch or commit. Without a ``dtype`` the weights keep theirs.

    Raises: FileNotFoundError if there is no such folder or file; ImportError without ``huggingface_hub``; ValueError
    for a kind of model or an option that is not supported, weights that do not fit (all in one list), damaged files,
    and weights that exist as pickle only.
    """
    folder = _folder(folder_or_hub_id, revision)
    options = _read_json(folder / CONFIG)
    architecture = ARCHITECTURES.get(options.get("model_type"))
    if architecture is None:
        raise ValueError(
            f"from_pretrained: model_type={options.get('model_type')!r} in {folder / CONFIG}, expected one of "
            f"{', '.join(ARCHITECTURES)}."
        )
    model = architecture.model(read_config(architecture, options))
    theirs = _read_weights(folder, architecture)
    floats = {tensor.dtype for tensor in theirs.values() if tensor.is_floating_point()}
    model.to(dtype or reduce(torch.promote_types, floats, torch.float32 if not floats else floats.pop()))
    load_weights(model, architecture, theirs)
    return model.eval()


def save_pretrained(model: nn.Module, folder: str | Path) -> None:
    """Write ``config.json`` and ``model.safetensors`` so that ``transformers`` loads them as the same model.

    Raises: TypeError for a model of another kind; ValueError for a configuration that they have no option for.
    """
    architecture = next((a for a in ARCHITECTURES.values() if type(model) is a.model), None)
    if architecture is None:
        kinds = ", ".join(a.model.__name__ for a in ARCHITECTURES.values())
        raise TypeError(f"save_pretrained: cannot save a {type(model).__name__}, expected one of {kinds}.")
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    options = write_config(architecture, filled(model.config)) | {"torch_dtype": dtype}
    folder, tensors = Path(folder), save_weights(model, architecture)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def _folder(name, revision):
    """A folder as it is, or the folder to which the hub's files were fetched."""
    if Path(name).is_dir():
        return Path(name)
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", str(name)) or Path(name).exists():
        raise FileNotFoundError(f"from_pretrained: {name} is no folder, nor can it be a name on the Hugging Face hub.")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ImportError(
            f"from_pretrained: {str(name)!r} is no folder here, and fetching it from the Hugging Face hub needs "
            "huggingface_hub. Install it with: pip install huggingface_hub"
        ) from error
    try:
        return Path(snapshot_download(str(name), revision=revision, allow_patterns=FETCHED))
    except (OSError, ValueError) as error:
        raise FileNotFoundError(
            f"from_pretrained: {str(name)!r} is no folder here and could not be fetched from the Hugging Face hub: "
            f"{error}"
        ) from error


def _read_json(path):
    if not path.is_file():
        raise FileNotFoundError(f"from_pretrained: there is no {path.name} in {path.parent}.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"from_pretrained: {path} is no JSON ({error}). Take an intact copy.") from error
    if not isinstance(content, dict):
        raise ValueError(f"from_pretrained: {path} holds a {type(content).__name__}, expected an object of options.")
    return content


def _read_weights(folder: Path, architecture: Architecture) -> dict[str, Tensor]:
    """The tensors of the one file or of all files that the index names."""
    if (folder / WEIGHTS).is_file():
        return _read_tensors(folder / WEIGHTS)
    if (folder / INDEX).is_file():
        index = _read_json(folder / INDEX).get("weight_map", {})
        tensors = {}
        for name in sorted(set(index.values())):
            tensors |= _read_tensors(folder / Path(name).name)  # a file of this folder, whatever the index says
        return tensors
    names = sorted(path.name for path in folder.iterdir())
    pickles = [name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))]
    if pickles:
        raise ValueError(
            f"from_pretrained: {folder} has its weights in {', '.join(pickles)} only, a pickle, which can run any "
            "program when it is opened and is never opened here. If you trust it, convert it with: "
            f"transformers.{architecture.class_name}.from_pretrained({str(folder)!r}).save_pretrained('converted')"
        )
    raise FileNotFoundError(f"from_pretrained: neither {WEIGHTS} nor {INDEX} in {folder}, which holds {names}.")


def _read_tensors(path):
    if not path.is_file():
        raise FileNotFoundError(f"from_pretrained: {path.name}, which {INDEX} names, is missing in {path.parent}.")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, no mapping
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"from_pretrained: {path} of {path.stat().st_size} bytes is truncated or altered ({error}). "
            "Take an intact copy."
        ) from error
