"""What is said of a question, on a card, on the feedback page and in Gradescope."""

from pathlib import Path

import pytest
from clearcheck.grading.diagnose import Diagnosis
from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question, equals
from clearcheck.grading.telling import SAME, SAME_MISTAKE, each_said_once, points_of
from clearcheck.learner.cards import progress_card, question_card
from clearcheck.report.grade import Grade
from clearclass.feedback_page import feedback_html
from clearclass.gradescope import results_json
from clearclass.handed_in import HandedIn
from clearclass.learners import Learner
from clearclass.one_file import record_of
from clearclass.standings import Entry, Row, standings

from .test_summary_page import words

CHECKS = tuple(equals(name, 2, lambda rng: [(1.0,)], abs) for name in ("first", "second"))
MEAN = Question("mean", "Mean", "mean", 5, 1, CHECKS, section="means")
EXERCISE = Exercise("01-means", "Means", "chapters/01-means", (MEAN,))
OVER_ROWS = Diagnosis("over_rows", "The mean runs over the rows.", "over-rows")
RESULTS = {
    "passed with a remark": [
        CheckResult("first", 2, 2, remark="A list was taken as an array."),
        CheckResult("second", 2, 2, remark="A list was taken as an array."),
    ],
    "partly right": [CheckResult("first", 2, 2), CheckResult("second", 0, 2, "This is off by 1 < 2.")],
    "a mistake twice": [CheckResult(name, 0, 2, "This is off by 1.", OVER_ROWS) for name in ("first", "second")],
    "not answered": [CheckResult(name, 0, 2, "Write it first.", unanswered=True) for name in ("first", "second")],
}


def test_one_mistake_is_told_once():
    """Would catch the same sentence under every check that fails for the same reason."""
    card = question_card(EXERCISE, QuestionResult(MEAN, tuple(RESULTS["a mistake twice"])))
    for shown in (repr(card), card._repr_html_()):
        assert shown.count("The mean runs over the rows.") == 1
        assert shown.count("The same mistake as above.") == 1


def test_the_core_is_marked_and_counted():
    """Would catch a core that a learner sees in the task and cannot tell from the rest in their progress."""
    one, other = (
        Question(id, id.title(), id, 5, 1, (equals("value", 3, lambda rng: [(1.0,)], abs),), section=id)
        for id in ("mean", "sum")
    )
    exercise = Exercise("01-means", "Means", "chapters/01-means", (one, other), core=("sum",))
    passed, missed = (CheckResult("value", points, 3) for points in (3, 0))
    card = progress_card(exercise, [QuestionResult(one, (passed,)), QuestionResult(other, (missed,))])
    assert repr(card).splitlines() == [
        "Means: 3 of 6 points; core: 0 of 3",
        "  ✓ mean — passed (3 of 3 points)",
        "  ✗ sum — not right yet (0 of 3 points) · core",
    ]
    assert "<td>Sum · core</td>" in card._repr_html_() and "<td>Mean</td>" in card._repr_html_()


@pytest.mark.parametrize("checks", RESULTS.values(), ids=RESULTS)
def test_cards_pages_and_gradescope_say_the_same(checks):
    """Catches a remark, a section to read or a pointer to what was said above that one of the three leaves out."""
    result = QuestionResult(MEAN, tuple(checks))
    verdict, *lines = (line.strip() for line in repr(question_card(EXERCISE, result)).splitlines())
    record = record_of(Grade(EXERCISE, "ada.ipynb", 3, [result], []))
    [test] = results_json(record)["tests"]
    said, *others = (line.strip() for line in test["output"].splitlines())
    assert verdict == said.replace(" ", " mean — ", 1) and lines == others
    assert test["status"] == ("passed" if verdict.startswith("✓") else "failed")
    row = Row("ada.ipynb", exercise=EXERCISE.slug, points=result.points, max_points=EXERCISE.points)
    [standing] = standings([Entry(HandedIn(Path("ada.ipynb"), None), Learner("ada", "12"), row)])
    page = words(feedback_html([(standing, record)]))
    assert " ".join([said.replace(" ", " Mean: ", 1), *lines]) in page


def test_what_stands_above_is_only_pointed_to():
    """Would catch "1 of 1 points", and a mistake or a message that is told in full for each check that holds it."""
    assert [points_of(*points) for points in ((1, 1), (0, 1), (1, 2))] == [
        "1 of 1 point",
        "0 of 1 point",
        "1 of 2 points",
    ]
    checks = [("M", "a"), ("M", "a"), ("", "a"), ("", "b"), ("M", "c"), ("", "")]
    assert list(each_said_once(checks)) == [
        ("M", "a"),
        (SAME_MISTAKE, ""),
        ("", SAME),
        ("", "b"),
        (SAME_MISTAKE, "c"),
        ("", ""),
    ]
