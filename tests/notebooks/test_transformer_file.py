"""The transformer of chapter 8 is also a file that runs by itself: it says what the page says, and it learns."""

import ast
import re
import runpy
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGE, FILE = ROOT / "chapters" / "08-encoder-decoder.ipynb", ROOT / "chapters" / "transformer.py"
TAG = "in-transformer-py"


def cells_of_the_page():
    cells = nbformat.read(PAGE, as_version=4).cells
    return [cell.source for cell in cells if TAG in cell.metadata.get("tags", [])]


def test_the_file_is_what_stands_on_the_page():
    text = FILE.read_text(encoding="utf-8")
    docstring = text[: text.index('"""', 3) + 3]
    assert text == docstring + "\n\n" + "\n\n\n".join(cells_of_the_page()) + "\n"


def test_the_cells_are_in_sight():
    """Catches a part of the transformer that the site folds away."""
    cells = nbformat.read(PAGE, as_version=4).cells
    tags = [set(cell.metadata.tags) for cell in cells if TAG in cell.metadata.get("tags", [])]
    assert not any(tag.startswith(("hide", "remove")) for found in tags for tag in found)


def test_it_needs_torch_alone():
    imported = [
        node
        for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.name for node in imported if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imported if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} == {"math", "torch"}


@pytest.mark.slow
def test_the_file_runs_and_learns(tmp_path, monkeypatch, capsys):
    """In this process, where torch is loaded: that the file needs nothing else is tested above."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FILE), run_name="__main__")
    right, asked = map(int, re.search(r"(\d+) of (\d+) new numbers are right", capsys.readouterr().out).groups())
    assert right > 0.9 * asked
