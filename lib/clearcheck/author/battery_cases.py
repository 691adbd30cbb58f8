"""Entries of the battery that are made from the cases of a comparison: how they are drawn, and how they are told.

Each turns a case into others, which the reference answers as it does the author's. The entries themselves are data:
those of every question stand in `battery_common`, sizes in `battery_sizes`, modules in `battery_modules`.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from clearcheck.author.subject import leaves
from clearcheck.grading.compare import Finding
from clearcheck.grading.inputs import Inputs
from clearcheck.grading.question import Equals, Question
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import call_named
from clearcheck.worker.values import UnsupportedValue, pack

Case = tuple


@dataclass(frozen=True)
class Source:
    """What an entry makes its cases from: how the question is driven, what its arguments are, and its reference."""

    how: str
    inputs: Inputs | None
    reference: Callable

    @classmethod
    def of(cls, question: Question, check: Equals) -> "Source":
        return cls(question.how, question.inputs, check.reference)

    def answers(self, args: Case) -> bool:
        """Whether the reference gives numbers for these arguments: the task need not allow whatever can be made."""
        return self.result(args) is not None

    def result(self, args: Case):
        """What the reference gives; None where that is no finite number throughout."""
        asked = CallRequest("reference", seconds=60.0, how=self.how)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            packed = pack(asked.arguments_to_send(args))
            reply = call_named({"reference": self.reference}, asked, packed)
        value = reply.get("value")
        finite = all(np.isfinite(array).all() for array in leaves(value))
        return value if reply["kind"] == "value" and finite and not unsupported(value) else None


def unsupported(value) -> bool:
    """Whether some part of a value is none that can be compared, such as a gradient that does not arrive."""
    if isinstance(value, dict):
        return any(map(unsupported, value.values()))
    if isinstance(value, tuple | list):
        return any(map(unsupported, value))
    return isinstance(value, UnsupportedValue)


@dataclass(frozen=True)
class CaseEntry:
    """More cases, made from those that an author draws; what it `says` comes before what came of the first failure."""

    name: str
    hows: tuple[str, ...]
    unfit: str  # why it is off for other questions
    nothing: str  # why it is off where no case gives others
    says: str
    derive: Callable[[Source, Case], list[Case]]

    def why_not(self, how: str) -> str:
        return "" if how in self.hows else self.unfit


@dataclass(frozen=True)
class DerivedCases:
    """The cases of an entry as `Equals` draws them: two of the same question are equal, and kept together."""

    check: Equals
    entry: CaseEntry
    source: Source

    def __call__(self, rng: np.random.Generator) -> list[Case]:
        return derived_cases(self.check, self.entry, self.source, rng.bit_generator.state)


def derived_cases(check: Equals, entry: CaseEntry, source: Source, state: Mapping) -> list[Case]:
    """The first cases that come of one of the author's; none where no case has what the entry deals with."""
    return _derived_cases(check.cases, entry, source, json.dumps(state))


@lru_cache(maxsize=512)
def _derived_cases(cases: Callable, entry: CaseEntry, source: Source, state: str) -> list[Case]:
    drawn = cases(generator_at(json.loads(state)))
    return next((more for args in drawn if (more := entry.derive(source, args))), [])


def generator_at(state: Mapping) -> np.random.Generator:
    """A generator that goes on from this state."""
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng


def finding_of_cases(check: Equals, entry: CaseEntry, ask, state: Mapping) -> Finding | None:
    """What the learner's code makes of the cases of an entry; None as well where it has none."""
    source = Source.of(ask.question, check)
    if not derived_cases(check, entry, source, state):
        return None
    return finding_of_more(check, DerivedCases(check, entry, source), entry.says, ask, generator_at(state))


def finding_of_more(check: Equals, cases: Callable, says: str, ask, rng: np.random.Generator) -> Finding | None:
    """What the learner's code makes of more cases of a comparison; the place counts from the check's first call."""
    before = len(ask.calls)
    more = Equals(check.name, check.points, cases, check.reference, check.atol, check.dtype, check.parts)
    found = more.run(ask, rng)
    return found and replace(found, message=f"{says} {found.message}", call=before + max(found.call, 0))
