"""The learner's notebook: it asks what the checks ask, and its examples are right."""

import ast
import re

import numpy as np
import pytest
import torch
from clearcheck.notebooks.definitions import defined_names

from tests.exercises.course_exercises import (
    EXERCISES,
    SLUGS,
    cell,
    course_exercise,
    in_one_breath,
    learner,
    questions,
    text_of,
)


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_of_the_author_is_imported(slug):
    """Catches a stub that would find the reference: its notebook imports NumPy, torch, the grader, little else."""
    code = "\n".join(entry.source for entry in course_exercise(slug).learner.cells if entry.cell_type == "code")
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    shown = {"clearbook", "pathlib", "tokenizers"} if slug == "12-pretrained" else set()
    assert imported <= shown | {
        "numpy",
        "torch",
        "clearcheck",
        "cleartape",
        "math",
        "re",
        "fractions",
        "json",
        "base64",
        "zlib",
        "tracemalloc",
    }


@pytest.mark.parametrize("slug", SLUGS)
def test_the_five_functions_are_at_hand(slug):
    """Catches a notebook in which a call that the book describes ends in a NameError."""
    [line] = re.findall(r"^from clearcheck\.notebook import (.*)$", text_of(course_exercise(slug).learner), re.M)
    assert {"exercise", "check", "hint", "progress", "reset"} <= set(line.split(", "))


@pytest.mark.parametrize(("slug", "id"), questions())
def test_the_task_quotes_the_question(slug, id):
    """Catches points, minutes or a difficulty that were changed in the checks and not in the text."""
    question = course_exercise(slug).exercise.question(id)
    task = cell(course_exercise(slug).learner, f"{id}-task")
    told = [f"{question.points} points", f"{question.minutes} minutes", f"difficulty {question.difficulty} of 3"]
    core = ["**core**"] if id in course_exercise(slug).exercise.core else []
    assert f"{' · '.join([*told, *core])} ·" in task
    assert f"{slug}.ipynb#{question.section})" in task
    assert question.name in defined_names(cell(course_exercise(slug).learner, f"{id}-answer"))
    assert cell(course_exercise(slug).learner, f"{id}-check") == f'check("{id}")'


@pytest.mark.parametrize("slug", SLUGS)
def test_the_start_says_how_long_the_core_takes(slug):
    """Catches an exercise without a core, and minutes that are no longer the sum of its questions'."""
    exercise = course_exercise(slug).exercise
    told = f"questions marked **core** carry the chapter and take {exercise.core_minutes} minutes."
    assert exercise.core and told in course_exercise(slug).learner.cells[0].source


def test_the_instructor_is_told_what_all_exercises_take():
    """Catches hours that were right before a question came or became core."""
    exercises = [course_exercise(slug).exercise for slug in SLUGS]
    every = round(sum(question.minutes for exercise in exercises for question in exercise.questions) / 60)
    core = round(sum(exercise.core_minutes for exercise in exercises) / 60)
    page = (EXERCISES.parent / "chapters" / "instructor.md").read_text(encoding="utf-8")
    assert in_one_breath(page, f"{every} hours", f"**core** {core}")
    assert 2 * core < every  # as the page for learners says


@pytest.mark.parametrize("slug", SLUGS)
def test_what_the_core_brings_is_core(slug):
    """Catches a learner of the core alone who is asked for an answer that only the rest of an exercise gives."""
    for id in course_exercise(slug).exercise.core:
        for name, earlier in course_exercise(slug).exercise.question(id).brings.items():
            exercise = course_exercise(earlier).exercise
            assert name in {question.name for question in exercise.questions if question.id in exercise.core}


def matrices(slug: str, id: str) -> list[np.ndarray]:
    """The matrices that the task of a question prints."""
    printed = re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", task_of(slug, id), re.S)
    return [np.array([row.split("&") for row in table.split(r"\\")], dtype=float) for table in printed]


def task_of(slug: str, id: str) -> str:
    return cell(learner(slug), f"{id}-task")


