"""Stop a learner's code when its time is over. What counts is the time for which it computes, not that of the clock.

A machine that is busy with other things must not cost a point, so the clock is a net for code that waits, and hangs
much lower: lower still for code that computes now and then, as all code does on a busy machine. Both are watched from
inside, by timers or, where the system has none, by a thread, and from outside, for code that is deaf to the exception,
by whoever waits for its reply.
"""

import contextlib
import ctypes
import math
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

from clearcheck.worker import system

SHORTEST_LOOK = 0.05  # seconds between two looks at what was computed
WAITING = 0.02  # of the time of the clock: code that computes for less than this waits for something
PATIENCE = 6  # times as long by the clock for code that computes for more
ENOUGH = 1000  # steps of a loop, in one of which an exception from another thread arrives
T = TypeVar("T")


class TimeLimit(BaseException):
    """Raised inside the learner's code; no `except Exception` of theirs catches it.

    `waited` is the seconds of the clock that were the limit, 0 where it was the time for which the code computed.
    """

    waited = 0.0


def run_limited(action: Callable[[], T], seconds: float, net: float) -> T:
    """What the action gives. It may compute for `seconds` in its own thread, and take `net` times as long by the clock
    if it waits, PATIENCE times that if it computes now and then.

    Raises: TimeLimit, inside the action alone.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    stopping = _by_timers if system.TIMERS and in_main_thread else _by_a_thread
    return stopping(action, seconds, float(seconds * net))


def waits(computed: float, rings: int, clock: float) -> bool:
    """Whether code waits instead of computing, after so many times `clock`; after PATIENCE times we say so anyway."""
    return rings >= PATIENCE or computed < WAITING * rings * clock


def _by_timers(action: Callable[[], T], seconds: float, clock: float) -> T:
    began = time.thread_time()
    rings = 0  # of the clock

    def body() -> T:
        return action()

    def alarm(by_the_clock: bool):
        nonlocal rings
        rings += by_the_clock
        computed = time.thread_time() - began
        if by_the_clock and not waits(computed, rings, clock):
            return  # it rings again
        if not by_the_clock and computed < seconds:  # other threads have computed, too
            system.ring_again(seconds - computed)
        elif _is_called_by(sys._getframe(), body.__code__):  # not in what tidies up after an action that was in time
            late = TimeLimit()
            late.waited = rings * clock if by_the_clock else 0.0
            raise late

    with system.timers(seconds, clock, alarm):
        return body()


def _is_called_by(frame: FrameType | None, code: CodeType) -> bool:
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
        began = time.process_time()
        waited = wait_for_reply(self._over.wait, lambda: time.process_time() - began, self._seconds, self._clock)
        with self._lock:
            if waited is not None and not self._over.is_set():
                self.waited = waited
                self._raised = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._watched), ctypes.py_object(TimeLimit))


def wait_for_reply(
    arrived: Callable[[float], bool],
    computed: Callable[[], float | None],
    seconds: float,
    clock: float,
    left: float = math.inf,
) -> float | None:
    """None when a reply `arrived`, which waits for it so long; else it is too late, and this is the time of the clock
    that was waited, or 0 where the other process had `computed` for these seconds.

    `clock` is for one that waits itself; where it computes now and then it has longer, though never more than `left`.
    """
    began = time.monotonic()
    rings = 1  # of the clock
    wait = seconds  # in less time it cannot have computed for longer
    while True:
        until = min(rings * clock, left)
        remaining = until - (time.monotonic() - began)
        if arrived(max(0.0, min(wait, remaining))):
            return None
        used = computed()
        if used is not None and used >= seconds:
            return 0.0
        if remaining <= wait:
            if until == left or used is None or waits(used, rings, clock):
                return until
            rings += 1
        wait = math.inf if used is None else max(seconds - used, SHORTEST_LOOK)
