"""The parent's side of the worker: start it, ask it, and start it again when the learner's code broke it."""

import contextlib
import math
import queue
import secrets
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clearcheck.notebooks.cells import Cell, definitions_only, without_experiments
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import Submission
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.frames import read_frame, write_frame
from clearcheck.worker.guarded_call import short_line
from clearcheck.worker.launch import launch
from clearcheck.worker.limits import MAX_BYTES, READ_SECONDS, SPARE_STARTS, START_SECONDS, Limits
from clearcheck.worker.time_limit import wait_for_reply
from clearcheck.worker.worker_process import WorkerError, WorkerExit, WorkerProcess

CHANGED = (
    "{name} has no grade: while it was graded, its code, or that of a notebook graded beside it, changed the files "
    "that the grader runs notebooks with. They are renewed. Look at the notebook, and grade in the sandbox or in a "
    "container."
)
TOLD = {  # the texts in a reply of each kind that sentences repeat
    "raised": ("type", "text", "line"),
    "unanswered": ("type", "text", "line", "by"),
    "no function": ("type",),
    "missing": (),
    "misfit": ("text",),
    "time": ("line",),
}
LATE = "late"  # the kind of a reply where the whole notebook has used up its time, told by `evaluate`


class Worker:
    """Reads one notebook, runs its cells, then answers calls of the functions they define."""

    def __init__(self, limits: Limits, preload: tuple[str, ...] = (), hidden: tuple[str, ...] = ()):
        self.limits = limits
        self.preload = preload
        self.hidden = hidden
        self.cells: list[Cell] = []
        self.outcomes: dict[int, dict] = {}
        self.left_behind = 0
        self.lost_server = False
        self._name = ""
        self._changed_files = False
        self._opened: set[str] = set()  # packages of which the code has opened a file
        self._broke: dict[int, int] = {}  # how often a cell had to be stopped or ended the process
        self._child: _Child | None = None
        self._ready = False  # the cells have run in the process that is there
        self._starts = 0
        self._computed = 0.0  # seconds, by the processes that have ended
        self._until = time.monotonic() + limits.submission_net_seconds

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        self.stop()
        if self._changed_files and error is None:
            raise WorkerError(CHANGED.format(name=self._name))

    @property
    def computed(self) -> float:
        """Seconds for which its processes have computed, up to the last reply."""
        return self._computed + (self._child.computed if self._child else 0.0)

    @property
    def overrun(self) -> str:
        """What the whole notebook has done for too long, to follow upon its name; an empty text where it has not."""
        if self.computed >= self.limits.submission_seconds:
            return f"used up the {self.limits.submission_seconds:g} s of computing time that one has"
        if time.monotonic() >= self._until:
            return f"had not ended after {self.limits.submission_net_seconds:g} s"
        return ""

    def read(self, data: bytes, name: str) -> Submission:
        """The notebook in the bytes of a file, whose cells are the worker's from now on.

        Raises: NotANotebook, WorkerError.
        """
        self._child = self._start()
        for start in range(0, len(data), MAX_BYTES):
            part = np.frombuffer(data[start : start + MAX_BYTES], np.uint8)
            self._request({"op": "take", "data": part}, READ_SECONDS)
        reply = self._request({"op": "read", "name": name}, READ_SECONDS)
        if reply["kind"] == "refused":
            raise NotANotebook(reply["text"])
        if reply["kind"] != "read":
            raise NotANotebook(f"{name} cannot be read within {READ_SECONDS:g} s and 4 GB: is it a notebook?")
        self._name = name
        submission = Submission.from_plain(reply["submission"])
        self.cells = submission.cells
        return submission

    def load_first(self, modules: tuple[str, ...], hidden: tuple[str, ...] = ()):
        """Run the cells in a process that comes with these modules, which are imported once for all notebooks, and
        without the packages that are hidden.
        """
        if (modules, hidden) != (self.preload, self.hidden):
            self.stop()
            self.preload, self.hidden = modules, hidden

    def run_cells(self) -> dict[int, dict]:
        """The first outcome of each cell by its number; a cell that breaks the process does not stop the others."""
        while not self._ready and self._starts < 2 * len(self.cells) + SPARE_STARTS and not self.overrun:
            self._child = self._child or self._start()
            self._ready = all(self._keep(cell) for cell in self.cells)
        return self.outcomes

    def call(self, asked: CallRequest, packed: bytes) -> dict:
        """A transport for `evaluate`."""
        self.run_cells()
        if self.overrun:
            return {"kind": LATE}
        if not self._ready:
            return {"kind": "ended", "text": "it ended so often that it was not started again"}
        asked = replace(asked, net=self.limits.net)
        message = {"op": "call", "asked": vars(asked), "args": np.frombuffer(packed, np.uint8)}
        return self._request(message, asked.seconds)

    def loaded_modules(self, watched: Sequence[str]) -> list[str]:
        """Which of these modules the learner's code has loaded, or read; where its process is gone, none but those."""
        message = {"op": "loaded", "watched": list(watched)}
        reply = self._request(message, self.limits.grace_seconds) if self._child else {}
        found = reply.get("modules")
        here = found if isinstance(found, list) else []
        return [name for name in watched if name in here or name in self._opened]

    def _keep(self, cell: Cell) -> bool:
        """Run a cell and keep what came of it; whether its process is still there."""
        message = {"op": "cell", "number": cell.number, "source": self._source(cell)}
        outcome = self._request(message, self.limits.cell_seconds)
        self.outcomes.setdefault(cell.number, outcome)
        if outcome["kind"] in ("time", "ended"):
            self._broke[cell.number] = self._broke.get(cell.number, 0) + 1
        if outcome["kind"] == "time" and self._child is not None:
            self._request({**message, "op": "define below", "line": outcome["at"]}, self.limits.cell_seconds)
        return self._child is not None

    def _source(self, cell: Cell) -> str:
        """A cell without its experiments, which are no answers. One that broke the process once is run for its
        definitions alone, and not at all if they break it.
        """
        times = self._broke.get(cell.number, 0)
        return (without_experiments, definitions_only)[times](cell.source) if times < 2 else ""

    def _request(self, message: dict, seconds: float) -> dict:
        """The reply, or one of kind "time", "ended" or `LATE`; a process that is lost is ended for good."""
        if self.overrun:
            self.stop()
            return {"kind": LATE}
        left = self._until - time.monotonic()
        reply = self._child.request({**message, "seconds": seconds, "net": self.limits.net}, seconds, left)
        self._opened.update(reply.get("opened", ()))
        if reply["kind"] == "time" and reply.get("killed") and self.overrun:
            reply = {"kind": LATE}
        if reply["kind"] in ("ended", LATE) or reply.get("killed") is True:
            self.stop()
        return reply

    def _start(self) -> "_Child":
        self._starts += 1
        return _Child(self.limits, self.preload, self.hidden)

    def stop(self):
        """End the process; what it left behind is counted and ended with it."""
        self._ready = False
        if self._child is not None:
            ended = self._child.close()
            self._computed += self._child.computed
            self.left_behind += ended.left
            self.lost_server |= ended.lost_server
            self._changed_files |= ended.changed
            self._child = None


