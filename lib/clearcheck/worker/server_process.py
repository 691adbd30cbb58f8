"""The grader's side of the `server` that forks workers. Imported on Linux alone, by `launch`."""

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, BinaryIO

from clearcheck.notebooks.escaping import one_line
from clearcheck.worker import surroundings, system
from clearcheck.worker.library_copy import LibraryCopy
from clearcheck.worker.limits import ENDING_SECONDS, SERVER_SECONDS, START_SECONDS
from clearcheck.worker.server import MESSAGE
from clearcheck.worker.surroundings import ROOMS, SCRATCH
from clearcheck.worker.worker_process import BUBBLEWRAP, PROCESS, WorkerError, WorkerExit, WorkerProcess

SECOND = (
    "This process still runs the code of another notebook, and a server runs one at a time: stop that Worker before "
    "you start the next, or grade the other notebook in a process of its own."
)


class WorkerServer:
    def __init__(self, isolation: str):
        self.isolation = isolation
        self.home = LibraryCopy()
        self.process: subprocess.Popen | None = None
        self.busy = False
        atexit.register(self.retire)
        try:
            self._open()
        except (WorkerError, OSError):
            self.retire()
            raise

    def start(self, preload: tuple[str, ...], memory: int, hidden: tuple[str, ...] = ()) -> WorkerProcess:
        """Raises: WorkerError, also where another worker of this server has not ended."""
        if self.busy:
            raise WorkerError(SECOND)
        for _attempt in (1, 2):
            if self.process is not None and self.process.poll() is not None:
                self.close()  # it has ended by itself, and its channel is still here
            if self.process is None:
                self._open()
            (request, stdin), (stdout, reply) = os.pipe(), os.pipe()
            asked = {"preload": list(preload), "memory": memory, "hidden": list(hidden)}
            started = self.ask(asked, START_SECONDS, [request, reply])
            os.close(request)
            os.close(reply)
            if started is not None:
                self.busy = True
                return _ForkedWorker(self, started, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))
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
        system.end_group(self.process.pid)
        self.process.wait()
        self.process = None

    def renew_if_changed(self) -> bool:
        """Whether the files that workers run were changed, which a sandbox prevents: the next ones get a new copy."""
        if self.isolation == BUBBLEWRAP or not self.home.has_changed():
            return False
        self.retire()
        self.home = LibraryCopy()
        return True

    def retire(self):
        self.close()
        self.home.remove()

    def _open(self):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with tempfile.TemporaryFile() as said, contextlib.ExitStack() as failed:
            failed.callback(self.channel.close)
            with theirs:
                self.process = self._process(theirs, said)
            failed.pop_all()
            try:
                self.channel.settimeout(START_SECONDS)
                if not self.channel.recv(MESSAGE):
                    raise OSError
            except OSError:
                self.close()
                said.seek(0)
                raise WorkerError(self._start_failure(said.read().decode("utf-8", "replace").splitlines())) from None

    def _process(self, theirs: socket.socket, said: IO[bytes]) -> subprocess.Popen:
        sandboxed = self.isolation == BUBBLEWRAP
        asked = {
            "folders": surroundings.packages(),
            "channel": theirs.fileno(),
            "scratch": SCRATCH if sandboxed else "",
        }
        start = Path(ROOMS if sandboxed else self.home.name, "clearcheck", "worker", "start.py")
        command = [sys.executable, "-S", str(start), json.dumps(asked)]
        return subprocess.Popen(
            [*surroundings.sandbox(self.home.name), *command] if sandboxed else command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=[theirs.fileno()],
            env=surroundings.environment(SCRATCH if sandboxed else tempfile.gettempdir()),
            cwd="/",
            **system.detached_options(),
        )

    def _start_failure(self, said: list[str]) -> str:
        """Why the server did not start: bubblewrap says it in one line that begins with its name."""
        if said and said[-1].startswith("bwrap: "):
            return one_line(said[-1])
        return (
            f"The process for learners' code did not start ({self.isolation}): {sys.executable} with NumPy was "
            "tried. Is NumPy installed, and may this user start processes?"
        )


class _ForkedWorker:
    def __init__(self, server: WorkerServer, started: dict, stdin: BinaryIO, stdout: BinaryIO):
        self.server, self.pid, self.folder = server, started["pid"], started["folder"]
        self.once = started["once"]  # the kernel gave it no rooms of its own
        self.stdin, self.stdout = stdin, stdout

    def computed_seconds(self) -> float | None:
        told = self.server.ask({"computed": self.pid}, SERVER_SECONDS)
        if told is None:
            self.server.close()
        return told["seconds"] if told else None

    def end(self, wait: bool) -> WorkerExit:
        request = {"pid": self.pid, "folder": self.folder, "wait": wait}
        told = self.server.ask(request, SERVER_SECONDS + ENDING_SECONDS)
        self.server.busy = False
        if told is None:  # the learner's code has stopped or ended it
            self.server.close()
            if self.server.isolation == PROCESS:  # in a sandbox it has ended with the server
                system.end_group(self.pid)
        elif self.once:
            self.server.close()  # the next notebook has a sandbox of its own
        return WorkerExit(**(told or {}), lost_server=told is None, changed=self.server.renew_if_changed())
