"""What is said of a question, on a card, on the feedback page and in Gradescope."""

from pathlib import Path

import pytest
from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.learner.cards import question_card
from clearcheck.report.grade import Grade
from clearcheck.worker.worker_process import WorkerError
from clearclass import one_file
from clearclass.feedback_page import feedback_html
from clearclass.gradescope import results_json
from clearclass.learners import Learner
from clearclass.one_file import AGAIN, NOT_YOUR_WORK, Job, grade_file, record_of, refusal_record
from clearclass.output import line_of
from clearclass.overview_page import overview_html
from clearclass.standings import Entry, GradeSummary, row_of, standings
from clearclass.submitted_files import SubmittedFile
from clearclass.tables import write_moodle

from tests.clearcheck.question_results import EXERCISE, MEAN, RESULTS
from tests.clearcheck.test_summary_page import words


@pytest.mark.parametrize("leaning", ["", "Your `median` has not passed yet."])
@pytest.mark.parametrize("checks", RESULTS.values(), ids=RESULTS)
def test_cards_pages_and_gradescope_say_the_same(checks, leaning):
    """Catches a remark, a section to read, a pointer to what was said above or to another question that one of the
    three leaves out.
    """
    result = QuestionResult(MEAN, tuple(checks), leaning)
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


def page_of(*records: dict) -> str:
    entries = [Entry(SubmittedFile(Path(it["file"]), None), Learner("ada", "12"), row_of(it)) for it in records]
    [standing] = standings(entries)
    counted = next(it for it in records if it["file"] == str(standing.counts.file.path))
    return feedback_html([(standing, counted)])


def graded(file: str, isolation: str) -> dict:
    checks = tuple(CheckResult(check.name, 0, check.points, "In the line `a<b`.") for check in MEAN.checks)
    return record_of(Grade(EXERCISE, file, 3, [QuestionResult(MEAN, checks)], ["`mean` is odd."], isolation))


def test_a_feedback_page_shows_code_as_code():
    """Catches raw backticks in a message or a note, and a learner's text that is taken for markup."""
    page = page_of(graded("ada.ipynb", "process"))
    assert "In the line <code>a&lt;b</code>." in page and "<code>mean</code> is odd." in page
    assert "`" not in page


@pytest.mark.parametrize(
    ("isolation", "told"),
    [
        ("bubblewrap", "Run in a sandbox (bubblewrap): without network, and with no other file than your notebook"),
        ("container, process", "Run in container, in a process of its own"),
        ("", ""),
    ],
)
def test_a_feedback_page_says_in_words_where_the_notebook_ran(isolation, told):
    """Catches the name of a program that a learner has never heard of, and a line without anything to say."""
    page = words(page_of(graded("ada.ipynb", isolation)))
    assert told in page and ("Run in" in page) is bool(told)


def test_a_feedback_page_names_files_without_the_instructors_folders():
    """Catches the instructor's home on the page of a learner, of a file without a grade that counts or does not."""
    broken = "/home/prof/class 3/ada.ipynb"
    refused = refusal_record(broken, f"{broken} is no notebook: JSON text is expected.")
    for records in ([refused], [graded("/home/prof/good.ipynb", ""), refused]):
        page = words(page_of(*records))
        assert "ada.ipynb is no notebook" in page and "prof" not in page


def test_a_failure_of_the_grader_is_told_to_the_instructor_alone(course, monkeypatch):
    """Catches a learner who reads of the instructor's memory and paths, a file that no line of the run names, and a
    failure that is taken for one of the file.
    """

    def fail(*arguments):
        raise WorkerError("The process did not start: /home/prof/bin/python was tried.")

    monkeypatch.setattr(one_file, "grade", fail)
    refused = grade_file(Job("work/ada.ipynb", None, 1, trust=True))
    row = row_of(refused)
    assert line_of(row) == f"Not graded: work/ada.ipynb: {refused['error']}" and refused[AGAIN]
    [standing] = standings([Entry(SubmittedFile(Path("work/ada.ipynb"), None), Learner("ada", "12", "moodle"), row)])
    write_moodle(Path("moodle.csv"), [standing])
    told = [
        words(page_of(refused)),
        results_json(refused, standing)["output"],
        results_json(refused)["output"],
        Path("moodle.csv").read_text(),
    ]
    for text in told:
        assert NOT_YOUR_WORK in text and "prof" not in text
    assert "work/ada.ipynb: The process did not start" in overview_html([standing], [standing.counts], {})
