"""What is said of a question, on a card, on the feedback page and in Gradescope."""

from pathlib import Path

import pytest
from clearcheck.grading.evaluate import QuestionResult
from clearcheck.learner.cards import question_card
from clearcheck.report.grade import Grade
from clearclass.feedback_page import feedback_html
from clearclass.gradescope import results_json
from clearclass.learners import Learner
from clearclass.one_file import record_of
from clearclass.standings import Entry, GradeSummary, standings
from clearclass.submitted_files import SubmittedFile

from tests.clearcheck.question_results import EXERCISE, MEAN, RESULTS
from tests.clearcheck.test_summary_page import words


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
    row = GradeSummary("ada.ipynb", exercise=EXERCISE.slug, points=result.points, max_points=EXERCISE.points)
    [standing] = standings([Entry(SubmittedFile(Path("ada.ipynb"), None), Learner("ada", "12"), row)])
    page = words(feedback_html([(standing, record)]))
    assert " ".join([said.replace(" ", " Mean: ", 1), *lines]) in page
