"""How a worker process comes into being and ends: forked by a server where the system can, else started by itself.

`isolation()` says what keeps a learner's code from the rest of the machine:

- "bubblewrap": the server runs in a sandbox of Linux namespaces: no network, no file of the machine but Python and its
  packages, read-only, a scratch folder of limited size in memory, a process table of its own, few processes.
- "process": a process of its own with the limits of `limits`, as the same user. It reads what the user may read.

The environment variable CLEARCHECK_ISOLATION asks for one of them; without it the first is taken where it works.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, cast

from clearcheck.worker import surroundings, system
from clearcheck.worker.library_copy import LIB
from clearcheck.worker.limits import ENDING_SECONDS
from clearcheck.worker.worker_process import BUBBLEWRAP, PROCESS, WorkerError, WorkerExit, WorkerProcess

if TYPE_CHECKING:
    from clearcheck.worker.server_process import WorkerServer

VARIABLE = "CLEARCHECK_ISOLATION"
FIRST = "Process-1"  # so ends the name of the first process of a class run, which tells it for all of them
UNPROTECTED = (
    "Without a sandbox, since bubblewrap does not work here ({reason}): the notebooks' code can read and change what "
    "you can, and end this run. {more}"
)
ELSEWHERE = "Without a sandbox, on {system}. {lacking} {more}"
MORE = '"What is protected, and what is not" in chapters/instructor.md says what to do.'


def launch(preload: tuple[str, ...], memory: int, hidden: tuple[str, ...] = ()) -> WorkerProcess:
    """A new worker; with a server its imports of `preload` are paid once, and the bytes of `memory` are a limit for it
    and all that it starts; in a sandbox it finds no files of the packages `hidden`.

    Raises: WorkerError.
    """
    server = _server(os.getpid())
    return server.start(preload, memory, hidden) if server else _SingleProcess()


def isolation() -> str:
    server = _server(os.getpid())
    return server.isolation if server else PROCESS


@cache
def _server(owner: int) -> "WorkerServer | None":
    """The server of this process, which a fork of it must not share; None where workers are started one by one."""
    asked = os.environ.get(VARIABLE)
    if asked not in (None, "", BUBBLEWRAP, PROCESS):
        raise WorkerError(f"{VARIABLE}={asked} is not known: {BUBBLEWRAP} or {PROCESS} is expected.")
    if not system.COPIES:
        if asked == BUBBLEWRAP:
            raise WorkerError(f"Bubblewrap was asked for by {VARIABLE}, and {system.NAME} does not have it.")
        _tell(ELSEWHERE.format(system=system.NAME, lacking=system.missing_capabilities(), more=MORE))
        return None
    from clearcheck.worker.server_process import WorkerServer

    if asked != PROCESS:
        try:
            return WorkerServer(BUBBLEWRAP)
        except (WorkerError, OSError) as error:
            if asked == BUBBLEWRAP:
                raise WorkerError(f"Bubblewrap was asked for by {VARIABLE} and does not work here: {error}") from None
            _tell(UNPROTECTED.format(reason=error, more=MORE))
    return WorkerServer(PROCESS)


def end_server():
    """End the server of this process and all that runs below it, for a process that ends without Python's farewell."""
    if _server.cache_info().currsize and (server := _server(os.getpid())):
        server.retire()


def _tell(sentences: str):
    """To the instructor, once in a class run."""
    if multiprocessing.current_process().name.endswith(FIRST):
        print(sentences, file=sys.stderr, flush=True)


class _SingleProcess:
    """One process for one worker, on systems where it cannot be forked."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="clearcheck-", ignore_cleanup_errors=True)
        start = LIB / "clearcheck" / "worker" / "start.py"
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(start), json.dumps({"folders": [str(LIB), *surroundings.packages()]})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=surroundings.environment(self.folder.name),
            **system.detached_options(),
        )
        self.stdin, self.stdout = cast(BinaryIO, self.process.stdin), cast(BinaryIO, self.process.stdout)

    def computed_seconds(self) -> float | None:
        return system.computed_seconds(self.process.pid)

    def end(self, wait: bool) -> WorkerExit:
        status = None
        with suppress(subprocess.TimeoutExpired):
            status = self.process.wait(ENDING_SECONDS if wait else 0)
        system.end_group(self.process.pid)
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
        return WorkerExit(status)
