"""What a question gave, right, partly right, wrong and not answered, for the tests of what is said of it."""

from clearcheck.grading.diagnose import Diagnosis
from clearcheck.grading.evaluate import CheckResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question, equals

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