@pytest.mark.parametrize(
    ("slug", "id"), [(slug, id) for slug, id in questions() if re.search(r"\\text\{(give|become)\}", task_of(slug, id))]
)
def test_the_example_by_hand_is_right(slug, id):
    """Catches a slip in the numbers that a learner compares with: the last matrix is the result of those before."""
    *args, result = matrices(slug, id)
    if course_exercise(slug).exercise.question(id).how == "tensors":
        args = [torch.tensor(arg, dtype=torch.float32) for arg in args]
    np.testing.assert_allclose(course_exercise(slug).right.of(id)[0].function(*args), result, atol=0.005)


CALL = re.compile(r"`(\w+)(\([^`]*\))(\[[^`]*\])?`\s+gives\s+`([^`]*)`")


@pytest.mark.parametrize(("slug", "id"), [(slug, id) for slug, id in questions() if CALL.search(task_of(slug, id))])
def test_the_call_by_hand_is_right(slug, id):
    """Catches a slip in an example that is written as a call, in "`name(…)` gives `…`"."""
    function, name = course_exercise(slug).right.of(id)[0].function, course_exercise(slug).exercise.question(id).name
    for called, arguments, key, result in CALL.findall(task_of(slug, id)):
        assert called == name
        value = function(*ast.literal_eval(arguments))
        assert (value[ast.literal_eval(key)[0]] if key else value) == ast.literal_eval(result)


def test_the_examples_of_tokens_are_right():
    """The matrices that exercise 01 prints, and the numbers in its sentences."""
    right = course_exercise("01-tokens").right
    E, X = matrices("01-tokens", "embed")
    np.testing.assert_array_equal(right.of("embed")[0].function(E, np.array([2, 0, 2])), X)
    image, P = matrices("01-tokens", "patches")
    np.testing.assert_array_equal(right.of("patches")[0].function(image[None], 2), P)
    slopes, table = matrices("01-tokens", "gradient")
    came = right.of("gradient")[0].function(torch.tensor([[2, 0, 2]]), torch.tensor(slopes[None]), 4)
    np.testing.assert_array_equal(came, table)
    inputs, targets = right.of("shift")[0].function(np.array([7, 3, 5]), 9)
    assert (inputs.tolist(), targets.tolist()) == ([9, 7, 3], [7, 3, 5])


def test_the_example_of_shapes_is_right():
    """The same for the question of 03 whose result is no matrix."""
    right = course_exercise("03-self-attention").right
    assert f"is `{right.of('dimensions')[0].function(2, 3, 4, 5, 6, 'rows')['Q']}` in rows" in task_of(
        "03-self-attention", "dimensions"
    )


def test_the_examples_of_02_are_right():
    """The same for the questions of 02, whose results are pairs, tables for two axes, tensors, or a game."""
    right, slug = course_exercise("02-attention").right, "02-attention"

    def first_right_answer(id):
        return right.of(id)[0].function

    rounds = first_right_answer("waiting")(4, 2, 3)
    pairs = re.findall(r"`\((\d+), (\d+)\)`", task_of(slug, "waiting"))
    assert [tuple(map(int, pair)) for pair in pairs] == [rounds[n] for n in ("recurrence", "convolution", "attention")]
    scores, *weights = matrices(slug, "softmax")
    for axis in (0, 1):
        came = first_right_answer("softmax")(torch.tensor(scores), axis)
        np.testing.assert_allclose(came, weights[axis], atol=0.0005)
    answers, weights = first_right_answer("lookups")(
        torch.tensor([[[0.0, 2.0]]]), torch.eye(2)[None], torch.tensor([[[10.0], [20.0]]]), 1.0
    )
    assert in_one_breath(task_of(slug, "lookups"), "weights 0.119 and 0.881", "18.81")
    np.testing.assert_allclose(weights, [[[0.119, 0.881]]], atol=0.0005)
    np.testing.assert_allclose(answers, [[[18.81]]], atol=0.005)
    *cards, asked = map(int, re.search(r"in the game ([\d, ]+) the card", task_of(slug, "recall"))[1].split(", "))
    said = f"at position {asked - 4} is asked for, and the right answer is {cards[asked - 4]}."
    assert len(cards) == 20 and said in task_of(slug, "recall")
