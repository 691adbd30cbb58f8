"""The parent's side of the worker: start it, ask it, and start it again when the learner's code broke it."""

import contextlib
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearcheck.channel import read_frame, write_frame
from clearcheck.names import definitions_only
from clearcheck.submission import Cell

START_SECONDS = 60.0
SPARE_STARTS = 20  # for calls that break the process, beyond two starts for each cell
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT")


class SandboxError(RuntimeError):
    """The worker itself could not be started; no fault of the submission."""


@dataclass(frozen=True)
class Limits:
    """Generous on purpose: a slow machine must not cost a point. Seconds of real time, bytes."""

    cell_seconds: float = 60.0
    grace_seconds: float = 5.0  # between asking the code to stop and ending its process
    memory: int = 4 * 2**30
    file: int = 64 * 2**20
    cpu: int = 900


class Sandbox:
    """Runs the cells of one notebook, then answers calls of the functions they define."""

    def __init__(self, cells: list[Cell], limits: Limits):
        self.cells = cells
        self.limits = limits
        self.outcomes: dict[int, dict] = {}
        self._broke: dict[int, int] = {}  # how often a cell had to be stopped or ended the process
        self._child: _Child | None = None
        self._starts = 0
        self._most_starts = 2 * len(cells) + SPARE_STARTS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def run_cells(self) -> dict[int, dict]:
        """The first outcome of each cell by its number; a cell that breaks the process does not stop the others."""
        while self._child is None and self._starts < self._most_starts:
            self._starts += 1
            self._child = _Child(self.limits)
            for cell in self.cells:
                outcome = self._run_cell(cell)
                self.outcomes.setdefault(cell.number, outcome)
                if outcome["kind"] in ("time", "ended"):
                    self._broke[cell.number] = self._broke.get(cell.number, 0) + 1
                if _process_lost(outcome):
                    self._stop()
                    break
        return self.outcomes

    def call(self, name: str, packed: bytes, seconds: float) -> dict:
        """A transport for `evaluate`."""
        self.run_cells()
        if self._child is None:
            return {"kind": "ended", "text": "it ended so often that it was not started again"}
        message = {"op": "call", "name": name, "args": np.frombuffer(packed, np.uint8), "seconds": seconds}
        reply = self._child.request(message, seconds + self.limits.grace_seconds)
        if _process_lost(reply):
            self._stop()
        return reply

    def _run_cell(self, cell: Cell) -> dict:
        seconds = self.limits.cell_seconds
        message = {"op": "cell", "number": cell.number, "source": self._source(cell), "seconds": seconds}
        return self._child.request(message, seconds + self.limits.grace_seconds)

    def _source(self, cell: Cell) -> str:
        """A cell that broke the process once is run for its definitions alone, and not at all if they break it."""
        times = self._broke.get(cell.number, 0)
        return cell.source if times == 0 else definitions_only(cell.source) if times == 1 else ""

    def _stop(self):
        if self._child is not None:
            self._child.close()
            self._child = None


class _Child:
    """One worker process. A thread of its own does the reading and writing, so that no pipe can block the grader."""

    def __init__(self, limits: Limits):
        self.folder = tempfile.TemporaryDirectory(prefix="clearcheck-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "clearcheck.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=_environment(self.folder.name),
            start_new_session=True,
        )
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.replies: queue.SimpleQueue = queue.SimpleQueue()
        threading.Thread(target=self._exchange, daemon=True).start()
        first = {"memory": limits.memory, "file": limits.file, "cpu": limits.cpu}
        if self._ask(first, START_SECONDS) != {"kind": "ready"}:
            self.close()
            raise SandboxError(
                f"The worker process did not start: {sys.executable} -m clearcheck.worker was tried. "
                "Run that command by hand to see why; it should wait silently for input."
            )

    def request(self, message: dict, seconds: float) -> dict:
        """The reply, or one of kind "time" (with "killed") or "ended" when there is none or it is no true one."""
        token = secrets.token_hex(16)
        reply = self._ask({**message, "token": token}, seconds)
        if reply is None:
            return {"kind": "time", "killed": True}
        if reply.get("token") == token and _well_formed(reply):
            return reply
        return {"kind": "ended", "text": self._how_it_ended()}

    def close(self):
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.requests.put(None)
        self.folder.cleanup()

    def _ask(self, message: dict, seconds: float) -> dict | None:
        """None where the time is over."""
        self.requests.put(message)
        try:
            return self.replies.get(timeout=seconds)
        except queue.Empty:
            return None

    def _exchange(self):
        with self.process.stdin as stdin, self.process.stdout as stdout, contextlib.suppress(OSError):
            while (message := self.requests.get()) is not None:
                try:
                    write_frame(stdin, message)
                    reply = read_frame(stdout)
                except (OSError, ValueError):
                    reply = None
                self.replies.put(reply or {"kind": "lost"})

    def _how_it_ended(self) -> str:
        try:
            code = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "its channel to the grader was disturbed"
        if code < 0:
            return f"signal {signal.Signals(-code).name}"
        return f"exit code {code}"


def _process_lost(reply: dict) -> bool:
    return reply["kind"] == "ended" or reply.get("killed") is True


def _well_formed(reply: dict) -> bool:
    """A reply that code of ours could have sent: the learner's code may have found the pipe."""
    texts = {"raised": ("type", "text", "line"), "unanswered": (), "no function": ("type",), "missing": (), "time": ()}
    kind = reply.get("kind")
    if kind == "value":
        changed = reply.get("changed")
        return "value" in reply and type(changed) is list and all(type(index) is int for index in changed)
    if kind == "done":
        return True
    if type(reply.get("operation", "")) is not str or type(reply.get("line", "")) is not str:
        return False
    return kind in texts and all(type(reply.get(key)) is str for key in texts[kind])


def _environment(folder: str) -> dict[str, str]:
    """Enough to start Python with this package, and none of the user's other variables."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    package = str(Path(__file__).resolve().parents[1])
    own = {"PYTHONPATH": package, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "TMPDIR": folder}
    return {**kept, **own, **dict.fromkeys(ONE_THREAD, "1")}
