"""Tests in forks of a process that has imported what they need: they begin after a fifth of a second.

Needs Linux: the end of a fork is waited for by its descriptor.
"""

import contextlib
import math
import os
import resource
import select
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import ROOT

WAITING = 3  # times as many seconds by the clock as a fork may compute: then it is looked at, and as often again
LONGEST_WAIT = 600  # seconds by the clock, after which any fork is looked at
IDLE = 0.01  # of the time of the clock: a fork that computes for less is no longer held up by a busy machine


class ChosenTests:
    """A plugin: these tests alone, in this order."""

    def __init__(self, names: list[str]):
        self.place = {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((it for it in items if it.nodeid in self.place), key=lambda it: self.place[it.nodeid])


def passes(names: list[str], seconds: float, folder: Path) -> bool:
    """Whether these tests pass within so much CPU time; the first that fails ends them."""
    files = dict.fromkeys(name.partition("::")[0] for name in names)
    options = ["-x", "-q", *common_options(folder), *files]
    return run_in_fork(lambda: pytest.main(options, plugins=[ChosenTests(names)]), seconds) == 0


def common_options(folder: Path) -> list[str]:
    imported = "-Wignore::pytest.PytestAssertRewriteWarning"  # here, before pytest could rewrite it
    chosen = ["-p", "no:cacheprovider", "--numprocesses=0", "-m", "not weekly", imported]
    return [*chosen, f"--rootdir={ROOT}", f"--basetemp={folder / 'tmp'}"]


def run_in_fork(work: Callable[[], int], seconds: float, *, shown: bool = False) -> int:
    """The exit code of ``work`` in a fork that ends after so many seconds of CPU time; below 0 if it was killed."""
    child = os.fork()
    if child == 0:
        os.setsid()
        sys.dont_write_bytecode = not shown
        for stream in () if shown else (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        if seconds < math.inf:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
        code: int = pytest.ExitCode.INTERNAL_ERROR
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    return wait_for_exit(child, min(seconds * WAITING, LONGEST_WAIT))


def wait_for_exit(child: int, seconds: float) -> int:
    """The exit code of a process, once it and all that it started have ended.

    They are killed if they compute for nearly nothing while ``seconds`` pass by the clock.
    """
    ended = os.pidfd_open(child)
    try:
        computed = 0.0
        while not select.select([ended], [], [], seconds)[0]:
            before, computed = computed, session_seconds(child)
            if computed - before < IDLE * seconds:
                break
    finally:
        os.close(ended)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def session_seconds(leader: int) -> float:
    """Of CPU time, those of all processes in a session, and of what they have waited for."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            fields = file.read_bytes().rpartition(b")")[2].split()
            ticks += sum(map(int, fields[11:15])) if int(fields[3]) == leader else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Those of this process and of all that it has waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
