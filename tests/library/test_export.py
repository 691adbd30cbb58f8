"""Every model can be exported with batches and sequences of any size, and then says what the model says."""

import subprocess
import sys

import pytest

from tests.library import export_script


@pytest.fixture(scope="module")
def said() -> tuple[str, str]:
    """What the program says of all models: one process, since the exporter takes long to load."""
    run = subprocess.run([sys.executable, export_script.__file__], capture_output=True, text=True)
    return run.stdout, run.stderr[-2000:]


@pytest.mark.parametrize("name", export_script.CASES)
def test_exported_with_dynamic_sizes(name, said):
    """Catches a size that became a constant or a guard: ``len(tensor)``, or a branch on how large an input is."""
    told, complaints = said
    assert f"{name}: exported and equal\n" in told, told + complaints
