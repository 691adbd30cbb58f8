"""What is said of a question, on a card, on the feedback page and in Gradescope."""

from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question, equals
from clearcheck.grading.telling import SAME, SAME_MISTAKE, each_said_once, points_of
from clearcheck.learner.cards import progress_card, question_card
from inline_snapshot import snapshot

from .question_results import EXERCISE, MEAN, RESULTS


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
    assert repr(card).splitlines() == snapshot(
        [
            "Means: 3 of 6 points; core: 0 of 3",
            "  ✓ mean — passed (3 of 3 points)",
            "  ✗ sum — not right yet (0 of 3 points) · core",
        ]
    )
    assert "<td>Sum · core</td>" in card._repr_html_() and "<td>Mean</td>" in card._repr_html_()


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
