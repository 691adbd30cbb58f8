"""The whole machine on its page: a walk by keyboard, what is kept, and how it stands on a phone."""

import json

import pytest

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.play.the_library_beside import INPUTS, Library
from tests.book.test_browser import AXE, UNNAMED, needs_axe, violations

NAME = "the-whole-machine"
NONSENSE = [
    "",
    "{",
    "null",
    "[]",
    '{"open": {"q": 3}, "guess": null, "words": [0, 1, 2], "next": 0}',
    '{"open": {"toString": 1}, "guess": 0, "words": [0, 1, 2], "next": 0}',
    '{"open": {}, "guess": 7, "words": [0, 1, 99], "next": -1}',
]


def test_by_keyboard_every_box_opens_and_the_flow_turns(opened, window):
    """Catches a box that no key opens, a number that no key chooses, and slopes that show before the guess."""
    element = opened(NAME)
    assert window.evaluate(UNNAMED) == []
    shapes = {box: element.evaluate(f"() => clearformer.machine.BY_NAME['{box}'].shape") for box in boxes(element)}
    element.locator("[data-control=shape-embed]").focus()
    for _ in range(22):
        name = window.evaluate("document.activeElement.dataset.control").removeprefix("shape-")
        window.keyboard.type(" × ".join(map(str, shapes[name])) or "1")
        window.keyboard.press("Enter")
    assert "22 of 22" in element.locator("[data-value=count]").inner_text()
    assert "whole machine is open" in element.locator(".says").inner_text()
    library = Library(*INPUTS[0])
    assert_shown(element, {name: exact.detach() for name, exact in library.kept.items()}, library)
    element.locator("[data-value='heads/0/0/0']").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        window.keyboard.press(key)
    assert "depends on tokens 1 and 2, not on token 3" in element.locator(".says").inner_text()
    assert element.locator("[data-value=seen-2]").inner_text().strip() == "○ dark"
    assert element.locator("td.direct").count() == 4 and element.locator("td.chosen").count() == 1
    element.locator("[data-option=back]").press("Enter")
    assert element.locator("[data-value='x/0/0/0']").inner_text() == "−0.48"
    window.keyboard.press("Tab")
    window.keyboard.press("Enter")
    assert element.locator(".says").inner_text().startswith("Right. The slopes are −0.25, 2.78, 0.")
    assert_shown(element, {name: exact.grad for name, exact in library.kept.items()}, library)
    element.locator("[data-value='v/1/0/1']").press(" ")
    element.locator("[data-control=measure]").press("Enter")
    assert "both say the same" in element.locator(".says").inner_text()
    assert "= −0.14016" in element.locator("[data-value=measured]").inner_text()
    assert window.complaints == []


def boxes(element):
    return element.locator("[data-box]").evaluate_all("all => all.map(e => e.dataset.box)")


def assert_shown(element, numbers, library):
    shown = dict(
        element.locator("td[data-value]").evaluate_all("all => all.map(e => [e.dataset.value, e.textContent])")
    )
    assert len(shown) == 319
    for name, text in shown.items():
        box, *where = name.split("/")
        exact = library.like_the_page(box, numbers[box])[tuple(map(int, where))].item()
        assert float(text.replace("−", "-").replace("∞", "inf")) == pytest.approx(exact, abs=0.00501), name


OBSCURED = """() => { const at = document.activeElement.getBoundingClientRect();
    return at.bottom > document.querySelector('.panel').getBoundingClientRect().top }"""


def test_the_panel_never_hides_what_has_the_focus(opened, window):
    element = opened(NAME)
    element.locator("[data-control=rest]").click()
    window.set_viewport_size({"width": 375, "height": 740})
    element.locator("[data-value='hidden/0/0/0']").press("Enter")
    for _ in range(7):
        window.keyboard.press("ArrowDown")
        assert not window.evaluate(OBSCURED)


