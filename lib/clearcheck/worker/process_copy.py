"""A copy of this process, which can be ended from outside. Imported on Linux alone, by `calling`."""

import contextlib
import os
import signal
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from clearcheck.worker import system
from clearcheck.worker.limits import KERNEL_GRACE_SECONDS, MAX_FRAME, Limits, limit_this_process
from clearcheck.worker.time_limit import wait_for_reply
from clearcheck.worker.values import pack, unpack


class ProcessCopy:
    """A copy of this process as it is now, which gives the `answer` to each message until it is closed or broken."""

    def __init__(self, answer: Callable[[dict], dict]):
        self._pipe, theirs = Pipe()
        with warnings.catch_warnings():  # of threads, with whose work the copy does not go on
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            self._pipe.close()
            _serve(answer, theirs)
        theirs.close()

    def ask(self, message: dict, seconds: float, clock: float) -> dict:
        """The reply, or one of kind "ended", or "time" (with "killed") after `seconds` of computing or `clock`."""
        if not self._pid:
            return {"kind": "ended", "text": "an earlier call had to be stopped"}
        before = system.computed_seconds(self._pid) or 0.0

        def seconds_computed() -> float | None:
            now = system.computed_seconds(self._pid)
            return None if now is None else now - before

        try:
            self._pipe.send_bytes(pack(message))
            grace = KERNEL_GRACE_SECONDS
            waited = wait_for_reply(self._pipe.poll, seconds_computed, seconds + grace, clock + grace)
            if waited is None:
                return unpack(self._pipe.recv_bytes(MAX_FRAME))
        except (OSError, EOFError, ValueError):
            return {"kind": "ended", "text": self.close()}
        except BaseException:  # the learner interrupts the kernel
            self.close()
            raise
        self.close()
        return {"kind": "time", "killed": True, "waited": waited and max(clock, waited - grace)}

    def close(self) -> str:
        """End the copy; how it had ended, which is by our signal if it had not."""
        if not self._pid:
            return ""
        self._pipe.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)  # one that has ended already keeps its own status
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = 0
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _serve(answer: Callable[[dict], dict], pipe: Connection):
    """In the copy: answer until the pipe ends, and never return into the kernel's own code."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is meant for the kernel, which ends the copy
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        limits = Limits().of_the_process()
        limit_this_process(**{**limits, "memory": limits["memory"] + system.used_memory()})
        while True:
            pipe.send_bytes(pack(answer(unpack(pipe.recv_bytes()))))
    finally:
        os._exit(0)
