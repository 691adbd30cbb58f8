"""You against the model, in the page: numbers beside the library, by keyboard, on a phone, and what it remembers."""

import json
import re

import numpy as np
import pytest

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.play import wagers
from tests.book.play.duel import EMPTY, KEY, N_TOKENS, NAME, PLAYERS, Duel, number
from tests.book.test_browser import AXE, UNNAMED, needs_axe, violations
from tools import ROOT
from tools.play import you_against_the_model as duel


@pytest.fixture
def begin(opened):
    return lambda before="localStorage.clear()", page=None: Duel(opened(NAME, before=before, page=page))


def own_rates(bits: np.ndarray, page: int, count: int) -> list[float]:
    characters = wagers.characters(duel.data()["pages"][page]["guessed"][:count])
    return [bits.mean(), bits.sum() / characters, 2 ** bits.mean()]


def check_rates(it: Duel, page: int, bets: list[dict]):
    """All nine numbers beside the library's."""
    count, known = len(bets), duel.data()["pages"][page]
    came = known["guessed"][:count]
    q = [wagers.distribution(bet, known["offers"][i], wagers.counted(page)[i])[came[i]] for i, bet in enumerate(bets)]
    p = wagers.counted(page)[np.arange(count), came]
    with np.errstate(divide="ignore"):
        own = {"you": -np.log2(q), "trigram": -np.log2(p), "model": wagers.read(page)[:count]}
    for player in PLAYERS:
        found, expected = it.rates(player), own_rates(own[player], page, count)
        assert found[:2] == pytest.approx(expected[:2], abs=0.0051), player
        assert found[2] == pytest.approx(expected[2], abs=0.051, rel=1e-4), player


def test_a_page_by_keyboard_alone(begin):
    """Catches a number that is not the library's, a chip that is lost, and an action that only a pointer can do."""
    it = begin()
    assert it.control("lay").filter(visible=True).count() == 0
    it.control("guess").nth(1).focus()
    it.press(["Enter"])
    assert it.page.evaluate("document.activeElement.dataset.control") == "uncover"
    bets = []
    for keys in ("1112", "7777777777", "3333333333", "", "12345677", "5550"):
        six = it.offered()
        assert sorted(six) == sorted(duel.data()["pages"][0]["offers"][len(bets)])
        it.press(keys)
        laid = {} if keys.endswith("0") else {str(six[int(k) - 1]): keys.count(k) for k in set(keys) - {"7"}}
        bets.append({**EMPTY, "chips": laid, "other": keys.count("7")})
        assert it.value("kept") == str(10 - sum(laid.values()) - keys.count("7"))
        it.press(["Enter"])
        check_rates(it, 0, bets)
    for _ in range(N_TOKENS - len(bets)):
        it.press(["Enter"])
        bets.append(EMPTY)
    check_rates(it, 0, bets)
    assert "The round is over" in it.element.locator(".verdict").inner_text()
    assert it.page.evaluate("document.activeElement.dataset.control") == "best"
    check_verdict(it, bets)
    assert it.page.complaints == []


def check_verdict(it: Duel, bets: list[dict]):
    """The temperature at every place of its slider, the best of them, and the bits of each token."""
    known, p = duel.data()["pages"][0], wagers.counted(0)
    characters, found = wagers.characters(known["guessed"]), {}
    slider = it.control("temperature")
    for place in range(0, 41, 4):
        slider.evaluate("(e, x) => { e.value = x; e.dispatchEvent(new Event('input')); }", str(place))
        T = 2 ** ((place - 16) / 8)
        assert number(it.value("temperature")) == pytest.approx(T, abs=0.0051)
        own = 0
        for i, bet in enumerate(bets):
            q = wagers.distribution(bet, known["offers"][i], p[i])
            own -= np.log2(wagers.tempered(q, sorted(known["offers"][i]), T)[known["guessed"][i]])
        found[T] = own / characters
        assert number(it.value("tempered")) == pytest.approx(found[T], abs=0.0051)
    it.control("best").press("Enter")
    assert it.says.startswith("Best temperature") and it.says == it.value("advice")
    assert number(it.value("tempered")) <= min(found.values()) + 0.0051
    it.element.locator(".verdict summary").click()
    shown = it.element.locator(".verdict [data-value^=bits-]").all_inner_texts()
    model = [number(text) for text in shown[2::3]]
    assert model == pytest.approx(wagers.read(0), abs=0.0501)


def test_whoever_lays_nothing_bets_as_the_trigram(begin):
    """Catches a floor or a rest that is not the trigram's."""
    it = begin().guess()
    it.control("page").nth(1).click()
    it.guess().uncover(N_TOKENS)
    assert it.rates("you") == it.rates("trigram")
    assert it.says == "The round is over. You bet as the trigram."
    assert "goal" not in it.won
    check_rates(it, 1, [EMPTY] * N_TOKENS)


