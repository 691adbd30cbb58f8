"""Every model can be exported with batches and sequences of any size, and compiled as one graph."""

import subprocess
import sys

import pytest

from tests.clearformer import tracing_script

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tracing_report() -> str:
    """What the program says of all of them: one process, since compiler and exporter take long to load."""
    run = subprocess.run([sys.executable, tracing_script.__file__], capture_output=True, text=True)
    return run.stdout + run.stderr[-2000:]


@pytest.mark.parametrize("name", [*tracing_script.CASES, *tracing_script.EXPORTED_ONLY])
def test_exported_with_dynamic_sizes(name, tracing_report):
    """Catches a size that became a constant or a guard: ``len(tensor)``, or a branch on how large an input is."""
    assert f"{name}: exported and equal\n" in tracing_report, tracing_report


@pytest.mark.parametrize("name", [*tracing_script.CASES, *tracing_script.LAYERS])
def test_the_compiler_finds_no_graph_break(name, tracing_report):
    assert f"{name}: one graph\n" in tracing_report, tracing_report


@pytest.mark.parametrize("name", tracing_script.ATTENTION)
def test_the_checks_break_no_compiled_graph(name, tracing_report):
    """Catches a check that stops the tracing of torch.compile, where every break is an error."""
    assert f"{name}: one graph at every size\n" in tracing_report, tracing_report
