"""Tests in forks of a process that has imported what they need: they begin after a fifth of a second.

Needs Linux: the end of a fork is waited for by its descriptor.
"""

import ast
import contextlib
import importlib
import math
import os
import pickle
import resource
import select
import signal
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import coverage
import pytest

from tools import ROOT

WAITING = 3  # times as many seconds by the clock as a fork may compute: then it is looked at, and as often again
IDLE = 0.01  # of the time of the clock: a fork that computes for less is no longer held up by a busy machine
ALL = ""  # stands for the tests that run a line which is run when its module is imported
LAZY = "clearformer"  # a package that finds its names when they are asked for: who imports one may import any module


@dataclass
class Survey:
    """What tests did: seconds of each, which of them ran a line, what they imported, the file of each module."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests_of: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    modules: dict[str, str | None] = field(default_factory=dict)

    def tests_that_run(self, file: Path, lines: Iterable[int]) -> list[str]:
        """The quickest first."""
        tests = set().union(*(self.tests_of.get((str(file), line), ()) for line in lines))
        return self.every_test() if ALL in tests else sorted(tests, key=self.seconds.__getitem__)

    def every_test(self) -> list[str]:
        return sorted(self.seconds, key=self.seconds.__getitem__)


class Watch:
    """A plugin that surveys the tests, and the lines of some files."""

    def __init__(self, files: list[Path], result: Path):
        self.result = result
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=[str(file) for file in files])
        self.survey = Survey()
        self.coverage.set_option("run:core", "ctrace")  # Python 3.14's own way does not know which test ran a line
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = cpu_seconds()
        self.coverage.switch_context(item.nodeid)
        done = yield
        self.coverage.switch_context(ALL)
        self.survey.seconds[item.nodeid] = cpu_seconds() - before
        return done

    def pytest_sessionfinish(self):
        self.coverage.stop()
        data = self.coverage.get_data()
        for file in data.measured_files():
            for line, tests in data.contexts_by_lineno(file).items():
                self.survey.tests_of[file, line] = set(tests)
        self.survey.modules = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        self.result.write_bytes(pickle.dumps(self.survey))


class ChosenTests:
    """A plugin: these tests alone, in this order."""

    def __init__(self, names: list[str]):
        self.place = {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = sorted((it for it in items if it.nodeid in self.place), key=lambda it: self.place[it.nodeid])


def survey_tests(tests: list[str], files: list[Path], folder: Path) -> Survey:
    """Run the tests twice: to see what they import, which this process then does, and as forks of it will run them.

    Raises: SystemExit if they do not pass.
    """
    for _ in range(2):
        result = folder / "survey"
        options = ["-q", *common_options(folder), *tests]
        if run_in_fork(lambda: pytest.main(options, plugins=[Watch(files, result)]), math.inf, shown=True) != 0:  # noqa: B023
            raise SystemExit("These tests do not pass as they are.")
        survey = pickle.loads(result.read_bytes())
        for name in (
            "tests.conftest",
            *unaffected_modules(survey.modules, set(map(str, files))),
        ):  # the hook on imports first
            with contextlib.suppress(Exception):  # what was made and not imported
                importlib.import_module(name)
    broken = {str(file) for file in files} & {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
    assert not broken, f"imported before it is broken: {broken}"  # every mutant would survive
    if not passes(survey.every_test(), math.inf, folder):
        raise SystemExit("These tests fail as mutants meet them, so that every mutant would count as killed.")
    return survey


def passes(names: list[str], seconds: float, folder: Path) -> bool:
    """Whether these tests pass within so much CPU time; the first that fails ends them."""
    files = dict.fromkeys(name.partition("::")[0] for name in names)
    options = ["-x", "-q", *common_options(folder), *files]
    return run_in_fork(lambda: pytest.main(options, plugins=[ChosenTests(names)]), seconds) == 0


def common_options(folder: Path) -> list[str]:
    imported = "-Wignore::pytest.PytestAssertRewriteWarning"  # here, before pytest could rewrite it
    chosen = ["-p", "no:cacheprovider", "--numprocesses=0", "-m", "not weekly", imported]
    return [*chosen, f"--rootdir={ROOT}", f"--basetemp={folder / 'tmp'}"]


def unaffected_modules(modules: dict[str, str | None], files: set[str]) -> list[str]:
    """The modules that import none of these files, not even by others; of ours no tests, which pytest rewrites."""
    affected = {name for name, file in modules.items() if file in files} | {LAZY + ".*"}
    ours = {name: Path(file) for name, file in modules.items() if file and is_ours(file)}
    imports = {name: imports_of(file, modules) | packages(name) for name, file in ours.items()}
    while more := {name for name, those in imports.items() if name not in affected and those & affected}:
        affected |= more
    tests = {name for name in imports if name.rpartition(".")[2].startswith(("test_", "conftest", "__main__"))}
    return [name for name in modules if name not in affected | tests]


def packages(name: str) -> set[str]:
    """Those that a module lies in, which are imported before it."""
    above = name.rpartition(".")[0]
    return {above, *packages(above)} if above else set()


def is_ours(file: str) -> bool:
    return ROOT in Path(file).parents and "site-packages" not in file and file.endswith(".py")


def imports_of(file: Path, modules: dict[str, str | None]) -> set[str]:
    """What a file imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            lazily = node.module == LAZY and not names <= modules.keys()
            found |= {node.module, *names} | ({LAZY + ".*"} if lazily else set())
    return found


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
    return wait_for_exit(child, seconds * WAITING)


def wait_for_exit(child: int, seconds: float) -> int:
    """The exit code of a process, once it and all that it started have ended.

    They are killed if they compute for nearly nothing while ``seconds`` pass by the clock.
    """
    ended = os.pidfd_open(child)
    try:
        computed = 0.0
        while not select.select([ended], [], [], None if seconds == math.inf else seconds)[0]:
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
