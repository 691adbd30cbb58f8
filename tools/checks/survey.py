"""What tests do in forks: how long each takes, which lines it runs, and whether it can be run there at all."""

import math
import pickle
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import coverage
import pytest

from tools.checks.warm_imports import import_unaffected
from tools.checks.warm_tests import ChosenTests, common_options, cpu_seconds, run_in_fork

ALL = ""  # stands for the tests that run a line which is run when its module is imported
RESULT, RUNNING = "survey", "running"  # files: what was found in the end, and the test that runs until then


@dataclass
class Survey:
    """What tests did: seconds of each, why some failed, which ran a line, what they imported, each module's file."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    tests_of: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    modules: dict[str, str | None] = field(default_factory=dict)

    def tests_that_run(self, file: Path, lines: Iterable[int]) -> list[str]:
        """The quickest first."""
        tests = set().union(*(self.tests_of.get((str(file), line), ()) for line in lines))
        return self.every_test() if ALL in tests else sorted(tests & {*self.seconds}, key=self.seconds.__getitem__)

    def leave_out(self, names: Iterable[str]) -> None:
        for name in names:
            self.seconds.pop(name, None)

    def every_test(self) -> list[str]:
        return sorted(self.seconds, key=self.seconds.__getitem__)


class Outcomes:
    """A plugin that leaves tests out, and notes of the others how long they take and why they fail."""

    def __init__(self, folder: Path, left_out: Iterable[str]):
        self.folder, self.left_out = folder, {*left_out}
        self.survey = Survey()

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid not in self.left_out]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        (self.folder / RUNNING).write_text(item.nodeid, encoding="utf-8")
        before = cpu_seconds()
        done = yield
        self.survey.seconds[item.nodeid] = cpu_seconds() - before
        (self.folder / RUNNING).unlink()
        return done

    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = (crash.message if crash else report.longreprtext).strip().partition("\n")[0]
            self.survey.failed.setdefault(report.nodeid, f"it fails: {reason}")

    def pytest_sessionfinish(self):
        (self.folder / RESULT).write_bytes(pickle.dumps(self.survey))


class Watch(Outcomes):
    """Notes as well which tests run the lines of some files, and what is imported."""

    def __init__(self, folder: Path, left_out: Iterable[str], files: list[Path]):
        super().__init__(folder, left_out)
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=[str(file) for file in files])
        self.coverage.set_option("run:core", "ctrace")  # Python 3.14's own way does not know which test ran a line
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid):
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logfinish(self):
        self.coverage.switch_context(ALL)

    def pytest_sessionfinish(self):
        self.coverage.stop()
        data = self.coverage.get_data()
        for file in data.measured_files():
            for line, tests in data.contexts_by_lineno(file).items():
                self.survey.tests_of[file, line] = set(tests)
        self.survey.modules = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        super().pytest_sessionfinish()


def survey_tests(tests: list[str], files: list[Path], folder: Path) -> Survey:
    """Run the tests twice: to see what they import, which this process then does, and as forks of it will run them.

    Then they run as mutants meet them, the quickest first. What does not pass each time is left out, with a sentence.
    Raises: SystemExit if nothing is left.
    """
    left_out: dict[str, str] = {}
    for _ in range(2):
        survey = survey_in_fork(tests, folder, left_out, lambda: [Watch(folder, left_out, files)])
        import_unaffected(survey.modules, files)
    order = ChosenTests(survey.every_test())
    while survey_in_fork(tests, folder, left_out, lambda: [Outcomes(folder, left_out), order]).failed:
        pass  # without those that have failed
    survey.leave_out(left_out)
    return survey


def survey_in_fork(tests: list[str], folder: Path, left_out: dict[str, str], plugins: Callable[[], list]) -> Survey:
    """What tests do that pass; the others are left out from now on. After one that ends the process all begin anew."""
    options = ["-q", *common_options(folder), *tests]
    while True:
        (folder / RESULT).unlink(missing_ok=True)
        code = run_in_fork(lambda: pytest.main(options, plugins=plugins()), math.inf, shown=True)
        ended = ended_in(folder, code)
        survey = Survey(failed=ended) if ended else found_in(folder, code)
        for name, reason in survey.failed.items():
            print(f"Left out, since {reason}: {name}", flush=True)
        left_out |= survey.failed
        survey.leave_out(left_out)
        if not ended:
            return survey


def ended_in(folder: Path, code: int) -> dict[str, str]:
    """The test in which the process ended, and how."""
    if not (folder / RUNNING).exists():
        return {}
    name = (folder / RUNNING).read_text(encoding="utf-8")
    (folder / RUNNING).unlink()
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return {name: f"it ends the process of the tests, or waits for ever ({how})"}


def found_in(folder: Path, code: int) -> Survey:
    """The survey of a process that ran to its end."""
    survey = pickle.loads((folder / RESULT).read_bytes()) if (folder / RESULT).exists() else Survey()
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"These tests cannot be run as they are, or none is left of them (exit code {code}).")
    return survey
