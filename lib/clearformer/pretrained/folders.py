"""Folders as Hugging Face keeps them: ``config.json`` beside safetensors in one file or several; never a pickle."""

import json
import re
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearformer.checks import check_path, check_text, shorten
from clearformer.pretrained.bert import BERT_ARCHITECTURE, CAMEMBERT, DISTILBERT, MODERNBERT, ROBERTA, XLM_ROBERTA
from clearformer.pretrained.convert import (
    build_model,
    fitting_rows,
    is_headless,
    load_weights,
    read_config,
    save_weights,
    write_config,
)
from clearformer.pretrained.deepseek import DEEPSEEK_V2, DEEPSEEK_V3
from clearformer.pretrained.experts import GPT_OSS, MIXTRAL, QWEN3_MOE
from clearformer.pretrained.gemma import GEMMA, GEMMA2, GEMMA3
from clearformer.pretrained.gpt import GPT2, NEOX
from clearformer.pretrained.llama import GRANITE, LLAMA, MISTRAL, OLMO2, PHI3, QWEN2, QWEN3, SMOLLM3
from clearformer.pretrained.marian import BART, MARIAN, MBART
from clearformer.pretrained.mxfp4 import unpacked
from clearformer.pretrained.relatives import nearest_relative
from clearformer.pretrained.t5 import MT5, T5, UMT5
from clearformer.pretrained.tables import OTHERS, Architecture
from clearformer.pretrained.towers import CLIP, DINOV2, DINOV2_WITH_REGISTERS, SIGLIP
from clearformer.pretrained.vit import MAE_ARCHITECTURE, VIT
from clearformer.weight_files import read_object, read_tensors, require_file, written_whole

LLAMAS = (LLAMA, MISTRAL, QWEN2, QWEN3, SMOLLM3, PHI3, OLMO2, GRANITE, GEMMA, GEMMA2, GEMMA3)
EXPERTS = (MIXTRAL, QWEN3_MOE, GPT_OSS, DEEPSEEK_V2, DEEPSEEK_V3)
BERTS = (BERT_ARCHITECTURE, ROBERTA, XLM_ROBERTA, CAMEMBERT, DISTILBERT, MODERNBERT)
OTHER_KINDS = (
    *BERTS,
    VIT,
    MAE_ARCHITECTURE,
    DINOV2,
    DINOV2_WITH_REGISTERS,
    CLIP,
    SIGLIP,
    MARIAN,
    BART,
    MBART,
    T5,
    MT5,
    UMT5,
)
ARCHITECTURES = {a.model_type: a for a in (GPT2, *OTHER_KINDS, *LLAMAS, NEOX, *EXPERTS)}
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
# options that our configurations have no fields for, and that a loaded model carries along
LABELS = ("id2label", "label2id")
TEXT_TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id")
KEPT = (*LABELS, *TEXT_TOKENS, "sep_token_id")
FETCHED = ["*.json", "*.txt", "*.jinja", "*.spm", "model*.safetensors"]  # with what a tokenizer needs


def from_pretrained(name: str | Path, *, dtype: torch.dtype | None = None, revision: str | None = None) -> nn.Module:
    """Our model with the weights of a checkpoint, in evaluation mode, on the CPU.

    A ``name`` that is no folder here is fetched from the Hugging Face hub, with ``huggingface_hub`` and a network;
    ``revision`` is then a branch or commit. Without a ``dtype`` the weights keep theirs. Labels and special tokens of
    ``config.json`` are in the model's ``labels_and_tokens``. A checkpoint without a head, as a ``BertModel``, gives a
    model without one: its ``encode`` works, calling it says what is missing. The pooler of a BERT or ViT is dropped.

    Raises: FileNotFoundError for no such folder, file or name on the hub; ConnectionError where it cannot be reached,
    PermissionError where it wants a login; ImportError without ``huggingface_hub``; ValueError for a kind of model or
    an option that is not supported, weights that do not fit (all in one list), are damaged or a pickle.
    """
    _check_dtype(dtype)  # before anything large is read
    folder = fetch(name, revision=revision)
    options = read_json(folder / CONFIG)
    architecture_of(options)
    return from_tensors(options, read_weights(folder, options), dtype=dtype)