class _Child:
    """One worker process. A thread of its own does the reading and writing, so that no pipe can block the grader."""

    def __init__(self, limits: Limits, preload: tuple[str, ...], hidden: tuple[str, ...] = ()):
        self.limits = limits
        self.process: WorkerProcess = launch(preload, limits.memory, hidden)
        self.requests: queue.SimpleQueue = queue.SimpleQueue()
        self.replies: queue.SimpleQueue = queue.SimpleQueue()
        self._reply: dict = {}
        self.computed = 0.0  # seconds, since it was ready
        self._started_with = 0.0
        self._ended: WorkerExit | None = None
        threading.Thread(target=self._exchange, daemon=True).start()
        asked = {"limits": limits.of_the_process(), "preload": list(preload), "hidden": list(hidden)}
        self.requests.put(asked)
        ready = self._reply if self._has_reply(START_SECONDS) else {}
        if ready.get("kind") != "ready":
            self.close()
            raise WorkerError("A worker was started and did not become ready: is the machine out of memory?")
        self._started_with = ready["computed"]

    def request(self, message: dict, seconds: float, left: float) -> dict:
        """The reply, or one of kind "time" (with "killed") or "ended" when there is none or it is no true one.

        The process may compute for `seconds`, and until the end of the notebook's time `left` by the clock.
        """
        token = secrets.token_hex(16)
        self.requests.put({**message, "token": token})
        grace, clock = self.limits.grace_seconds, seconds * self.limits.net
        waited = wait_for_reply(self._has_reply, self._computed_since, seconds + grace, clock + grace, left)
        if waited is not None:
            self.computed += self._computed_since() or 0.0
            return {"kind": "time", "killed": True, "waited": waited and max(clock, waited - grace)}
        reply = self._reply
        if reply.get("token") != token or not _well_formed(reply):
            return {"kind": "ended", "text": self._how_it_ended()}
        self.computed = max(self.computed, reply["computed"] - self._started_with)
        return {**reply, **{key: short_line(reply[key]) for key in TOLD.get(reply["kind"], ())}}

    def _computed_since(self) -> float | None:
        """Seconds since the last reply; None where the system does not say."""
        now = self.process.computed_seconds()
        return None if now is None else now - self._started_with - self.computed

    def close(self, wait: bool = False) -> WorkerExit:
        """End the process, and those that it left behind; how it ended, the first time."""
        if self._ended is None:
            self._ended = self.process.end(wait)
            self.requests.put(None)
        return self._ended

    def _has_reply(self, seconds: float) -> bool:
        """Whether there is a reply within these seconds."""
        try:
            self._reply = self.replies.get(timeout=seconds)
        except queue.Empty:
            return False
        return True

    def _exchange(self):
        # Closing fails, too, where the process ended before it read what was written.
        with contextlib.suppress(OSError), self.process.stdin as stdin, self.process.stdout as stdout:
            while (message := self.requests.get()) is not None:
                try:
                    write_frame(stdin, message)
                    reply = read_frame(stdout)
                except (OSError, ValueError):
                    reply = None
                self.replies.put(reply or {"kind": "lost"})

    def _how_it_ended(self) -> str:
        self.close(wait=True)
        if self._ended.over_memory:
            return f"MemoryError: its processes together held more than {self.limits.memory / 2**30:g} GB"
        code = self._ended.status
        if code is None:
            return "its channel to the grader was disturbed"
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:  # one without a name, from the real-time ones
            return f"signal {-code}"


def _well_formed(reply: dict) -> bool:
    """A reply that code of ours could have sent: the learner's code may have found the pipe."""
    if any(type(reply.get(key, "")) is not str for key in ("operation", "line", "output", "by", "text")):
        return False
    times = reply.get("computed"), reply.get("waited", 0.0)
    if any(type(seconds) is not float or not 0 <= seconds < math.inf for seconds in times):
        return False
    opened = reply.get("opened", [])
    if type(opened) is not list or not all(type(name) is str for name in opened):
        return False
    kind = reply.get("kind")
    if kind == "value":
        changed = reply.get("changed")
        whole = type(changed) is list and all(type(number) is int for number in [*changed, reply.get("held", 0)])
        return "value" in reply and whole
    if kind in ("done", "read", "refused", "loaded"):
        return True
    if kind == "time" and type(reply.get("at", 0)) is not int:
        return False
    return kind in TOLD and all(type(reply.get(key)) is str for key in TOLD[kind])
