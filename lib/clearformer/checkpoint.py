"""Checkpoints of a training run: one safetensors file, or one a process, written whole or not at all; never a pickle.

The file holds the weights (``model.…``), the optimiser's state (``optimizer.…``) and the losses; its header holds a
JSON text with the rest. Of frozen weights it holds a checksum alone, so that a run which trains one part in a hundred
keeps no more than that: whoever resumes it brings the others along. There is no state of a random generator to keep,
because ``train`` derives the randomness of every step from the seed and the step's number. A model that is split among
processes is kept in shares, as ``shares`` says, and either form is read by any number of processes.
"""

import json
import secrets
import zlib
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from clearformer import shares
from clearformer.checks import check_model, check_path
from clearformer.parallel import gather_tensor, join_processes, of_the_first
from clearformer.training_state import (
    FROZEN,
    checksum_of,
    copy_weights,
    frozen_checksums,
    named_weights,
    optimized_parameters,
    restore,
    tensors_like,
)
from clearformer.weight_files import (
    damaged,
    not_written,
    read_header,
    read_tensors,
    require_file,
    written_whole,
)

NAME = "checkpoint.safetensors"
MEND = "Take an intact copy, or delete it and start again."
_FOLDER = "a folder with a checkpoint"
MAY_GROW = "n_steps"  # of a configuration: a finished run can be made longer
MAY_CHANGE = {"grad_accum_steps", "shard_on"}  # where and in how many parts at once a step is computed
PARTS = "n_processes × grad_accum_steps"  # these are the same however many processes share them


def has_checkpoint(folder: str | Path) -> bool:
    """Whether ``train`` left a whole checkpoint in ``folder``, so that ``resume=has_checkpoint(folder)`` goes on."""
    return _newest(check_path("has_checkpoint", "folder", folder, _FOLDER)) is not None


def _newest(folder: Path) -> Path | None:
    """The file, or the folder of shares, that is further; both are there if a run was killed as it changed its form."""
    steps, single = shares.steps_of(folder), folder / NAME
    if not single.is_file():
        return steps[max(steps)] if steps else None
    return steps[max(steps)] if steps and max(steps) > _n_losses(single) else single


def _n_losses(path: Path) -> int:
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_slice("losses").get_shape()[0]
    except (SafetensorError, OSError):
        return 0


def begin(
    folder: str | Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, facts: dict, *, resume: bool
) -> tuple[list[float], dict[int, float]]:
    """The losses and evaluations so far: none at the start, those of the checkpoint, which is restored, on resuming.

    Writes into ``facts`` the mark of this run, that of the checkpoint which it may replace, and the checksums of the
    weights that do not learn.

    Raises: FileNotFoundError or FileExistsError if ``resume`` and ``folder`` do not fit; ValueError for a checkpoint
    that is damaged, or of another configuration, model or choice of weights that learn, or of other frozen weights.
    """
    facts["run"], facts["replaces"] = f"{of_the_first([secrets.randbits(62)])[0]:016x}", None
    if folder is not None:
        facts[FROZEN] = frozen_checksums(model)
    if resume and folder is None:
        raise ValueError("train: resume=True without a folder, expected the one with the checkpoint. Pass folder=.")
    if not resume:
        if folder is not None and has_checkpoint(folder):
            raise FileExistsError(f"train: {folder} already holds a checkpoint. Pass resume=True, or another folder.")
        return [], {}
    tensors, saved = load(folder, caller="train", like=tensors_like(model))
    facts["replaces"] = saved.get("run")
    _check_same_run(saved, facts)
    restore(model, optimizer, tensors, saved, caller="train", checksums=facts[FROZEN])
    facts[FROZEN] |= saved.get(FROZEN, {})  # those of the beginning: what differs from them has to be kept on
    return tensors["losses"].tolist(), {int(step): value for step, value in saved["evaluations"].items()}


def _check_same_run(saved: dict, facts: dict) -> None:
    """Raises: ValueError with all that differs between two configurations, but for a larger number of steps, and for
    other processes that read the same rows in a step, in the same parts.
    """
    there, here = _settings(saved), _settings(facts)
    if "frozen" not in saved:  # checkpoints of version 0.1 do not tell
        there["frozen"] = here["frozen"]
    changed = changed_settings(there, here, MAY_GROW)
    if changed:
        changes = "; ".join(f"{name} was {there.get(name)}, is {here.get(name)}" for name in changed)
        raise ValueError(
            f"train: the checkpoint belongs to another configuration: {changes}. Resume with the one it was made with "
            f"(only {MAY_GROW} may grow, and for other processes grad_accum_steps makes up), or train in another "
            "folder; load_model brings its weights there."
        )


def changed_settings(there: dict, here: dict, may_grow: str) -> list[str]:
    """The names under which two settings differ, but for one that may become larger."""
    names = [name for name in sorted(there | here) if there.get(name) != here.get(name)]
    return [name for name in names if name != may_grow or not here[name] > there[name]]


def _settings(facts: dict) -> dict:
    config = {name: value for name, value in facts["config"].items() if name not in MAY_CHANGE}
    parts = facts.get("n_processes", 1) * facts["config"].get("grad_accum_steps", 1)
    return config | {PARTS: parts, "frozen": facts.get("frozen")}


