"""Folders as Hugging Face keeps them: ``config.json`` beside safetensors in one file or several; never a pickle."""

import json
import re
from functools import reduce
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearformer.pretrained.bert import BERT_ARCHITECTURE
from clearformer.pretrained.convert import NoHead, filled, load_weights, read_config, save_weights, write_config
from clearformer.pretrained.gpt import GPT2, LLAMA, QWEN2
from clearformer.pretrained.marian import MARIAN
from clearformer.pretrained.vit import MAE_ARCHITECTURE, VIT

ARCHITECTURES = {a.model_type: a for a in (GPT2, BERT_ARCHITECTURE, VIT, MAE_ARCHITECTURE, MARIAN, LLAMA, QWEN2)}
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
# options that our configurations have no fields for, and that a loaded model carries along
KEPT = ("id2label", "label2id", "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id")
FETCHED = ["*.json", "*.txt", "*.jinja", "*.spm", "model*.safetensors"]  # with what a tokenizer needs


def from_pretrained(name: str | Path, *, dtype: torch.dtype | None = None, revision: str | None = None) -> nn.Module:
    """Our model with the weights of a checkpoint, in evaluation mode, on the CPU.

    A ``name`` that is no folder here is fetched from the Hugging Face hub, with ``huggingface_hub`` and a network;
    ``revision`` is then a branch or commit. Without a ``dtype`` the weights keep theirs. Labels and special tokens of
    ``config.json`` are in the model's ``labels_and_tokens``. A checkpoint without a head, as a ``BertModel``, gives a
    model without one: its ``encode`` works, calling it says what is missing. The pooler of a BERT or ViT is dropped.

    Raises: FileNotFoundError for no such folder or file; ImportError without ``huggingface_hub``; ValueError for a kind
    of model or an option that is not supported, weights that do not fit (all in one list), are damaged or a pickle.
    """
    folder = fetch(name, revision=revision)
    options = _read_json(folder / CONFIG)
    _architecture(options)  # before anything large is read
    return from_tensors(options, _read_weights(folder, options), dtype=dtype)


def from_tensors(options: dict, theirs: dict[str, Tensor], *, dtype: torch.dtype | None = None) -> nn.Module:
    """As ``from_pretrained``, from the options of a ``config.json`` and weights under their names."""
    if not isinstance(dtype, torch.dtype | None):
        raise TypeError(f"from_pretrained: {dtype=}, expected None or one of torch, such as torch.bfloat16.")
    architecture = _architecture(options)
    with _Undrawn():
        model = (architecture.build or architecture.model)(read_config(architecture, options))
    floats = {tensor.dtype for tensor in theirs.values() if tensor.is_floating_point()}
    model.to(dtype or reduce(torch.promote_types, floats, torch.float32 if not floats else floats.pop()))
    load_weights(model, architecture, theirs)
    model.labels_and_tokens = {name: options[name] for name in KEPT if name in options}
    return model.eval()


