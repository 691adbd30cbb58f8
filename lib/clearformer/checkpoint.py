"""Checkpoints of a training run: one safetensors file, written whole or not at all, and never a pickle.

The file holds the weights (``model.…``), the optimiser's state (``optimizer.…``) and the losses; its header holds a
JSON text with the rest. Of frozen weights it holds a checksum alone, so that a run which trains one part in a hundred
keeps no more than that: whoever resumes it brings the others along. There is no state of a random generator to keep,
because ``train`` derives the randomness of every step from the seed and the step's number.
"""

import json
import secrets
import zlib
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from clearformer.checks import check_model, check_path
from clearformer.parallel import gather_tensor, join_processes, of_the_first, split_like
from clearformer.weight_files import damaged, find_misfits, read_header, read_tensors, require_file, written_whole

NAME = "checkpoint.safetensors"
FROZEN = "frozen_checksums"  # of the facts: by name, of each weight that did not learn when the run began
MEND = "Take an intact copy, or delete it and start again."
_FOLDER = "a folder with a checkpoint"
MAY_GROW = "n_steps"  # of a configuration: a finished run can be made longer


def has_checkpoint(folder: str | Path) -> bool:
    """Whether ``train`` left a whole checkpoint in ``folder``, so that ``resume=has_checkpoint(folder)`` goes on."""
    return (check_path("has_checkpoint", "folder", folder, _FOLDER) / NAME).is_file()


def begin(
    folder: str | Path | None, model: nn.Module, optimizer: torch.optim.Optimizer, facts: dict, *, resume: bool
) -> tuple[list[float], dict[int, float]]:
    """The losses and evaluations so far: none at the start, those of the checkpoint, which is restored, on resuming.

    Writes into ``facts`` the mark of this run, that of the checkpoint which it may replace, and the checksums of the
    weights that do not learn.

    Raises: FileNotFoundError or FileExistsError if ``resume`` and ``folder`` do not fit; ValueError for a checkpoint
    that is damaged, or of another configuration, model or choice of weights that learn, or of other frozen weights.
    """
    facts["run"], facts["replaces"] = secrets.token_hex(8), None
    if folder is not None:
        facts[FROZEN] = _frozen_checksums(model)
    if resume and folder is None:
        raise ValueError("train: resume=True without a folder, expected the one with the checkpoint. Pass folder=.")
    if not resume:
        if folder is not None and has_checkpoint(folder):
            raise FileExistsError(f"train: {folder} already holds a checkpoint. Pass resume=True, or another folder.")
        return [], {}
    tensors, saved = load(folder, caller="train")
    facts["replaces"] = saved.get("run")
    _check_same_run(saved, facts)
    restore(model, optimizer, tensors, saved, caller="train", checksums=facts[FROZEN])
    facts[FROZEN] |= saved.get(FROZEN, {})  # those of the beginning: what differs from them has to be kept on
    return tensors["losses"].tolist(), {int(step): value for step, value in saved["evaluations"].items()}


def _check_same_run(saved: dict, facts: dict) -> None:
    """Raises: ValueError with all that differs between two configurations, but for a larger number of steps."""
    there, here = (f["config"] | {name: f.get(name) for name in ("n_processes", "frozen")} for f in (saved, facts))
    if "frozen" not in saved:  # checkpoints of version 0.1 do not tell
        there["frozen"] = here["frozen"]
    changed = [name for name in sorted(there | here) if there.get(name) != here.get(name)]
    if MAY_GROW in changed and here[MAY_GROW] > there[MAY_GROW]:
        changed.remove(MAY_GROW)
    if changed:
        changes = "; ".join(f"{name} was {there.get(name)}, is {here.get(name)}" for name in changed)
        raise ValueError(
            f"train: the checkpoint belongs to another configuration: {changes}. Resume with the one it was made with "
            f"(only {MAY_GROW} may grow), or train in another folder; load_model brings its weights there."
        )


def save(
    folder: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, losses: list[float], facts: dict
) -> None:
    """Write a checkpoint so that ``folder`` holds the old one or the new one at every moment, whoever pulls the plug.

    ``facts`` is what JSON can hold: the configuration and how far the run got. Of several processes all call this, and
    the first writes: weights of which each holds a share are put together on its CPU, one after another. Frozen weights
    that are what they were when the run began are left out.

    Cost: a copy of the other weights and the optimiser's state on disk, twice for the time of the writing.
    Raises: FileExistsError if another run has written to the folder meanwhile; OSError if the disk takes no more. What
    was there before is whole in either case.
    """
    unchanged = {f"model.{name}": checksum for name, checksum in facts.get(FROZEN, {}).items()}
    everything = {f"model.{name}": tensor for name, tensor in _weights(model).items()}
    for name, parameter in _optimized_parameters(model, optimizer):
        everything |= {f"optimizer.{name}:{key}": t for key, t in optimizer.state.get(parameter, {}).items()}
    tensors = {"losses": torch.tensor(losses, dtype=torch.float64)}
    with join_processes() as (rank, _):
        for name, tensor in everything.items():
            together = gather_tensor(tensor.detach())
            if rank == 0 and (name not in unchanged or _checksum_of(together) != unchanged[name]):
                tensors[name] = together.cpu().contiguous()
    if rank != 0:
        return
    _refuse_other_run(Path(folder), facts)
    older = "The one of before is whole" if has_checkpoint(folder) else "There was none before"
    what, advice = (
        f"the checkpoint after step {len(losses)}",
        f"{older}; make room or choose another folder, then resume.",
    )
    text = json.dumps(facts)
    with written_whole("train", Path(folder), NAME, what=what, advice=advice) as (unfinished,):
        save_file(tensors, unfinished, metadata={"facts": text, "crc32": str(_checksum(tensors, text))})


