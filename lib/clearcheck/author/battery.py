"""A standard battery of tries that a question gets by one line, each switched on by what the question deals with.

For example::

    checks=with_battery(
        equals("all tokens", 5, cases, SelfAttention),
        equals("looking back", 4, looking_back, SelfAttention),
        mask=later_tokens("looking back", draw_args, scores="query.weight"),
        also=("looking back",),
        off={"many tokens": "the task names 64 tokens as the longest text"},
    ),

A try belongs to a check that the question has, so that points and names stay as they are: the check is passed where
its own cases are right and its tries are, too. `AUTHORING.md` has an example of each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np

from clearcheck.author.battery_asked import (
    NAMED_CASES,
    SAID_OF_RESULTS,
    MoreCases,
    in_cases_of,
    more_cases,
    named_finding,
    said_finding,
)
from clearcheck.author.battery_cases import CaseEntry, finding_of_cases
from clearcheck.author.battery_common import COMMON
from clearcheck.author.battery_mask import Mask, later_tokens, unseen_by
from clearcheck.author.battery_sizes import SIZES
from clearcheck.author.battery_torch import TORCH
from clearcheck.grading.compare import Finding
from clearcheck.grading.question import CallStopped, Equals, Holds, NotAnswered

__all__ = ["Mask", "in_cases_of", "later_tokens", "more_cases", "unseen_by", "with_battery"]

FROM_CASES: tuple[CaseEntry, ...] = (*COMMON, *SIZES, *TORCH)
MASK = "mask"
NAMED = tuple(entry.name for entry in NAMED_CASES)
SAID = tuple(entry.name for entry in SAID_OF_RESULTS)
CAN_BE_OFF = (*(entry.name for entry in FROM_CASES), *NAMED, *SAID, MASK)


@dataclass(frozen=True)
class Battery:
    """What a question's author asked for; `off` has pairs of an entry and the reason why it is off."""

    mask: Mask | None = None
    said: frozenset[str] = frozenset()
    more: tuple[tuple[str, MoreCases], ...] = ()
    off: tuple[tuple[str, str], ...] = ()

    def entries_for(self, how: str) -> Iterator[CaseEntry]:
        for entry in FROM_CASES:
            if entry.name not in dict(self.off) and not entry.why_not(how):
                yield entry


@dataclass(frozen=True)
class EqualsWithTries(Equals):
    """A comparison and the tries that belong to it; the `standard` ones are made from the cases of the first check."""

    battery: Battery = Battery()
    standard: bool = False

    def run(self, ask, rng: np.random.Generator) -> Finding | None:
        state = rng.bit_generator.state
        found = super().run(ask, rng)
        if found is None and self.standard:
            found = self._standard(ask, state)
        found = found or named_finding(self, dict(self.battery.more), ask, state)
        return _with_the_mask(self, found, ask, rng)

    def _standard(self, ask, state: Mapping) -> Finding | None:
        for entry in self.battery.entries_for(ask.question.how):
            if found := finding_of_cases(self, entry, ask, state):
                return found
        return said_finding(self, self.battery.said, ask, state)


@dataclass(frozen=True)
class HoldsWithTries(Holds):
    """A property and the mask that belongs to it."""

    battery: Battery = Battery()

    def run(self, ask, rng: np.random.Generator) -> Finding | None:
        return _with_the_mask(self, super().run(ask, rng), ask, rng)


def _with_the_mask(check, found: Finding | None, ask, rng: np.random.Generator) -> Finding | None:
    """A mask that leaks is told where the check fails, too: it is the name of the mistake."""
    mask = check.battery.mask
    if mask is None or mask.check != check.name:
        return found
    try:
        sentence = mask.slip(ask, rng)
    except (NotAnswered, CallStopped):
        raise
    except Exception:
        if found is None:  # with a right result it is the grader's turn to say what came
            raise
        sentence = None
    if sentence is None:
        return found
    return replace(found, message=f"{found.message} {sentence}") if found else Finding(sentence)


def with_battery(
    *checks: Equals | Holds,
    mask: Mask | None = None,
    floats_kept: bool = False,
    new_result: bool = False,
    first_values: bool = False,
    more: Mapping[str, MoreCases] = MappingProxyType({}),
    also: tuple[str, ...] = (),
    off: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Equals | Holds, ...]:
    """The checks of a question with the standard battery.

    `mask` is what `later_tokens` or `unseen_by` gives. `floats_kept`, `new_result` and `first_values` say that the task
    asks for the float type of the arguments, for a result that shares no memory with them, and for the numbers with
    which parameters begin. `more` has "ties", "boundary", "empty", "any shape" and "extremes", each with what
    `more_cases` or `in_cases_of` gives. The first comparison gets the tries that are made from cases, and those named
    in `also`. `off` has the name of each entry that does not suit the task, and why.
    Raises: ValueError where a name is unknown, a reason is missing, or an entry is asked for and off as well.
    """
    said = frozenset(name for name, on in zip(SAID, (floats_kept, new_result, first_values), strict=True) if on)
    battery = Battery(mask, said, tuple(sorted(more.items())), tuple(sorted(off.items())))
    _check_names(battery)
    _check_belonging(battery, checks, also)
    first = next((check for check in checks if isinstance(check, Equals)), None)
    return tuple(_with_tries(check, battery, check is first or check.name in also) for check in checks)


def _check_names(battery: Battery):
    off, more = dict(battery.off), dict(battery.more)
    if unknown := sorted(set(off) - set(CAN_BE_OFF)):
        raise ValueError(f"with_battery: off={unknown} names no entry that can be off: {', '.join(CAN_BE_OFF)} can.")
    if bare := sorted(name for name, why in off.items() if not why.strip()):
        raise ValueError(f"with_battery: off={bare} gives no reason: write why the task has no use for it.")
    if unknown := sorted(set(more) - set(NAMED)):
        raise ValueError(f"with_battery: more={unknown} names no entry that an author draws: {', '.join(NAMED)} are.")
    asked = {*battery.said, *more, *({MASK} if battery.mask else ())}
    if both := sorted(asked & set(off)):
        raise ValueError(f"with_battery: {both} is asked for and off as well.")


def _check_belonging(battery: Battery, checks: tuple, also: tuple[str, ...]):
    names = {check.name for check in checks}
    compared = {check.name for check in checks if isinstance(check, Equals)}
    if battery.mask is not None and battery.mask.check not in names:
        raise ValueError(f'with_battery: the mask belongs to "{battery.mask.check}", which is none of the checks.')
    for what, wanted in (*((name, it.check) for name, it in battery.more), *(("also", name) for name in also)):
        if wanted not in compared:
            raise ValueError(f'with_battery: {what} belongs to "{wanted}", which is no comparison of the question.')


def _with_tries(check: Equals | Holds, battery: Battery, standard: bool) -> Equals | Holds:
    given = {field.name: getattr(check, field.name) for field in fields(check)}
    if isinstance(check, Equals):
        return EqualsWithTries(**given, battery=battery, standard=standard)
    return HoldsWithTries(**given, battery=battery)
