"""Jupyter's own syntax in a cell: lines that are no Python are replaced, so that the rest of the cell still counts."""

import ast
import re

from clearcheck.notebooks.shown import shown

# What stands behind a line's indentation. No part can match a text in two ways, so a long line costs its length.
LEFT = re.compile(r"[\w.,]+(?: +[\w.,]+)* *= *(?=[%!])")
MAGIC = re.compile(r"[%!?].*|[\w.]+\?{1,2}")
MOST_NAMED, LONGEST = 5, 40  # of what was left out, and characters of each
TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")  # cell magics that run the cell as Python


def without_magics(source: str) -> tuple[str, str]:
    """The cell as plain Python, and what was left out of it (or an empty text)."""
    if _is_python(source):
        return source, ""
    lines = source.splitlines()
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    removed = []
    if lines and lines[first].startswith("%%"):
        removed.append(lines[first].split()[0])
        lines = [""] * (first + 1) + (lines[first + 1 :] if removed[0] in TRANSPARENT else [])
    for index, line in enumerate(lines):
        text = line.strip()
        left = LEFT.match(text)
        start = left.end() if left else 0
        if MAGIC.fullmatch(text, start):
            removed.append(text[start:])
            lines[index] = line[: len(line) - len(line.lstrip())] + (text[:start] + "None" if left else "pass")
    return "\n".join(lines), _listed(removed)


def _listed(removed: list[str]) -> str:
    named = ", ".join(f"`{shown(magic[:LONGEST])}`" for magic in removed[:MOST_NAMED])
    more = len(removed) - MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
        return True
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
