"""Checkpoints of a training run: one safetensors file, written whole or not at all, and never a pickle.

The file holds the weights (``model.…``), the optimiser's state (``optimizer.…``) and the losses; its header holds a
JSON text with the rest. There is no state of a random generator to keep, because ``train`` derives the randomness of
every step from the seed and the step's number.
"""

import json
import os
import zlib
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from clearformer.parallel import gathered, processes, split_like

NAME = "checkpoint.safetensors"


def has_checkpoint(folder: str | Path) -> bool:
    """Whether ``train`` left a whole checkpoint in ``folder``, so that ``resume=has_checkpoint(folder)`` goes on."""
    return (Path(folder) / NAME).is_file()


def begin(
    folder: str | Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, facts: dict, *, resume: bool
) -> tuple[list[float], dict[int, float]]:
    """The losses and evaluations so far: none at the start, those of the checkpoint, which is restored, on resuming.

    Raises: FileNotFoundError or FileExistsError if ``resume`` and ``folder`` do not fit; ValueError for a checkpoint
    that is damaged, or of another configuration, model or choice of weights that learn.
    """
    if resume and folder is None:
        raise ValueError("train: resume=True without a folder, expected the one with the checkpoint. Pass folder=.")
    if not resume:
        if folder is not None and has_checkpoint(folder):
            raise FileExistsError(f"train: {folder} already holds a checkpoint. Pass resume=True, or another folder.")
        return [], {}
    tensors, saved = load(folder)
    saved = {"frozen": facts["frozen"]} | saved  # which a checkpoint of before does not tell
    there, here = (f["config"] | {name: f[name] for name in ("n_processes", "frozen")} for f in (saved, facts))
    changes = [f"{k} was {there.get(k)}, is {here.get(k)}" for k in sorted(there | here) if there.get(k) != here.get(k)]
    if changes:
        raise ValueError(
            f"train: the checkpoint belongs to another configuration: {'; '.join(changes)}. "
            "Resume with the one it was made with, or train in another folder."
        )
    restore(model, optimizer, tensors)
    return tensors["losses"].tolist(), {int(step): value for step, value in saved["evaluations"].items()}


def save(
    folder: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, losses: list[float], facts: dict
) -> None:
    """Write a checkpoint so that ``folder`` holds the old one or the new one at every moment, whoever pulls the plug.

    ``facts`` is what JSON can hold: the configuration and how far the run got. Of several processes all call this, and
    the first writes: weights of which each holds a share are put together on its CPU, one after another.

    Cost: a copy of weights and optimiser state on disk, twice for the time of the writing.
    """
    everything = {f"model.{name}": tensor for name, tensor in _weights(model).items()}
    for name, parameter in _optimized(model, optimizer):
        everything |= {f"optimizer.{name}:{key}": t for key, t in optimizer.state.get(parameter, {}).items()}
    tensors = {"losses": torch.tensor(losses, dtype=torch.float64)}
    with processes() as (rank, _):
        for name, tensor in everything.items():
            together = gathered(tensor.detach())
            if rank == 0:
                tensors[name] = together.cpu().contiguous()
    if rank != 0:
        return
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(facts)
    unfinished = folder / (NAME + ".unfinished")  # the same name each time: a killed run leaves at most one behind
    save_file(tensors, unfinished, metadata={"facts": text, "crc32": str(_checksum(tensors, text))})
    _flush(unfinished)  # before the rename, else a power cut could leave the new name on an empty file
    os.replace(unfinished, folder / NAME)
    _flush(folder)


def load(folder: str | Path) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the facts of the checkpoint in ``folder``, checked against the checksum.

    Raises: FileNotFoundError if there is none; ValueError if the file is truncated or altered.
    """
    path = Path(folder) / NAME
    if not path.is_file():
        raise FileNotFoundError(f"load: no checkpoint in {folder}, expected {NAME}. Start with resume=False.")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118, no mapping
        if int(header["crc32"]) != _checksum(tensors, header["facts"]):
            raise ValueError("its checksum does not fit its contents")
        return tensors, json.loads(header["facts"])
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ValueError(
            f"load: the checkpoint {path} of {path.stat().st_size} bytes is truncated or altered ({error}). "
            "Take an intact copy, or delete it and start again."
        ) from error


def restore(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Copy what ``load`` gave into a model and its optimiser.

    Raises: ValueError with the list of all weights that are missing, unexpected, or of another shape or dtype.
    """
    saved = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
    own = _weights(model)
    misfits = [f"{name} is missing" for name in own.keys() - saved.keys()]
    misfits += [f"{name} is unexpected" for name in saved.keys() - own.keys()]
    for name in own.keys() & saved.keys():
        there, here = (f"{str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}" for t in (saved[name], own[name]))
        if there != here:
            misfits.append(f"{name} is {there}, but {here} in the model")
    if misfits:
        raise ValueError(
            f"restore: the checkpoint belongs to another model: {'; '.join(sorted(misfits))}. Build the one it was "
            "made with, or train in another folder."
        )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(split_like(saved[name], tensor))
    state = {}
    for index, (name, parameter) in enumerate(_optimized(model, optimizer)):
        prefix = f"optimizer.{name}:"
        state[index] = {k[len(prefix) :]: split_like(t, parameter) for k, t in tensors.items() if k.startswith(prefix)}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name; a tied weight, which has several names, once and under the first."""
    first_name: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first_name.setdefault(id(tensor), (name, tensor))
    return dict(first_name.values())


def _optimized(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[tuple[str, nn.Parameter]]:
    """Names and parameters in the optimiser's own order, by which its state is numbered."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    return [(names[parameter], parameter) for group in optimizer.param_groups for parameter in group["params"]]


def _checksum(tensors: dict[str, Tensor], text: str) -> int:
    total = zlib.crc32(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), total)
        total = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy(), total)
    return total


def _flush(path: Path) -> None:
    """Wait until the disk holds what was written; a folder holds the names of its files."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
