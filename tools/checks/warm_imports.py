"""Import what no mutant changes, once for all tests: a module that imports a file to be broken is left to each test."""

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from tools import ROOT

LAZY = "clearformer"  # a package that finds its names when they are asked for: who imports one may import any module
HOOK = "tests.conftest"  # puts checks into what is imported after it


def import_unaffected(modules: dict[str, str | None], files: list[Path]) -> None:
    """Import these modules, of which we know the files, but for what imports one of ``files``, however it does.

    Such a module is forgotten, with all of ours that came with it.
    """
    broken = set(map(str, files))
    for name in (HOOK, *unaffected_modules(modules, broken)):
        before = {*sys.modules}
        with contextlib.suppress(Exception):  # what was made and not imported
            importlib.import_module(name)
        new = {*sys.modules} - before
        if broken & {file_of(it) for it in new}:
            print(f"Imports what is to be broken, so that each test imports it anew: {name}", flush=True)
            forget(new)
    loaded = broken & {file_of(name) for name in [*sys.modules]}
    assert not loaded, f"imported before it is broken: {loaded}"  # every mutant would survive


def file_of(module: str) -> str:
    return getattr(sys.modules[module], "__file__", None) or ""


def forget(names: Iterable[str]) -> None:
    """Take our modules among these out of the process, so that the next import runs their files."""
    for name in [name for name in names if is_ours(file_of(name))]:
        module = sys.modules.pop(name)
        package, _, attribute = name.rpartition(".")
        if package in sys.modules and vars(sys.modules[package]).get(attribute) is module:
            delattr(sys.modules[package], attribute)


def unaffected_modules(modules: dict[str, str | None], files: set[str]) -> list[str]:
    """The modules that import none of these files, not even by others; of ours no tests, which pytest rewrites."""
    affected = {name for name, file in modules.items() if file in files} | {LAZY + ".*"}
    ours = {name: Path(file) for name, file in modules.items() if file and is_ours(file)}
    imports = {name: imports_of(file, modules) | packages(name) for name, file in ours.items()}
    while more := {name for name, those in imports.items() if name not in affected and those & affected}:
        affected |= more
    tests = {name for name in imports if name.rpartition(".")[2].startswith(("test_", "conftest", "__main__"))}
    return [name for name in modules if name not in affected | tests]


def packages(name: str) -> set[str]:
    """Those that a module lies in, which are imported before it."""
    above = name.rpartition(".")[0]
    return {above, *packages(above)} if above else set()


def is_ours(file: str) -> bool:
    return ROOT in Path(file).parents and "site-packages" not in file and file.endswith(".py")


def imports_of(file: Path, modules: dict[str, str | None]) -> set[str]:
    """What a file imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            lazily = node.module == LAZY and not names <= modules.keys()
            found |= {node.module, *names} | ({LAZY + ".*"} if lazily else set())
    return found
