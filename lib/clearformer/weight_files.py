"""Weights in files: safetensors and the JSON beside them, and one sentence for each way in which they can be wrong."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from clearformer.files import replaced_whole

INTACT = "Take an intact copy."
LFS_POINTER = b"version https://git-lfs"


def require_file(caller: str, path: Path, advice: str = "") -> None:
    """Raises: FileNotFoundError unless ``path`` is a file; ValueError for a pointer that stands for one of Git LFS."""
    if not path.is_file():
        raise FileNotFoundError(f"{caller}: there is no {path.name} in {path.parent}. {advice}".rstrip())
    with open(path, "rb") as file:
        if file.read(len(LFS_POINTER)) == LFS_POINTER:
            raise ValueError(
                f"{caller}: {path} is a pointer of Git LFS and not the file itself. Fetch it with: git lfs pull"
            )


def read_object(caller: str, path: Path, advice: str = INTACT) -> dict:
    """The JSON object in a file that is there. Raises: ValueError if it holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"it holds a {type(content).__name__}")
        return content
    except ValueError as error:
        raise ValueError(f"{caller}: {path} is no JSON object ({error}). {advice}") from error


def read_tensors(caller: str, path: Path, advice: str = INTACT) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the header's texts of a safetensors file that is there. Raises: ValueError if it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, no mapping
            return tensors, file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise damaged(caller, path, error, advice) from error


def read_header(caller: str, path: Path, advice: str = INTACT) -> dict[str, str]:
    """The texts in the header of a safetensors file that is there. Raises: ValueError if it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            return file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise damaged(caller, path, error, advice) from error


def damaged(caller: str, path: Path, error: Exception, advice: str = INTACT) -> ValueError:
    """The error for a file whose contents cannot be what was once written to it."""
    return ValueError(f"{caller}: {path} of {path.stat().st_size} bytes is truncated or altered ({error}). {advice}")


@contextlib.contextmanager
def written_whole(
    caller: str,
    folder: Path,
    *names: str,
    what: str = "the model",
    advice: str = "What was there is whole; make room or choose another folder.",
) -> Iterator[tuple[Path, ...]]:
    """Paths to write to, which become the files ``names`` of ``folder`` once all are on the disk.

    Raises: OSError if the disk takes no more; the files of before are whole.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replaced_whole(*(folder / name for name in names)) as paths:
            yield paths
    except (OSError, SafetensorError) as error:
        raise not_written(caller, what, folder, error, advice) from error


def not_written(caller: str, what: str, folder: Path, error: Exception, advice: str) -> OSError:
    """The error for a disk that took no more."""
    return OSError(f"{caller}: {what} could not be written to {folder} ({error}). {advice}")


def find_misfits(
    found: Mapping[str, Tensor], expected: Iterable[tuple[str, Tensor]], *, any_float: bool = False
) -> list[str]:
    """What is wrong with the weights of a file, sorted: each that is missing, unexpected, or of another shape or dtype.

    With ``any_float`` each floating-point dtype will do, whatever that of the expected weight.
    """
    sentences, known = [], set()
    for name, weight in expected:
        known.add(name)
        if name not in found:
            sentences.append(f"{name} is missing")
            continue
        there = found[name]
        same_dtype = there.is_floating_point() if any_float else there.dtype == weight.dtype
        if there.shape != weight.shape or not same_dtype:
            dtype = "floating-point" if any_float else _dtype_name(weight)
            sentences.append(
                f"{name} is {_dtype_name(there)} {tuple(there.shape)}, expected {dtype} {tuple(weight.shape)}"
            )
    return sorted(sentences + [f"{name} is unexpected" for name in found if name not in known])


def _dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
