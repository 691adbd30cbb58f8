"""*Find the slip* in the browser: played by keyboard, remembered, on a phone, without storage and without scripts."""

import datetime
import json

import pytest

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.pages import AXE
from tests.book.test_browser import UNNAMED, needs_axe, violations
from tests.book.test_reader import STORAGE
from tests.lazy_module import LazyModule

page_data = LazyModule("tools.play.find_the_slip")

NAME = "find-the-slip"
KEY = f"clearformer-play-{NAME}"
NONSENSE = [
    "nonsense",
    "null",
    "3",
    "[]",
    "{}",
    '{"seen": [], "box": 1, "days": null}',
    '{"seen":{},"box":{"x":1},"days":{}}',
]
CARD = f"(() => {{ const {{ key, code, changes, messages, wrong, right }} = document.querySelector('{NAME}').card; \
return {{ key, code, changes, messages, wrong, right }} }})()"
DAY_ONE = "localStorage.clear()"


@pytest.fixture
def shown(opened, window):
    """The element on its page, freshly opened."""
    window.set_default_timeout(4000)
    return opened(NAME, before=DAY_ONE)


def deal(element, deck: str = "mine"):
    element.locator(f"[data-control=deck][data-option={deck}]").click()
    element.locator("[data-control=start]").click()


def card_on(page) -> dict:
    return page.evaluate(CARD)


def stored_card(key: str) -> dict:
    """The stored card, with its messages written out."""
    slug, question, name = key.split("/")
    deck = next(deck for deck in page_data.stored() if deck["slug"] == slug)
    card = next(card for card in deck["cards"] if (card["question"], card["id"]) == (question, name))
    return {**card, "messages": [deck["messages"][i] for i in card["messages"]]}


def lines(element):
    return element.locator("[data-control=line]")


def own_message(element, page):
    place = page.evaluate(f"document.querySelector('{NAME}').answers.findIndex(({{ own }}) => own)")
    return element.locator("[data-control=message]").nth(place)


def memory(page) -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')"))


def test_a_hand_is_played_by_keyboard_alone(shown, window):
    """Catches a control that only a mouse reaches, focus that is lost on the way, and points that are not counted."""
    keys = window.keyboard
    shown.locator("[data-control=start]").focus()
    keys.press("Enter")
    for number in range(5):
        card = card_on(window)
        keys.press("Tab")
        assert window.evaluate("document.activeElement.dataset.option") == "0"
        for _ in range(card["changes"][0][0]):
            keys.press("ArrowDown")
        keys.press("Enter" if number % 2 else "Space")
        assert "at the first try" in shown.locator(".says").inner_text()
        place = window.evaluate(f"document.querySelector('{NAME}').answers.findIndex(({{ own }}) => own)")
        for _ in range(place):
            keys.press("Tab")
        keys.press("Enter")
        assert shown.locator(".says").inner_text() == "Right. 3 of 3 points."
        assert window.evaluate(UNNAMED) == []
        keys.press("Enter")  # the next card
    assert shown.locator(".says").inner_text() == "15 of 15 points."
    assert len(memory(window)["seen"]) == 5 and memory(window)["box"] == {}
    assert window.complaints == []


def test_what_a_card_shows_is_what_is_stored(shown, window):
    """Catches a line, a number or a message that is not that of the deck."""
    deal(shown, "today")
    for _ in range(5):
        card = card_on(window)
        stored = stored_card(card["key"])
        assert lines(shown).locator("code").all_inner_texts() == [line.strip() for line in stored["code"]]
        for i, side in enumerate(("wrong", "right")):
            told = shown.locator(".slip-result").nth(i)
            if isinstance(stored[side], str):
                assert told.locator("code").inner_text() == stored[side]
            else:
                cells = [text.split()[0] for text in told.locator("td").all_inner_texts()]  # "1.54 differs"
                assert cells == [number for row in stored[side] for number in row.split()]
        lines(shown).nth(stored["changes"][0][0]).click()
        offered = shown.locator("[data-control=message]").all_inner_texts()
        assert sorted(text.strip() for text in offered) == sorted(text.replace("`", "") for text in stored["messages"])
        own_message(shown, window).click()
        good = [line.strip() for _, _, new in stored["changes"] for line in new]
        assert shown.locator(".slip-good code").all_inner_texts() == good
        assert shown.locator(".slip-work a[href*='chapters/']").count() == 2
        shown.locator("[data-control=next]").click()
    assert window.complaints == []


def test_a_wrong_tap_allows_one_more_and_a_missed_card_is_kept(shown, window):
    """Catches a card that tells at once, a tap on the same line that counts twice, and one that never comes back."""
    deal(shown)
    card = card_on(window)
    wrong = {i for first, count, _ in card["changes"] for i in range(first, first + count)}
    stay = [i for i in range(len(card["code"])) if i not in wrong][:2]
    lines(shown).nth(stay[0]).click()
    assert f"Line {stay[0] + 1} is the same in the right answer" in shown.locator(".says").inner_text()
    lines(shown).nth(stay[0]).click()
    assert shown.locator("[data-control=message]").count() == 0
    lines(shown).nth(stay[1]).click()
    assert f"It is line {min(wrong) + 1}." in shown.locator(".says").inner_text()
    lines(shown).nth(stay[0]).click(force=True)  # is disabled by now
    own_message(shown, window).click()
    assert shown.locator(".says").inner_text() == "Right. 1 of 3 points. This card comes back tomorrow."
    shown.locator("[data-control=message]").first.click(force=True)
    kept = memory(window)
    today = (datetime.date.today() - datetime.date(1970, 1, 1)).days
    assert kept["box"] == {card["key"]: [0, today + 1]} and kept["seen"] == {card["key"]: today}


