"""A code cell of a notebook, and what is kept of one that raised or broke the process."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A code cell; `number` counts the code cells from 1, as "Run all" numbers them."""

    number: int
    source: str


LINE_END = re.compile(r"\r\n|\r|\n")
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
EXPERIMENTS = {"experiment", "experiments"}  # what a cell that is given calls to show a learner what an answer does


def lines_of(source: str) -> list[str]:
    """The lines as Python counts them: `str.splitlines` also ends one at U+2028 and others that a text may hold."""
    return LINE_END.split(source)


def without_experiments(source: str) -> str:
    """A cell without its lines `experiment(…)`: they define nothing, print, and may train a model."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    lines = lines_of(source)
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        alone = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in EXPERIMENTS
        span = slice(node.lineno - 1, node.end_lineno)
        if alone and lines[span] == lines_of(ast.get_source_segment(source, node) or ""):
            lines[span] = [""] * len(lines[span])
    return "\n".join(lines)


def definitions_only(source: str) -> str:
    """The imports, functions and classes of a cell, without the statements between them."""
    try:
        body = [node for node in ast.parse(source).body if isinstance(node, DEFINITIONS)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    # Blank lines in place of the rest keep the line numbers of messages.
    lines = lines_of(source)
    kept = [""] * len(lines)
    for node in body:
        span = slice(_first_line(node) - 1, node.end_lineno)
        kept[span] = lines[span]
    return "\n".join(kept)


def definitions_below(source: str, line: int, again: bool = True) -> Iterator[ast.Module]:
    """Each import, function and class of a cell below the line in which it raised, by itself. Imports in that line are
    tried `again`, module by module: `import seaborn, numpy` stops at the first.
    """
    body = ast.parse(source).body
    futures = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    for node in body:
        first = line if again and isinstance(node, ast.Import | ast.ImportFrom) else line + 1
        if isinstance(node, DEFINITIONS) and _first_line(node) >= first:
            parts: list[ast.stmt] = [node]
            if isinstance(node, ast.Import):
                parts = [ast.copy_location(ast.Import([module]), node) for module in node.names]
            yield from (ast.Module([*futures, part], type_ignores=[]) for part in parts)


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
