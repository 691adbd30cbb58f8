"""Tell a learner which known mistake their result equals."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol, Self

import numpy as np

from clearcheck.grading.question import Question
from clearcheck.grading.replies import Call, same_reply
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.failing_operation import ON_PURPOSE
from clearcheck.worker.guarded_call import call_named


class KnownMistake(Protocol):
    """A wrong answer of the author's, and what it `says` to a learner whose results are the same."""

    @property
    def name(self) -> str: ...
    @property
    def function(self) -> Callable: ...
    @property
    def source(self) -> str: ...
    @property
    def says(self) -> str: ...
    @property
    def section(self) -> str: ...
    def together_with(self, other: Self) -> "KnownMistake | None": ...


@dataclass(frozen=True)
class Diagnosis:
    """A known mistake with the same results; `section` is where the chapter treats it."""

    mistake: str
    message: str
    section: str
    raised: bool = False  # in every call: there is no result to speak of
    everywhere: bool = True  # no other check of the question speaks against it
    seen: bool = False  # in the numbers alone: no mistake of the question's list
    two: bool = False  # mistakes of the list, in one answer

    @property
    def sentence(self) -> str:
        if self.seen:
            return self.message
        if self.two:
            return f"Your answer does what two known mistakes together do: {self.message}"
        same = "our function fails as a known mistake does" if self.raised else "our result equals a known mistake"
        if self.everywhere:
            return f"Y{same}: {self.message}"
        like = same.replace("equals a", "equals that of a")
        return f"In this check y{like} (in others it does not), so it may be another: {self.message}"

    def as_json(self) -> dict:
        return {
            "mistake": self.mistake,
            "message": self.sentence,
            "section": self.section,
            "everywhere": self.everywhere,
        }


def diagnose(
    question: Question,
    wrong: Sequence[KnownMistake],
    transcripts: list[list[Call]],
    failed: list[int],
    passes: Callable[[int, KnownMistake], bool],
) -> dict[int, Diagnosis]:
    """For each failed check the mistake that gives the same replies, if one does.

    Where several do, the one that agrees on the most checks of the question is told. A check in which it gives other
    replies speaks against it, and then it is told with a doubt: it may be another mistake with the same result here.
    None speaks against it that the mistake passes, of which it says nothing, and none that asks for something else by
    name, as for "parameters" where this one asks for "flops": an answer may be right in the one and not in the other.
    """

    @cache
    def agrees_on_check(number: int, check: int) -> bool:
        parts = getattr(question.checks[check], "parts", ())
        return gives_same_replies(question, wrong[number], transcripts[check], parts)

    def explains(number: int, check: int) -> bool:
        return agrees_on_check(number, check) and not passes(check, wrong[number])

    telling = [check for check, calls in enumerate(transcripts) if _has_comparable_reply(calls)]
    found = {}
    for check in failed:
        candidates = [number for number in range(len(wrong)) if check in telling and explains(number, check)]
        if candidates:
            closest = max(candidates, key=lambda number: sum(agrees_on_check(number, other) for other in telling))
            raised = all(call.reply["kind"] == "raised" for call in transcripts[check])
            entry = wrong[closest]
            everywhere = not _is_doubted(question, transcripts, check, entry, passes)
            found[check] = Diagnosis(entry.name, entry.says, entry.section or question.section, raised, everywhere)
    return found


def _is_doubted(
    question: Question,
    transcripts: list[list[Call]],
    check: int,
    entry: KnownMistake,
    passes: Callable[[int, KnownMistake], bool],
) -> bool:
    """Whether another check speaks against the mistake that explains this one."""
    for other, others in enumerate(transcripts):
        calls = _calls_by_the_same_name(transcripts[check], others)
        parts = getattr(question.checks[other], "parts", ())
        if not gives_same_replies(question, entry, calls, parts) and not passes(other, entry):
            return True
    return False


def gives_same_replies(question: Question, entry: KnownMistake, calls: list[Call], parts: tuple) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return all(gives_same_reply(question, entry, call, parts) for call in calls)


def gives_same_reply(question: Question, entry: KnownMistake, call: Call, parts: tuple) -> bool:
    reply = reply_of(entry.function, question.call_request.for_known_mistake(entry.source), call.packed)
    if question.how == "training":
        return same_reply(_without_its_course(reply), _without_its_course(call.reply), call.close, parts)
    return same_reply(reply, call.reply, call.close, parts)


def _without_its_course(reply: dict) -> dict:
    """A reply of a loop without its losses, in which the draws of two loops differ even where their models agree."""
    if reply["kind"] != "value":
        return reply
    return {**reply, "value": {name: x for name, x in reply["value"].items() if name not in ("losses", "moved")}}


@lru_cache(maxsize=16384)
def reply_of(function: Callable, asked: CallRequest, packed: bytes) -> dict:
    """What a known solution makes of these arguments: kept, since a seed gives every submission the same ones."""
    return call_named({asked.name: function}, asked, packed)


def _calls_by_the_same_name(calls: list[Call], others: list[Call]) -> list[Call]:
    """Those of the other calls that ask for the same, where a check asks for one thing by its name: all its calls have
    the same texts among their arguments. Else all of the others.
    """
    name = _texts(calls[0]) if len(calls) > 1 else {}
    if not all(_texts(call) == name for call in calls):
        return others
    return [call for call in others if _texts(call) == name or _texts(call).keys() != name.keys()]


def _texts(call: Call) -> dict[int, str]:
    """The texts among the arguments, by their places."""
    return {place: value for place, value in enumerate(call.args) if isinstance(value, str)}


def _has_comparable_reply(calls: list[Call]) -> bool:
    """Whether there is more to compare than exceptions raised on purpose, which anyone may raise for any reason."""
    return any(call.reply.get("operation") != ON_PURPOSE for call in calls)