def test_cards_that_are_due_come_first(opened, window):
    """Catches a box that is never opened, and a card that stays in it although it was known."""
    deck = page_data.stored()[4]
    key = f"{deck['slug']}/{deck['cards'][0]['question']}/{deck['cards'][0]['id']}"
    today = (datetime.date.today() - datetime.date(1970, 1, 1)).days
    kept = {"seen": {key: today - 8}, "box": {key: [1, today - 1]}, "days": {str(today): 11}}
    shown = opened(NAME, before=f"localStorage.setItem('{KEY}', {json.dumps(json.dumps(kept))})")
    assert shown.locator("[data-option=due]").get_attribute("aria-pressed") == "true"
    assert "1 due now" in shown.inner_text() and "11 of 15 points" in shown.inner_text()
    shown.locator("[data-control=start]").click()
    assert card_on(window)["key"] == key
    lines(shown).nth(card_on(window)["changes"][0][0]).click()
    own_message(shown, window).click()
    assert memory(window)["box"] == {} and memory(window)["days"] == {str(today): 11}
    shown.locator("[data-control=next]").click()
    shown.locator("[data-control=again]").click()
    assert "0 due now" in shown.inner_text()


def test_chapters_that_are_marked_as_read_are_dealt_first(opened, window):
    """Catches cards of a chapter that the reader has not come to, and a deck that does not say what it gives away."""
    read = json.dumps({"read": {"chapters/05-feed-forward": True, "chapters/06-position": True}})
    shown = opened(NAME, before=f"localStorage.clear(); localStorage.setItem('clearformer', {json.dumps(read)})")
    assert "what you have read: chapters 5, 6" in shown.inner_text() and "nearly right answer" in shown.inner_text()
    shown.locator("[data-option=one]").click()
    shown.locator("[data-control=chapter]").select_option("12")
    assert "You have not marked chapter 12 as read." in shown.inner_text()
    deal(shown)
    assert card_on(window)["key"].startswith(("05", "06"))


@pytest.mark.parametrize("kind", STORAGE)
def test_storage_that_keeps_nothing_stops_nothing(opened, window, kind):
    """Catches a page that needs the storage: what is remembered lasts as long as the page."""
    shown = opened(NAME, before=STORAGE[kind])
    deal(shown)
    lines(shown).nth(card_on(window)["changes"][0][0]).click()
    shown.locator("[data-control=message]").nth(0).click()
    assert "points" in shown.locator(".says").inner_text()
    assert window.evaluate(f"Object.keys(document.querySelector('{NAME}').memory.seen).length") == 1
    assert window.complaints == []


@pytest.mark.parametrize("text", NONSENSE)
def test_storage_with_nonsense_is_as_good_as_none(opened, window, text):
    """Catches a page that trusts what stands there."""
    shown = opened(
        NAME,
        before=f"localStorage.clear(); localStorage.setItem('{KEY}', {json.dumps(text)}); "
        f"localStorage.setItem('clearformer', {json.dumps(text)})",
    )
    assert "0 due now" in shown.inner_text() and "chapters 1–3" in shown.inner_text()
    deal(shown)
    assert card_on(window)["key"] < "04" and window.complaints == []


EVERY_CARD = f"""() => {{
    const element = document.querySelector('{NAME}');
    const found = [];
    element.dealt = element.cards;
    element.cards.forEach((card, k) => {{
        element.played = {{ length: k }};
        element.show();
        element.found(card.changes[0][0], "");
        element.second.append(...clearformer.slip.mended(card), clearformer.slip.links(card, element.root));
        const wide = document.documentElement.scrollWidth > innerWidth;
        const cut = [...element.querySelectorAll('td')].some((cell) => cell.scrollWidth > cell.clientWidth + 1);
        if (wide || cut) found.push(`${{card.key}} ${{wide ? 'is wide' : 'has a number that is cut'}}`);
    }});
    return found;
}}"""
SMALL = f"""() => [...document.querySelectorAll('{NAME} .live *')].filter((node) => node.checkVisibility()
    && [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())
    && parseFloat(getComputedStyle(node).fontSize) < 10).map((node) => node.outerHTML.slice(0, 80))"""
LOW = f"""() => [...document.querySelectorAll('{NAME} button')].filter((button) => button.checkVisibility()
    && button.getBoundingClientRect().height < 31.5).map((button) => button.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [375, 320])
def test_width_of_every_card_is_that_of_a_phone(shown, window, width):
    """Catches a line, a number or a message that makes the page scroll sideways, and letters that are too small."""
    window.set_viewport_size({"width": width, "height": 800})
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    deal(shown)
    assert window.evaluate(SMALL) == [] and window.evaluate(LOW) == []
    if width == 320:
        assert window.evaluate(EVERY_CARD) == []


@needs_axe
def test_axe_finds_nothing_on_a_card(shown, window):
    """Catches lost names, roles and contrasts before and after the answer; contrasts in the dark, too."""
    window.add_style_tag(url=STYLE)
    window.add_script_tag(url=AXE.as_uri())
    deal(shown, "today")
    card = card_on(window)
    lines(shown).nth(next(i for i in range(9) if i != card["changes"][0][0])).click()
    for scheme, style in THEME.items():
        window.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        window.add_style_tag(content=f"{style} a {{ color: var(--cf-accent); }}")
        assert violations(window, scheme) == []
    lines(shown).nth(card["changes"][0][0]).click()
    shown.locator("[data-control=message]").nth(1).click()
    assert violations(window, "dark") == []


def test_still_form_stands_without_scripts(opened, browser):
    """Catches an empty frame where no script runs."""
    page = browser.new_page(java_script_enabled=False)
    element = opened(NAME, page=page)
    assert element.locator(".still").is_visible() and element.locator(".live").count() == 0
    page.close()
