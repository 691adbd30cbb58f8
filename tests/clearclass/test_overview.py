"""The instructor's page: how hard each question was, how well it tells learners apart, and which mistakes are common."""

from collections import Counter
from pathlib import Path
from statistics import mean

import pytest
from bs4 import BeautifulSoup
from clearcheck.author.loading import load_exercise

from tests.book.pages import CHROMIUM, NO_CHROMIUM
from tests.book.test_browser import FLAGS

from .class_folder import grade, table

SLUG = "01-columns"


def rows_of(page: BeautifulSoup, caption: str) -> list[list[str]]:
    (found,) = (it for it in page.find_all("table") if it.caption.get_text() == caption)
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in found.find_all("tr")]


def test_each_question_has_its_difficulty_and_how_it_tells_learners_apart(work):
    """Catches columns that are left out, out of sight behind the others, or computed over other learners."""
    grade("--seed", "1")
    page = BeautifulSoup(Path("out/overview.html").read_text(encoding="utf-8"), "html.parser")
    head, *rows = rows_of(page, "Points for each question")
    assert head[:4] == ["Question", "Mean points", "Difficulty", "Discrimination"]
    graded = [row for row in table("out/grades.csv") if row["exercise"] == SLUG]
    for question, row in zip(load_exercise(SLUG).exercise.questions, rows, strict=True):
        points = [float(it[question.id]) for it in graded]
        assert row[2] == f"{100 * mean(points) / question.points:.0f} %"
        assert row[3] == "–" or -1 <= float(row[3]) <= 1
        assert sum(map(int, row[4:])) == len(graded)
    widths = [float(part["style"].split()[1].strip("%")) for part in page.select_one(".stack").find_all("span")]
    assert widths == [pytest.approx(100 * int(n) / len(graded), abs=0.06) for n in rows[0][4:]]


def test_mistakes_have_their_share(work):
    """Catches a mistake counted by checks, of which several tell one learner the same."""
    grade("--seed", "1")
    page = BeautifulSoup(Path("out/overview.html").read_text(encoding="utf-8"), "html.parser")
    _, *told = rows_of(page, "Mistakes by frequency")
    count = len([row for row in table("out/grades.csv") if row["exercise"] == SLUG])
    assert told and not [text for text, n in Counter(name for name, *_ in told).items() if n > 1]
    for _, text, _ in told:
        share, of = text.split(", ")
        n = int(of.split()[0])
        assert of == f"{n} of {count}" and share == f"{100 * n / count:.0f} %"


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_nothing_is_cut_and_no_row_breaks(work):
    """Catches a last column behind the edge of a wide window, and the tenths of the points broken on a phone."""
    from playwright.sync_api import sync_playwright

    grade("--seed", "1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(Path("out/overview.html").resolve().as_uri())
        tables = page.locator(".scroll")
        assert tables.count() and tables.evaluate_all("all => all.every((e) => e.scrollWidth <= e.clientWidth)")
        page.set_viewport_size({"width": 375, "height": 800})
        lines = page.get_by_role("rowheader", name=" %").evaluate_all(
            "all => all.map((e) => e.clientHeight < 2 * parseFloat(getComputedStyle(e).lineHeight))"
        )
        assert len(lines) == 10 * page.locator("h2").filter(has_text="01-").count() and all(lines)
        browser.close()
