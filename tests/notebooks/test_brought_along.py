"""A class that a page says is yours from a chapter before is the one that you typed there, and so are functions."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from tools import ROOT
from tools.pages.chapters import chapter_number, chapters

CHAPTERS = {chapter_number(path.stem): path for path in chapters()}
PAGES = sorted([*CHAPTERS.values(), *(ROOT / "chapters" / "closer").glob("*.ipynb")])
SAID = re.compile(r"^# yours from chapter (\w+)\b.*\n(class .*)\Z", re.DOTALL | re.MULTILINE)
COPIED = re.compile(r"\A# from chapter (\w+)$", re.MULTILINE)
TYPED_IN, OTHER_FILE = "08", "in-decoder-py"  # the tag of cells that are the text of decoder_2026.py
FILE = ast.parse((ROOT / "chapters" / "transformer.py").read_text(encoding="utf-8"))


@cache
def code_of(page: Path) -> list[str]:
    cells = [cell for cell in json.loads(page.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells if OTHER_FILE not in cell["metadata"].get("tags", [])]


def brought_along() -> list:
    """Page, chapter that it names, and the class."""
    found = [(page, SAID.search(source)) for page in PAGES for source in code_of(page)]
    return [(page.stem, said[1], ast.parse(said[2]).body[0]) for page, said in found if said]


def functions(source: str) -> dict[str, str]:
    return {node.name: ast.unparse(node) for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def copied_functions() -> list:
    """Page, chapter that it names, name of the function, and its code."""
    found = [(page, COPIED.search(source), source) for page in PAGES for source in code_of(page)]
    return [(p.stem, said[1], *item) for p, said, source in found if said for item in functions(source).items()]


@pytest.mark.parametrize(("page", "chapter", "name", "own"), copied_functions(), ids=lambda value: str(value)[:30])
def test_it_is_the_function_of_that_chapter(page, chapter, name, own):
    """Catches a copy that was left behind when the chapter changed."""
    assert own in [functions(source).get(name) for source in code_of(CHAPTERS[chapter])]


@pytest.mark.parametrize(("page", "chapter", "own"), brought_along(), ids=lambda value: getattr(value, "name", value))
def test_it_is_the_class_of_that_chapter(page, chapter, own):
    """Catches a copy that was left behind when the chapter changed, or that was never the reader's."""
    classes = [
        node
        for source in code_of(CHAPTERS[chapter])
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    ]
    assert methods_of(own) in [methods_of(node) for node in classes if node.name == own.name]


def methods_of(node: ast.ClassDef) -> tuple[str, set[str]]:
    """What a class is; in which order its methods stand is the page's own matter."""
    head = ast.unparse(ast.ClassDef(node.name, node.bases, node.keywords, [ast.Pass()], node.decorator_list))
    return head, {ast.unparse(part) for part in node.body}


def test_there_are_some():
    assert len(brought_along()) >= 6
    assert len(copied_functions()) >= 6


def built_on_the_file() -> list[Path]:
    """The pages after chapter 8, in which transformer.py is typed; a closer look has the number of its chapter."""
    numbered = [(re.match(r"\d+", page.stem), page) for page in PAGES]
    return [page for number, page in numbered if number and int(number[0]) > int(TYPED_IN)]


@pytest.mark.parametrize("page", built_on_the_file(), ids=lambda page: page.stem)
def test_a_page_after_the_file_imports_its_classes(page):
    """Catches a class that is pasted and then goes its own way, and an import of what the file does not have."""
    known = {node.name for node in FILE.body if isinstance(node, ast.ClassDef)}
    body = [node for source in code_of(page) for node in ast.parse(source).body]
    pasted = known & {node.name for node in body if isinstance(node, ast.ClassDef)}
    assert not pasted, f"{page.name} defines {pasted} anew; write from transformer import … instead"
    assert imported_from_the_file(page) <= defined(FILE)


def imported_from_the_file(page: Path) -> set[str]:
    nodes = [node for source in code_of(page) for node in ast.walk(ast.parse(source))]
    found = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "transformer"]
    return {alias.name for node in found for alias in node.names}


def defined(tree: ast.Module) -> set[str]:
    """Functions, classes and constants of a module."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    constants = {it.id for node in assigned for it in ast.walk(node) if isinstance(it, ast.Name)}
    return constants | {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_file_is_built_on():
    """Catches a file that the reader types and never uses again."""
    assert len([page for page in built_on_the_file() if imported_from_the_file(page)]) >= 4
