"""What became of the cells that a learner has run: a failed one leaves the kernel with the function of before.

A check of the kernel alone would then pass an answer that no longer stands in the notebook.
"""

import sys
from collections.abc import Iterable
from typing import Any

from clearcheck.grading.problems import NO_PYTHON, advice_on, describe_error
from clearcheck.notebooks.cells import lines_of
from clearcheck.notebooks.definitions import imported_names, may_define
from clearcheck.worker.guarded_call import exception_reply, short_line

NOTHING = object()  # what a name holds that is not defined


class CellRuns:
    """Told by IPython of every cell that is run, from now on until `stop`; outside of IPython it knows of none."""

    def __init__(self, names: Iterable[str]):
        self.lost_imports: dict[str, str] = {}  # names that failed cells were to import, with their modules
        self._names = list(names)
        self._failed: dict[str, tuple[str, object]] = {}  # for a name the sentence, and what the kernel still has
        self._shell = _shell()
        self._before = self._now()
        self._events = {"pre_run_cell": self._begin, "post_run_cell": self._end}
        if self._shell is not None:
            for event, told in self._events.items():
                self._shell.events.register(event, told)

    def stop(self):
        if self._shell is not None:
            for event, told in self._events.items():
                self._shell.events.unregister(event, told)
            self._shell = None

    def failure(self, name: str) -> str:
        """Why the cell that defines this name failed when it was last run; an empty text where it did not."""
        sentence, kept = self._failed.get(name, ("", NOTHING))
        return sentence if self._now().get(name, NOTHING) is kept else ""

    def _now(self) -> dict[str, object]:
        space = self._shell.user_ns if self._shell is not None else {}
        return {name: space[name] for name in self._names if name in space}

    def _begin(self, info: Any):
        self._before = self._now()

    def _end(self, result: Any):
        error, source = result.error_before_exec or result.error_in_exec, result.info.raw_cell or ""
        now = self._now()
        for name in self._names:
            same = now.get(name, NOTHING) is self._before.get(name, NOTHING)
            if error is None or not same:
                self._failed.pop(name, None)
            elif may_define(source, name):
                self._failed[name] = (self._sentence(name, error, source), now.get(name, NOTHING))
        if isinstance(error, ModuleNotFoundError):
            self.lost_imports.update(imported_names(source))

    def _sentence(self, name: str, error: BaseException, source: str) -> str:
        start = f"The cell with `{name}` stopped above its definition when it was last run"
        if isinstance(error, KeyboardInterrupt):
            return f"{start}, since you interrupted it: run it to its end and check again."
        reply = exception_reply(error, self._shell.user_ns)
        if reply["type"] in NO_PYTHON:
            start = f"The cell with `{name}` was no Python when it was last run"
            reply["line"] = reply["line"] or _line_at(source, getattr(error, "lineno", None))
        advice = advice_on(reply) or "Mend that line."
        return f"{start}: {describe_error(reply)}. {advice} Then run the cell and check again."


def _line_at(source: str, number: int | None) -> str:
    lines = lines_of(source)
    return short_line(lines[number - 1].strip()) if number and number <= len(lines) else ""


def _shell() -> Any:
    """The IPython that runs this notebook, or None."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
