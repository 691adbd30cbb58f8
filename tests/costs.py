"""What a run of the suite costs: CPU seconds in a line at its end, and the dearest tests and files in a file.

CPU time, since machines are shared. That of a process counts for the test that waited for it to end. What the kernels
take is known when the process that they are forked from ends, and counts for the whole run alone.
"""

import time
from collections import Counter
from pathlib import Path

import pytest

try:
    import resource
except ImportError:  # on Windows, which tells nobody what children took
    resource = None  # type: ignore[assignment]

FILE = Path(__file__).parents[1] / ".cache" / "test-costs.txt"
SHOWN = 40


def cpu_seconds() -> float:
    """Those of this process and of all that it has waited for."""
    if resource is None:
        return time.process_time()
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Costs:
    """A plugin: each process of the suite adds to its reports what they cost, the one that prints adds them up."""

    def __init__(self):
        self.before = cpu_seconds()
        self.kernels = 0.0
        self.cpu: Counter[str] = Counter()
        self.wall: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self):
        self.before = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = cpu_seconds()
        report.cpu_seconds, self.before = now - self.before, now
        return report

    def pytest_runtest_logreport(self, report):
        self.cpu[report.nodeid] += getattr(report, "cpu_seconds", 0.0)  # type: ignore[assignment]
        self.wall[report.nodeid] += report.duration

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter):
        if resource is not None and self.cpu:
            kernels = f", of it {self.kernels:.0f} s in the kernels of notebooks" if self.kernels else ""
            terminalreporter.write_line(f"CPU: {cpu_seconds():.0f} s{kernels} ({processor()})")
            FILE.parent.mkdir(exist_ok=True)
            FILE.write_text(self.table(), encoding="utf-8")

    def table(self) -> str:
        """The dearest files, then the dearest tests: CPU seconds, seconds by the clock, name."""
        parts = [self._dearest(*map(_of_files, (self.cpu, self.wall))), self._dearest(self.cpu, self.wall)]
        return "    CPU s   clock s\n" + "\n".join(parts)

    def _dearest(self, cpu: Counter, wall: Counter) -> str:
        names = sorted(cpu, key=lambda name: (-max(cpu[name], wall[name]), name))[:SHOWN]
        return "".join(f"{cpu[name]:9.2f} {wall[name]:9.2f} {name}\n" for name in names)


def _of_files(costs: Counter) -> Counter:
    found: Counter[str] = Counter()
    for name, seconds in costs.items():
        found[name.partition("::")[0]] += seconds
    return found


def processor() -> str:
    from benchmarks.facts import processor  # imports torch, as nearly every test has

    return processor()
