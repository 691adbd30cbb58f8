"""What an author writes: exercises and checks that work, and every way in which they cannot."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from clearcheck import Exercise, RightSolutions, equals, holds
from clearcheck.author.loading import AuthoringError, ExerciseNotFound, find_folder, load_exercise
from clearcheck.grading.evaluate import evaluate, generator
from inline_snapshot import snapshot

from tests.clearcheck.small_questions import DOUBLE, cases, question, result_of

from .toy_notebook import SLUG


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: equals("e", 0, cases, abs), "points=0"),
        (lambda: holds("h", True, abs), "points=True"),
        (lambda: holds("h", 1.5, abs), "points=1.5"),
        (lambda: equals("e", 1, cases, abs, dtype="double"), "dtype='double'"),
        (lambda: question(DOUBLE, difficulty=4), "difficulty=4"),
        (lambda: question(DOUBLE, name="two words"), "name='two words'"),
        (lambda: question(DOUBLE, DOUBLE), "'double'"),
        (lambda: question(), "needs check names"),
        (lambda: Exercise("Bad Slug", "t", "c", (question(DOUBLE),)), "slug='Bad Slug'"),
        (lambda: Exercise("s", "t", "c", (question(DOUBLE), question(DOUBLE))), "question ids must differ"),
        (lambda: Exercise("s", "t", "c", (question(DOUBLE),), core=("missing",)), "core names .'missing'.,"),
        (
            lambda: Exercise("s", "t", "c", (question(DOUBLE, leans_on=("r",)),), core=("q",)),
            "lean on .'r'.: name them, too",
        ),
    ],
)
def test_an_exercise_that_cannot_work_is_refused_at_once(make, says):
    """Would catch an author's slip showing up first in a learner's notebook."""
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        make()


def test_two_solutions_need_two_names():
    """Would catch one solution hiding another."""
    right = RightSolutions("q")
    right(abs)
    with pytest.raises(ValueError, match="two solutions named abs"):
        right(abs)


def test_each_check_has_its_own_arguments():
    """Would catch a check whose arguments change when another one is added."""
    asked = question(DOUBLE)
    draws = {generator(asked, name, seed).integers(10**9) for name in ("a", "b") for seed in (0, 1)}
    assert len(draws) == 4
    assert generator(asked, "a", 1).integers(10**9) in draws


def test_the_checks_arguments_are_out_of_reach():
    """Would catch a learner's change reaching the reference, which then agrees with it."""

    def answer(x):
        x[:] = 0
        return 2 * x

    result = result_of(answer, DOUBLE)
    assert "this is off by" in result.checks[0].message


def test_a_check_that_never_asks_gives_no_points():
    """Would catch a property that holds for everyone."""
    result = result_of(lambda x: x, holds("idle", 2, lambda ask, rng: None))
    assert result.points == 0
    assert "never called your function" in result.checks[0].message


def test_a_change_is_told_beside_wrong_values():
    """Would catch a changed argument that is told only once the values are right."""

    def triple(x):
        x *= 3
        return x

    message = result_of(triple, DOUBLE).checks[0].message
    assert "this is off by" in message and "caller's data" in message
    assert "argument 1 in place" in message


def test_arguments_that_were_changed_are_listed():
    """Would catch "its argument 1, 2"."""
    check = equals("values", 2, lambda rng: [(np.ones(3), np.ones(3), np.ones(3))], lambda *arrays: sum(arrays))

    def changes(*arrays, many):
        total = sum(arrays)
        for array in arrays[:many]:
            array += 1
        return total

    for many, says in ((1, "argument 1"), (2, "arguments 1 and 2"), (3, "arguments 1, 2 and 3")):
        message = result_of(partial(changes, many=many), check).checks[0].message
        assert f"changed its {says} in place" in message


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: x.astype(np.float32).astype(float), True),
        (lambda x: x + 1e-7 * (x.max() > 1), False),
        (lambda x: np.where(x.max() > 1, x.astype(np.float32), x + 1e-3), False),
        (lambda x: np.where(x.max() > 1, x.astype(np.float32), x), False),
        (lambda x: x * (1 + 1e-4), False),
    ],
)
def test_single_precision_is_told_where_it_explains_every_case(answer, told):
    """Would catch a learner who is sent to look for float32 by numbers that are small, or by one case of several."""
    check = equals("values", 2, lambda rng: [(100 * rng.uniform(size=9),), (1e-3 * rng.uniform(size=9),)], lambda x: x)
    message = result_of(answer, replace(check, atol=1e-12)).checks[0].message
    assert ("float32" in message) is told


