"""How a worker process comes into being and ends: forked by a server where the system can, else started by itself.

`isolation()` says what keeps a learner's code from the rest of the machine:

- "bubblewrap": the server runs in a sandbox of Linux namespaces: no network, no file of the machine but Python and its
  packages, read-only, a scratch folder of limited size in memory, a process table of its own, few processes.
- "process": a process of its own with the limits of `limits`, as the same user. It reads what the user may read.

The environment variable CLEARCHECK_ISOLATION asks for one of them; without it the first is taken where it works.
"""

import atexit
import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, cast

from clearcheck.notebooks.shown import shown
from clearcheck.worker import surroundings
from clearcheck.worker.copied import LIB, Copied
from clearcheck.worker.limits import ENDING_SECONDS, GRACE_SECONDS, START_SECONDS
from clearcheck.worker.server import MESSAGE
from clearcheck.worker.surroundings import ROOMS

VARIABLE = "CLEARCHECK_ISOLATION"
BUBBLEWRAP, PROCESS = "bubblewrap", "process"
FIRST = "Process-1"  # so ends the name of the first process of a class run, which tells it for all of them
UNPROTECTED = (
    "Without a sandbox, since bubblewrap does not work here ({reason}): the notebooks' code can read and change what "
    'you can, and end this run. "What is protected, and what is not" in chapters/instructor.md says what to do.'
)


class WorkerError(RuntimeError):
    """The process could not be started; no fault of the submission."""


class Ended(NamedTuple):
    """How a worker has ended: its exit code if it did so by itself, and what there was to be said of the processes that
    it had started.
    """

    status: int | None = None
    left: int = 0  # behind
    over_memory: bool = False  # all were ended, since together they held too much
    changed: bool = False  # the grader's files that it was run with


class Launched(Protocol):
    """A worker process: its pipes, and how it ends."""

    stdin: BinaryIO
    stdout: BinaryIO

    def end(self, wait: bool) -> Ended:
        """End it, after a moment if it is waited for."""


def launch(preload: tuple[str, ...], memory: int) -> Launched:
    """A new worker; with a server its imports of `preload` are paid once, and the bytes of `memory` are a limit for it
    and all that it starts.

    Raises: WorkerError.
    """
    server = _server(os.getpid())
    return server.start(preload, memory) if server else _Alone()


def isolation() -> str:
    server = _server(os.getpid())
    return server.isolation if server else PROCESS


@cache
def _server(owner: int) -> "_Server | None":
    """The server of this process, which a fork of it must not share; None where workers are started one by one."""
    if sys.platform != "linux":  # elsewhere forking a process that has NumPy loaded is not safe
        return None
    asked = os.environ.get(VARIABLE)
    if asked not in (None, "", BUBBLEWRAP, PROCESS):
        raise WorkerError(f"{VARIABLE}={asked} is not known: {BUBBLEWRAP} or {PROCESS} is expected.")
    if asked != PROCESS:
        try:
            return _Server(BUBBLEWRAP)
        except (WorkerError, OSError) as error:
            if asked == BUBBLEWRAP:
                raise WorkerError(f"Bubblewrap was asked for by {VARIABLE} and does not work here: {error}") from None
            if multiprocessing.current_process().name.endswith(FIRST):
                print(UNPROTECTED.format(reason=error), file=sys.stderr, flush=True)
    return _Server(PROCESS)


class _Server:
    def __init__(self, isolation: str):
        self.isolation = isolation
        self.home = Copied()
        self.process: subprocess.Popen | None = None
        atexit.register(self.retire)
        try:
            self._open()
        except (WorkerError, OSError):
            self.retire()
            raise

    def start(self, preload: tuple[str, ...], memory: int) -> Launched:
        for _attempt in (1, 2):
            if self.process is None or self.process.poll() is not None:
                self._open()
            (request, stdin), (stdout, reply) = os.pipe(), os.pipe()
            started = self.ask({"preload": list(preload), "memory": memory}, START_SECONDS, [request, reply])
            os.close(request)
            os.close(reply)
            if started is not None:
                return _Forked(self, started["pid"], started["folder"], os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))
            os.close(stdin)
            os.close(stdout)
            self.close()
        raise WorkerError(f"The server of workers stopped twice while it was asked for one ({self.isolation}).")

    def ask(self, request: dict, seconds: float, pipes: list[int] | None = None) -> dict | None:
        """None where no answer came in time, or the server is gone."""
        try:
            self.channel.settimeout(seconds)
            socket.send_fds(self.channel, [json.dumps(request).encode()], pipes or [])
            return json.loads(self.channel.recv(MESSAGE))
        except (OSError, ValueError):
            return None

    def close(self):
        """End the server, and with it all that runs below it."""
        if self.process is None:
            return
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING_SECONDS)
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def renewed(self) -> bool:
        """Whether the files that workers run were changed, which a sandbox prevents: the next ones get a new copy."""
        if self.isolation == BUBBLEWRAP or not self.home.changed():
            return False
        self.retire()
        self.home = Copied()
        return True

    def retire(self):
        self.close()
        self.home.remove()

    def _open(self):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sandboxed = self.isolation == BUBBLEWRAP
        asked = {"folders": surroundings.packages(), "channel": theirs.fileno(), "wiped": ["/tmp"] if sandboxed else []}
        start = Path(ROOMS if sandboxed else self.home.name, "clearcheck", "worker", "start.py")
        command = [sys.executable, "-S", str(start), json.dumps(asked)]
        with tempfile.TemporaryFile() as said:
            self.process = subprocess.Popen(
                [*surroundings.sandbox(self.home.name), *command] if sandboxed else command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                pass_fds=[theirs.fileno()],
                env=surroundings.environment("/tmp" if sandboxed else tempfile.gettempdir()),
                cwd="/",
                start_new_session=True,
            )
            theirs.close()
            try:
                self.channel.settimeout(START_SECONDS)
                if not self.channel.recv(MESSAGE):
                    raise OSError
            except OSError:
                self.close()
                said.seek(0)
                raise WorkerError(self._why(said.read().decode("utf-8", "replace").splitlines())) from None

    def _why(self, said: list[str]) -> str:
        """Why the server did not start: bubblewrap says it in one line that begins with its name."""
        if said and said[-1].startswith("bwrap: "):
            return shown(said[-1])
        return (
            f"The process for learners' code did not start ({self.isolation}): {sys.executable} with NumPy was "
            "tried. Is NumPy installed, and may this user start processes?"
        )


class _Forked:
    def __init__(self, server: _Server, pid: int, folder: str, stdin: BinaryIO, stdout: BinaryIO):
        self.server, self.pid, self.folder = server, pid, folder
        self.stdin, self.stdout = stdin, stdout

    def end(self, wait: bool) -> Ended:
        request = {"pid": self.pid, "folder": self.folder, "wait": wait}
        told = self.server.ask(request, GRACE_SECONDS + ENDING_SECONDS)
        if told is None:  # the learner's code has stopped or ended it
            self.server.close()
            if self.server.isolation == PROCESS:  # in a sandbox it has ended with the server
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
        return Ended(**(told or {}), changed=self.server.renewed())


class _Alone:
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
            start_new_session=True,
        )
        self.stdin, self.stdout = cast(BinaryIO, self.process.stdin), cast(BinaryIO, self.process.stdout)

    def end(self, wait: bool) -> Ended:
        status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(ENDING_SECONDS if wait else 0)
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
        return Ended(status)
