"""Call one function of a learner safely, in whatever process this runs: time limit, no output, no exception out.

The notebook, the worker and the diagnosis all go through `call_named`, so that they cannot disagree.
"""

import contextlib
import io
import linecache
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType

from clearcheck.fault import operation
from clearcheck.values import pack, unpack

TEXT_LIMIT = 200  # characters of a learner's text that a sentence repeats


class TimeLimit(BaseException):
    """Raised inside the learner's code; no `except Exception` of theirs catches it."""


class Counter(io.TextIOBase):
    """Takes what the learner's code prints, counts it and drops it, however much it is."""

    def __init__(self):
        self.characters = 0

    def write(self, text: str) -> int:
        self.characters += len(text)
        return len(text)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimit in the body after `seconds`; without effect outside the main thread and on Windows."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum, frame):
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def quiet() -> Iterator[Counter]:
    counter = Counter()
    with contextlib.redirect_stdout(counter), contextlib.redirect_stderr(counter):
        yield counter


def call_named(namespace: Mapping, name: str, packed: bytes, seconds: float) -> dict:
    """Call `namespace[name]` on the packed arguments and give a reply; its "kind" says how the call ended."""
    if name not in namespace:
        return {"kind": "missing"}
    function = namespace[name]
    if not callable(function):
        return {"kind": "no function", "type": type(function).__name__}
    reply = guarded(lambda: _call(function, packed), seconds, getattr(function, "__globals__", None))
    if "text" in reply and isinstance(function, FunctionType):
        # Under the name that was asked for, which the text of a TypeError holds, not the one it was defined with.
        reply["text"] = reply["text"].replace(f"{function.__qualname__}()", f"{name}()")
    return reply


def guarded(action: Callable[[], dict], seconds: float, scope: dict | None) -> dict:
    """Run `action` under a time limit and turn whatever it raises into a reply; KeyboardInterrupt passes."""
    try:
        with quiet() as counter, time_limit(seconds):
            reply = action()
        return {**reply, "printed": counter.characters}
    except TimeLimit as late:
        return {"kind": "time", "line": _line_of(late, scope)}
    except NotImplementedError as error:
        return {**raised(error, scope), "kind": "unanswered"}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return raised(error, scope)


def raised(error: BaseException, scope: dict | None) -> dict:
    """What a sentence needs to know about an exception, and what tells it from others of its kind."""
    return {
        "kind": "raised",
        "type": type(error).__name__,
        "text": _text_of(error),
        "line": _line_of(error, scope),
        "operation": operation(error, scope),
    }


def plain(text: str) -> str:
    """A learner's text on one short line: no control characters, no memory addresses."""
    words = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", printable(text[: 10 * TEXT_LIMIT]))
    return words if len(words) <= TEXT_LIMIT else words[: TEXT_LIMIT - 1] + "…"


def printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _call(function: Callable, packed: bytes) -> dict:
    args = unpack(packed)
    before = [pack(value) for value in args]
    value = unpack(pack(function(*args)))
    changed = [i for i, value_before in enumerate(before) if pack(args[i]) != value_before]
    return {"kind": "value", "value": value, "changed": changed}


def _text_of(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return plain(f"{error.msg}, line {error.lineno}")
        return plain(str(error))
    except Exception:
        return ""


def _line_of(error: BaseException, scope: dict | None) -> str:
    """The learner's line in which it happened: the last one in a frame of their own namespace."""
    if isinstance(error, SyntaxError):
        return plain((error.text or "").strip())
    line, trace = "", error.__traceback__
    while trace is not None and scope is not None:
        frame = trace.tb_frame
        if frame.f_globals is scope:
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip() or line
        trace = trace.tb_next
    return plain(line)