def from_tensors(options: dict, theirs: dict[str, Tensor], *, dtype: torch.dtype | None = None) -> nn.Module:
    """As ``from_pretrained``, from the options of a ``config.json`` and weights under their names."""
    for name, value in (("options", options), ("theirs", theirs)):
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise TypeError(f"from_pretrained: {name}={shorten(value)} is of type {kind}, expected a dict.")
    _check_tensors(theirs)
    _check_dtype(dtype)
    architecture = architecture_of(options)
    options, theirs = unpacked(options, theirs)
    if architecture.told is not None:
        options = architecture.told(options, theirs)
    config = read_config(architecture, options)
    with _SkipDraws():
        with torch.device("meta"):  # the shapes alone, so that wrong sizes are told before they take any memory
            fitting_rows(build_model(architecture, config), architecture, theirs)
        model = build_model(architecture, config)
    model.to(dtype or _widest(theirs))
    load_weights(model, architecture, theirs)
    model.family = architecture.model_type
    model.labels_and_tokens = {name: options[name] for name in KEPT if name in options}
    return model.eval()


def _check_tensors(theirs: dict) -> None:
    for name, tensor in theirs.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise TypeError(
                f"from_pretrained: {shorten(name)} among the weights is {type(tensor).__name__}, expected names and "
                "tensors."
            )


def _check_dtype(dtype: object) -> None:
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(
            f"from_pretrained: dtype={shorten(dtype)}, expected None or a floating-point one of torch, such as "
            "torch.bfloat16."
        )


def _widest(tensors: dict[str, Tensor]) -> torch.dtype:
    """The dtype that can hold the numbers of all floating-point ones."""
    dtypes = [tensor.dtype for tensor in tensors.values() if tensor.is_floating_point()]
    if not dtypes:
        return torch.float32
    return reduce(torch.promote_types, dtypes)


def save_pretrained(model: nn.Module, folder: str | Path, *, labels_and_tokens: dict | None = None) -> None:
    """Write ``config.json`` and ``model.safetensors`` so that ``transformers`` loads them as the same model.

    ``labels_and_tokens`` has options of ``config.json`` such as ``id2label``; without it those the model came with.
    Each file is written beside and then renamed, so that what the folder held is whole until it is replaced.

    Raises: TypeError for a model of another kind; ValueError for a configuration, weights or an attention that they
    have no place for, another option, or labels that are not as many as the classes; OSError if the disk takes no more.
    """
    folder = check_path("save_pretrained", "folder", folder, "a folder for the model")
    model = getattr(model, "_orig_mod", model)  # of a compiled one
    architecture, options, tensors = _nearest_architecture(model)
    given = getattr(model, "labels_and_tokens", {}) if labels_and_tokens is None else labels_and_tokens
    _check_labels(given, options.get("num_labels"))
    if is_headless(model):
        options["architectures"] = [architecture.bare]
    dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
    open_tokens = dict.fromkeys(TEXT_TOKENS) if "vocab_size" in options else {}
    options = open_tokens | given | options | {"torch_dtype": dtype}
    with written_whole("save_pretrained", folder, WEIGHTS, CONFIG) as (weights, config):
        save_file(tensors, weights, metadata={"format": "pt"})
        config.write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")


def _nearest_architecture(model: nn.Module) -> tuple[Architecture, dict, dict[str, Tensor]]:
    """The family that a model can be saved as, its options and weights.

    Raises: TypeError for another kind of model; ValueError with all that keeps it out of the family that lacks least.
    """
    candidates = [a for a in ARCHITECTURES.values() if type(model) is a.model]
    candidates.sort(key=lambda a: a.model_type != getattr(model, "family", None))  # where it came from, first of all
    if not candidates:
        kinds = ", ".join(dict.fromkeys(a.model.__name__ for a in ARCHITECTURES.values()))
        raise TypeError(f"save_pretrained: cannot save a {type(model).__name__}, expected one of {kinds}.")
    reasons = []
    for architecture in candidates:
        options, misfits = write_config(architecture, model.config)
        tensors, odd = save_weights(model, architecture)
        if not misfits and not odd:
            return architecture, options, tensors
        reasons.append([*misfits, *odd])
    least = min(("; ".join(several) for several in reasons), key=len)
    raise ValueError(f"save_pretrained: {least}. Save such a model with safetensors.torch.save_model.")


def _check_labels(given: Any, n_labels: int | None) -> None:
    if not isinstance(given, dict):
        raise TypeError(f"save_pretrained: labels_and_tokens={shorten(given)}, expected a dict.")
    unknown = given.keys() - set(KEPT)
    labels = given.get("id2label")
    if unknown or (labels and n_labels and len(labels) != n_labels):
        raise ValueError(
            f"save_pretrained: labels_and_tokens={given!r} for {n_labels or 'no'} classes, expected some of "
            f"{', '.join(KEPT)}, with one label for each class."
        )


