"""The file of the backward pass is what its pages derive, function by function, and fits its place."""

import ast
import json

import pytest

from tools import ROOT

CHAPTERS = ROOT / "chapters"
FILE = CHAPTERS / "backward_pass.py"
PAGES = [CHAPTERS / "13-backward-by-hand.ipynb", CHAPTERS / "closer" / "13-language-model.ipynb"]


def functions_of(source: str) -> list[tuple[str, str]]:
    """Name and code of each function, without what it says of itself."""
    found = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    for node in found:
        if ast.get_docstring(node) is not None:
            del node.body[0]
    return [(node.name, ast.unparse(node)) for node in found]


def functions_of_pages() -> set[tuple[str, str]]:
    cells = [cell for page in PAGES for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]]
    return {it for cell in cells if cell["cell_type"] == "code" for it in functions_of("".join(cell["source"]))}


OF_FILE = functions_of(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "code"), OF_FILE, ids=[name for name, _ in OF_FILE])
def test_a_page_has_the_function(name, code):
    """Catches a file that was left behind when a page changed, or the other way round."""
    assert (name, code) in functions_of_pages()
