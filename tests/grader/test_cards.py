"""What a card says about several failed checks."""

from clearcheck.grading.diagnose import Diagnosis
from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.grading.question import Exercise, Question, equals
from clearcheck.learner.cards import question_card


def test_one_mistake_is_told_once():
    """Would catch the same sentence under every check that fails for the same reason."""
    checks = tuple(equals(name, 2, lambda rng: [(1.0,)], abs) for name in ("first", "second"))
    question = Question("mean", "Mean", "mean", 5, 1, checks, section="means")
    mistake = Diagnosis("over_rows", "The mean runs over the rows.", "means")
    failed = tuple(CheckResult(check.name, 0, 2, "This is off by 1.", mistake) for check in checks)
    card = question_card(
        Exercise("01-means", "Means", "chapters/01-means", (question,)), QuestionResult(question, failed)
    )
    for shown in (repr(card), card._repr_html_()):
        assert shown.count("The mean runs over the rows.") == 1
        assert shown.count("The same mistake as above.") == 1