def _refuse_other_run(folder: Path, facts: dict) -> None:
    """Raises: FileExistsError where the checkpoint is neither this run's own nor the one that it began with."""
    if "run" not in facts or not has_checkpoint(folder):
        return
    try:
        there = json.loads(read_header("train", folder / NAME).get("facts", "{}")).get("run")
    except ValueError:
        return  # damaged: a whole one in its place loses nothing
    if there not in (facts["run"], facts["replaces"]):
        raise FileExistsError(
            f"train: another run has written its checkpoint to {folder} meanwhile, and is left alone. "
            "Give each run a folder of its own."
        )


def load_model(folder: str | Path, model: nn.Module) -> None:
    """Copy the weights of a checkpoint into ``model``, to use it or to begin a new run from them.

    Raises: as ``load``; ValueError for the checkpoint of another model, or of a run with other frozen weights.
    """
    check_model("load_model", model)
    tensors, facts = load(folder, caller="load_model")
    _copy_weights(model, tensors, facts, "load_model", {})


def load(folder: str | Path, *, caller: str = "load") -> tuple[dict[str, Tensor], dict]:
    """The tensors and the facts of the checkpoint in ``folder``, checked against the checksum.

    Raises: FileNotFoundError if there is none; ValueError if the file is truncated or altered.
    """
    path = check_path(caller, "folder", folder, _FOLDER) / NAME
    require_file(caller, path, "Start with resume=False.")
    tensors, header = read_tensors(caller, path, MEND)
    try:
        if int(header["crc32"]) != _checksum(tensors, header["facts"]):
            raise ValueError("its checksum does not fit its contents")
        return {name: tensor.clone() for name, tensor in tensors.items()}, json.loads(header["facts"])
    except (KeyError, ValueError) as error:
        raise damaged(caller, path, error, MEND) from error


def restore(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    tensors: dict[str, Tensor],
    facts: dict,
    *,
    caller: str = "restore",
    checksums: dict[str, int],
) -> None:
    """Copy what ``load`` gave into a model and its optimiser; ``checksums`` are those of the model's frozen weights.

    Raises: ValueError with the list of all weights that are missing, unexpected, of another shape or dtype, or that the
    checkpoint left out and the model has otherwise.
    """
    _copy_weights(model, tensors, facts, caller, checksums)
    state = {}
    for index, (name, parameter) in enumerate(_optimized_parameters(model, optimizer)):
        prefix = f"optimizer.{name}:"
        state[index] = {k[len(prefix) :]: split_like(t, parameter) for k, t in tensors.items() if k.startswith(prefix)}
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


@torch.no_grad()
def _copy_weights(
    model: nn.Module, tensors: dict[str, Tensor], facts: dict, caller: str, checksums: dict[str, int]
) -> None:
    saved = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
    left_out = {name: checksum for name, checksum in facts.get(FROZEN, {}).items() if name not in saved}
    own = _weights(model)
    _check_same_model(own, saved, left_out, caller)
    others = [
        name
        for name, then in left_out.items()
        if (checksums.get(name) or _checksum_of(gather_tensor(own[name].detach()))) != then
    ]
    if others:
        raise ValueError(
            f"{caller}: the checkpoint holds only what learns, and its run had other frozen weights than this model: "
            f"{'; '.join(sorted(others))}. Load the ones that the run began with before."
        )
    for name, tensor in saved.items():
        own[name].copy_(split_like(tensor, own[name]))


def _check_same_model(own: dict[str, Tensor], saved: dict[str, Tensor], left_out: dict[str, int], caller: str) -> None:
    """Raises: ValueError with all weights that only one of model and checkpoint has, or that differ in kind."""
    expected = ((name, weight) for name, weight in own.items() if name not in left_out)
    wrong = find_misfits(saved, expected) + [f"{name} is unexpected" for name in left_out.keys() - own.keys()]
    if wrong:
        raise ValueError(
            f"{caller}: the checkpoint belongs to another model: {'; '.join(sorted(wrong))}. Build the one it was "
            "made with, or train in another folder."
        )


def plain_name(name: str) -> str:
    """The name of a weight without what ``torch.compile`` puts in front."""
    return name.replace("_orig_mod.", "")


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name; a tied weight, which has several names, once and under the first."""
    first_name: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first_name.setdefault(id(tensor), (plain_name(name), tensor))
    return dict(first_name.values())


def _optimized_parameters(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[tuple[str, nn.Parameter]]:
    """Names and parameters in the optimiser's own order, by which its state is numbered."""
    names = {parameter: plain_name(name) for name, parameter in model.named_parameters()}
    return [(names[parameter], parameter) for group in optimizer.param_groups for parameter in group["params"]]


def _frozen_checksums(model: nn.Module) -> dict[str, int]:
    """By name those of the weights that do not learn; of several processes the first one's, whose weights count."""
    frozen = {name: t for name, t in _weights(model).items() if isinstance(t, nn.Parameter) and not t.requires_grad}
    checksums = [_checksum_of(gather_tensor(tensor.detach())) for tensor in frozen.values()]
    return dict(zip(frozen, of_the_first(checksums), strict=True))


def _checksum(tensors: dict[str, Tensor], text: str) -> int:
    total = zlib.crc32(text.encode())
    for name in sorted(tensors):
        total = zlib.crc32(name.encode(), total)
        total = _checksum_of(tensors[name], total)
    return total


def _checksum_of(tensor: Tensor, total: int = 0) -> int:
    """Of its numbers, dtype and shape."""
    total = zlib.crc32(f" {tensor.dtype} {tuple(tensor.shape)}".encode(), total)
    return zlib.crc32(tensor.reshape(-1).cpu().contiguous().view(torch.uint8).numpy(), total)