def test_the_goal_is_reached_by_who_beats_the_trigram_on_a_whole_page(begin):
    """Catches a verdict that does not look at the numbers, and a goal for ten tokens."""
    for stop in (True, False):
        it = begin().guess()
        known = duel.data()["pages"][0]
        for i in range(12 if stop else N_TOKENS):
            six = it.offered()
            if known["guessed"][i] in six:
                it.press(5 * str(six.index(known["guessed"][i]) + 1))
            it.uncover()
            assert it.control("stop").is_visible() == (9 <= i < N_TOKENS - 1)
        if stop:
            it.control("stop").click()
        assert it.says == "The round is over. You beat the trigram and the model."
        assert ("The goal is reached." in it.won) != stop and ("The goal wants a whole page." in it.won) == stop


def test_all_in_on_a_wrong_token_costs_infinitely_much(begin):
    """Catches a zero that is mended, by a floor or by a temperature."""
    it = begin().guess()
    known = duel.data()["pages"][0]
    bets = []
    for i in range(10):
        six = it.offered()
        wrong = next(n for n, token in enumerate(six) if token != known["guessed"][i])
        if i == 3:
            it.press(10 * str(wrong + 1))
            it.element.locator("summary").filter(has_text="all in").click()
            it.control("all-in").check()
            bets.append({**EMPTY, "chips": {str(six[wrong]): 10}, "allIn": True})
        else:
            bets.append(EMPTY)
        it.uncover()
        assert not it.control("all-in").is_checked()
    check_rates(it, 0, bets)
    assert it.value("you-character") == "∞"
    it.control("stop").click()
    p, characters = wagers.counted(0), wagers.characters(known["guessed"][:10])
    floored = [wagers.distribution({**bet, "allIn": False}, known["offers"][i], p[i]) for i, bet in enumerate(bets)]
    own = -sum(np.log2(q[known["guessed"][i]]) for i, q in enumerate(floored)) / characters
    assert f"{own:.2f} bits a character" in it.element.locator(".verdict").inner_text()
    it.control("best").click()
    assert it.says == "No temperature mends a zero: 0 to any power is 0."
    assert it.value("tempered") == "∞"


def test_a_typed_token_joins_the_table(begin):
    """Catches a typed token that is cut otherwise, is not bet on, or stays for the next token."""
    it = begin().guess()
    it.element.locator("summary").filter(has_text="Another token").click()
    _, tokenizer = wagers.model_and_tokenizer()
    first = tokenizer.encode(" explanation")[0]
    it.control("typed").fill("explanation")
    it.press(["Enter"])
    assert it.says.startswith(f"“␣{tokenizer.decode([first]).strip()}” is number 8")
    it.control("typed").fill("123")  # no chips are laid by what is typed
    assert it.value("kept") == "10"
    it.control("typed").fill("")
    it.control("add").click()
    assert it.says == "Type a word or a sign first."
    for word in ("sister", "house", "morning", "letter"):
        it.control("typed").fill(word)
        it.control("add").click()
    assert it.says == "The table is full: four typed tokens are the most."
    it.control("uncover").focus()
    it.press("88889")
    typed = [int(x) for x in it.control("lay").evaluate_all("all => all.slice(7).map((e) => e.dataset.option)")]
    it.press(["Enter"])
    bet = {**EMPTY, "typed": typed, "chips": {str(typed[0]): 4, str(typed[1]): 1}}
    check_rates(it, 0, [bet])
    assert it.control("lay").count() == 7
    assert it.page.complaints == []


def test_storage_keeps_rounds_and_forgets_them(begin):
    """Catches a round that is lost when the page is left, and one that cannot be forgotten."""
    it = begin().guess()
    it.press("1123")
    it.uncover(12)
    before = it.rates("you"), it.element.locator(".page").inner_text()
    it = begin(before="")
    assert (it.rates("you"), it.element.locator(".page").inner_text()) == before
    it.control("stop").click()
    it = begin(before="")
    assert it.element.locator(".verdict").is_visible() and it.rates("you") == before[0]
    it.control("forget").click()
    assert not it.element.locator(".verdict").is_visible() and it.control("guess").first.is_visible()
    assert it.page.complaints == []


