"""The cards of *Find the slip*: what is stored is what the exercises give, and how cards are dealt and come back."""

import itertools
import json
import shutil
import subprocess

import pytest

from tests.lazy_module import LazyModule
from tools import ROOT

loading = LazyModule("clearcheck.author.loading")
deck_module = LazyModule("tools.play.find_the_slip.deck")
page_data = LazyModule("tools.play.find_the_slip")
play = LazyModule("tools.extension.play")
results = LazyModule("tools.play.find_the_slip.results")
slips = LazyModule("tools.play.find_the_slip.slips")

AUTHORING = ROOT / "exercises" / "authoring"
SLUGS = sorted(path.parent.name for path in AUTHORING.glob("*/exercise.py"))
RECOMPUTED = ("01-tokens", "03-self-attention", "05-feed-forward", "18-tuning")
SOURCES = ROOT / "tools" / "site" / "play" / "find-the-slip"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def deck_of(slug: str) -> dict:
    return next(deck for deck in page_data.stored() if deck["slug"] == slug)


def messages(deck: dict, card: dict) -> list[str]:
    return [deck["messages"][i] for i in card["messages"]]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_cards_of_a_chapter_are_those_of_its_exercise_now(slug):
    """Catches a mistake, a message or a right line that has changed since the cards were written."""
    deck = deck_of(slug)
    again = f"run: python -m tools.play.find_the_slip --write {slug}"
    assert deck["state"] == deck_module.state(AUTHORING / slug), again
    authored = loading.load_exercise(slug, ROOT)
    known = {(slip.question.id, slip.solution.name): slip for slip in slips.slips_of(authored)[0]}
    for card in deck["cards"]:
        slip = known[card["question"], card["id"]]
        assert card["code"] == list(slip.code), again
        assert card["changes"] == [[first, count, list(lines)] for first, count, lines in slip.changes], again
        own, *others = messages(deck, card)
        assert own == slip.solution.says, again
        assert {*others} <= {it.says for it in authored.wrong.of(card["question"])} - {own}, again


@pytest.mark.parametrize("slug", RECOMPUTED)
def test_a_card_computed_again_is_the_stored_one(slug):
    """Catches results, messages and readings that the exercise does not give any more."""
    deck = deck_of(slug)
    authored = loading.load_exercise(slug, ROOT)
    for stored in deck["cards"][:2]:
        known = slips.slips_of(authored)[0]
        slip = next(it for it in known if (it.question.id, it.solution.name) == (stored["question"], stored["id"]))
        pair = results.pairs(slip)[0]
        fresh = deck_module.card(authored, slip, pair)
        assert fresh["messages"] == messages(deck, stored)
        assert list(fresh["read"]) == deck["readings"][stored["read"]]
        assert all(fresh[name] == stored[name] for name in ("given", "part", "fails"))
        for side in ("wrong", "right"):
            assert numbers(fresh[side]) == pytest.approx(numbers(stored[side]), abs=0.011)


def numbers(shown: str | list[str]):
    """Of a map its numbers, in which processors may differ in the last digit; else the text."""
    return shown if isinstance(shown, str) else [float(x) for row in shown for x in row.split()]


def test_the_deck_is_large_enough_small_enough_and_no_two_cards_are_alike():
    """Catches a chapter without cards, a page that loads too much, and a card that is there twice."""
    decks = page_data.stored()
    assert [deck["slug"] for deck in decks] == SLUGS
    assert all(len(deck["cards"]) >= 12 for deck in decks)
    assert len(play.data_script("find-the-slip").encode()) <= 400 * 1000
    cards = [(deck["slug"], card) for deck in decks for card in deck["cards"]]
    assert 300 <= len(cards) <= 600
    assert len({(slug, card["question"], card["id"]) for slug, card in cards}) == len(cards)
    assert len({"\n".join(card["code"]) for _, card in cards}) == len(cards)
    for deck in decks:
        own = [messages(deck, card)[0] for card in deck["cards"]]
        assert len(set(own)) == len(own)


def test_every_card_can_be_played():
    """Catches a wrong line that is not there, results that look the same, and two messages that are one."""
    for deck in page_data.stored():
        for card in deck["cards"]:
            assert card["wrong"] != card["right"]
            assert 4 <= len(card["code"]) <= 14
            wrong = sum(count for _, count, _ in card["changes"])
            assert 1 <= wrong <= 2
            assert all(count and first + count <= len(card["code"]) for first, count, _ in card["changes"])
            assert len(set(messages(deck, card))) == 3


def test_the_card_on_paper_is_one_of_the_deck():
    """Catches a still form with numbers or a message of its own."""
    text = (ROOT / "chapters" / "play" / "find-the-slip.md").read_text(encoding="utf-8")
    deck = deck_of("03-self-attention")
    card = next(card for card in deck["cards"] if card["id"] == "scaled_twice")
    place, _, right = card["changes"][0]
    assert f"    {card['code'][place].strip()}\n" in text and messages(deck, card)[0] in text
    assert all(f"| {' | '.join(card[side][0].split())} |" in text for side in ("wrong", "right"))
    assert right[0].endswith("k.shape[-1] ** 0.5")


