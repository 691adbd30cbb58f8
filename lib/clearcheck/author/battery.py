"""A standard battery of tries that a question gets by one line, each switched on by what the question deals with.

For example::

    checks=with_battery(
        equals("all tokens", 5, cases, SelfAttention),
        equals("looking back", 4, looking_back, SelfAttention),
        mask=later_tokens("looking back", draw_args, scores="query.weight"),
        off={"ids": "the numbers are counts that are multiplied, and 200 · 200 does not fit into eight bits"},
    ),

A try belongs to a check that the question has, so that points and names stay as they are: the check is passed where
its own cases are right and its tries are, too. `AUTHORING.md` has an example of each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np

from clearcheck.author.battery_cases import FROM_CASES, CaseEntry, FloatsKept, derived_cases, finding_of_cases
from clearcheck.author.battery_mask import Mask, later_tokens, unseen_by
from clearcheck.grading.compare import Finding
from clearcheck.grading.evaluate import generator
from clearcheck.grading.question import CallStopped, Equals, Holds, NotAnswered, Question

__all__ = ["Decision", "Mask", "battery_of", "later_tokens", "unseen_by", "with_battery"]

ALWAYS = "arguments unchanged"
KEPT, MASK = "floats kept", "mask"
CAN_BE_OFF = (*(entry.name for entry in FROM_CASES), KEPT, MASK)
TENSORS = "PyTorch is always asked in float32, and every comparison asks for it"


@dataclass(frozen=True)
class Decision:
    """Whether an entry of the battery is on for a question, and why it is off."""

    name: str
    on: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {'on' if self.on else 'off'}" + (f", {self.why}" if self.why else "")


@dataclass(frozen=True)
class Battery:
    """What a question's author asked for; `off` has pairs of an entry and the reason why it is off."""

    mask: Mask | None = None
    floats_kept: bool = False
    off: tuple[tuple[str, str], ...] = ()

    def entries_for(self, how: str) -> Iterator[CaseEntry]:
        for entry in FROM_CASES:
            if entry.name not in dict(self.off) and not entry.why_not(how):
                yield entry


@dataclass(frozen=True)
class EqualsWithTries(Equals):
    """A comparison and the tries that belong to it; the first check of a question gets those made from its cases."""

    battery: Battery = Battery()
    first: bool = False

    def run(self, ask, rng: np.random.Generator) -> Finding | None:
        state = rng.bit_generator.state
        found = super().run(ask, rng)
        if found is None and self.first:
            found = self._from_cases(ask, state)
        return _with_the_mask(self, found, ask, rng)

    def _from_cases(self, ask, state: Mapping) -> Finding | None:
        for entry in self.battery.entries_for(ask.question.how):
            if found := finding_of_cases(self, entry, ask, state):
                return found
        return FloatsKept.finding(self, ask, state) if self.battery.floats_kept else None


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
    off: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Equals | Holds, ...]:
    """The checks of a question with the standard battery.

    `mask` is what `later_tokens` or `unseen_by` gives. `floats_kept` says that the task asks for the float type of the
    arguments. `off` has the name of each entry that does not suit the task, and why.
    Raises: ValueError where a name is unknown, a reason is missing, or an entry is asked for and off as well.
    """
    if unknown := sorted(set(off) - set(CAN_BE_OFF)):
        raise ValueError(f"with_battery: off={unknown} names no entry that can be off: {', '.join(CAN_BE_OFF)} can.")
    if bare := sorted(name for name, why in off.items() if not why.strip()):
        raise ValueError(f"with_battery: off={bare} gives no reason: write why the task has no use for it.")
    if mask is not None and mask.check not in {check.name for check in checks}:
        raise ValueError(f'with_battery: the mask belongs to "{mask.check}", which is none of the checks.')
    if both := [name for name, asked in ((MASK, mask is not None), (KEPT, floats_kept)) if asked and name in off]:
        raise ValueError(f"with_battery: {both} is asked for and off as well.")
    battery = Battery(mask, floats_kept, tuple(sorted(off.items())))
    first = next((check for check in checks if isinstance(check, Equals)), None)
    return tuple(_with_tries(check, battery, check is first) for check in checks)


def _with_tries(check: Equals | Holds, battery: Battery, first: bool) -> Equals | Holds:
    given = {field.name: getattr(check, field.name) for field in fields(check)}
    if isinstance(check, Equals):
        return EqualsWithTries(**given, battery=battery, first=first)
    return HoldsWithTries(**given, battery=battery)


def battery_of(question: Question, has_mask: bool, seeds: Sequence[int] = (0,)) -> list[Decision]:
    """Each entry of the battery, whether it is on and why it is off; an empty list for a question without one."""
    batteries = [check.battery for check in question.checks if isinstance(check, EqualsWithTries | HoldsWithTries)]
    if not batteries:
        return []
    battery, off = batteries[0], dict(batteries[0].off)
    decisions = [_from_cases(question, entry, off, seeds) for entry in FROM_CASES]
    decisions += [_floats_kept(battery, question.how, off), _mask(battery, has_mask, off)]
    return [*decisions, Decision(ALWAYS, True, "after every call of every check")]


def _from_cases(question: Question, entry: CaseEntry, off: dict, seeds: Sequence[int]) -> Decision:
    check = next((check for check in question.checks if isinstance(check, EqualsWithTries) and check.first), None)
    why = off.get(entry.name) or entry.why_not(question.how)
    if not why and check is None:
        why = "no check compares with a reference"
    elif not why and check is not None:
        states = (generator(question, check.name, seed).bit_generator.state for seed in seeds)
        if not any(derived_cases(check, entry, question.call_request, state) for state in states):
            why = entry.nothing
    return Decision(entry.name, not why, why)


def _floats_kept(battery: Battery, how: str, off: dict) -> Decision:
    if how != "function":
        return Decision(KEPT, True, TENSORS)
    if battery.floats_kept:
        return Decision(KEPT, True)
    return Decision(KEPT, False, off.get(KEPT, "the task does not say which float type its result has"))


def _mask(battery: Battery, has_mask: bool, off: dict) -> Decision:
    if battery.mask is not None:
        return Decision(MASK, True)
    missing = "" if has_mask else "no argument is a mask, and nothing is causal"
    return Decision(MASK, False, off.get(MASK, missing))
