"""A learner's notebook as the grader sees it: its code cells in plain Python, and what they define and import."""

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from clearcheck.notebooks.cells import Cell
from clearcheck.notebooks.definitions import defined_names
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook, NotebookFile, cell_source, notebook_bytes, parse_notebook
from clearcheck.notebooks.magics import without_magics

MAX_CODE = 1_000_000  # characters of all code cells together
MOST_SLUGS, LONGEST_SLUG = 5, 60  # that a notebook may name, and characters of one


@dataclass(frozen=True)
class Submission:
    """`name` is the file's, as it may be shown; `slugs` are the exercises that the notebook says it answers, if any."""

    name: str
    cells: list[Cell]
    notes: list[str]
    slugs: list[str]
    imports: list[str]
    defined: list[list[str]]  # for each cell

    @cached_property
    def definitions(self) -> dict[str, list[int]]:
        """For each name that the cells define the numbers of those that do, in order."""
        places: dict[str, list[int]] = {}
        for cell, names in zip(self.cells, self.defined, strict=True):
            for name in names:
                places.setdefault(name, []).append(cell.number)
        return places

    def as_plain(self) -> dict:
        """In values that may cross from a worker."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict) -> "Submission":
        """Raises: KeyError, TypeError on what `as_plain` would not give."""
        return cls(**{**plain, "cells": [Cell(**cell) for cell in plain["cells"]]})


def read_submission(path: Path) -> Submission:
    """Raises: NotANotebook."""
    return parse_submission(notebook_bytes(path), one_line(str(path)))


def parse_submission(data: bytes, name: str) -> Submission:
    """Raises: NotANotebook."""
    return submission_of(parse_notebook(data, name), name)


def submission_of(file: NotebookFile, name: str) -> Submission:
    """Raises: NotANotebook."""
    sources = [cell_source(cell) for cell in file.code_cells]
    length = sum(map(len, sources))
    if length > MAX_CODE:
        raise NotANotebook(
            f"{name} holds {length:,} characters of code; at most {MAX_CODE:,} are read: move data into a file."
        )
    cells, notes = [], []
    for number, source in enumerate(sources, start=1):
        python, removed = without_magics(source)
        cells.append(Cell(number, python))
        if removed:
            notes.append(f"Code cell {number}: {removed} works only in Jupyter and was left out.")
    if not any(cell.source.strip() for cell in cells):
        raise NotANotebook(f"{name} holds no code: hand in the exercise notebook with your answers, saved in Jupyter.")
    noted = file.metadata.get("clearcheck")
    named = [*(_called_slug(cell.source) for cell in cells), noted.get("exercise") if isinstance(noted, dict) else None]
    slugs = dict.fromkeys(slug for slug in named if isinstance(slug, str) and len(slug) <= LONGEST_SLUG)
    return Submission(
        name,
        cells,
        notes,
        list(slugs)[:MOST_SLUGS],
        sorted({module for cell in cells for module in _imported_modules(cell.source)}),
        [list(dict.fromkeys(defined_names(cell.source))) for cell in cells],
    )


def _imported_modules(source: str) -> Iterator[str]:
    """The modules that a cell imports, wherever in it."""
    for node in _nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _called_slug(source: str) -> str | None:
    """The text in a call `exercise("…")`, also in a cell with a syntax error."""
    for node in _nodes(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exercise":
            texts = (arg.value for arg in node.args if isinstance(arg, ast.Constant))
            return next((text for text in texts if isinstance(text, str)), None)
    found = re.search(r"""^exercise\(["']([^"'\n]+)["']\)""", source, re.MULTILINE)
    return found[1] if found else None


def _nodes(source: str) -> Iterator[ast.AST]:
    try:
        yield from ast.walk(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
