"""Which files, functions and constructors are larger than one sees at once: a part of make lint.

    .venv/bin/python -m tools.checks.sizes

Lines of code count, without blank lines, comments and docstrings. What may be larger stands in sizes.toml with its size
and the reason; it fails to grow, and has to be lowered, or taken out, where it has shrunk.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools import ROOT

FOLDERS = ("benchmarks", "exercises", "lib", "tests", "tools")
EXCEPTIONS = Path(__file__).with_name("sizes.toml")
LIMITS = {"file": 250, "function": 40, "constructor": 8}
UNITS = {"file": "lines of code", "function": "lines of code", "constructor": "parameters"}
ADVICE = {
    "file": "Split it by concept",
    "function": "Give a part of it a name of its own",
    "constructor": "Put what belongs together into a dataclass",
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(source: str, tree: ast.Module) -> set[int]:
    """The numbers of the lines that are neither blank nor a comment nor part of a docstring."""
    lines = {n for n, line in enumerate(source.splitlines(), 1) if line.strip() and not line.strip().startswith("#")}
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def sizes(path: str, source: str) -> Iterator[tuple[str, str, int]]:
    """Kind, place and size of the file and of each function and written constructor in it."""
    tree = ast.parse(source)
    lines = code_lines(source, tree)
    yield "file", path, len(lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            yield "function", f"{path}::{node.name}", len(lines & set(range(node.lineno, last + 1)))
            if node.name == "__init__":
                given = node.args
                count = len(given.posonlyargs + given.args + given.kwonlyargs) - 1  # without self
                yield "constructor", f"{path}::{node.name}", count


def faults(found: list[tuple[str, str, int]], exceptions: dict[str, dict]) -> Iterator[str]:
    """What is too large, and every exception that no longer says how large."""
    large = {(kind, place): size for kind, place, size in found if size > LIMITS[kind]}
    for (kind, place), size in sorted(large.items()):
        allowed = exceptions.get(place, {}).get("size", LIMITS[kind])
        if size > allowed:
            way_out = f"{ADVICE[kind]}, or give a reason in {EXCEPTIONS.name}."
            yield f"{place}: {size} {UNITS[kind]}, {allowed} are allowed. {way_out}"
    for place, entry in exceptions.items():
        size = max((n for (_, at), n in large.items() if at == place), default=0)
        if not str(entry.get("why", "")).strip():
            yield f"{EXCEPTIONS.name}: {place} has no reason (why = ...)."
        if size < entry["size"]:
            now = f"lower its size to {size}" if size else "take it out"
            yield f"{EXCEPTIONS.name}: {place} is smaller than {entry['size']} by now: {now}."


def main() -> None:
    paths = [*ROOT.glob("*.py"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    found = [
        size for path in paths for size in sizes(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    told = list(faults(found, tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))))
    print(*told, sep="\n", end="\n" if told else "")
    sys.exit(bool(told))


if __name__ == "__main__":
    main()
