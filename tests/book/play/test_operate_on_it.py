"""The page on which a reader operates on the Austen model: its numbers and goals, by keyboard, on a phone, with axe."""

import json
import re

import pytest
import torch
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.play import surgery
from tests.book.play.patient import (
    ASKED,
    KEPT,
    KEY,
    NAME,
    STEPS,
    Patient,
    check_answers,
    number,
    own_bits,
    shown_bits,
)
from tests.book.test_browser import AXE, UNNAMED, needs_axe, violations
from tools import ROOT
from tools.play import operate_on_it as texts


@pytest.fixture
def patient(opened):
    def begin(before=f"localStorage.clear(); {KEPT}", page=None):
        return Patient(opened(NAME, before=before, page=page)).start()

    return begin


def test_the_head_without_which_the_name_is_lost(patient):
    """Catches numbers that are not the library's, and a goal that another head reaches or that 3.1 does not."""
    it = patient()
    assert shown_bits(it) == pytest.approx(own_bits(texts.ONE_NAME), abs=0.051)
    for head in ((1, 0), (1, 1), (2, 0)):
        it.press("[data-control=heal]")
        it.press(f'[data-head="{head[0]},{head[1]}"]')
        it.press("[data-control=kind][data-option=off]")
        off = {head: surgery.KINDS["off"]}
        check_answers(it, texts.ONE_NAME, off)
        assert shown_bits(it) == pytest.approx(own_bits(texts.ONE_NAME, off), abs=0.051)
        she, he = surgery.she_and_he(texts.ONE_NAME, off)
        assert it.says.startswith("Reached:") == (she < 2 * he) == (head == (2, 0))
    assert it.says.endswith("You guessed right.") and f"{she / he:.1f} times" in it.says
    it.press("[data-control=guess][data-option=none]")
    assert it.says.startswith("Reached:") and it.says.endswith("You guessed otherwise.")
    for kind in ("even", "first", "previous"):  # these are no loss of the head
        it.press(f"[data-control=kind][data-option={kind}]")
        check_answers(it, texts.ONE_NAME, {(2, 0): surgery.KINDS[kind]})
        assert not it.says.startswith("Reached:")
    it.press("[data-control=kind][data-option=off]")
    it.press('[data-head="1,1"]')
    it.press("[data-control=kind][data-option=off]")
    assert it.says.endswith("2 heads are changed; the goal asks for one.")
    others = [(m, h) for m in range(surgery.LAYERS) for h in range(surgery.HEADS) if (m, h) != (2, 0)]
    ratios = [surgery.she_and_he(texts.ONE_NAME, {head: surgery.KINDS["off"]}) for head in others]
    assert all(she > 2 * he for she, he in ratios)
    assert it.page.complaints == []


def test_a_painted_row_turns_the_answer(patient):
    """Catches a paint that does not sum to 1, one that cannot be taken away, and a verdict on another painting."""
    it = patient()
    it.go("paint")
    row = surgery.ids_of(texts.TWO_NAMES).shape[1] - 2  # that of because
    she, he = surgery.she_and_he(texts.TWO_NAMES)
    assert f"“he” {100 * he:.1f} %, “she” {100 * she:.1f} %" in it.element.locator(".briefing").inner_text()
    assert she < he
    for s, parts in (("5", [0] * 5 + [1]), ("5", [0] * 5 + [2]), ("2", [0, 0, 1, 0, 0, 2])):
        it.press(f'.sources [data-source="{s}"]')
        check_answers(it, texts.TWO_NAMES, {(2, 0): surgery.painted(row, parts)})
        assert it.says.startswith("Reached:")
    looked = surgery.she_and_he(texts.TWO_NAMES, {(2, 0): surgery.painted(row, [0] * 5 + [1])})
    assert looked[0] > 2 * looked[1] and f"{looked[0] / looked[1]:.1f} times" in it.says
    for s in "5522":
        it.press(f'.sources [data-source="{s}"]')
    it.press('.sources [data-source="2"]')
    check_answers(it, texts.TWO_NAMES, {})
    assert it.says == "No head is changed."
    assert it.page.complaints == []


