"""Which entries of the battery are on for a question, and why the others are off."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from clearcheck.author.battery import FROM_CASES, MASK, Battery, EqualsWithTries, HoldsWithTries
from clearcheck.author.battery_asked import NAMED_CASES, SAID_OF_RESULTS
from clearcheck.author.battery_cases import CaseEntry, Source, derived_cases
from clearcheck.author.lint_inputs import MASK as MASK_NAME
from clearcheck.author.subject import Subject
from clearcheck.grading.evaluate import generator
from clearcheck.grading.question import Question

ALWAYS = "arguments unchanged"
TIES, BOUNDARY = "ties", "boundary"
CHOOSING = re.compile(r"\b(argmax|argmin|argsort|argpartition|topk|sort|sorted|most_common|key=)\b|\b(max|min)\(.*key=")
OF_SIZES = re.compile(r"arange|range|len\(|shape|size|ndim|\bn\b|\bi\b|\bk\b|\bposition")


@dataclass(frozen=True)
class Decision:
    """Whether an entry of the battery is on for a question, and why it is off."""

    name: str
    on: bool
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {'on' if self.on else 'off'}" + (f", {self.why}" if self.why else "")


def battery_of(question: Question, deals_with: frozenset[str], seeds: Sequence[int] = (0,)) -> list[Decision]:
    """Each entry of the battery, whether it is on and why it is off; an empty list for a question without one.

    An entry that the question `deals_with`, and that is neither on nor off with a reason, is off without a why.
    """
    batteries = [check.battery for check in question.checks if isinstance(check, EqualsWithTries | HoldsWithTries)]
    if not batteries:
        return []
    battery, off = batteries[0], dict(batteries[0].off)
    decisions = [_from_cases(question, entry, off, seeds) for entry in FROM_CASES]
    decisions += [*_named(battery, deals_with, off), *_said(battery, question.how, off)]
    return [*decisions, _mask(battery, deals_with, off), Decision(ALWAYS, True, "after every call of every check")]


def _from_cases(question: Question, entry: CaseEntry, off: dict, seeds: Sequence[int]) -> Decision:
    why = off.get(entry.name) or entry.why_not(question.how)
    checks = [check for check in question.checks if isinstance(check, EqualsWithTries) and check.standard]
    if not why and not checks:
        why = "no check compares with a reference"
    elif not why and not any(
        derived_cases(
            check, entry, Source.of(question, check), generator(question, check.name, seed).bit_generator.state
        )
        for check in checks
        for seed in seeds
    ):
        why = entry.nothing
    return Decision(entry.name, not why, why)


def _named(battery: Battery, deals_with: frozenset[str], off: dict) -> Iterator[Decision]:
    for entry in NAMED_CASES:
        asked = dict(battery.more).get(entry.name)
        if asked is not None:
            kept = "" if asked.draw else f'the cases of "{asked.check}" have it'
            yield Decision(entry.name, True, kept)
        else:
            yield Decision(entry.name, False, off.get(entry.name, "" if entry.name in deals_with else entry.off))


def _said(battery: Battery, how: str, off: dict) -> Iterator[Decision]:
    for entry in SAID_OF_RESULTS:
        if how not in entry.hows:
            yield Decision(entry.name, False, entry.unfit)
        else:
            on = entry.name in battery.said
            yield Decision(entry.name, on, "" if on else off.get(entry.name, entry.off))


def _mask(battery: Battery, deals_with: frozenset[str], off: dict) -> Decision:
    if battery.mask is not None:
        return Decision(MASK, True)
    missing = "" if MASK in deals_with else "no argument is a mask, and nothing is causal"
    return Decision(MASK, False, off.get(MASK, missing))


def deals_with(subject: Subject, question: Question) -> frozenset[str]:
    """The entries that need a word of the author's: a mask among the arguments, a choice or a limit in the answers."""
    sources = [entry.source for entry in subject.right.of(question.id)]
    found = {
        MASK: _has_a_mask(subject, question),
        TIES: any(map(CHOOSING.search, sources)),
        BOUNDARY: any(map(_has_a_limit, sources)),
    }
    return frozenset(name for name, on in found.items() if on)


def _has_a_mask(subject: Subject, question: Question) -> bool:
    """Whether an argument is named as a mask, or a module can be built causal or is called with truth values."""
    if any(subject.named(question, MASK_NAME)):
        return True
    plans = [args[0] for _, args in subject.asked(question) if question.how == "module"]
    return any(plan["sizes"].get("causal") or any(map(_holds_a_mask, plan["calls"])) for plan in plans)


def _holds_a_mask(inputs: tuple) -> bool:
    return any(isinstance(value, np.ndarray) and value.dtype == bool for value in inputs)


def _has_a_limit(source: str) -> bool:
    """Whether values are compared by < or >, not places and sizes, whose neighbours every case has."""
    compared = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)] if source else []
    limits = [node for node in compared if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)]
    return any(not OF_SIZES.search(ast.unparse(node)) for node in limits)
