"""Warnings that an answer causes stand at the learner's own line, also where a call goes through the grader."""

import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

GRADER = str(Path(__file__).resolve().parents[1])
SHOWING = ("warnings", "_py_warnings")  # the modules that show a warning, the second from Python 3.14 on


@contextlib.contextmanager
def warnings_at_their_cause() -> Iterator[None]:
    """A warning that would name a line of the grader names the one below it that is neither the grader's nor torch's.

    Every function of torch that is called under a watch is called by the grader (`CallWatch`).
    """
    show = warnings.showwarning

    def show_at_cause(message, category, filename, lineno, file=None, line=None):
        cause = _learners_frame() if filename.startswith(GRADER) else None
        if cause is not None:
            filename, lineno = cause.f_code.co_filename, cause.f_lineno
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = show_at_cause
    try:
        yield
    finally:
        warnings.showwarning = show


def _learners_frame() -> FrameType | None:
    torch = importlib.util.find_spec("torch")
    others = (GRADER, *(torch.submodule_search_locations or () if torch else ()))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith(others) or frame.f_globals.get("__name__") in SHOWING
    ):
        frame = frame.f_back
    return frame