def test_every_column_of_the_donor(patient):
    """Catches a cell of another token or depth, a goal that is reached too early, and a wrong last layer."""
    it = patient()
    it.go("transplant")
    it.press('[data-cell="2,3"]')
    assert it.says.endswith("1 of 5 depths found.")
    it.press("[data-control=all-cells]")
    it.page.wait_for_function("document.querySelector('operate-on-it').columns.cells.size === 35")
    it.settle()
    turned = {}
    for m in range(surgery.LAYERS + 1):
        for n in range(1, 8):
            own = surgery.transplanted(texts.ONE_NAME, texts.DONOR, m, n)
            winner = max(zip(own, ("she", "he"), strict=True))
            told = it.element.locator(f'[data-cell="{m},{n}"]').inner_text().split()
            assert told[0] == winner[1] and number(told[1]) == pytest.approx(100 * winner[0], abs=0.51)
            turned[m, n] = winner[1] == "he"
    last = max(m for m, n in turned if n == 3 and turned[m, n])
    assert {(m, n) for m, n in turned if turned[m, n]} == {(0, 3), (1, 3), (2, 3), (3, 7), (4, 7)}
    assert (
        last == 2
        and it.says.startswith("Reached: Emma’s column turns the answer up to layer 2")
        and it.says.endswith("You guessed right.")
    )
    assert it.element.locator(".curve svg").get_attribute("aria-label").startswith("Column of Emma exchanged")
    it.page.set_viewport_size({"width": 320, "height": 900})
    drawn = it.element.locator(".curve svg").evaluate("e => e.getBoundingClientRect().width / e.viewBox.baseVal.width")
    assert 13 * drawn >= 10
    assert it.page.complaints == []


def test_a_page_and_its_dearest_heads(patient):
    """Catches a sum that is not the library's, a head in the wrong place, and what is said of the named heads."""
    it = patient()
    it.go("page")
    before = sum(own_bits(texts.PAGE))
    assert f"{before:.1f} bits in all" in it.element.locator(".briefing").inner_text()
    it.press("[data-control=sweep]")
    it.element.locator('[data-value="cost-1.1"]').wait_for()
    assert it.says.startswith("1.1 costs most") and "You guessed right." in it.says
    cost = {
        f"{m + 1}.{h + 1}": sum(own_bits(texts.PAGE, {(m, h): surgery.KINDS["off"]})) - before
        for m in range(surgery.LAYERS)
        for h in range(surgery.HEADS)
    }
    found = it.element.locator('[data-value^="cost-"]').evaluate_all("all => all.map(e => e.dataset.value.slice(5))")
    assert found == sorted(cost, key=cost.get, reverse=True)
    shown = it.element.locator('[data-value^="cost-"]').evaluate_all("all => all.map(e => e.textContent)")
    assert [number(text) for text in shown] == pytest.approx([cost[head] for head in found], abs=0.051)
    assert max(abs(cost["2.1"]), abs(cost["3.1"])) < 2  # “hardly missed”
    it.press('[data-head="0,0"]')
    for kind, reached in (("off", False), ("first", True)):
        it.press(f"[data-control=kind][data-option={kind}]")
        own = own_bits(texts.PAGE, {(0, 0): surgery.KINDS[kind]})
        assert number(it.value("sum-after")) == pytest.approx(sum(own), abs=0.051)
        assert shown_bits(it) == pytest.approx(own, abs=0.051)
        assert it.says.startswith("Reached:") == reached == (sum(own) - before > 50)
    assert it.page.complaints == []


def test_who_has_not_guessed_sees_no_numbers(patient):
    """Catches an answer that stands there before the guess."""
    it = patient("localStorage.clear()")
    for step in STEPS:
        it.go(step)
        assert it.says == "Guess first; then you may operate."
        assert it.element.locator("[data-head]:visible, [data-cell]:visible, [data-token]:visible").count() == 0
        assert it.element.locator("[data-control=guess]:visible").count() >= 3


def test_all_of_it_by_keyboard(patient, opened):
    """Catches a control that only a mouse reaches, one without a name, and a focus that gets lost."""
    page = opened(NAME).page
    it, tab, active = Patient(page.locator(NAME)), "Tab", "document.activeElement"
    keys = page.keyboard
    keys.press(tab)
    keys.press("Enter")
    it.settle()
    assert page.evaluate(f"{active}.dataset.option") == "find"
    while page.evaluate(f"{active}.dataset.option") != "1,0":
        keys.press(tab)
    keys.press("Space")
    it.settle()
    while page.evaluate(f"{active}.dataset.head === undefined"):
        keys.press(tab)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "Enter"):
        keys.press(key)
    it.settle()
    assert page.evaluate(f"{active}.dataset.head") == "2,0"
    while page.evaluate(f"{active}.dataset.option") != "off":
        keys.press(tab)
    keys.press("Enter")
    it.settle()
    assert it.says.startswith("Reached:") and page.evaluate(f"{active}.dataset.option") == "off"
    while page.evaluate(f"{active}.dataset.source === undefined"):
        keys.press(tab)
    keys.press("ArrowRight")
    keys.press("Enter")
    it.settle()
    assert page.evaluate(f"{active}.dataset.source") == "1" and "1 parts" not in it.says
    assert page.evaluate(UNNAMED) == [] and page.complaints == []


KINDS_OF_NONSENSE = [
    "{",
    "null",
    "7",
    "[]",
    '{"step": "nowhere"}',
    json.dumps({**ASKED, "rows": {"find": {}, "paint": {"2,0": {"9": ["x"]}}}}),
    json.dumps({**ASKED, "rows": {"find": {}, "paint": {}}, "heads": {"find": {"9,9": "off"}, "paint": {}}}),
    json.dumps({**ASKED, "rows": {"find": {}, "paint": {}}, "guesses": {"find": "<b>"}}),
]