def save_pretrained(model: nn.Module, folder: str | Path, *, labels_and_tokens: dict | None = None) -> None:
    """Write ``config.json`` and ``model.safetensors`` so that ``transformers`` loads them as the same model.

    ``labels_and_tokens`` has options of ``config.json`` such as ``id2label``; without it those the model came with.

    Raises: TypeError for a model of another kind; ValueError for a configuration, weights or an attention that they
    have no place for, another option, or labels that are not as many as the classes.
    """
    candidates = [a for a in ARCHITECTURES.values() if type(model) is a.model]
    if not candidates:
        kinds = ", ".join(dict.fromkeys(a.model.__name__ for a in ARCHITECTURES.values()))
        raise TypeError(f"save_pretrained: cannot save a {type(model).__name__}, expected one of {kinds}.")
    reasons = []
    for architecture in candidates:
        try:
            options, tensors = write_config(architecture, filled(model.config)), save_weights(model, architecture)
            break
        except ValueError as error:
            reasons.append(str(error))
    else:
        raise ValueError("\n".join(reasons))
    given = getattr(model, "labels_and_tokens", {}) if labels_and_tokens is None else labels_and_tokens
    n_labels, tokens = options.get("num_labels"), KEPT[2:5] if "vocab_size" in options else ()  # begin, end, padding
    if set(given) - set(KEPT) or (n_labels and len(given.get("id2label") or range(n_labels)) != n_labels):
        raise ValueError(
            f"save_pretrained: labels_and_tokens={given!r} for {n_labels or 'no'} classes, expected some of "
            f"{', '.join(KEPT)}, with one label for each class."
        )
    if any(isinstance(part, NoHead) for part in model.children()):
        options["architectures"] = [architecture.bare]
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    options = dict.fromkeys(tokens) | given | options | {"torch_dtype": dtype}
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def fetch(name: str | Path, *, revision: str | None = None) -> Path:
    """A folder as it is, or that to which a model of the hub was fetched; errors as in ``from_pretrained``."""
    if Path(name).is_dir():
        return Path(name)
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", str(name)) or Path(name).exists():
        raise FileNotFoundError(f"from_pretrained: {name} is no folder, nor can it be a name on the Hugging Face hub.")
    try:
        from huggingface_hub import list_repo_files, snapshot_download
    except ImportError as error:
        raise ImportError(
            f"from_pretrained: {str(name)!r} is no folder here, and fetching it from the Hugging Face hub needs "
            "huggingface_hub. Install it with: pip install huggingface_hub"
        ) from error
    try:
        folder = Path(snapshot_download(str(name), revision=revision, allow_patterns=FETCHED))
        names = list_repo_files(str(name), revision=revision) if not list(folder.glob("*.safetensors")) else ()
    except Exception as error:  # the hub's client and what it stands on share no class of errors
        where = f"{str(name)!r} is no folder here and could not be fetched from the Hugging Face hub"
        raise FileNotFoundError(f"from_pretrained: {where}: {error}") from error
    if names:
        _refuse_pickles(str(name), names, _read_json(folder / CONFIG))
    return folder


class _Undrawn(TorchFunctionMode):
    """Weights that are about to be replaced are 0: to draw them would take several times as long as to load."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        drawn = function.__name__.endswith(("uniform_", "normal_"))
        return (*args, *(kwargs or {}).values())[0].detach().zero_() if drawn else function(*args, **kwargs or {})


def _architecture(options):
    if (kind := options.get("model_type")) not in ARCHITECTURES:
        raise ValueError(f"from_pretrained: model_type={kind!r}, expected one of {', '.join(ARCHITECTURES)}.")
    return ARCHITECTURES[kind]


def _read_json(path):
    if not path.is_file():
        raise FileNotFoundError(f"from_pretrained: there is no {path.name} in {path.parent}.")
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")).items())
    except (ValueError, AttributeError) as error:
        raise ValueError(f"from_pretrained: {path} is no JSON object ({error}). Take an intact copy.") from error


def _read_weights(folder: Path, options: dict) -> dict[str, Tensor]:
    """The tensors of the one file or of all files that the index names."""
    if (folder / WEIGHTS).is_file():
        return _read_tensors(folder / WEIGHTS)
    if (folder / INDEX).is_file():
        index = _read_json(folder / INDEX).get("weight_map", {})
        parts = sorted({Path(name).name for name in index.values()})  # of this folder, whatever the index says
        return {name: tensor for part in parts for name, tensor in _read_tensors(folder / part).items()}
    names = sorted(path.name for path in folder.iterdir())
    _refuse_pickles(str(folder), names, options)
    raise FileNotFoundError(f"from_pretrained: neither {WEIGHTS} nor {INDEX} in {folder}, which holds {names}.")


def _refuse_pickles(where, names, options):
    if pickles := [name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))]:
        raise ValueError(
            f"from_pretrained: {where} has its weights in {', '.join(pickles)} only, a pickle. A pickle can run any "
            "program when it is opened and is never fetched or opened here. If you trust it, convert it with: "
            f"transformers.{_architecture(options).class_name}.from_pretrained({where!r}).save_pretrained('converted')"
        )


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
