"""The way to a GPT stays short, and packages know of each other only as far as they may."""

import ast
from pathlib import Path

import pytest

LIB = Path(__file__).parents[2] / "lib"
CLEARFORMER = LIB / "clearformer"
OURS = {"clearformer", "clearbook", "cleartape", "clearcheck", "clearclass"}
MAY_IMPORT = {
    "clearformer": set(),
    "clearbook": {"clearformer"},
    "cleartape": set(),
    "clearcheck": set(),
    "clearclass": {"clearcheck"},
}
HANDS_OVER = {"clearcheck/cli.py": ["clearclass"]}  # the command that grades one file gives a class to its own package
FOR_NOTEBOOKS = {"matplotlib", "IPython", "sklearn", "PIL", "babel", "num2words"}
PATH_TO_GPT = (
    "attention/__init__.py",
    "attention/dot_product.py",
    "attention/masks.py",
    "multihead.py",
    "blocks.py",
    "models/gpt.py",
)


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def n_lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf8").splitlines()) for path in paths)


def imports(source: str) -> list[str]:
    """The packages that a module imports anywhere, inside of functions as well: one entry for each import."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module.split(".")[0])
    return names


def test_the_path_to_a_gpt_is_read_in_an_evening():
    """Lines with docstrings, comments and blank ones: what somebody scrolls through who reads it all."""
    assert 0 < n_lines([CLEARFORMER / name for name in PATH_TO_GPT]) <= 700


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_packages_know_only_those_they_may(package):
    paths = modules(LIB / package)
    assert paths
    forbidden = OURS - MAY_IMPORT[package] - {package}
    found = {path.relative_to(LIB).as_posix(): imports(path.read_text(encoding="utf8")) for path in paths}
    needed = {name: [name for name in names if name in forbidden] for name, names in found.items()}
    assert {name: names for name, names in needed.items() if names} == {
        name: names for name, names in HANDS_OVER.items() if name in found
    }


def test_the_library_needs_nothing_that_only_notebooks_use():
    for path in modules(CLEARFORMER):
        assert not set(imports(path.read_text(encoding="utf8"))) & FOR_NOTEBOOKS, path


def test_imports_inside_of_functions_are_seen():
    """Catches a look at the top of a module only, which would make the two tests above blind to lazy imports."""
    lazy = "import numpy\ndef f():\n    from matplotlib import pyplot\n    import PIL.Image\n"
    assert imports(lazy) == ["numpy", "matplotlib", "PIL"]
