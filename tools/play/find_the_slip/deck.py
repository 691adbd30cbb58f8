"""The deck of one chapter: slips that are unlike each other, each proven, with two messages that do not fit it."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise
from clearcheck.author.mistakes import Solution
from clearcheck.grading.diagnose import Diagnosis, reply_of
from clearcheck.grading.evaluate import evaluate
from clearcheck.grading.reading import reading_in
from clearcheck.grading.replies import same_reply
from clearcheck.learner.cards import question_text
from clearcheck.worker.call_request import CallRequest

from tools.pages.chapters import chapter_number
from tools.play.find_the_slip.results import SEED, Pair, Shown, pairs, reply_to
from tools.play.find_the_slip.slips import Slip, slips_of
from tools.play.find_the_slip.tasks import tasks

CARDS = 18  # of a chapter
SAME_LINE = 3  # so many cards of a chapter at most are found in the same line of the same right answer
ALIKE, SAME = 0.35, 0.6  # shares of common words from which two messages may both fit, or say the same


class Unproven(ValueError):
    """A card says something that the exercise does not give; the text says what."""


def chapter_deck(authored: AuthoredExercise) -> tuple[dict, Counter]:
    """What the page needs of a chapter, and how many wrong answers are left out for which reason."""
    slips, left_out = slips_of(authored)
    shown = {slip: found for slip in slips if (found := pairs(slip))}
    left_out["no results that differ and are short enough to show"] = len(slips) - len(shown)
    cards = []
    for slip in _chosen(shown):
        try:
            cards.append(card(authored, slip, shown[slip][0]))
        except Unproven:
            left_out["the grader does not tell this mistake at the first draw, or no two messages are unlike it"] += 1
        if len(cards) == CARDS:
            break
    left_out["more than there is room for, or alike"] = len(authored.wrong.entries) - left_out.total() - len(cards)
    return joined(authored, cards), left_out


def joined(authored: AuthoredExercise, cards: list[dict]) -> dict:
    """The cards in an order of no meaning; what several of them share is written once, and named by its number."""
    exercise, asked = authored.exercise, tasks(authored)
    shared: dict[str, dict] = {"messages": {}, "readings": {}}

    def number(kind: str, value) -> int:
        return shared[kind].setdefault(value, len(shared[kind]))

    for one in cards:
        one["messages"] = [number("messages", text) for text in one["messages"]]
        one["read"] = number("readings", one["read"])
    return {
        "slug": exercise.slug,
        "number": int(chapter_number(exercise.slug)),
        "title": exercise.title,
        "state": state(authored.folder),
        "questions": {
            q.id: {"title": titled(q.title), "number": n, "task": asked.get(n, "")}
            for n, q in enumerate(exercise.questions, start=1)
            if any(it["question"] == q.id for it in cards)
        },
        "messages": list(shared["messages"]),
        "readings": [list(reading) for reading in shared["readings"]],
        "cards": sorted(cards, key=lambda it: hashlib.sha256(it["id"].encode()).digest()),
    }


def titled(title: str) -> str:
    short = title.removeprefix("Stretch: ")
    return short[0].upper() + short[1:]


def state(folder: Path) -> str:
    """Another one as soon as a file has changed that says what the answers are and what they are told."""
    files = sorted([*folder.glob("*.py"), *folder.parent.glob("*.py")])
    return hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()[:16]


def _chosen(shown: dict[Slip, list[Pair]]) -> Iterator[Slip]:
    """In turn from each question, the line that was asked for least, and the results that are best to look at."""
    left, taken = list(shown), list[Slip]()
    while left:
        by_question = Counter(slip.question.id for slip in taken)
        by_place = Counter((slip.question.id, slip.place) for slip in taken)

        def order(slip: Slip, by_question=by_question, by_place=by_place) -> tuple:
            return by_question[slip.question.id], by_place[slip.question.id, slip.place], shown[slip][0].rank[0]

        slip = min(left, key=order)
        left.remove(slip)
        if by_place[slip.question.id, slip.place] < SAME_LINE and not any(
            likeness(slip.solution.says, other.solution.says) >= SAME or slip.code == other.code for other in taken
        ):
            taken.append(slip)
            yield slip


def card(authored: AuthoredExercise, slip: Slip, pair: Pair) -> dict:
    """One card; the first of its messages is its own. Raises: Unproven."""
    exercise, entry = authored.exercise, slip.solution
    told = diagnosis(authored, slip)
    reading = reading_in(exercise, entry.section or slip.question.section)
    return {
        "id": entry.name,
        "question": slip.question.id,
        "code": list(slip.code),
        "changes": [[first, count, list(lines)] for first, count, lines in slip.changes],
        "messages": [entry.says, *(other.says for other in others(authored, slip, pair))],
        "fails": told.raised,
        "given": pair.given,
        "part": pair.part,
        "wrong": packed(pair.wrong),
        "right": packed(pair.right),
        "read": (reading.words.replace("chapter 0", "chapter "), on_the_site(reading.path)),
    }


def on_the_site(path: str) -> str:
    """The page of a notebook, where an anchor has no two hyphens in a row."""
    return re.sub("-{2,}", "-", path.replace(".ipynb", ".html"))


def packed(shown: Shown) -> str | list[str]:
    return shown if isinstance(shown, str) else [" ".join(row) for row in shown]


def diagnosis(authored: AuthoredExercise, slip: Slip) -> Diagnosis:
    """What the grader tells of it. Raises: Unproven where it is accepted, or is not told its own mistake plainly."""
    question, entry = slip.question, slip.solution

    def transport(asked: CallRequest, packed: bytes) -> dict:
        return reply_of(entry.function, asked.for_known_mistake(entry.source), packed)

    result = evaluate(question, transport, SEED, authored.wrong.of(question.id))
    told = [check.diagnosis for check in result.checks if check.diagnosis and check.diagnosis.message == entry.says]
    plain = [one for one in told if one.everywhere and not one.seen and not one.two]
    if not plain or entry.says not in question_text(authored.exercise, result):
        raise Unproven(f"{question.id}: {entry.name} is not told {entry.says!r} plainly.")
    return plain[0]


def others(authored: AuthoredExercise, slip: Slip, pair: Pair) -> list[Solution]:
    """Two other mistakes of the question, in other words and with another result. Raises: Unproven for none."""
    entry, question = slip.solution, slip.question
    own, found = reply_to(slip, pair.args), list[Solution]()
    known = (it for it in authored.wrong.of(question.id) if it.name != entry.name)
    for other in sorted(known, key=lambda it: hashlib.sha256(f"{entry.name} {it.name}".encode()).digest()):
        if any(likeness(other.says, it.says) >= ALIKE for it in (entry, *found)):
            continue
        asked = question.call_request.for_known_mistake(other.source)
        if same_reply(reply_of(other.function, asked, pair.packed), own):
            continue
        found.append(other)
        if len(found) == 2:
            return found
    raise Unproven(f"{question.id}: {entry.name} has no two messages beside it that are unlike its own.")


def likeness(one: str, other: str) -> float:
    """The share of words that two messages have in common."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(a & b) / len(a | b)
