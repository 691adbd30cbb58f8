"""One program at a time: a lock on a file, which ends with the process that holds it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

PAUSE_SECONDS = 0.5


@contextmanager
def wait_for_lock(path: Path, sentence: str) -> Iterator[None]:
    """Wait until no other process holds the lock file, then hold it; the sentence is printed if there is one.

    Raises: OSError if the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:
        if not take(file):
            print(sentence, flush=True)
            while not take(file):
                time.sleep(PAUSE_SECONDS)
        yield


def take(file: IO[bytes]) -> bool:
    """Whether the lock is ours now; on a file system that knows no locks, nobody waits."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
