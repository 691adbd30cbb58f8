"""What a slip gives beside what is right, on the same arguments, as few numbers or a short text."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from clearcheck.grading.describe import BY_HOW, describe_argument, places_in_words, situation
from clearcheck.grading.diagnose import reply_of
from clearcheck.grading.evaluate import generator
from clearcheck.grading.question import Equals, Question
from clearcheck.worker.values import pack

from tools.play.find_the_slip.slips import Slip

SEED = 0  # what a learner's notebook uses
SIDE = 6  # rows and columns of a map
ROOM = 36  # characters of the numbers in a row, if all were as long as the longest
LONGEST = 140  # characters of a result that is told as text
DIGITS = (2, 3, 4)
SMALL = 0.1  # below, two digits after the point say little
FEW, BEST, LARGE = 4, 12, 50  # numbers of a map: fewer show no pattern, about so many are seen at once
Where = tuple[str | int, ...]
Shown = list[list[str]] | str  # the numbers of a map, or a text


@dataclass(frozen=True)
class Pair:
    """`given` says for which `args`, `part` which part of the result is shown."""

    args: tuple
    given: str
    part: str
    wrong: Shown
    right: Shown

    @property
    def packed(self) -> bytes:
        return pack(self.args)

    @property
    def rank(self) -> tuple[int, int]:
        """Maps of some numbers first, then texts, a single number last; the small ones before the large."""
        if isinstance(self.wrong, str) or isinstance(self.right, str):
            return 1, len(self.wrong) + len(self.right)
        entries = [[x for row in side for x in row] for side in (self.wrong, self.right)]
        if min(map(len, entries)) < FEW:
            return 2, 0
        differing = sum(one != other for one, other in zip_longest(*entries))
        return 0, abs(len(entries[1]) - BEST) + (0 if differing >= FEW - 1 else LARGE)


def pairs(slip: Slip) -> list[Pair]:
    """Every case of the question's comparisons in which the two differ visibly, the best to look at first."""
    found = [pair for check in slip.question.checks if isinstance(check, Equals) for pair in _of_check(slip, check)]
    return sorted(found, key=lambda pair: pair.rank)


def _of_check(slip: Slip, check: Equals) -> Iterator[Pair]:
    question = slip.question
    for args, expected in check.results(generator(question, check.name, SEED), question.call_request):
        reply = reply_to(slip, args)
        given = situation(args, question.how).rstrip(",")
        if reply["kind"] == "raised":
            told = f"{reply['type']}: {reply['text']}" if reply["text"] else reply["type"]
            if len(told) <= LONGEST:
                yield Pair(args, given, "", f"stops with {told}", _told(expected, question))
        elif reply["kind"] == "value" and check.finding(reply["value"], expected, args, question.how):
            where, came, right = _differing(reply["value"], expected)
            yield from (Pair(args, given, *shown) for shown in _shown(where, came, right, question))


def reply_to(slip: Slip, args: tuple) -> dict:
    asked = slip.question.call_request.for_known_mistake(slip.solution.source)
    return reply_of(slip.solution.function, asked, pack(args))


def _differing(came, right, where: Where = ()) -> tuple[Where, object, object]:
    """The first part in which two results differ, from outside to inside."""
    parts: list[tuple[str | int, object, object]] = []
    if isinstance(came, dict) and isinstance(right, dict) and came.keys() == right.keys():
        parts = [(key, came[key], right[key]) for key in right]
    elif isinstance(came, tuple | list) and isinstance(right, tuple | list) and len(came) == len(right):
        if any(isinstance(one, np.ndarray | dict | tuple | list) for one in right):
            parts = [(i, one, other) for i, (one, other) in enumerate(zip(came, right, strict=True))]
    elif isinstance(came, np.ndarray) and isinstance(right, np.ndarray) and came.shape == right.shape and came.ndim > 2:
        parts = [(i, one, other) for i, (one, other) in enumerate(zip(came, right, strict=True))]
    for key, one, other in parts:
        if not _same(one, other):
            return _differing(one, other, (*where, key))
    return where, came, right


def _same(one, other) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray | float) and isinstance(other, np.ndarray | float):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype.kind in "fiub" and other.dtype.kind in "fiub":
            return one.shape == other.shape and np.allclose(one, other, atol=1e-4, equal_nan=True)
    return bool(np.all(one == other)) if type(one) is type(other) else False


def _shown(where: Where, came, right, question: Question) -> Iterator[tuple[str, Shown, Shown]]:
    """As maps where both are arrays of numbers, as texts where these differ; nothing where neither shows it."""
    steps = places_in_words([step for step in where if step != "result"])
    if _are_tables(came, right):
        came, right, window = _window(np.atleast_2d(came), np.atleast_2d(right))
        if maps := _maps(came, right):
            yield ", ".join([*steps, *window]), *maps
        return
    told = _told(came, question), _told(right, question)
    if told[0] != told[1] and max(map(len, told)) <= LONGEST:
        yield ", ".join(steps), *told


def _are_tables(came, right) -> bool:
    if not (isinstance(came, np.ndarray) and isinstance(right, np.ndarray)):
        return False
    numbers = all(x.dtype.kind in "fiub" and 1 <= x.ndim <= 2 and x.size for x in (came, right))
    return numbers and (came.shape == right.shape or max(*came.shape, *right.shape) <= SIDE)


def _window(came: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The part of large tables that has the largest difference in its middle, and where it lies."""
    if max(*came.shape, *right.shape) <= SIDE:
        return came, right, []
    with np.errstate(invalid="ignore"):
        apart = np.nan_to_num(np.abs(came.astype(float) - right), nan=np.inf)
    middle = np.unravel_index(np.argmax(apart), apart.shape)
    starts = [int(np.clip(i - SIDE // 2, 0, max(0, n - SIDE))) for i, n in zip(middle, came.shape, strict=True)]
    rows, columns = (slice(i, i + SIDE) for i in starts)
    names = [
        f"{name} {i} to {min(i + SIDE, n) - 1} of {n}"
        for name, i, n in zip(("rows", "columns"), starts, came.shape, strict=True)
        if n > SIDE
    ]
    return came[rows, columns], right[rows, columns], names


def _maps(came: np.ndarray, right: np.ndarray) -> tuple[list[list[str]], list[list[str]]] | None:
    """Both written with as many digits as it takes to tell them apart; nothing where a phone has no room for these."""
    small = np.nanmax(np.abs(right.astype(float))) < SMALL
    for digits in DIGITS[int(small) :]:
        one, other = _written(came, digits), _written(right, digits)
        if one != other:
            widest = max(len(text) * len(row) for row in (*one, *other) for text in row)
            return (one, other) if widest <= ROOM else None
    return None


def _written(table: np.ndarray, digits: int) -> list[list[str]]:
    if table.dtype.kind == "f":
        texts = [[f"{x:.{digits}f}" if abs(x) < 1000 else f"{x:.1e}" for x in row] for row in table]
        return [[text.lstrip("-") if float(text) == 0 else text for text in row] for row in texts]
    return [[str(x) for x in row] for row in table.tolist()]


def _told(value, question: Question) -> str:
    return describe_argument(value, BY_HOW[question.how].array)
