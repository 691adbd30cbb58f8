"""Whether an experiment is still the program that the stored numbers came from: a hash of all its code.

It takes in the experiment, whatever it calls of this package and of clearbook, and the definitions of the page.
Comments, docstrings and line breaks do not count, nor does the version of Python. The library does not count either:
that it computes the same as before is what its own tests hold.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tests.claims.pages import ROOT, statements
from tests.claims.registry import Experiment

FOLLOWED = {"tests": ROOT, "clearbook": ROOT / "lib"}  # packages, and where they lie
IDLE_FIELDS = ("ctx", "kind", "type_comment", "type_params")
DEFINING = (ast.FunctionDef, ast.ClassDef)


def code_hash(it: Experiment) -> str:
    """Twelve hexadecimal digits that change when the experiment does."""
    path = Path(it.measure.__code__.co_filename)
    on_the_page = statements(it.page, it.cells)
    found: dict[tuple[Path, str], str] = {}
    follow(path, it.measure.__name__, found)
    names = names_in(on_the_page)
    for local, (module, name) in imports(on_the_page).items():
        if local in names:
            follow(module, name, found)
    parts = [canonical(node) for node in on_the_page if not isinstance(node, ast.Import | ast.ImportFrom)]
    parts += [found[key] for key in sorted(found, key=str)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def follow(path: Path, name: str, found: dict[tuple[Path, str], str]) -> None:
    """Add the definition of a name in a file, and of all names that it leads to."""
    defined, imported = module(path)
    key = (path.relative_to(ROOT), name)
    if name in imported:
        follow(*imported[name], found)
    if name not in defined or key in found:
        return
    found[key] = canonical(defined[name])
    for used in names_in([defined[name]]):
        follow(path, used, found)


@cache
def module(path: Path) -> tuple[dict[str, ast.stmt], dict[str, tuple[Path, str]]]:
    """What a file defines, without ``@experiment``, and what it imports from packages that are followed."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    defined: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, DEFINING):
            node.decorator_list = [it for it in node.decorator_list if not registers(it)]
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {it.id: node for target in targets for it in ast.walk(target) if isinstance(it, ast.Name)}
    return defined, imports(body)


def registers(decorator: ast.expr) -> bool:
    """Whether it is ``@experiment(…)``, whose arguments are no code; those that count are compared by themselves."""
    return (
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "experiment"
    )


def imports(body: Iterable[ast.stmt]) -> dict[str, tuple[Path, str]]:
    """What is imported from packages that are followed: by its name here, its file and its name there."""
    found: dict[str, tuple[Path, str]] = {}
    for node in body:
        if not isinstance(node, ast.ImportFrom) or (node.module or "").partition(".")[0] not in FOLLOWED:
            continue
        path = FOLLOWED[str(node.module).partition(".")[0]].joinpath(*str(node.module).split(".")).with_suffix(".py")
        if path.is_file():
            found |= {it.asname or it.name: (path, it.name) for it in node.names}
    return found


def names_in(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that code reads, sorted."""
    return sorted({it.id for node in nodes for it in ast.walk(node) if isinstance(it, ast.Name)})


def canonical(node: object) -> str:
    """A syntax tree as text, the same on every Python; docstrings are left out."""
    if isinstance(node, list):
        return f"[{', '.join(map(canonical, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if name not in IDLE_FIELDS}
    if isinstance(node, DEFINING) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    told = (f"{name}={canonical(value)}" for name, value in fields.items() if value not in (None, []))
    return f"{type(node).__name__}({', '.join(told)})"
