"""Jupyter's own syntax in a cell: lines that are no Python are replaced, so that the rest of the cell still counts."""

import ast
import re

from clearcheck.notebooks.cells import lines_of
from clearcheck.notebooks.escaping import one_line

# What stands behind a line's indentation. No part can match a text in two ways, so a long line costs its length.
LEFT = re.compile(r"[\w.,]+(?: +[\w.,]+)* *= *(?=[%!])")
MAGIC = re.compile(r"[%!?].*|[\w.]+\?{1,2}")
# What tells where a statement ends: a text, a comment, a backslash that joins two lines, a bracket, the end of a line.
TOKEN = re.compile(
    r"""('{3}|"{3})(?:\\.|(?!\1).)*(?:\1|\Z)|(['"])(?:\\.|(?!\2)[^\\\n])*\2?|\#[^\n]*|\\\n|[()\[\]{}\n]""", re.DOTALL
)
MOST_NAMED, LONGEST = 5, 40  # of what was left out, and characters of each
TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")  # cell magics that run the cell as Python


def without_magics(source: str) -> tuple[str, str]:
    """The cell as plain Python, and what was left out of it (or an empty text)."""
    if _is_python(source):
        return source, ""
    lines = lines_of(source)
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    removed = []
    if lines[first].startswith("%%"):
        removed.append(lines[first].split()[0])
        lines = [""] * (first + 1) + (lines[first + 1 :] if removed[0] in TRANSPARENT else [])
    python, left_out = _replace_magics(_statements(lines))
    if not _is_python(python):  # as where a bracket that is never closed holds all lines below it together
        python, left_out = _replace_magics(lines)
    return python, _list_magics(removed + left_out)


def _replace_magics(parts: list[str]) -> tuple[str, list[str]]:
    kept, removed = [], []
    for part in parts:
        python, magic = _magic(part) or (part, "")
        kept.append(python)
        removed += [magic] if magic else []
    return "\n".join(kept), removed


def _magic(line: str) -> tuple[str, str] | None:
    """Python that does nothing in place of a line of Jupyter's own, and what is lost by that; None for any other."""
    text = line.strip()
    left = LEFT.match(text)
    start = left.end() if left else 0
    if not MAGIC.fullmatch(text, start):
        return None
    return line[: len(line) - len(line.lstrip())] + (text[:start] + "None" if left else "pass"), text[start:]


def _statements(lines: list[str]) -> list[str]:
    """The lines, as one those that a bracket, a text or a backslash holds together: no magic begins within them."""
    text, parts, start = "\n".join(lines) + "\n", [], 0
    while start < len(text):
        end = text.index("\n", start)
        if not _magic(text[start:end]):
            end = _end(text, start)
        parts.append(text[start:end])
        start = end + 1
    return parts


def _end(text: str, start: int) -> int:
    """Where the statement ends that begins there."""
    depth = 0
    for token in TOKEN.finditer(text, start):
        if token[0] == "\n" and depth <= 0:
            return token.start()
        depth += (token[0] in "([{") - (token[0] in ")]}")
    return len(text) - 1


def _list_magics(removed: list[str]) -> str:
    named = ", ".join(f"`{one_line(magic[:LONGEST])}`" for magic in removed[:MOST_NAMED])
    more = len(removed) - MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
        return True
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
