"""The learner's notebook: it follows from its source, and it gives nothing away."""

import ast
import inspect
import re

import numpy as np
import pytest

from tests.exercises.authored import SLUGS, SOLUTION, authored, cases, cell, comparisons, questions

TELLING = 12  # characters without spaces: a shorter line of code says nothing
PLAIN = re.compile(r'def|@|#|"""|return\w+$')  # a signature, a decorator, a comment, a bare return: no answer
DIGITS = 5  # significant digits from which a number cannot agree by chance


def text_of(notebook) -> str:
    """All that a reader of the file can see, outputs included."""
    parts = []
    for entry in notebook.cells:
        parts.append(entry.source)
        for output in entry.get("outputs", []):
            parts += [str(output.get("text", "")), *map(str, output.get("data", {}).values())]
    return "\n".join(parts)


def telling_lines(code: str) -> list[str]:
    lines = ["".join(line.split()) for line in code.splitlines()]
    return [line for line in lines if len(line) >= TELLING and not PLAIN.match(line)]


def solution_lines(slug: str) -> set[str]:
    it = authored(slug)
    blocks = [block for entry in it.source.cells for block in SOLUTION.findall(entry.source)]
    blocks += [inspect.getsource(solution.function) for solution in it.right.entries]
    return {line for block in blocks for line in telling_lines(block)}


def numbers(value) -> list[float]:
    if isinstance(value, dict):
        return [x for entry in value.values() for x in numbers(entry)]
    if isinstance(value, tuple | list):
        return [x for entry in value for x in numbers(entry)]
    return [] if isinstance(value, str) else np.ravel(np.asarray(value, dtype=float)).tolist()


@pytest.mark.parametrize("slug", SLUGS)
def test_no_line_of_a_solution(slug):
    """Catches a solution that the release left in, and prose or a given cell that says it."""
    text = "".join(text_of(authored(slug).learner).split())
    leaked = [line for line in solution_lines(slug) if line in text]
    assert not leaked


@pytest.mark.parametrize("slug", SLUGS)
def test_hints_and_diagnoses_do_not_hold_the_answer(slug):
    it = authored(slug)
    told = [hint for question in it.exercise.questions for hint in question.hints]
    told += [entry.says for entry in it.wrong.entries]
    text = "".join(" ".join(told).split())
    assert not [line for line in solution_lines(slug) if line in text]
    assert all(len(question.hints) == 3 for question in it.exercise.questions)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_leaked_line_would_be_found(slug):
    """Catches a leak test that looks for nothing: in the source, which holds the solutions, it finds them."""
    text = "".join(text_of(authored(slug).source).split())
    blocks = [block for entry in authored(slug).source.cells for block in SOLUTION.findall(entry.source)]
    lines = {line for block in blocks for line in telling_lines(block)}
    assert len(lines) >= len(authored(slug).exercise.questions)
    assert all(line in text for line in lines)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_expected_value(slug):
    """Catches a printed result of a graded case."""
    shown = re.findall(r"(?<![\w.])\d+\.\d+", text_of(authored(slug).learner))
    telling = [number for number in shown if len(number.replace(".", "").lstrip("0")) >= DIGITS]
    for question in authored(slug).exercise.questions:
        for check in comparisons(question):
            for seed in range(5):
                expected = {f"{abs(x):.12f}" for args in cases(check, seed) for x in numbers(check.reference(*args))}
                leaked = [number for number in telling for x in expected if x.startswith(number)]
                assert not leaked, f"{question.id}: {leaked}"


@pytest.mark.parametrize("slug", SLUGS)
def test_no_seed_and_no_random_number(slug):
    """Catches a way to the graded inputs, and an example that differs from run to run."""
    text = text_of(authored(slug).learner).lower()
    assert not re.search(r"seed|default_rng|np\.random|import random", text)


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_of_the_author_is_imported(slug):
    """Catches a stub that would find the reference: the learner's notebook imports NumPy and the grader only."""
    code = "\n".join(entry.source for entry in authored(slug).learner.cells if entry.cell_type == "code")
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported <= {"numpy", "clearcheck"}


@pytest.mark.parametrize(("slug", "id"), questions())
def test_the_task_quotes_the_question(slug, id):
    """Catches points, minutes or a difficulty that were changed in the checks and not in the text."""
    question = authored(slug).exercise.question(id)
    task = cell(authored(slug).learner, f"{id}-task")
    assert f"{question.points} points · {question.minutes} minutes · difficulty {question.difficulty} of 3" in task
    assert f"{slug}.ipynb#{question.section})" in task
    assert f"def {question.name}(" in cell(authored(slug).learner, f"{id}-answer")
    assert cell(authored(slug).learner, f"{id}-check") == f'check("{id}")'


def matrices(slug: str, id: str) -> list[np.ndarray]:
    """The matrices that the task of a question prints."""
    printed = re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", task_of(slug, id), re.S)
    return [np.array([row.split("&") for row in table.split(r"\\")], dtype=float) for table in printed]


def task_of(slug: str, id: str) -> str:
    return cell(authored(slug).learner, f"{id}-task")


@pytest.mark.parametrize(
    ("slug", "id"), [(slug, id) for slug, id in questions() if re.search(r"\\text\{(give|become)\}", task_of(slug, id))]
)
def test_the_example_by_hand_is_right(slug, id):
    """Catches a slip in the numbers that a learner compares with: the last matrix is the result of those before."""
    *args, result = matrices(slug, id)
    np.testing.assert_allclose(authored(slug).right.of(id)[0].function(*args), result, atol=0.005)


def test_the_examples_of_words_and_shapes_are_right():
    """The same for the two questions of 03 whose results are no matrices."""
    right = authored("03-self-attention").right
    words = re.findall(r"\\text\{ needs ([a-z-]+)\}", task_of("03-self-attention", "rungs"))
    tables = matrices("03-self-attention", "rungs")
    assert words == [right.of("rungs")[0].function(np.eye(2), scores) for scores in tables]
    assert f"is `{right.of('dimensions')[0].function(2, 3, 4, 5, 6, 'rows')['Q']}` in rows" in task_of(
        "03-self-attention", "dimensions"
    )