def in_node(body: str):
    """What the two scripts without a page compute: a function that is given the decks."""
    scripts = "\n".join((SOURCES / name).read_text(encoding="utf-8") for name in ("decks.js", "box.js"))
    program = (
        f"globalThis.clearformer = {{}};\n{scripts}\nconst {{ slip }} = clearformer;\n"
        f"const decks = JSON.parse(require('fs').readFileSync(0, 'utf8'));\nconst cards = slip.cardsOf(decks);\n"
        f"console.log(JSON.stringify((() => {{ {body} }})()));"
    )
    done = subprocess.run(
        ["node", "-e", program], input=json.dumps(page_data.data()), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
def test_the_five_of_a_day_are_the_same_for_all_and_go_through_the_deck():
    """Catches cards that never come, that come twice in a hand, and days that are alike."""
    days = in_node("return Array.from({ length: 100 }, (_, i) => slip.today(cards, 20000 + i).map((card) => card.key))")
    assert all(len(set(day)) == 5 for day in days)
    assert days == in_node(
        "const other = [...cards].reverse();"
        "return Array.from({ length: 100 }, (_, i) => slip.today(other, 20000 + i).map((card) => card.key))"
    )
    assert all(one != other for one, other in itertools.pairwise(days))
    seen = {key for day in days for key in day}
    assert {key[:2] for key in seen} == {slug[:2] for slug in SLUGS}
    n_first = sum(len(deck_of(slug)["cards"]) for slug in SLUGS[:3])
    assert sum(key < "04" for key in seen) == n_first  # two a day
    assert in_node("return slip.today(cards, 20000).map(({ chapter }) => chapter.number <= 3)")[:3] == [
        True,
        True,
        False,
    ]


@needs_node
def test_a_hand_begins_with_what_was_never_seen():
    """Catches a card that comes again while others of its chapters have not been shown."""
    seen = in_node("""
        const hands = [];
        const seen = {};
        for (let day = 0; day < 12; day++) {
            const hand = slip.handOf(cards, [7], seen, day).map((card) => card.key);
            hand.forEach((key) => { seen[key] = day; });
            hands.push(hand);
        }
        return hands;
    """)
    count = len(deck_of("07-residual-norm")["cards"])
    first = [key for hand in seen for key in hand][:count]
    assert len(set(first)) == count and all(len(set(hand)) == 5 for hand in seen)


@needs_node
def test_a_missed_card_comes_back_after_a_day_and_after_a_week():
    """Catches a card that is forgotten, that stays for ever, or that a lucky early answer takes out."""
    steps = in_node("""
        const missed = { misses: 1, told: false }, known = { misses: 1, told: true }, shown = { misses: 2, told: true };
        let memory = slip.FRESH;
        const trail = [];
        const days = [[known, 1],
            [missed, 1], [known, 1], [known, 2], [known, 3], [shown, 9], [known, 10], [known, 17]];
        for (const [played, day] of days) {
            memory = slip.noted(memory, "a", played, day);
            trail.push(memory.box.a || null);
        }
        const due = slip.due({ box: { a: [0, 5], b: [1, 4], c: [0, 6] } }, 5);
        return [trail, due, [known, missed, shown].map(slip.points)];
    """)
    assert steps[0] == [None, [0, 2], [0, 2], [1, 9], [1, 9], [0, 10], [1, 17], None]
    assert steps[1] == ["b", "a"]
    assert steps[2] == [2, 1, 1]


@needs_node
def test_what_strangers_wrote_is_taken_as_far_as_it_is_right():
    """Catches nonsense in the storage that stops the page, waits for years, or names cards that are gone."""
    cleaned = in_node("""
        const memory = { seen: { a: 3, b: "x", gone: 1 }, box: { a: [1, 99999], b: [7, 1], c: [0, 2], gone: [0, 1] },
                         days: { 5: 15, 6: 99, 7: "9", x: 3 } };
        const keys = new Map([["a"], ["b"], ["c"]]);
        const others = [null, [], 3, {}, { seen: [], box: {}, days: {} }];
        return [slip.cleaned(memory, keys, 10, 5), others.map(slip.isMemory),
            ["", "null", "[]", "{", '{"read":3}', '{"read":{"chapters/02-attention":true,"chapters/99":true}}', null]
                .map((text) => slip.chaptersRead(text, decks))];
    """)
    assert cleaned[0] == {"seen": {"a": 3}, "box": {"a": [1, 17], "c": [0, 2]}, "days": {"5": 15}}
    assert cleaned[1] == [False] * 5
    assert cleaned[2] == [[], [], [], [], [], [2], []]


@needs_node
def test_the_own_message_is_offered_in_every_place():
    """Catches an answer that is always the first one."""
    places = in_node("return cards.map((card) => slip.offered(card).findIndex(({ own }) => own))")
    assert all(places.count(place) > len(places) / 5 for place in range(3))


@needs_node
def test_chapters_are_told_in_words():
    """Catches a list that no one would say so."""
    told = in_node("return [[1], [1, 2], [3, 1, 2], [1, 2, 3, 7], [7, 7]].map(slip.inWords)")
    assert told == ["chapter 1", "chapters 1, 2", "chapters 1–3", "chapters 1–3, 7", "chapter 7"]
