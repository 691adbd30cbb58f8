"""make notebooks: outputs stored, ids kept, noise removed, errors and slowness told."""

import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.pages import notebooks


@pytest.fixture
def notebook(tmp_path):
    def write(source: str, **metadata):
        cells = [new_markdown_cell("# Title", id="title"), new_code_cell(source, id="only-cell", metadata=metadata)]
        path = tmp_path / "one.ipynb"
        nbformat.write(
            new_notebook(cells=cells, metadata={"language_info": {"name": "python", "version": "3.1"}}), path
        )
        return path

    return write


def test_a_notebook_is_executed_and_cleaned(notebook, capsys):
    path = notebook("print(6 * 7)", tags=["hide-input"], collapsed=True)
    assert notebooks.main([str(path)]) == 0
    stored = nbformat.read(path, as_version=4)
    cell = stored.cells[1]
    assert (cell.id, cell.execution_count, cell.outputs[0].text) == ("only-cell", 1, "42\n")
    assert cell.metadata == {"tags": ["hide-input"]}
    assert stored.metadata.language_info == {"name": "python"}
    assert stored.metadata.run_seconds_at_most == 30
    assert "one.ipynb" in capsys.readouterr().out


def test_a_learners_notebook_keeps_its_metadata(notebook):
    """Catches a run time in it: released again, the notebook would not be the same."""
    path = notebook("1")
    stored = nbformat.read(path, as_version=4)
    stored.metadata.clearcheck = {"exercise": "01-tokens"}
    nbformat.write(stored, path)
    assert notebooks.main([str(path)]) == 0
    stored = nbformat.read(path, as_version=4)
    assert set(stored.metadata) == {"clearcheck", "kernelspec", "language_info"}


def test_two_runs_give_the_same_file(notebook):
    path = notebook("import os\nprint('same')")
    notebooks.main([str(path)])
    first = path.read_bytes()
    notebooks.main([str(path)])
    assert path.read_bytes() == first


def test_an_error_is_told_and_nothing_is_saved(notebook, capsys):
    path = notebook("raise ValueError('on purpose')")
    before = path.read_bytes()
    assert notebooks.main([str(path)]) == 1
    assert "on purpose" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_slow_notebook_is_told(notebook, capsys, monkeypatch):
    monkeypatch.setattr(notebooks, "run", lambda path: 61.2)
    assert notebooks.main([str(notebook("1"))]) == 1
    assert "took 61 s; at most 60 s are allowed" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_what_a_page_takes_is_not_what_a_busy_machine_takes(notebook):
    """Catches a page that is refused, or told as longer than it is, because something else ran beside it."""
    computes = "import time\nwhile time.process_time() < 8:\n    pass"
    waits = "import time\ntime.sleep(8)"
    assert notebooks.run(notebook(computes)) >= 8 > notebooks.run(notebook(waits))


def test_two_threads_do_not_count_twice():
    assert notebooks.idle_seconds(10.0, 19.0) == 10.0
    assert notebooks.idle_seconds(10.0, float("nan")) == 10.0
