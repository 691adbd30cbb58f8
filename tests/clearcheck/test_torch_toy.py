"""A toy exercise in PyTorch, with a question of each kind: its proof, its hints, and code that breaks the process."""

import ast
import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from clearcheck.author.loading import load_exercise
from clearcheck.grading.diagnose import reply_of
from clearcheck.grading.evaluate import evaluate
from clearcheck.proof.mutate import ACCEPTED, CAUGHT, LEARNS, mutate
from clearcheck.proof.notebooks import answer_text
from clearcheck.proof.prove import prove
from clearcheck.report.grade import grade
from clearcheck.worker.limits import Limits
from inline_snapshot import snapshot

from .toy_notebook import IMPORTS, notebook

pytest.importorskip("torch", reason="needs torch")

TOY, SLUG = Path(__file__).parent / "toy_torch", "02-tensors"
START = f'import torch\nfrom torch import nn\n{IMPORTS}\n\nexercise("{SLUG}")'
SHORT = Limits(cell_seconds=20.0, grace_seconds=5.0)


@pytest.fixture
def toy_exercise(course):
    """The toy exercise in the course's folder, with its source notebook: the first right answer to each question."""
    folder = course / "exercises" / "authoring" / SLUG
    shutil.copytree(TOY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    loaded = load_exercise(SLUG)
    answers = [mark_solutions(answer_text(loaded.right.of(q.id)[0], q.name)) for q in loaded.exercise.questions]
    (folder / "source.ipynb").write_text(json.dumps(notebook(START, *answers)))
    return loaded


def mark_solutions(answer: str) -> str:
    """An answer with the body of the function, or of each method, between the marks of a solution."""
    [definition] = ast.parse(answer).body
    functions = [definition] if isinstance(definition, ast.FunctionDef) else definition.body
    lines = answer.splitlines()
    for function in reversed(functions):
        first, blanks = function.body[0].lineno - 1, " " * function.body[0].col_offset
        lines.insert(function.end_lineno, f"{blanks}### END SOLUTION")
        lines.insert(first, f"{blanks}### BEGIN SOLUTION")
    return "\n".join(lines)


@pytest.fixture
def grade_answers(toy_exercise, course):
    """Grade a notebook of these cells as one that was handed in."""

    def run(*sources: str, seed: int = 5):
        path = course / "answer.ipynb"
        path.write_text(json.dumps(notebook(START, *sources)))
        return grade(path, seed=seed, limits=SHORT)

    return run


def source(authored, name: str) -> str:
    """A solution of the toy exercise as a cell."""
    for entry in (*authored.right.entries, *authored.wrong.entries):
        if entry.name == name:
            return answer_text(entry, authored.exercise.question(entry.question).name)
    raise KeyError(name)


@pytest.mark.slow
def test_the_toy_exercise_is_proven(toy_exercise):
    """Catches a kind of question whose right answers fail, whose mistakes pass or stay nameless, in any notebook."""
    proof = prove(SLUG, seeds=[0])
    assert proof.errors == []
    assert [len(proof.of(question)) for question in proof.exercise.questions] == [13, 16, 13, 14]


def test_right_modules_get_no_remark(toy_exercise):
    """Catches a learner who is blamed for the list in which the grader puts the outputs of several calls."""
    question = toy_exercise.exercise.question("mixing")
    for entry in toy_exercise.right.of(question.id):
        result = evaluate(question, partial(reply_of, entry.function), 5, [])
        assert result.points == question.points
        assert not any(check.remark for check in result.checks)


@pytest.mark.slow
def test_the_notebook_and_the_command_line_agree(toy_exercise, start, grade_answers):
    """Catches two ways of driving a module: mistakes of each kind, the same seed, the same words and points."""
    names = ["in_double", "keys_with_bias", "straight", "in_train_mode"]
    answers = [source(toy_exercise, name) for name in names]
    cell = start()
    cell(f"{START}\n0")
    text = grade_answers(*answers, seed=2).as_text()
    for question, answer in zip(toy_exercise.exercise.questions, answers, strict=True):
        assert repr(cell(f'{answer}\ncheck("{question.id}", seed=2)')) in text


def test_hints_and_missing_answers(toy_exercise, start):
    """Catches a class that is called a function, or a hint that does not come."""
    cell = start()
    cell(f"{START}\n0")
    assert repr(cell('check("mixing")')) == snapshot("""\
○ mixing — not answered yet (0 of 10 points)
  No class named `Head` is defined: define it in the answer cell.\
""")
    named = "class Heads(nn.Module):\n    def forward(self, x):\n        return x"
    assert repr(cell(f'{named}\ncheck("mixing")')) == snapshot("""\
○ mixing — not answered yet (0 of 10 points)
  No class named `Head`; your notebook defines `Heads`: rename it.\
""")
    assert repr(cell('hint("writing")')).startswith("Hint 1 of 2: The logits of the last position")
    bare = "class Head(nn.Module):\n    def forward(self, x):\n        return x"
    message = "has no method `__init__`; the task asks for `def __init__(self, d_model, d_head, dropout)`"
    assert message in repr(cell(f'{bare}\ncheck("mixing")'))
    start = "    def __init__(self, d_model, d_head, dropout):\n        raise NotImplementedError\n    def"
    untouched = bare.replace("    def", start)
    assert "○ mixing — not answered yet" in repr(cell(f'{untouched}\ncheck("mixing")'))
    assert "def forward(self, x):" in repr(cell('reset("mixing")'))


@pytest.mark.slow
def test_a_loop_that_never_ends_and_an_exit_cost_their_question_alone(toy_exercise, grade_answers):
    """Catches a training loop that stops the grading, or takes the points of the others."""
    checks = toy_exercise.folder / "fitting.py"
    checks.write_text(checks.read_text().replace("SECONDS = 20.0", "SECONDS = 1.5"))
    fit = "def fit(x, y, steps):\n    while True:\n        x @ x.T"
    ended = "import os\nclass Head(nn.Module):\n    def __init__(self, d_model, d_head, dropout):\n"
    ended += "        os._exit(4)\n    def forward(self, x):\n        return x"
    found = grade_answers(source(toy_exercise, "by_product"), ended, fit, source(toy_exercise, "with_cat"))
    masked, mixing, fitting, writing = found.questions
    assert (masked.points, mixing.points, fitting.points, writing.points) == (6, 0, 0, 7)
    assert "(exit code 4)" in mixing.checks[0].message
    assert "more than 1.5 s of computing" in fitting.checks[0].message


def test_a_changed_loop_that_learns_as_well_needs_no_reason(toy_exercise):
    """Would catch loops with another rate that the weekly run calls wrong, and such in which nothing learns."""
    found = mutate(SLUG, "fitting", sample=20)
    came = {it.mutant: outcome for it, outcome in found.outcomes}
    assert {*came.values()} == {CAUGHT, LEARNS} and not found.fails
    assert ACCEPTED not in came.values() and " learn as well, 0 accepted." in found.lines()[-1]
