"""For the whole suite, notebooks included: one thread a process, no network, and figures that are not compared."""

import os
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parent
GUARD = ROOT / "tests" / "guard"
PROOFS = "tests/exercises/test_proof.py"
LONGEST = ("tests/book/test_browser.py", PROOFS, "tests/equations/", "chapters/")

# Before anything imports NumPy or torch, here and in the kernels, workers and programs that the suite starts.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["CLEARCHECK_RECORD"] = "off"  # the notebooks that the suite runs earn nobody any points
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), os.environ.get("PYTHONPATH")]))


def pytest_collectstart(collector):
    """nbval compares what notebooks print; a drawing may differ in its last digits from machine to machine."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = (*collector.skip_compare, "image/svg+xml")


def pytest_collection_modifyitems(items):
    """The longest files begin, in the order of LONGEST, so that no process works alone at the end."""
    items.sort(key=lambda item: [not item.nodeid.startswith(longest) for longest in LONGEST])


class Scheduling(LoadFileScheduling):
    """A file stays in one process, but for the proofs: each takes long, and none needs another."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid.startswith(PROOFS) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Scheduling(config, log)