@pytest.mark.parametrize("kept", KINDS_OF_NONSENSE)
def test_storage_that_others_have_filled(opened, kept):
    """Catches a page that believes what it finds."""
    shown = opened(NAME, before=f"localStorage.clear(); localStorage.setItem('{KEY}', {json.dumps(kept)})")
    assert shown.evaluate("e => e.kept.step === 'find' && !Object.keys(e.kept.guesses).length")
    assert shown.locator("[data-control=start]").is_visible() and shown.page.complaints == []


BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })"
FULL = "localStorage.clear(); Storage.prototype.setItem = () => { throw new Error('full'); }"


@pytest.mark.parametrize("before", [BLOCKED, FULL])
def test_storage_that_is_blocked_or_full(patient, before):
    """Catches a page that needs a memory to be played with."""
    it = patient(before)
    it.press('[data-control=guess][data-option="2,0"]')
    it.press("[data-control=kind][data-option=off]")
    assert it.says.startswith("Reached:") and it.page.complaints == []


def test_storage_keeps_what_was_done(patient):
    """Catches an operation that is gone, or that comes to another task, when the reader comes back."""
    it = patient()
    it.press("[data-control=kind][data-option=off]")
    kept = it.page.evaluate(f"localStorage.getItem('{KEY}')")
    again = patient(f"localStorage.setItem('{KEY}', {json.dumps(kept)})")
    check_answers(again, texts.ONE_NAME, {(2, 0): surgery.KINDS["off"]})
    assert "✓" in again.element.locator("[data-control=step]").first.inner_text()
    again.go("paint")
    check_answers(again, texts.TWO_NAMES, {})


def test_width_of_a_phone(patient):
    """Catches what makes the page scroll sideways, a target that is too low, and letters that are too small."""
    it = patient()
    for width in (375, 320):
        it.page.set_viewport_size({"width": width, "height": 900})
        for step in STEPS:
            it.go(step)
            assert it.page.evaluate("document.documentElement.scrollWidth") <= width
            low = "all => all.filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 31.5).length"
            assert it.element.locator("button").evaluate_all(low) == 0
            small = "all => all.filter(e => parseFloat(getComputedStyle(e).fontSize) < 10).length"
            assert it.element.locator(".live *").evaluate_all(small) == 0


@needs_axe
def test_axe_finds_nothing(patient):
    """Catches lost names, roles and contrasts in each task."""
    it = patient()
    page = it.page
    page.add_style_tag(url=STYLE)
    page.add_script_tag(url=AXE.as_uri())
    it.press("[data-control=kind][data-option=off]")
    for scheme, style in THEME.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        page.add_style_tag(content=style)
        for step in STEPS if scheme == "light" else ("find", "transplant"):
            it.go(step)
            if step == "transplant":
                it.press('[data-cell="0,3"]')
            assert violations(page, scheme) == []


def test_still_form_stays_without_scripts(browser, opened):
    """Catches an empty frame where no script runs."""
    page = browser.new_page(java_script_enabled=False)
    assert opened(NAME, page=page).locator(".still").is_visible()
    page.close()


def test_still_form_tells_the_librarys_numbers():
    """Catches a number in the table that is not the model's, and what the questions below it take for granted."""
    written = (ROOT / "chapters" / "play" / f"{NAME}.md").read_text(encoding="utf-8")
    table = "\n".join(re.findall(r"^\|.*\|$", written, re.MULTILINE))
    rows = BeautifulSoup(MarkdownIt().enable("table").render(table), "html.parser").select("tbody tr")
    assert len(rows) == 4
    for row in rows:
        name, *told = (cell.text for cell in row.select("td"))
        head = re.search(r"without (\d)\.(\d)", name)
        lost = {(int(head[1]) - 1, int(head[2]) - 1): surgery.KINDS["off"]} if head else None
        own = surgery.she_and_he(texts.ONE_NAME, lost)
        assert [number(cell) for cell in told] == pytest.approx([100 * p for p in own], abs=0.051)
    off, first = (sum(own_bits(texts.PAGE, {(0, 0): surgery.KINDS[kind]})) for kind in ("off", "first"))
    assert off < first


def test_the_heads_that_are_asked_about_look_at_the_name():
    """Catches an option that says of a head what it does not do."""
    from clearbook.attention_maps import attention_weights

    model, _ = surgery.patient()
    one, two = (
        [*attention_weights(model, surgery.ids_of(text)).values()] for text in (texts.ONE_NAME, texts.TWO_NAMES)
    )
    emma, because, she = 3, 7, 8
    assert all(one[m][0, h, n].argmax() == emma for m, h, n in ((1, 0, she), (1, 1, because), (2, 0, because)))
    assert torch.argmax(two[2][0, 0, 9]) == 2  # John