ROUND = {"guess": 1.5, "bets": [EMPTY], "ended": False}
FRESH = {"guess": None, "bets": [], "ended": False}
NONSENSE = [
    "null",
    "{",
    "[1, 2]",
    json.dumps({"page": 3, "rounds": [FRESH] * 3}),
    json.dumps({"page": 0, "rounds": [FRESH] * 2}),
    json.dumps({"page": 0, "rounds": [{**FRESH, "guess": "<b>"}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "guess": None}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "bets": [EMPTY] * 41}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "bets": [{**EMPTY, "other": 11}]}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "bets": [{**EMPTY, "chips": {"3": 5}}]}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "bets": [{**EMPTY, "chips": {"__proto__": 1}}]}, FRESH, FRESH]}),
    json.dumps({"page": 0, "rounds": [{**ROUND, "bets": [{**EMPTY, "typed": [1e9]}]}, FRESH, FRESH]}),
]
BLOCKED = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })"
FULL = "localStorage.clear(); Storage.prototype.setItem = () => { throw new Error('full'); }"


@pytest.mark.parametrize("before", [f"localStorage.setItem('{KEY}', {json.dumps(it)})" for it in NONSENSE])
def test_storage_with_nonsense_begins_anew(begin, before):
    """Catches a stranger's values that are believed."""
    it = begin(before=before)
    assert it.control("guess").first.is_visible() and not it.control("uncover").is_visible()
    assert it.page.complaints == []


@pytest.mark.parametrize("before", [BLOCKED, FULL], ids=["blocked", "full"])
def test_storage_that_takes_nothing_stops_nobody(begin, before):
    """Catches a page that cannot be played where nothing can be kept."""
    it = begin(before=before).guess()
    it.press("11")
    it.uncover(2)
    assert it.rates("you")[0] > 0 and it.page.complaints == []


def ready(it: Duel, ended: bool) -> Duel:
    """Everything open, in the middle of a round or after it."""
    it.guess()
    it.press("1177")
    it.uncover(12)
    if ended:
        it.control("stop").click()
    it.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    return it


@pytest.mark.parametrize("ended", [False, True])
def test_width_fits_a_phone(begin, ended):
    """Catches what makes the page scroll sideways, letters that are too small, and targets that a finger misses."""
    it = begin()
    it.page.set_viewport_size({"width": 320, "height": 900})
    ready(it, ended)
    for width in (375, 320):
        it.page.set_viewport_size({"width": width, "height": 900})
        assert it.page.evaluate("document.documentElement.scrollWidth") <= width
        cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML)"
        assert it.element.locator("th, td, button, p, .pile").filter(visible=True).evaluate_all(cut) == []
    low = "all => all.filter(e => e.getBoundingClientRect().height < 32).map(e => e.outerHTML)"
    assert it.element.locator("button, summary, .check").filter(visible=True).evaluate_all(low) == []
    small = "all => all.filter(e => parseFloat(getComputedStyle(e).fontSize) < 10 && e.ariaHidden !== 'true').length"
    assert it.element.locator(".live *").evaluate_all(small) == 0


@needs_axe
def test_axe_finds_nothing(begin):
    """Catches lost names, roles and contrasts, in light and dark, in the middle of a round and after it."""
    it = begin()
    it.page.add_style_tag(url=STYLE)
    for ended in (False, True):
        if not ended:
            ready(it, ended)
        else:
            it.control("stop").click()
        it.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert it.page.evaluate(UNNAMED) == []
        it.page.add_script_tag(url=AXE.as_uri())
        for scheme, style in THEME.items():
            it.page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
            it.page.add_style_tag(content=style)
            assert violations(it.page, scheme) == []


def test_still_form_stands_without_scripts_and_is_true(opened, browser):
    """Catches an empty frame, and a number in the text that the library does not compute."""
    page = browser.new_page(java_script_enabled=False)
    assert opened(NAME, page=page).locator(".still").is_visible()
    page.close()
    text = (ROOT / "chapters" / "play" / f"{NAME}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*(.+)\* \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert [title for title, *_ in rows] == [it["title"] for it in duel.data()["pages"]]
    for i, (it, (_, counted, read)) in enumerate(zip(duel.data()["pages"], rows, strict=True)):
        characters = wagers.characters(it["guessed"])
        own = -np.log2(wagers.counted(i)[np.arange(N_TOKENS), it["guessed"]]).sum() / characters
        assert counted == f"{own:.2f}" and read == f"{wagers.read(i).sum() / characters:.2f}"


def test_hits_are_told_as_they_are(begin):
    """Catches a number of tokens on offer that is not that of the pages."""
    it = begin()
    pages = duel.data()["pages"]
    hits = sum(came in six for page in pages for came, six in zip(page["guessed"], page["offers"], strict=True))
    rules = it.element.locator(".live").evaluate("e => e.textContent")
    assert f"{hits} of {3 * N_TOKENS} are among their six" in rules
