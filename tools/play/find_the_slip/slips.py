"""Which wrong answers become cards: short ones, whose mistake stands in one or two lines that can be pointed at."""

import difflib
from collections import Counter
from dataclasses import dataclass

from clearcheck.author.edits import rename_definition
from clearcheck.author.loading import AuthoredExercise
from clearcheck.author.mistakes import Solution
from clearcheck.grading.question import Question

FEWEST, MOST, WIDEST = 4, 14, 88  # lines of the code, and characters of a line
MOST_CHANGED = 2
LEAST_ALIKE = 0.5  # a slip, and no other way to write the line
LONG_RUNS = ("training", "generation")  # how a question is asked whose results are no few numbers


@dataclass(frozen=True, eq=False)
class Slip:
    """A wrong answer under the name that the task asks for, and what the right one has in the place of some lines."""

    question: Question
    solution: Solution
    code: tuple[str, ...]
    changes: tuple[tuple[int, int, tuple[str, ...]], ...]  # from this line, so many of them, and what they should be

    @property
    def place(self) -> tuple[str, int]:
        """What it has in common with slips that are found by looking at the same line."""
        return self.solution.base, self.changes[0][0]


def slips_of(authored: AuthoredExercise) -> tuple[list[Slip], Counter]:
    """The wrong answers of an exercise that can be cards, and how many are left out for which reason."""
    right = {(entry.question, entry.name): entry for entry in authored.right.entries}
    found, left_out = [], Counter[str]()
    for entry in authored.wrong.entries:
        slip = _slip(authored.question(entry.question), entry, right.get((entry.question, entry.base)))
        if isinstance(slip, str):
            left_out[slip] += 1
        else:
            found.append(slip)
    return found, left_out


def _slip(question: Question, entry: Solution, base: Solution | None) -> Slip | str:
    """The slip, or why there is none."""
    if base is None:
        return "an answer of its own, no right one with a line changed"
    if question.how in LONG_RUNS:
        return "a training, or a text that a model writes"
    code, good = (_lines(it, question.name) for it in (entry, base))
    if not FEWEST <= len(code) <= MOST:
        return f"fewer than {FEWEST} or more than {MOST} lines"
    if max(map(len, code)) > WIDEST:
        return f"a line of more than {WIDEST} characters"
    changes = _changes(code, good)
    if any(count == 0 for _, count, _ in changes):
        return "a line is missing: there is none to point at"
    if not 1 <= sum(count for _, count, _ in changes) <= MOST_CHANGED:
        return f"more than {MOST_CHANGED} lines are changed"
    if any(good and _likeness(code[first : first + count], good) < LEAST_ALIKE for first, count, good in changes):
        return "the line is another one altogether"
    return Slip(question, entry, tuple(code), changes)


def _likeness(bad: list[str], good: tuple[str, ...]) -> float:
    return difflib.SequenceMatcher(None, "\n".join(bad), "\n".join(good), autojunk=False).ratio()


def _lines(entry: Solution, name: str) -> list[str]:
    lines = rename_definition(entry.source, entry.name, name).splitlines()
    return [line.partition("  # noqa")[0].rstrip() for line in lines if line.strip()]


def _changes(code: list[str], good: list[str]) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    steps = difflib.SequenceMatcher(None, code, good, autojunk=False).get_opcodes()
    return tuple((i, j - i, tuple(good[k:m])) for kind, i, j, k, m in steps if kind != "equal")
