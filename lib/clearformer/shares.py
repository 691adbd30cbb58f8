"""Tensors of which each process holds a share, in a folder into which each writes a file: all of it, or nothing.

PyTorch's ``torch.distributed.checkpoint`` cuts them, and puts them together for as many processes as read. Its files
are safetensors here, so no pickle; beside them a JSON file holds the facts, and size and checksum of every other file.
"""

import functools
import inspect
import json
import os
import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from clearformer.checks import shorten
from clearformer.files import replaced_whole
from clearformer.weight_files import damaged, read_object, require_file

FACTS = "checkpoint.json"
UNFINISHED = ".unfinished"
MEND = "Bring all files of the folder to one place that every process reads, or delete it to go on from an older one."
_BLOCK = 1 << 24  # bytes of a file that are looked at at once
T = TypeVar("T")


def are_shares(tensors: Iterable[Tensor]) -> bool:
    """Whether a tensor is held in shares, and this PyTorch can write them as safetensors."""
    return any(hasattr(tensor, "full_tensor") for tensor in tensors) and can_be_written()


def can_be_written() -> bool:
    """Whether this PyTorch writes the shares of several processes as safetensors, which older versions do not."""
    import torch.distributed.checkpoint as dcp

    writer = getattr(dcp, "HuggingFaceStorageWriter", None)
    return writer is not None and "save_distributed" in inspect.signature(writer).parameters


def steps_of(folder: Path) -> dict[int, Path]:
    """The whole checkpoints in shares, by the number of steps done."""
    named = {int(p.name[5:]): p for p in folder.glob("step-*") if re.fullmatch(r"step-\d{8,}", p.name)}
    return {step: path for step, path in named.items() if (path / FACTS).is_file()}


def remove_shares(folder: Path, *, but: Path | None = None) -> None:
    """Delete checkpoints in shares, first what makes them whole, and what a process that was killed left behind."""
    for path in folder.glob("step-*"):
        if path != but and re.fullmatch(rf"step-\d{{8,}}({re.escape(UNFINISHED)})?", path.name):
            (path / FACTS).unlink(missing_ok=True)
            shutil.rmtree(path)


def write_shares(folder: Path, step: int, tensors: dict[str, Tensor], facts: dict) -> None:
    """Write ``folder``/step-…, for which every process must ask; the older ones are deleted when it is there.

    Raises: OSError, in all processes, if one of them could not write; the older ones are whole.
    """
    import torch.distributed.checkpoint as dcp

    path = folder / f"step-{step:08}"
    beside = path.with_name(path.name + UNFINISHED)
    first = dist.get_rank() == 0
    _of_all(functools.partial(_make_empty, beside) if first else _nothing)
    try:
        dcp.save(tensors, storage_writer=dcp.HuggingFaceStorageWriter(str(beside), save_distributed=True))
    except dcp.CheckpointException as error:
        raise OSError("; ".join(sorted({str(cause) for cause, _ in error.failures.values()}))) from error
    mine = f"shard-{dist.get_rank() + 1:05}-*"
    files = {name: fact for of_one in _of_all(lambda: _files_of(beside, mine)) for name, fact in of_one.items()}
    _of_all(functools.partial(_finish, beside, path, facts, files) if first else _nothing)


def _nothing() -> None:
    """What a process does while the first one works."""


def _make_empty(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)


def _files_of(folder: Path, pattern: str) -> dict[str, list[int]]:
    return {path.name: _size_and_checksum(path) for path in sorted(folder.glob(pattern))}


def _finish(beside: Path, path: Path, facts: dict, files: dict[str, list[int]]) -> None:
    """Give what all have written its name."""
    lacking = [name for name in files if not (beside / name).is_file()]
    if lacking:
        raise OSError(f"{shorten(lacking[0])} of another process is not there: the processes share no folder")
    content = {"facts": facts, "files": files}
    with replaced_whole(beside / FACTS) as (unfinished,):
        unfinished.write_text(
            json.dumps(content | {"crc32": zlib.crc32(json.dumps(content).encode())}), encoding="utf-8"
        )
    if path.exists():
        raise OSError(f"{path} is there already")
    os.replace(beside, path)
    remove_shares(path.parent, but=path)


def read_shares(
    caller: str, path: Path, like: Callable[[str], Tensor | None] = lambda name: None
) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the facts of a checkpoint; where ``like`` gives a tensor of the same kind, split as that one is.

    Every process must ask. Raises: ValueError or FileNotFoundError, in all of them, if files are missing or damaged.
    """
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata

    content = _read_facts(caller, path)
    _check_files(caller, path, content["files"])
    reader = dcp.HuggingFaceStorageReader(str(path))
    tensors = {
        name: _empty(there.size, there.properties.dtype, like(name))
        for name, there in sorted(reader.read_metadata().state_dict_metadata.items())
        if isinstance(there, TensorStorageMetadata)  # as all are in safetensors
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled", UserWarning)  # one process can read it all
        dcp.load(tensors, storage_reader=reader, no_dist=not _are_several())
    return tensors, content["facts"]


def read_facts(caller: str, path: Path) -> dict:
    """The facts alone. Raises: ValueError if they are damaged."""
    return _read_facts(caller, path)["facts"]


def _read_facts(caller: str, path: Path) -> dict:
    require_file(caller, path / FACTS)
    content = read_object(caller, path / FACTS, MEND)
    checksum = content.pop("crc32", None)
    if checksum != zlib.crc32(json.dumps(content).encode()) or content.keys() != {"facts", "files"}:
        raise damaged(caller, path / FACTS, ValueError("its checksum does not fit its contents"), MEND)
    return content


def _check_files(caller: str, path: Path, files: dict[str, list[int]]) -> None:
    """Raises: in all processes what one of them finds; each looks at some of the files."""
    there = {file.name for file in path.glob("*.safetensors")}
    rank, n = (dist.get_rank(), dist.get_world_size()) if _are_several() else (0, 1)

    def look() -> None:
        for name in sorted(files)[rank::n]:
            if name not in there:
                raise OSError(f"{name} of {len(files)} files is missing")
            if _size_and_checksum(path / name) != files[name]:
                raise OSError(f"{name} is truncated or altered")
        if there - files.keys():
            raise OSError(f"{min(there - files.keys())} does not belong to it")

    try:
        _of_all(look)
    except OSError as error:
        raise ValueError(f"{caller}: the checkpoint {path} is damaged: {error}. {MEND}") from error


def _empty(size: torch.Size, dtype: torch.dtype, like: Tensor | None) -> Tensor:
    if like is not None and like.shape == size:
        return torch.zeros_like(like, dtype=dtype, requires_grad=False)
    return torch.zeros(size, dtype=dtype)


def _size_and_checksum(path: Path) -> list[int]:
    checksum = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return [path.stat().st_size, checksum]


def _are_several() -> bool:
    return dist.is_available() and dist.is_initialized()


def _of_all(work: Callable[[], T]) -> list[T]:
    """What ``work`` gives in each process. Raises: OSError, in all of them, with what went wrong in any."""
    try:
        mine: tuple = work(), None
    except OSError as error:
        mine = None, str(error)
    every = [mine]
    if _are_several():
        every = [mine] * dist.get_world_size()
        dist.all_gather_object(every, mine)
    wrong = sorted({text for _, text in every if text is not None})
    if wrong:
        raise OSError("; ".join(wrong))
    return [found for found, _ in every]
