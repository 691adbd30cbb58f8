"""Stop a learner's code when its time is over. What counts is the time for which it computes, not that of the clock.

A machine that is busy with other things must not cost a point, so the clock is a net for code that waits, and hangs
much lower. Both are watched from inside, by timers or, where the system has none, by a thread, and from outside, for
code that is deaf to the exception, by whoever waits for its reply.
"""

import contextlib
import ctypes
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

from clearcheck.worker import system

SHORTEST_LOOK = 0.05  # seconds between two looks at what was computed
ENOUGH = 1000  # steps of a loop, in one of which an exception from another thread arrives
T = TypeVar("T")


class TimeLimit(BaseException):
    """Raised inside the learner's code; no `except Exception` of theirs catches it.

    `waited` is the seconds of the clock that were the limit, 0 where it was the time for which the code computed.
    """

    waited = 0.0


def limited(action: Callable[[], T], seconds: float, net: float) -> T:
    """What the action gives. It may compute for `seconds` in its own thread, and take `net` times as long by the clock.

    Raises: TimeLimit, inside the action alone.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    stopping = _by_timers if system.TIMERS and in_main_thread else _by_a_thread
    return stopping(action, seconds, float(seconds * net))


def _by_timers(action: Callable[[], T], seconds: float, clock: float) -> T:
    began = time.thread_time()

    def body() -> T:
        return action()

    def alarm(by_the_clock: bool):
        left = seconds - (time.thread_time() - began)
        if not by_the_clock and left > 0:  # other threads have computed, too
            system.ring_again(left)
        elif _below(sys._getframe(), body.__code__):  # not in what tidies up after an action that was in time
            late = TimeLimit()
            late.waited = clock if by_the_clock else 0.0
            raise late

    with system.timers(seconds, clock, alarm):
        return body()


def _below(frame: FrameType | None, code: CodeType) -> bool:
    """Whether a frame of this code is among those that have called."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _by_a_thread(action: Callable[[], T], seconds: float, clock: float) -> T:
    watch = _Watch(seconds, clock)
    try:
        return action()
    except TimeLimit as late:
        late.waited = watch.waited
        raise
    finally:
        watch.end()


class _Watch:
    """A thread that raises TimeLimit in the one that made it; it counts what all threads of the process compute."""

    def __init__(self, seconds: float, clock: float):
        self.waited = 0.0
        self._raised = False
        self._seconds, self._clock = seconds, clock
        self._watched = threading.get_ident()
        self._lock, self._over = threading.Lock(), threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def end(self):
        """From here on it raises nothing. An exception on its way is not unset: after that Python 3.11 may hang."""
        with self._lock:
            self._over.set()
        if self._raised:
            with contextlib.suppress(TimeLimit):
                for _ in range(ENOUGH):  # what is still on its way arrives here, and not after us
                    pass

    def _look(self):
        computed, until = time.process_time() + self._seconds, time.monotonic() + self._clock
        while (left := min(computed - time.process_time(), until - time.monotonic())) > 0:
            if self._over.wait(max(left, SHORTEST_LOOK)):
                return
        with self._lock:
            if not self._over.is_set():
                self.waited = 0.0 if time.process_time() >= computed else self._clock
                self._raised = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._watched), ctypes.py_object(TimeLimit))


def awaited(
    arrived: Callable[[float], bool], computed: Callable[[], float | None], seconds: float, clock: float
) -> float | None:
    """None when a reply `arrived`, which waits for it so long; else it is too late, and this is the time of the clock
    that was waited, or 0 where the other process had `computed` for these seconds.
    """
    until = time.monotonic() + clock
    wait = seconds  # in less time it cannot have computed for longer
    while True:
        left = until - time.monotonic()
        if arrived(max(0.0, min(wait, left))):
            return None
        if left <= wait:
            return clock
        used = computed()
        wait = left if used is None else max(seconds - used, SHORTEST_LOOK)
        if used is not None and used >= seconds:
            return 0.0
