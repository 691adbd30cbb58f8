"""What a process for a learner's code looks like to the grader, however it was started."""

from typing import BinaryIO, NamedTuple, Protocol

BUBBLEWRAP, PROCESS = "bubblewrap", "process"  # what keeps it apart: see `launch`


class WorkerError(RuntimeError):
    """The process could not be started; no fault of the submission."""


class WorkerExit(NamedTuple):
    """How a worker has ended: its exit code if it did so by itself, and what there was to be said of the processes that
    it had started.
    """

    status: int | None = None
    left: int = 0  # behind
    over_memory: bool = False  # all were ended, since together they held too much
    lost_server: bool = False  # whether the process that had started it was gone, or did not answer
    changed: bool = False  # the grader's files that it was run with


class WorkerProcess(Protocol):
    """A worker process: its pipes, and how it ends."""

    stdin: BinaryIO
    stdout: BinaryIO

    def end(self, wait: bool) -> WorkerExit:
        """End it, after a moment if it is waited for."""

    def computed_seconds(self) -> float | None:
        """For how long its main thread has computed; None where that cannot be told."""
