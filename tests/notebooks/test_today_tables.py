"""The tables *Today* that pages store are those that chapters/models.yml gives now."""

import ast
import json
import re
from pathlib import Path

import pytest
from clearbook.today import today

from tools import ROOT

PAGES = sorted((ROOT / "chapters").rglob("*.ipynb"))
LITERAL = (ast.Tuple, ast.List, ast.Starred, ast.Constant, ast.Load)
ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)


def code_cells(page: Path) -> list[dict]:
    return [c for c in json.loads(page.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]


def calls(page: Path) -> list[tuple[dict, ast.Call]]:
    """Each cell whose last line is a table, and the call that makes it."""
    last = [(cell, ast.parse("".join(cell["source"])).body[-1:]) for cell in code_cells(page)]
    found = [(cell, line[0].value) for cell, line in last if line and isinstance(line[0], ast.Expr)]
    return [(cell, it) for cell, it in found if isinstance(it, ast.Call) and getattr(it.func, "id", "") == "today"]


def lists_of_names(page: Path) -> dict[str, object]:
    """The names of models that a page writes down, by the name of the list."""
    found: dict[str, object] = {}
    for cell in code_cells(page):
        for line in ast.parse("".join(cell["source"])).body:
            if not isinstance(line, ast.Assign) or not isinstance(line.targets[0], ast.Name):
                continue
            if all(isinstance(node, LITERAL) for node in ast.walk(line.value)):
                found[line.targets[0].id] = eval(compile(ast.Expression(line.value), page.name, "eval"), {})
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if calls(page)], ids=lambda page: page.stem)
def test_the_stored_table_is_that_of_the_facts(page):
    """Catches a fact that was mended after the page had been run."""
    for cell, call in calls(page):
        call.keywords = [word for word in call.keywords if word.arg != "own"]  # what a page measured is its own
        table = eval(compile(ast.Expression(call), page.name, "eval"), {"today": today, **lists_of_names(page)})
        stored = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
        assert [row for row in ROW.findall(table._repr_html_())[1:] if row not in stored] == [], f"run {page.name} anew"
