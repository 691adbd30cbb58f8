"""Files that another program may read or write at the same moment: whole or not at all, one writer at a time."""

import contextlib
import errno
import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from clearcheck.worker import system

RECORD_VARIABLE = "CLEARCHECK_RECORD"  # names another file for the learner's record, or says "off"


def write_whole(path: Path, data: bytes):
    """Replace the file in one step; a link stays a link, and the file keeps its permissions.

    Raises: OSError.
    """
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        system.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def remove_parts(path: Path):
    """Delete what writers of this file left that were killed; for who is its only writer, by a lock or otherwise."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(OSError):
            part.unlink()


@contextlib.contextmanager
def hold_lock(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock file; a process that ends lets go of it, however it ends.

    Raises: TimeoutError where another process holds it for longer than `seconds`, OSError.
    """
    with open(path, "ab") as handle:
        end = time.monotonic() + seconds
        while not system.take_lock(handle):
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, f"another notebook has held {path.name} for {seconds:g} s")
            time.sleep(0.01)
        try:
            yield
        finally:
            system.release_lock(handle)