def test_a_property_that_stumbles_over_the_answer_fails_with_a_sentence():
    """Would catch a TypeError inside a check ending the grader."""
    result = result_of(lambda x: None, holds("sum", 2, lambda ask, rng: None if ask(np.ones(5)).sum() else "No."))
    assert result.checks[0].message == snapshot(
        "This check could not work with what your function returned (AttributeError: 'NoneType' object has no attribute 'sum')."
    )


def test_a_broken_check_is_told_as_such():
    """Would catch blaming the learner for a fault of the author."""
    result = result_of(lambda x: x, equals("broken", 1, cases, lambda x: x.nothing), DOUBLE)
    assert result.checks[0].message == snapshot(
        "This check itself is broken (AttributeError: 'numpy.ndarray' object has no attribute 'nothing'): please tell the author."
    )
    assert len(result.checks) == 2


def test_a_stopped_call_ends_its_question():
    """Would catch a class of endless loops taking the limit once for every call."""
    calls = []

    def transport(asked, packed):
        calls.append(asked)
        return {"kind": "time"}

    result = evaluate(question(DOUBLE, equals("more", 1, cases, abs)), transport, 3, [])
    assert len(calls) == 1
    assert result.checks[1].message == snapshot("Not run, since an earlier call had to be stopped.")


def test_a_forged_text_cannot_write_to_the_terminal():
    """Would catch control characters of a reply, which the learner's code may have forged, reaching a terminal."""

    def transport(asked, packed):
        return {"kind": "raised", "type": "Error", "text": "\x1b[2J\x07 gone", "line": "a\nb"}

    result = evaluate(question(DOUBLE), transport, 3, [])
    assert result.checks[0].message.isprintable()


def test_the_exercise_is_found_from_below_and_listed_when_not(course):
    """Would catch notebooks that work in one folder only, and an error without the places looked at."""
    below = course / "exercises" / "deep" / "down"
    below.mkdir(parents=True)
    assert find_folder(SLUG, below) == course / "exercises" / "authoring" / SLUG
    with pytest.raises(ExerciseNotFound, match=SLUG):
        find_folder("99-nowhere")
    with pytest.raises(ExerciseNotFound, match="lower-case words"):
        find_folder("../01-columns")


def test_a_file_with_another_question_than_its_name_says_is_refused(course):
    """Would catch solutions that no check ever meets."""
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    path.write_text(path.read_text().replace('id="means"', 'id="mean"', 1))
    with pytest.raises(AuthoringError, match=r"mean\.py: this file is missing"):
        load_exercise(SLUG)


def test_a_file_without_its_collections_is_refused(course):
    """Would catch mistakes that were collected under another name, and so never told."""
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    path.write_text(path.read_text() + "\nwrong = None\n")
    with pytest.raises(AuthoringError, match=r"means\.py: wrong is NoneType; .*WrongSolutions"):
        load_exercise(SLUG)


def test_the_learners_side_needs_numpy_alone():
    """Would catch an import that a learner's environment may not have."""
    import subprocess
    import sys

    modules = "clearcheck.notebook, clearcheck.worker.child, clearcheck.report.grade"
    probe = f"import sys; before = set(sys.modules); import {modules}; "
    probe += "print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=120, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    foreign = {name for name in loaded if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign - {"cython_runtime"} <= {"numpy", "clearcheck"}


def test_an_exercise_can_be_loaded_by_several_threads(course):
    """Catches a thread whose half-imported files another one throws away, as happened to a class in containers."""
    with ThreadPoolExecutor(4) as threads:
        loaded = list(threads.map(load_exercise, [SLUG] * 16))
    assert {tuple(question.id for question in one.exercise.questions) for one in loaded} == {("means", "ranges")}
