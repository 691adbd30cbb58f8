"""What the numbers of a wrong result show by themselves, where it equals no known mistake of its question."""

from collections.abc import Iterator

import numpy as np

from clearcheck.grading.coercion import coerce_like
from clearcheck.grading.diagnose import Diagnosis
from clearcheck.grading.misfits import why_shapes_misfit
from clearcheck.grading.pair import Pair
from clearcheck.grading.question import Equals, Question
from clearcheck.grading.relations import relation_of
from clearcheck.grading.replies import Call

MOST_ENTRIES = 100_000  # of one result
ELSEWHERE = "With other arguments of this check your answer raises an error. "


class _NotComparable(Exception):
    """There is no result, or one of another structure than the right one."""


def see(question: Question, check: Equals, calls: list[Call], rng: np.random.Generator) -> Diagnosis | None:
    """The relation in which all wrong results of a check stand to the right ones, if they do; or why shapes forbid what
    the answer does with them.
    """
    cases = check.results(rng, question.call_request)
    if misfit := _misfit(question, check, calls, cases):
        return Diagnosis("shapes", misfit, question.section, raised=True, seen=True)
    if len(calls) != len(cases):
        return None
    pairs: list[Pair] = []
    try:
        for call, (args, right) in zip(calls, cases, strict=True):
            pairs += _wrong_parts(question, check, call, args, right)
    except _NotComparable:
        return None
    relation = relation_of(pairs)
    if relation is None:
        return None
    return Diagnosis(relation.name, relation.sentence, question.section, seen=True)


def _misfit(question: Question, check: Equals, calls: list[Call], cases: list[tuple[tuple, object]]) -> str:
    """Why shapes forbid what the answer does, where all errors have one reason; the first of them may not be what the
    check tells, since a wrong result came before.
    """
    raised = [number for number, call in enumerate(calls) if call.reply["kind"] == "raised"]
    reasons = {why_shapes_misfit(calls[number].reply.get("operation", ""), question.how) for number in raised}
    if len(reasons) != 1:
        return ""
    for call, (args, right) in zip(calls[: raised[0]], cases, strict=False):
        came = coerce_like(call.value, right, [])
        if call.reply["kind"] != "value" or check.finding(came, right, args, question.how):
            return f"{ELSEWHERE}{reasons.pop()}" if reasons != {""} else ""
    return reasons.pop()


def _wrong_parts(question: Question, check: Equals, call: Call, args: tuple, right) -> Iterator[Pair]:
    if call.reply["kind"] != "value" or call.changed:
        raise _NotComparable
    came = coerce_like(call.value, right, [])
    if check.finding(came, right, args, question.how) is None:
        return
    given, sizes = _arguments(question, args)
    for one, other in _parts(came, right, check.parts):
        if check.finding(one, other, args, question.how) if not check.parts else not _equal(one, other):
            yield Pair(one, other, given, sizes)


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return Pair(one, other).same(one, other)


def _parts(came, right, parts: tuple = ()) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The arrays and numbers of both, side by side; of those that are asked for."""
    if isinstance(right, dict) and isinstance(came, dict) and came.keys() == right.keys():
        for key in parts or right:
            yield from _parts(came[key], right[key])
    elif isinstance(right, tuple | list) and isinstance(came, tuple | list) and len(came) == len(right):
        for place in parts or range(len(right)):
            yield from _parts(came[place], right[place])
    elif all(isinstance(value, np.ndarray | np.generic | int | float) for value in (came, right)):
        one, other = np.asarray(came), np.asarray(right)
        if max(one.size, other.size) > MOST_ENTRIES:
            raise _NotComparable
        yield one, other
    else:
        raise _NotComparable


def _arguments(question: Question, args: tuple) -> tuple[list[np.ndarray], dict[str, int]]:
    """The arrays among the arguments, and the sizes by the letters or the names that the task gives them."""
    if question.how == "module":
        (plan,) = args
        inputs = [x for x in (plan["calls"][0] if plan["calls"] else ()) if isinstance(x, np.ndarray)]
        return inputs, {name: size for name, size in plan["sizes"].items() if type(size) is int}
    inputs = [x for x in args if isinstance(x, np.ndarray)]
    named = question.inputs.sizes if question.inputs else None
    return inputs, named(*args) if named else {}