def save(
    folder: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, losses: list[float], facts: dict
) -> None:
    """Write a checkpoint so that ``folder`` holds the old one or the new one at every moment, whoever pulls the plug.

    ``facts`` is what JSON can hold: the configuration and how far the run got. Of several processes all call this, and
    the first writes, or each writes its share where the model is split. Frozen weights that are what they were when the
    run began are left out.

    Cost: a copy of the other weights and the optimiser's state on disk, twice for the time of the writing.
    Raises: FileExistsError if another run has written to the folder meanwhile; OSError if the disk takes no more. What
    was there before is whole in either case.
    """
    unchanged = {f"model.{name}": checksum for name, checksum in facts.get(FROZEN, {}).items()}
    everything = {f"model.{name}": tensor.detach() for name, tensor in named_weights(model).items()}
    for name, parameter in optimized_parameters(model, optimizer):
        everything |= {f"optimizer.{name}:{key}": t for key, t in optimizer.state.get(parameter, {}).items()}
    for name in [name for name in everything if name in unchanged]:
        if checksum_of(gather_tensor(everything[name])) == unchanged[name]:
            del everything[name]
    everything["losses"] = torch.tensor(losses, dtype=torch.float64)
    older = "The one of before is whole" if has_checkpoint(folder) else "There was none before"
    advice = f"{older}; make room or choose another folder, then resume."
    (_save_shares if shares.are_shares(everything.values()) else _save_file)(Path(folder), everything, facts, advice)


def _save_shares(folder: Path, tensors: dict[str, Tensor], facts: dict, advice: str) -> None:
    _refuse_other_run(folder, facts)
    n_done = len(tensors["losses"])
    try:
        shares.write_shares(folder, n_done, tensors, facts)
    except OSError as error:
        raise not_written("train", _saved_as(n_done), folder, error, advice) from error
    with join_processes() as (rank, _):
        if rank == 0:
            (folder / NAME).unlink(missing_ok=True)


def _save_file(folder: Path, tensors: dict[str, Tensor], facts: dict, advice: str) -> None:
    """Weights of which each process holds a share are put together on the first one's CPU, one after another."""
    together = {}
    with join_processes() as (rank, _):
        for name, tensor in tensors.items():
            whole = gather_tensor(tensor)
            if rank == 0:
                together[name] = whole.cpu().contiguous()
    if rank != 0:
        return
    _refuse_other_run(folder, facts)
    text, what = json.dumps(facts), _saved_as(len(tensors["losses"]))
    with written_whole("train", folder, NAME, what=what, advice=advice) as (unfinished,):
        save_file(together, unfinished, metadata={"facts": text, "crc32": str(_checksum(together, text))})
    shares.remove_shares(folder)


def _saved_as(n_done: int) -> str:
    return f"the checkpoint after step {n_done}"


def _refuse_other_run(folder: Path, facts: dict) -> None:
    """Raises: FileExistsError where the checkpoint is neither this run's own nor the one that it began with."""
    newest = _newest(folder)
    if "run" not in facts or newest is None:
        return
    try:
        there = _facts_of(newest).get("run")
    except (ValueError, OSError):
        return  # damaged: a whole one in its place loses nothing
    if there not in (facts["run"], facts["replaces"]):
        raise FileExistsError(
            f"train: another run has written its checkpoint to {folder} meanwhile, and is left alone. "
            "Give each run a folder of its own."
        )


def _facts_of(newest: Path) -> dict:
    if newest.name == NAME:
        return json.loads(read_header("train", newest).get("facts", "{}"))
    return shares.read_facts("train", newest)


def load_model(folder: str | Path, model: nn.Module) -> None:
    """Copy the weights of a checkpoint into ``model``, to use it or to begin a new run from them.

    Raises: as ``load``; ValueError for the checkpoint of another model, or of a run with other frozen weights.
    """
    check_model("load_model", model)
    tensors, facts = load(folder, caller="load_model", like=tensors_like(model))
    copy_weights(model, tensors, facts, "load_model", {})


def load(
    folder: str | Path, *, caller: str = "load", like: Callable[[str], Tensor | None] = lambda name: None
) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the facts of the checkpoint in ``folder``, checked against the checksum.

    What was saved in shares is put together, or split as the tensor is that ``like`` gives for its name.

    Raises: FileNotFoundError if there is none; ValueError if a file is missing, truncated or altered.
    """
    path = check_path(caller, "folder", folder, _FOLDER) / NAME
    newest = _newest(path.parent)
    if newest is not None and newest != path:
        return shares.read_shares(caller, newest, like)
    require_file(caller, path, "Start with resume=False.")
    tensors, header = read_tensors(caller, path, MEND)
    try:
        if int(header["crc32"]) != _checksum(tensors, header["facts"]):
            raise ValueError("its checksum does not fit its contents")
        return {name: tensor.clone() for name, tensor in tensors.items()}, json.loads(header["facts"])
    except (KeyError, ValueError) as error:
        raise damaged(caller, path, error, MEND) from error


def _checksum(tensors: dict[str, Tensor], text: str) -> int:
    total = zlib.crc32(text.encode())
    for name in sorted(tensors):
        total = zlib.crc32(name.encode(), total)
        total = checksum_of(tensors[name], total)
    return total
