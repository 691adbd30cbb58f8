"""A chapter on a projector (?present) and as a sheet to hand out (?handout): the same page, and nothing of it lost."""

import pytest

from tests.book.pages import AXE, CHAPTERS
from tests.book.test_browser import needs_axe, violations

CHAPTER = CHAPTERS["self-attention"]
ON = ":is(h1, h2, h3).talk-on"
TITLE = f"document.querySelector('article section.talk-on > {ON}:not(section.talk-on section.talk-on *)')"
WHAT_IS_SHOWN = """() => {
    const wanted = [...document.querySelectorAll('article :is(figure, .explorable, div.math, .quiz-question)')];
    const seen = new Map(wanted.map(block => [block, 0]));
    const count = Number(document.querySelector('.talk-bar [role=status]').textContent.match(/\\/ (\\d+)/)[1]);
    const press = key => window.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    press('Home');
    for (let i = 0; i < count; i++, press('ArrowRight'))
        for (const block of wanted) if (block.checkVisibility()) seen.set(block, seen.get(block) + 1);
    return { count, times: [...seen.values()] };
}"""


@pytest.fixture
def talk(visit):
    page = visit(f"{CHAPTER}?present")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".talk-bar").wait_for()
    return page


def place(page) -> int:
    return int(page.locator(".talk-bar [role=status]").inner_text().split("/")[0])


def test_each_figure_formula_and_question_stands_on_one_slide(talk):
    """Catches what gets lost between two screens, or stands on two of them."""
    found = talk.evaluate(WHAT_IS_SHOWN)
    assert found["count"] > 20 and len(found["times"]) > 15 and set(found["times"]) == {1}


def test_slides_are_turned_by_keys_and_what_to_say_is_at_hand(talk):
    """Catches keys that turn nothing, code that is not folded, notes of another slide, and a place lost on reload."""
    assert place(talk) == 1 and not talk.locator(".cell_input").first.is_visible()
    for _ in range(2):
        talk.keyboard.press("ArrowRight")
    assert place(talk) == 3
    talk.keyboard.press("n")
    said = talk.locator(".talk-notes")
    assert said.is_visible() and len(said.inner_text()) > 100
    section = talk.evaluate("location.hash")
    assert said.locator("p").first.inner_text()[:60] in talk.locator(section).evaluate("s => s.textContent")
    talk.keyboard.press("c")
    assert talk.locator(f"{section} .cell_input, {section} details.hide").first.is_visible()
    talk.reload(wait_until="load")
    talk.locator(".talk-bar").wait_for()
    assert talk.evaluate("location.hash") == section
    talk.keyboard.press("Escape")
    talk.wait_for_url(f"**/{CHAPTER}{section}")
    assert talk.locator(".talk-bar").count() == 0


def test_an_explorable_keeps_its_keys(talk):
    """Catches arrows that turn the slide under a reader who moves a slider."""
    slider = talk.locator(".explorable input[type=range]").first
    talk.evaluate(
        "s => { s.closest('section').id && (location.hash = s.closest('section').id) }", slider.element_handle()
    )
    talk.reload(wait_until="load")
    talk.locator(".talk-bar").wait_for()
    while not slider.is_visible():
        before = place(talk)
        talk.keyboard.press("PageDown")
        assert place(talk) > before
    before = place(talk)
    slider.press("ArrowRight")
    assert place(talk) == before


@needs_axe
def test_axe_finds_nothing_on_a_slide(talk):
    talk.keyboard.press("ArrowRight")
    talk.add_script_tag(url=f"/{AXE.name}")
    assert violations(talk, "light") == []


def test_a_sheet_shows_no_code_and_answers_at_its_end(visit):
    """Catches a sheet that is a print of the chapter, one without figures, and answers beside the questions."""
    page = visit(f"{CHAPTER}?handout")
    page.get_by_role("button", name="Print this sheet").wait_for()
    assert page.locator(".cell_input:visible, article details.hide:visible").count() == 0
    assert page.locator("article figure:visible").count() == page.locator("article figure").count() > 5
    n_questions = page.locator(".quiz-question").count()
    answers = page.locator(".talk-answers li")
    assert answers.count() == n_questions
    right = page.locator(".quiz-question details[data-answer=right] summary").first.inner_text().strip()
    assert answers.first.inner_text().strip() == right
    assert page.locator("details.quiz[open]").count() == 0
