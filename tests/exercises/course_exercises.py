"""What the tests of the exercises share: every exercise as its author wrote it, and as a learner gets it."""

import importlib
import json
import linecache
import math
import re
from functools import cache, cached_property, partial
from pathlib import Path

import nbformat
import numpy as np
from clearcheck.author.edits import rename_definition
from clearcheck.author.loading import load_exercise
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named

EXERCISES = Path(__file__).parents[2] / "exercises"
SLUGS = sorted(folder.name for folder in (EXERCISES / "authoring").iterdir() if (folder / "exercise.py").is_file())
FRESH = 20_031  # no seed of the grader
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.S)


class CourseExercise:
    """The exercise, its right and its wrong solutions, its source and the learner's notebook."""

    def __init__(self, slug: str):
        self.slug, loaded = slug, load_exercise(slug, EXERCISES.parent)
        self.exercise, self.right, self.wrong, self.folder = loaded.exercise, loaded.right, loaded.wrong, loaded.folder
        assert [question.id for question in self.exercise.questions] == question_ids(slug)

    @cached_property
    def source(self):
        return nbformat.read(self.folder / "source.ipynb", as_version=4)

    @property
    def learner(self):
        return learner(self.slug)


course_exercise = cache(CourseExercise)


@cache
def learner(slug: str):
    return nbformat.read(EXERCISES / f"{slug}.ipynb", as_version=4)


def question_ids(slug: str) -> list[str]:
    """The questions of an exercise, by the cells for their answers: pytest asks, and loading all takes seconds."""
    return [entry.id.removesuffix("-answer") for entry in learner(slug).cells if entry.id.endswith("-answer")]


def questions() -> list:
    """Every question of every exercise, as pytest parameters."""
    return [(slug, id) for slug in SLUGS for id in question_ids(slug)]


def cases(check, seed: int = FRESH) -> list[tuple]:
    return check.cases(np.random.default_rng(seed))


def comparisons(question) -> list:
    """The checks of a question that compare with a reference."""
    return [check for check in question.checks if hasattr(check, "cases")]


def cell(notebook, id: str) -> str:
    return next(cell.source for cell in notebook.cells if cell.id == id)


def answer_of(slug: str, id: str, *args):
    """What the author's own answer gives."""
    return course_exercise(slug).right.of(id)[0].function(*args)


def edited_answer(slug: str, id: str, right: int | str, *edits: tuple[str, str]) -> str:
    """The text of a right answer, of this number or name, as a learner writes it, after these edits."""
    entries = course_exercise(slug).right.of(id)
    entry = entries[right] if isinstance(right, int) else next(entry for entry in entries if entry.name == right)
    source = rename_definition(entry.source, entry.name, course_exercise(slug).exercise.question(id).name)
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def graded_checks(slug: str, id: str, source: str, seed: int = 0) -> tuple:
    """The checks of an answer, whose lines are found as those of a cell are."""
    torch, file = importlib.import_module("torch"), f"<{id}: {hash(source)}>"
    scope = {"np": np, "torch": torch, "nn": torch.nn, "json": json, "math": math}
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), scope)
    question = course_exercise(slug).exercise.question(id)
    return evaluate(question, partial(call_named, scope), seed, course_exercise(slug).wrong.of(id)).checks


def task_of(slug: str, id: str) -> str:
    """The words of a task, in one line."""
    return " ".join(cell(course_exercise(slug).learner, f"{id}-task").split())


def in_one_breath(text: str, *facts: str) -> bool:
    """Whether the text tells these facts in this order, each of them soon after the one before, in whatever words."""
    bounded = [rf"(?<![\w−]){re.escape(fact)}(?!\w|\.\d)" for fact in facts]
    return re.search(r".{1,40}?".join(bounded), text) is not None


def text_of(notebook) -> str:
    """All that a reader of the file can see, outputs included."""
    parts = []
    for entry in notebook.cells:
        parts.append(entry.source)
        for output in entry.get("outputs", []):
            parts += [str(output.get("text", "")), *map(str, output.get("data", {}).values())]
    return "\n".join(parts)