def test_a_hint_comes_after_two_wrong_tries_and_boxes_stay_open(opened, window):
    element = opened(NAME)
    field, hint = element.locator("[data-control=shape-q]"), element.locator("[data-value=hint-q]")
    for typed, told in (("3 × 2", False), ("4 × 3", True)):
        field.fill(typed)
        field.press("Enter")
        assert ("K = D / H" in hint.inner_text()) == told
    field.fill("2 × 3")
    field.press("Enter")
    assert element.locator("[data-value='q/1/1/2']").inner_text() == "0.59"
    element.locator("[data-control=word-0]").select_option("he")
    kept = json.loads(window.evaluate(f"localStorage.getItem('clearformer-play-{NAME}')"))
    assert kept == {"open": {"q": 1}, "guess": None, "words": [1, 2, 4], "next": 6}


def test_storage_keeps_boxes_and_words(opened, window):
    kept = json.dumps({"open": {"q": 1, "loss": 2}, "guess": 1, "words": [1, 3, 5], "next": 7})
    element = opened(NAME, before=f"localStorage.setItem('clearformer-play-{NAME}', {json.dumps(kept)})")
    assert element.locator("[data-value=count]").inner_text() == "2 of 22 boxes open, 1 of them for you."
    assert element.locator("[data-control=word-1]").input_value() == "3"
    element.locator("[data-option=back]").click()
    assert element.locator("[data-value='loss/0/0/0']").inner_text() == "1.00"
    element.locator("[data-control=again]").click()
    assert "0 of 22" in element.locator("[data-value=count]").inner_text()
    assert json.loads(window.evaluate(f"localStorage.getItem('clearformer-play-{NAME}')"))["open"] == {}


@pytest.mark.parametrize(
    "before",
    [
        *[f"localStorage.setItem('clearformer-play-{NAME}', {json.dumps(kept)})" for kept in NONSENSE],
        "localStorage.clear(); Storage.prototype.setItem = () => { throw new Error('full') }",
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked') } })",
    ],
)
def test_storage_that_is_odd_full_or_blocked_is_no_trouble(opened, window, before):
    element = opened(NAME, before=before)
    assert "0 of 22" in element.locator("[data-value=count]").inner_text()
    element.locator("[data-control=shape-x]").fill("4 × 3")
    element.locator("[data-control=open-x]").click()
    assert "1 of 22" in element.locator("[data-value=count]").inner_text() and window.complaints == []


@needs_axe
def test_axe_finds_nothing(opened, window):
    element = opened(NAME)
    element.evaluate(
        "e => { document.head.insertAdjacentHTML('beforeend', `<link rel=stylesheet href='" + STYLE + "'>`) }"
    )
    element.locator("[data-control=shape-q]").fill("9")
    element.locator("[data-control=open-q]").click()
    window.add_script_tag(url=AXE.as_uri())
    for step in ("shut", "open"):
        for scheme, style in THEME.items():
            window.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
            window.add_style_tag(content=style)
            assert violations(window, scheme) == [], step
        window.evaluate("document.documentElement.dataset.theme = 'light'")
        element.locator("[data-control=rest]").click()
        element.locator("[data-value='heads/1/0/1']").click()
        element.locator("[data-option=back]").click()


LETTERS = """e => [...e.querySelectorAll('.live *')].filter(n => n.checkVisibility() && [...n.childNodes].some(
    t => t.nodeType === 3 && t.data.trim())).map(n => parseFloat(getComputedStyle(n).fontSize))"""
CUT = """e => [...e.querySelectorAll('.box :is(td, th)')].filter(n => n.scrollWidth > n.clientWidth + 1)
    .map(n => n.outerHTML)"""


@pytest.mark.parametrize("width", [320, 375, 1000, 1280])
def test_width_leaves_every_number_whole(opened, window, width):
    """Catches sideways scrolling, letters too small to read, and numbers that are cut off."""
    element = opened(NAME)
    window.set_viewport_size({"width": width, "height": 900})
    for _ in range(2):
        assert window.evaluate("document.documentElement.scrollWidth") <= width
        assert min(element.evaluate(LETTERS)) >= 10
        element.locator("[data-control=rest]").click()
    assert element.evaluate(CUT) == []
    assert element.locator("svg.wires").is_visible() == (width >= 1000)


def test_still_form_stands_without_scripts(opened, browser):
    page = browser.new_page(java_script_enabled=False)
    assert opened(NAME, page=page).locator(".still").is_visible()
    page.close()
