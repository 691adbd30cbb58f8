"""What is special to exercise 17: examples in words, computed with right answers, and a floor told as one."""

import numpy as np
import pytest
from clearcheck.author.edits import rename_definition
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named

from tests.exercises.course_exercises import course_exercise

SLUG = "17-long-memory"


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


def test_the_chunks_are_as_the_task_says():
    ones = np.ones((4, 1))
    y, inside, S = right_answer("chunks")(ones, ones, np.array([[1.0], [2], [3], [4]]), np.array([1, 0.5, 1, 0.5]), 2)
    np.testing.assert_allclose(y.ravel(), [1, 5 / 3, 2.2, 3])
    np.testing.assert_allclose(inside.ravel(), [1, 2.5, 3, 5.5])
    np.testing.assert_allclose(S, [[6.75]])


def test_the_other_examples_are_as_the_tasks_say():
    lengths, first = right_answer("reads")(2, 1, 3, np.array([2, 10]), 1, 4, 3, 2)
    assert [*lengths, first] == [288, 560, 5]
    ones, two = np.ones((2, 1)), np.array([1, 0.5])
    y, written, S = right_answer("delta")(ones, ones, np.array([[5.0], [7]]), two, two, np.array([[2.0]]))
    assert [*y.ravel(), *written.ravel(), *S.ravel()] == [5, 4.75, 3, 2.25, 4.75]
    changed = right_answer("edit")(np.array([[2.0, 0]]), np.array([[1, 0], [0.6, 0.8]]), 0, np.array([5.0]))
    np.testing.assert_allclose(changed, [[5, -2.25]])
    rounds = right_answer("scan")(np.full((3, 1), 0.5), np.array([[1.0], [2], [3]]))
    np.testing.assert_allclose(rounds[..., 0], [[1, 2.5, 4], [1, 2.5, 4.25]])


def failed_messages(id, text):
    """The sentences of the checks that an answer fails."""
    given: dict = {"np": np}
    exec(text, given)
    graded = evaluate(course_exercise(SLUG).exercise.question(id), lambda *asked: call_named(given, *asked), 0, [])
    return [check.message for check in graded.checks if not check.passed]


@pytest.mark.parametrize("denominator", ["max(fq[n] @ z, 1e-12)", "max(fq[n] @ z, 1e-20)", "(fq[n] @ z + 1e-8)"])
def test_a_small_floor_is_told_as_one(denominator):
    """Catches a floor, of whatever size, that is told of weights in general."""
    often = next(entry for entry in course_exercise(SLUG).right.of("museum") if entry.name == "as_often_written")
    text = rename_definition(often.source, often.name, "running_attention").replace("(fq[n] @ z)", denominator)
    assert any("Has the denominator a floor" in told for told in failed_messages("museum", text))
