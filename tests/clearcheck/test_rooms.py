"""Clearcheck's rooms stand in one order, clearclass above them: what is needed lies below, and nothing needs itself."""

import ast
from collections.abc import Container
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from inline_snapshot import snapshot

LIB = Path(__file__).parents[2] / "lib"

# From the ground up: a room may import from itself and from those before it. The package itself stands above what it
# offers to authors, and `notebook` above what a learner calls there.
ORDER = (
    "own_course",
    "notebooks",
    "worker",
    "files",
    "grading",
    "author",
    "clearcheck",
    "learner",
    "notebook",
    "report",
    "proof",
    "command_line",
    "cli",
    "__main__",
)


def arrows(folder: Path) -> dict[str, set[str]]:
    """For each module of a package the modules of it that it imports, in functions too."""
    files = {name_of(path, folder): path for path in sorted(folder.rglob("*.py"))}
    return {name: imported_modules(path, files) for name, path in files.items()}


def name_of(path: Path, folder: Path) -> str:
    return ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, known: Container[str]) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} line {node.lineno}: a module is named in full, as in `clearcheck.files`."
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in known else node.module for name in modules}
    return {name for name in names if name in known}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def upward_imports(modules: dict[str, set[str]]) -> list[str]:
    return [
        f"{module} imports {needed}"
        for module, all_needed in modules.items()
        for needed in sorted(all_needed)
        if ORDER.index(room(needed)) > ORDER.index(room(module))
    ]


def test_every_room_has_its_place():
    """Would catch a new folder or file at the top that the order does not know, and a place that nobody fills."""
    assert {room(module) for module in arrows(LIB / "clearcheck")} == set(ORDER)


def test_no_room_needs_one_above_it():
    """Would catch reading a notebook that asks for the learner's record, or a worker that knows the checks."""
    assert upward_imports(arrows(LIB / "clearcheck")) == []


@pytest.mark.parametrize("package", ["clearcheck", "clearclass", "cleartape"])
def test_no_module_needs_itself(package):
    """Would catch a circle, also one that is hidden in functions."""
    TopologicalSorter(arrows(LIB / package)).prepare()


def test_arrows_in_functions_are_seen(tmp_path):
    """Would catch the tests above passing because they read nothing."""
    package = tmp_path / "clearcheck"
    (package / "worker").mkdir(parents=True)
    (package / "worker" / "limits.py").write_text("def later():\n    from clearcheck.cli import main\n")
    (package / "cli.py").write_text("import clearcheck.worker.limits\n\n\ndef main(): pass\n")
    found = arrows(package)
    assert upward_imports(found) == snapshot(["clearcheck.worker.limits imports clearcheck.cli"])
    with pytest.raises(CycleError):
        TopologicalSorter(found).prepare()
