"""The packages of tools/ stand in one order, say what they are for, and are found without a change of Python's path."""

import ast
import re
from graphlib import TopologicalSorter
from importlib import import_module

import pytest

from tests.clearcheck.test_rooms import arrows
from tools import ROOT
from tools.setup.targets import TARGETS

# From the ground up: a package may import from itself and from those before it; CONTRIBUTING.md says what is in each.
ORDER = ("tools", "run", "setup", "takeaway", "pages", "extension", "book", "models", "play", "checks")
PACKAGES = sorted(path.parent.name for path in (ROOT / "tools").glob("*/__init__.py"))
MODULES = arrows(ROOT / "tools")


def place(module: str) -> int:
    return ORDER.index(module.split(".")[1] if "." in module else module)


def test_every_package_has_its_place_and_its_line_for_contributors():
    """Catches a new package, or a file at the top, that the order does not know, and one that nobody is told of."""
    assert {module.split(".")[1] if "." in module else module for module in MODULES} == set(ORDER)
    named = re.findall(r"^\| `(\w+)` \| ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    assert [name for name in ORDER if name in PACKAGES] == [name for name in named if name in PACKAGES]


def test_no_package_needs_one_above_it():
    """Catches a set-up that needs what it sets up, and a download that needs the whole build of the site."""
    upward = [(module, it) for module, those in MODULES.items() for it in those if place(it) > place(module)]
    assert upward == []


def test_no_module_needs_itself():
    """Catches a circle, also one that is hidden in functions."""
    TopologicalSorter(MODULES).prepare()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_first_which_target_it_serves(package):
    """Catches a room without a sign, and one that names a target that is gone."""
    first = (import_module(f"tools.{package}").__doc__ or "").partition("\n")[0]
    named = re.findall(r"make (\w+)", first)
    assert named and set(named) <= set(TARGETS)


@pytest.mark.parametrize("folder", ["tools", "tests", "benchmarks"])
def test_nobody_changes_pythons_path(folder):
    """Catches a module that is found from one folder and not from another, and two that are called the same."""
    found = []
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.path.insert", "sys.path.append"):
                found.append(f"{path.relative_to(ROOT)} line {node.lineno}")
    assert found == []
