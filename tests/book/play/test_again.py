"""What comes back: wrong answers after a day and a week, and the points that progress() puts into a link."""

import json

import pytest

from tests.book.pages import CHAPTERS

CHAPTER = CHAPTERS["self-attention"]
DAY = 86_400_000
LATER = """const Real = Date, by = %d;
    Date = class extends Real {
        constructor(...given) { super(...(given.length ? given : [Real.now() + by])); }
        static now() { return Real.now() + by; }
    };"""


def after(page, days: int):
    """The browser's clock goes ahead."""
    page.add_init_script(LATER % (days * DAY))
    page.reload(wait_until="load")


def due(page) -> list[dict]:
    return list(page.evaluate("Object.values(JSON.parse(localStorage.clearformer).due)"))


def test_a_wrong_answer_comes_back_after_a_day_and_a_week(reader, site):
    """Catches a question that never comes back, comes at once, or never rests; and a right one that comes back."""
    page = reader.new_page()
    page.goto(f"{site}/{CHAPTER}", wait_until="load")
    first, second = (page.locator(".quiz-question").nth(i) for i in (0, 1))
    first.locator("details[data-answer=wrong] summary").first.click()
    second.locator("details[data-answer=right] summary").click()
    [kept] = due(page)
    assert kept["page"] == CHAPTER.removesuffix(".html") and kept["week"] is False and len(kept["text"]) > 20
    page.goto(f"{site}/chapters/play/again.html", wait_until="load")
    says = page.locator("due-again .says")
    assert says.inner_text() == "Nothing is due today." and "1 more later" in page.locator("due-again").inner_text()
    for days, asked_again in ((1, True), (9, False)):
        after(page, days)
        assert "1 question due today" in says.inner_text()
        page.locator("due-again .due a").click()
        page.wait_for_url(f"**/{CHAPTER}?again=*")
        assert page.locator("details.quiz[open]").count() == 1  # of the other question
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        page.locator(".quiz-question").nth(0).locator("details[data-answer=right] summary").click()
        assert [it["week"] for it in due(page)] == [True] * asked_again
        page.goto(f"{site}/chapters/play/again.html", wait_until="load")
        assert says.inner_text().startswith("Nothing is due")


def test_a_link_of_progress_marks_points_in_the_contents(visit):
    """Catches points that are sent to the server, lost on the next page, or taken from a link of a stranger."""
    page = visit("index.html#progress=03-self-attention:70/84,08-encoder-decoder:12/100")
    assert "points of 2 exercises" in page.locator(".reader-points").inner_text()
    assert page.evaluate("location.hash") == ""
    page.goto(page.url.replace("index.html", CHAPTER), wait_until="load")
    assert (
        "70/84"
        in page.locator(
            f".bd-sidebar-primary a[href*='{CHAPTER}'], .bd-sidebar-primary .current.active"
        ).first.inner_text()
    )
    page.evaluate("location.hash = '#progress=<b>:x/1'")
    assert "no points" in page.locator(".reader-points").first.inner_text()


@pytest.mark.parametrize(
    "kept",
    [
        {"read": None},
        {"read": [], "answers": 3, "due": "x"},
        {"due": {"a": None, "b": {"page": "javascript:alert(1)", "text": 1}}, "points": {"c": 4}},
        {"answers": {"chapters/03-self-attention": {"q": None}}},
        {"place": {"page": 7}},
        [],
        "x",
    ],
)
def test_storage_with_nonsense_shows_the_page(reader, site, kept):
    """Catches a script that breaks off at what another page or an older one has stored."""
    page, errors = reader.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(f"localStorage.setItem('clearformer', {json.dumps(json.dumps(kept))})")
    for name in ("index.html", CHAPTER, "chapters/play/again.html"):
        page.goto(f"{site}/{name}", wait_until="load")
    assert page.locator("due-again .says").inner_text().startswith("Nothing is due")
    assert errors == []
