"""Tell a learner which known mistake their result equals."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from clearcheck.calls import call_named
from clearcheck.exercise import Question
from clearcheck.fault import ON_PURPOSE
from clearcheck.solutions import Solution
from clearcheck.transcript import Call, same_reply


@dataclass(frozen=True)
class Diagnosis:
    """A known mistake with the same results; `section` is where the chapter treats it."""

    mistake: str
    says: str
    section: str
    raised: bool = False  # in every call: there is no result to speak of

    @property
    def sentence(self) -> str:
        start = "Your function fails as a known mistake does" if self.raised else "Your result equals a known mistake"
        return f"{start}: {self.says}"


def diagnose(
    question: Question, wrong: list[Solution], transcripts: list[list[Call]], failed: list[int]
) -> dict[int, Diagnosis]:
    """For each failed check the mistake that gives the same replies, if one does.

    Where several do, the one that agrees on the most checks of the question is told.
    """
    found = {}
    for check in failed:
        candidates = [entry for entry in wrong if _agrees(question, entry, transcripts[check])]
        if candidates:
            entry = _closest(question, candidates, transcripts)
            raised = all(call.reply["kind"] == "raised" for call in transcripts[check])
            found[check] = Diagnosis(entry.name, entry.says, entry.section or question.section, raised)
    return found


def _closest(question: Question, candidates: list[Solution], transcripts: list[list[Call]]) -> Solution:
    if len(candidates) == 1:
        return candidates[0]
    return max(candidates, key=lambda entry: sum(_agrees(question, entry, calls) for calls in transcripts))


def _agrees(question: Question, entry: Solution, calls: list[Call]) -> bool:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _telling(calls) and all(_same(question, entry, call) for call in calls)


def _same(question: Question, entry: Solution, call: Call) -> bool:
    return same_reply(_reply(entry.function, question.name, call.packed, question.seconds), call.reply)


@lru_cache(maxsize=16384)
def _reply(function: Callable, name: str, packed: bytes, seconds: float) -> dict:
    """What a known mistake makes of these arguments: kept, since a seed gives every submission the same ones."""
    return call_named({name: function}, name, packed, seconds)


def _telling(calls: list[Call]) -> bool:
    """Whether there is more to compare than exceptions raised on purpose, which anyone may raise for any reason."""
    return any(call.reply.get("operation") != ON_PURPOSE for call in calls)
