"""A code cell of a notebook, and what is kept of one that broke the process."""

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A code cell; `number` counts the code cells from 1, as "Run all" numbers them."""

    number: int
    source: str


EXPERIMENTS = {"experiment", "experiments"}  # what a cell that is given calls to show a learner what an answer does


def without_experiments(source: str) -> str:
    """A cell without its lines `experiment(…)`: they define nothing, print, and may train a model."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    lines = source.splitlines()
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        alone = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in EXPERIMENTS
        span = slice(node.lineno - 1, node.end_lineno)
        if alone and lines[span] == (ast.get_source_segment(source, node) or "").splitlines():
            lines[span] = [""] * len(lines[span])
    return "\n".join(lines)


def definitions_only(source: str) -> str:
    """The imports, functions and classes of a cell, without the statements between them."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    try:
        body = [node for node in ast.parse(source).body if isinstance(node, kinds)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    # Blank lines in place of the rest keep the line numbers of messages.
    lines = source.splitlines()
    kept = [""] * len(lines)
    for node in body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        kept[first - 1 : node.end_lineno] = lines[first - 1 : node.end_lineno]
    return "\n".join(kept)
