"""Which names a notebook's cells define, and the sentence for one that is missing."""

import ast
import difflib
import re
from collections.abc import Mapping

CLOSENESS = 0.75  # of difflib's ratio: one letter or a plural away


def missing_sentence(name: str, functions: Mapping[str, str], kind: str = "function") -> str:
    """The sentence for a name without a definition; `kind` is "function" or "class".

    `functions` maps each definition that no question asks for, and that may be this one misspelt, to where it is
    ("in code cell 7"), or to an empty text.
    """
    close = difflib.get_close_matches(name, functions, n=1, cutoff=CLOSENESS)
    if not close:
        return f"No {kind} named `{name}` is defined: define it in the answer cell."
    where = f" {functions[close[0]]}" if functions[close[0]] else ""
    return f"No {kind} named `{name}`; your notebook defines `{close[0]}`{where}: rename it."


def defined_names(source: str) -> list[str]:
    """The names that a cell binds at its top level by `def`, `class` or `=`; none where it has a syntax error."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names


def may_define(source: str, name: str) -> bool:
    """Whether a line of the cell begins to define this name, also where a slip keeps the cell from being Python."""
    begins = rf"^(?:(?:async +)?def +|class +){name}\b|^{name} *(?::[^=\n]+)?=(?!=)"
    return re.search(begins, source, re.MULTILINE) is not None


def imported_names(source: str) -> dict[str, str]:
    """The names that the imports of a cell bind, each with its module; none where it has a syntax error."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    names = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update({(one.asname or one.name).split(".")[0]: one.name for one in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({one.asname or one.name: node.module for one in node.names})
    return names
