"""The summary page: what it says, that it stands alone, and how it prints."""

import html
import re
from datetime import UTC, datetime

import pytest
from clearcheck.cli import main
from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question, equals
from clearcheck.report.course import Course, CourseRow
from clearcheck.report.grade import Grade
from clearcheck.report.page import summary_html

from tests.book.pages import CHROMIUM, NO_CHROMIUM
from tests.book.test_browser import AXE, FLAGS

from .toy_notebook import MEANS

A4 = re.compile(rb"/MediaBox \[ ?0 0 59[45][.\d]* 84[12][.\d]*")


def made_up(exercises: int = 3) -> Course:
    """Each exercise with one question of 7 points, passed in the even ones; the last one has no notebook."""
    rows = []
    for number in range(1, exercises + 1):
        check = equals("values", 7, lambda rng: [(1.0,)], abs)
        question = Question("mean", "Mean", "mean", 5, 1, (check,))
        exercise = Exercise(f"{number:02}-means", f"Means & <sums> {number}", "chapters/means", (question,))
        result = QuestionResult(question, (CheckResult("values", 0 if number % 2 else 7, 7),))
        rows.append(
            CourseRow(exercise, Grade(exercise, "means.ipynb", 4, [result], []) if number < exercises else None)
        )
    return Course(rows, 4711, datetime(2026, 11, 21, 12, 0, tzinfo=UTC), "means 3.1", {}, [])


def words(text: str) -> str:
    body = text.split("<body>")[1]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", re.sub("</?code>", "`", body))).split())


def test_the_page_says_what_was_graded():
    """Would catch a page without the total, the date, the seed, the version, or the line that it attests nothing."""
    said = words(summary_html(made_up(), "Ada Lovelace"))
    assert said.startswith("Summary of exercises Ada Lovelace 7 of 21 points")
    assert "01 Means & <sums> 1 0 of 1 0 of 7 02 Means & <sums> 2 1 of 1 7 of 7" in said
    assert "03 Means & <sums> 3 not graded 0 of 7 Together 1 of 3 7 of 21" in said
    assert "no attestation" in said
    assert "Course means 3.1 Seed of the inputs 4711" in said
    assert re.search(r"Graded on 2[12] November 2026, \d\d:00", said)


def test_a_name_is_text_and_may_be_left_out():
    """Would catch a name that is run as HTML, and an empty heading."""
    made = summary_html(made_up(), "<script>alert(1)</script> & Co.")
    assert "<script" not in made and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; Co." in made
    assert words(summary_html(made_up())).startswith("Exercises of the course 7 of 21 points")


def test_the_page_stands_alone():
    """Would catch anything that is loaded from elsewhere or run."""
    assert not re.search(r"https?:|src=|url\(|@import|<link|<script", summary_html(made_up(), "Ada"))


def test_the_command_writes_the_page(course_with_answers, capsys):
    """Would catch a page that differs from the table, and an option that is not heeded."""
    assert main(["report", "--page", "summary.html", "--name", "Ada", "--seed", "5"]) == 0
    assert "Written: summary.html" in capsys.readouterr().out
    said = words((course_with_answers / "summary.html").read_text(encoding="utf-8"))
    assert "Ada 6 of 9 points" in said and "Seed of the inputs 5" in said


@pytest.mark.parametrize("name", ["exercises/01-columns.ipynb", "nowhere/summary.html", "summary"])
def test_the_page_cannot_replace_a_notebook(course_with_answers, capsys, name):
    """Would catch a slip on the command line that costs a learner the answers."""
    before = (course_with_answers / "exercises" / "01-columns.ipynb").read_bytes()
    with pytest.raises(SystemExit):
        main(["report", "--page", name])
    assert name.split("/")[0] in capsys.readouterr().err
    assert (course_with_answers / "exercises" / "01-columns.ipynb").read_bytes() == before


@pytest.fixture
def course_with_answers(course, learner):
    learner(MEANS)
    return course


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_the_page_in_a_browser(tmp_path):
    """Would catch a second sheet, a page that is wider than a phone, and what axe finds (where axe-core is there)."""
    from playwright.sync_api import sync_playwright

    file = tmp_path / "summary.html"
    file.write_text(
        summary_html(made_up(14), "A name of some length, with a second line to it, as happens"), encoding="utf-8"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        shown = browser.new_page(viewport={"width": 320, "height": 700})
        shown.goto(file.as_uri())
        assert shown.evaluate("document.documentElement.scrollWidth") <= 320
        printed = shown.pdf(prefer_css_page_size=True)
        violations = []
        if AXE.exists():
            shown.add_script_tag(path=AXE)
            violations = shown.evaluate("async () => (await axe.run()).violations")
        browser.close()
    assert re.findall(rb"/Count (\d+)", printed) == [b"1"] and A4.search(printed)
    assert not [violation["help"] for violation in violations]
