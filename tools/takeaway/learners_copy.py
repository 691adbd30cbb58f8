"""The course as a learner's machine gets it: the exercises with their checks, and without the authors' answers.

A check compares with a reference and knows the mistakes by their results, so both have to travel. What stays behind are
the right answers of every question and the solutions in the authors' notebooks. A mistake that is written as an edit of
a right answer becomes a whole function.
"""

import ast
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from clearcheck.author import loading
from clearcheck.author.edits import HEAD
from clearcheck.author.loading import AUTHORING, slugs_in
from clearcheck.author.mistakes import Solution
from clearcheck.author.release import learner_notebook, read_source

PACKAGES = ("clearformer", "clearbook", "cleartape", "clearcheck", "clearclass")
# What chapters ask course_file for or import; of models/nanogpt, a yardstick, only what its runs told.
DATA = (
    "chapters/models.yml",
    "chapters/transformer.py",
    "chapters/gpt.py",
    "chapters/decoder_2026.py",
    "chapters/backward_pass.py",
    "chapters/two_processes.py",
    "benchmarks/results-gpu.json",
    "models/austen",
    "models/digits",
    "models/gpt",
    "models/language",
    "models/messages",
    "models/nanogpt/laptop.txt",
    "models/nanogpt/log.csv",
    "models/nanogpt/recipe.csv",
    "models/smollm2",
    "models/translator",
    "models/vit",
)
UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
Definition = ast.FunctionDef | ast.ClassDef
load = cache(loading.load_exercise)  # the front page asks for every exercise, too


def copy_library(root: Path, target: Path) -> None:
    """The packages of lib/."""
    for package in PACKAGES:
        shutil.copytree(root / "lib" / package, target / package, ignore=UNWANTED)


def copy_data(root: Path, target: Path) -> None:
    """The files that chapters read."""
    for name in DATA:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copyfile
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        copy(root / name, target / name)


def copy_prose(root: Path, target: Path) -> None:
    """The text of the chapters, without their code, for the chapter that searches the book."""
    (target / "chapters").mkdir(parents=True, exist_ok=True)
    for path in sorted(root.glob("chapters/[0-9]*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        prose = {"cells": [cell for cell in cells if cell["cell_type"] == "markdown"]}
        (target / "chapters" / path.name).write_text(json.dumps(prose, ensure_ascii=False), encoding="utf-8")


def copy_checks(root: Path, target: Path, *slugs: str) -> None:
    """The exercises, all where none is named, into the folder exercises/authoring of the target, without answers."""
    (target / AUTHORING).mkdir(parents=True)
    for path in sorted((root / AUTHORING).glob("*.py")):  # what several exercises share
        shutil.copyfile(path, target / AUTHORING / path.name)
    for slug in slugs or slugs_in(root / AUTHORING):
        authored = load(slug, root)
        folder = target / AUTHORING / slug
        folder.mkdir(parents=True)
        mistakes = {q.id.replace("-", "_"): authored.wrong.of(q.id) for q in authored.exercise.questions}
        for path in sorted(authored.folder.glob("*.py")):
            text = path.read_text(encoding="utf-8")
            known = {mistake.name: mistake for mistake in mistakes.get(path.stem, [])}
            kept = without_answers(text, known) if path.stem in mistakes else text
            (folder / path.name).write_text(kept, encoding="utf-8")
        notebook = learner_notebook(read_source(authored.folder / "source.ipynb"), slug)
        (folder / "source.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8")


def without_answers(text: str, mistakes: Mapping[str, Solution]) -> str:
    """The file of a question without its right answers and what only they call; its edits as whole functions.

    Raises: ValueError for edits that are not written as one plain text.
    """
    lines, body = text.splitlines(), ast.parse(text).body
    answers = [node for node in body if _marks_right(node)]
    dropped = answers + _only_for(answers, body, [mistake.source for mistake in mistakes.values() if mistake.base])
    for node in reversed(body):
        first = min([node.lineno, *(entry.lineno for entry in getattr(node, "decorator_list", []))]) - 1
        if node in dropped:
            lines[first : node.end_lineno] = []
        elif edits := _edits(node):
            lines[first : node.end_lineno] = _whole_mistakes(edits, mistakes)
    return "\n".join(lines) + "\n"


def _marks_right(node: ast.stmt) -> bool:
    """Whether a statement is a definition under ``@right``, or the call ``right(…)``."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) == "right"
    marks = node.decorator_list if isinstance(node, Definition) else ()
    return any(isinstance(entry, ast.Name) and entry.id == "right" for entry in marks)


def _only_for(answers: list, body: list[ast.stmt], texts: list[str]) -> list[Definition]:
    """The functions and classes that nothing names any more, once the answers are gone."""
    left = [node for node in body if node not in answers]
    helpers = {node.name for node in left if isinstance(node, Definition) and not node.decorator_list}
    parsed = (ast.parse(text) for text in texts if helpers & set(re.findall(r"\w+", text)))  # the others name none
    elsewhere = {name for tree in parsed for name in _names(tree)}
    names = {node: _names(node) - {getattr(node, "name", None)} for node in left}
    while True:
        named = elsewhere.union(*names.values())
        unused = [node for node in names if getattr(node, "name", None) in helpers - named]
        if not unused:
            return [node for node in left if node not in names and isinstance(node, Definition)]
        for node in unused:
            del names[node]


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _edits(node: ast.stmt) -> str:
    """The text of a statement `wrong.edits(…)`; nothing for any other."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return ""
    if ast.unparse(node.value.func) != "wrong.edits":
        return ""
    text = node.value.args[0] if node.value.args else None
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        raise ValueError(f"Line {node.lineno}: {ast.unparse(node)[:60]} is given something else than one plain text.")
    return text.value


def _whole_mistakes(edits: str, mistakes: Mapping[str, Solution]) -> Iterator[str]:
    for line in edits.splitlines():
        if head := HEAD.fullmatch(line.strip()):
            it = mistakes[head["name"]]
            yield f"wrong.whole({it.name!r}, {it.says!r}, {it.section!r}, {it.source!r}, {it.base!r}, {it.places!r})"