def fetch(name: str | Path, *, revision: str | None = None) -> Path:
    """A folder as it is, or that to which a model of the hub was fetched; errors as in ``from_pretrained``."""
    path = check_path("from_pretrained", "name", name, "a folder, or a name on the Hugging Face hub")
    if revision is not None:
        check_text("from_pretrained", "revision", revision, "Pass a branch, tag or commit.")
    if path.is_dir():
        return path
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", str(name)) or path.exists():
        raise FileNotFoundError(f"from_pretrained: {name} is no folder, nor can it be a name on the Hugging Face hub.")
    try:
        from huggingface_hub import list_repo_files, snapshot_download
    except ImportError as error:
        raise ImportError(
            f"from_pretrained: {str(name)!r} is no folder here, and fetching it from the Hugging Face hub needs "
            "huggingface_hub. Install it with: pip install huggingface_hub"
        ) from error
    names: list[str] = []
    try:
        folder = Path(snapshot_download(str(name), revision=revision, allow_patterns=FETCHED))
        if not list(folder.glob("*.safetensors")):
            names = list_repo_files(str(name), revision=revision)
    except Exception as error:  # the hub's client and what it stands on share no class of errors
        where = f"{str(name)!r} is no folder here and could not be fetched from the Hugging Face hub"
        raise _kind_of(error)(f"from_pretrained: {where}: {error}") from error
    if names:
        _refuse_pickles(str(name), names, read_json(folder / CONFIG))
    return folder


def _kind_of(error: Exception) -> type[OSError]:
    """What a failed fetch is told as: a name or branch that is not there, no permission, or no connection."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return PermissionError
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):  # also for a name that is not there, which the hub does not tell apart
        return PermissionError if isinstance(error, errors.DisabledRepoError) else FileNotFoundError
    missing = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.RemoteEntryNotFoundError)
    return FileNotFoundError if status == 404 or isinstance(error, missing) else ConnectionError


class _SkipDraws(TorchFunctionMode):
    """Weights that are about to be replaced are 0: to draw them would take several times as long as to load."""

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        given = {} if kwargs is None else kwargs
        if not function.__name__.endswith(("uniform_", "normal_")):
            return function(*args, **given)
        weight = args[0] if args else given["tensor"]
        return weight.detach().zero_()


def architecture_of(options: dict) -> Architecture:
    """The table for the kind of model in a ``config.json``. Raises: ValueError with the nearest there is."""
    kind = options.get("model_type")
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        hint = nearest_relative(kind) if isinstance(kind, str) else ""
        known = ", ".join(ARCHITECTURES)
        raise ValueError(f"from_pretrained: model_type={shorten(kind)}, expected one of {known}. {hint}{OTHERS}")
    return ARCHITECTURES[kind]


def read_json(path: Path) -> dict:
    """The object in a JSON file. Raises: FileNotFoundError, or ValueError for what is no JSON object."""
    require_file("from_pretrained", path)
    return read_object("from_pretrained", path)


def read_weights(folder: Path, options: dict) -> dict[str, Tensor]:
    """The tensors of the one file or of all files that the index names."""
    if (folder / WEIGHTS).is_file():
        return _read_tensors(folder / WEIGHTS)
    if (folder / INDEX).is_file():
        index = read_json(folder / INDEX).get("weight_map")
        if not isinstance(index, dict) or not all(isinstance(name, str) for name in index.values()):
            raise ValueError(
                f"from_pretrained: weight_map in {folder / INDEX} is {shorten(index)}, expected the name of a file for "
                "each weight. Take an intact copy."
            )
        tensors = {}
        for part in sorted({Path(name).name for name in index.values()}):  # of this folder, whatever the index says
            tensors |= _read_tensors(folder / part)
        return tensors
    names = sorted(path.name for path in folder.iterdir())
    _refuse_pickles(str(folder), names, options)
    raise FileNotFoundError(f"from_pretrained: neither {WEIGHTS} nor {INDEX} in {folder}, which holds {names}.")


def _refuse_pickles(where: str, names: Iterable[str], options: dict) -> None:
    pickles = [name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))]
    if pickles:
        raise ValueError(
            f"from_pretrained: {where} has its weights in {', '.join(pickles)} only, a pickle. A pickle can run any "
            "program when it is opened and is never fetched or opened here. If you trust it, convert it with: "
            f"transformers.{architecture_of(options).class_name}.from_pretrained({where!r}).save_pretrained('converted')"
        )


def _read_tensors(path: Path) -> dict[str, Tensor]:
    require_file("from_pretrained", path, f"{INDEX} names it.")
    tensors, _ = read_tensors("from_pretrained", path)
    return tensors
