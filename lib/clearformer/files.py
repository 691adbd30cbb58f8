"""Files that are whole at every moment, whoever pulls the plug: written beside, then renamed."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replaced_whole(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Paths to write to, which take the place of ``paths``, in their order, once all of them are on the disk.

    They have a name for each process, so that two never write the same file; a process that is killed leaves them
    behind. Whatever is raised, they are deleted, and ``paths`` are as they were.
    """
    beside = tuple(path.with_name(f"{path.name}.{os.getpid()}.unfinished") for path in paths)
    try:
        yield beside
        for path in beside:
            _flush(path)  # before the rename, else a power cut could leave the new name on an empty file
        for unfinished, path in zip(beside, paths, strict=True):
            os.replace(unfinished, path)
    finally:
        for path in beside:
            with contextlib.suppress(OSError):
                path.unlink()
    for folder in {path.parent for path in paths}:
        _flush(folder)


def _flush(path: Path) -> None:
    """Wait until the disk holds what was written; a folder holds the names of its files."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
