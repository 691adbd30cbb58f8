"""Ask a learner's functions in a copy of their kernel, so that a call can be ended from outside.

On Linux a process is copied with all that it holds, at once. A loop that swallows every exception, or one long call in
C, then ends with its copy; whatever the call changes, breaks or fills stays there. Elsewhere such a copy is not safe,
and the functions are asked in the kernel itself, under the alarm of `limits.time_limit` alone.
"""

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import numpy as np

from clearcheck.worker.asked import Asked
from clearcheck.worker.guarded_call import call_named, raised
from clearcheck.worker.limits import KERNEL_GRACE_SECONDS, MAX_FRAME, Limits, limit_this_process, used_memory
from clearcheck.worker.values import pack, unpack

FORKS = sys.platform == "linux"


@contextlib.contextmanager
def calling(namespace: dict) -> Iterator[Callable[[Asked, bytes], dict]]:
    """A transport for `evaluate` that calls what stands in the namespace, in a copy of this process where there can be
    one: as it is now, whatever the calls do to it.
    """
    if not FORKS:
        yield partial(call_named, namespace)
        return

    def answer(message: dict) -> dict:
        try:
            return call_named(namespace, Asked(**message["asked"]), bytes(message["args"]))
        except KeyboardInterrupt as error:  # no key was pressed here: the learner's code raised it
            return raised(error, namespace)

    copy = Copy(answer)

    def call(asked: Asked, packed: bytes) -> dict:
        if asked.name not in namespace:
            return {"kind": "missing"}
        return copy.ask({"asked": asdict(asked), "args": np.frombuffer(packed, np.uint8)}, asked.seconds)

    try:
        yield call
    finally:
        copy.close()


class Copy:
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

    def ask(self, message: dict, seconds: float) -> dict:
        """The reply, or one of kind "time" (with "killed") or "ended"."""
        if not self._pid:
            return {"kind": "ended", "text": "an earlier call had to be stopped"}
        try:
            self._pipe.send_bytes(pack(message))
            if self._pipe.poll(seconds + KERNEL_GRACE_SECONDS):
                return unpack(self._pipe.recv_bytes(MAX_FRAME))
        except (OSError, EOFError, ValueError):
            return {"kind": "ended", "text": self.close()}
        except BaseException:  # the learner interrupts the kernel
            self.close()
            raise
        self.close()
        return {"kind": "time", "killed": True}

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
        limit_this_process(**{**limits, "memory": limits["memory"] + used_memory()})
        while True:
            pipe.send_bytes(pack(answer(unpack(pipe.recv_bytes()))))
    finally:
        os._exit(0)
