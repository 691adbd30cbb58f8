"""The pages that claims stand on: their sentences, and the definitions of their code cells, run on their own."""

import ast
import contextlib
import io
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@cache
def cells(page: str) -> dict[str, dict]:
    """The cells of a notebook by their ids."""
    return {cell["id"]: cell for cell in json.loads((ROOT / page).read_text(encoding="utf-8"))["cells"]}


@cache
def prose(page: str) -> str:
    """What a page says in Markdown and in the captions of its figures, with single spaces."""
    texts = []
    for cell in cells(page).values():
        if cell["cell_type"] == "markdown":
            texts.append("".join(cell["source"]))
        texts.append(cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", ""))
    return " ".join(" ".join(texts).split())


def is_said(sentence: str, page: str) -> bool:
    """Whether a page says a sentence word for word, wherever its lines break."""
    return " ".join(sentence.split()) in prose(page)


@cache
def statements(page: str, names: tuple[str, ...]) -> tuple[ast.stmt, ...]:
    """The imports, definitions and assignments of some code cells: not what they print, loop over or draw.

    A name such as week-train:weeks stands for one definition of a cell, where another one would train.
    Raises: ValueError for a cell or a definition that the page does not have.
    """
    found: list[ast.stmt] = []
    for name in names:
        cell, _, wanted = name.partition(":")
        if cells(page).get(cell, {}).get("cell_type") != "code":
            raise ValueError(f"{page} has no code cell {cell!r}; a claim takes definitions from it")
        body = [it for it in ast.parse("".join(cells(page)[cell]["source"])).body if isinstance(it, DEFINITIONS)]
        chosen = [it for it in body if not wanted or getattr(it, "name", "") == wanted]
        if not chosen:
            raise ValueError(
                f"the cell {cell!r} of {page} does not define {wanted or 'anything'}; a claim takes it from there"
            )
        found += chosen
    return tuple(found)


def definitions(page: str, names: tuple[str, ...]) -> SimpleNamespace:
    """What these statements define, once they have been run in the order given."""
    found: dict = {"__name__": "page"}
    program = ast.Module(list(statements(page, names)), type_ignores=[])
    beside_the_chapters = patch.object(sys, "path", [str(ROOT / "chapters"), *sys.path])  # lies transformer.py
    with contextlib.redirect_stdout(io.StringIO()), beside_the_chapters:
        exec(compile(program, page, "exec"), found)
    return SimpleNamespace(**found)


def once(page: SimpleNamespace, key: object, make: Callable[[], Any]) -> Any:
    """What ``make`` gives, made a single time for each key: a training that answers for several cases or seeds."""
    kept = page.__dict__.setdefault("kept", {})
    if key not in kept:
        kept[key] = make()
    return kept[key]
