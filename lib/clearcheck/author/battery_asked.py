"""The entries of the battery that a question asks for by a word, since only its task can tell whether they hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from clearcheck.author.battery_cases import finding_of_more, generator_at
from clearcheck.author.subject import leaves
from clearcheck.grading.compare import Finding
from clearcheck.grading.describe import situation
from clearcheck.grading.question import Equals
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import call_named
from clearcheck.worker.values import pack


@dataclass(frozen=True)
class MoreCases:
    """The cases with which a check tries an entry: `draw(rng)` gives them; without it the check's own have it."""

    check: str
    draw: Callable[[np.random.Generator], list[tuple]] | None = None


def more_cases(check: str, draw: Callable[[np.random.Generator], list[tuple]]) -> MoreCases:
    """The check of this name is also asked for the cases that `draw(rng)` gives, against its reference."""
    return MoreCases(check, draw)


def in_cases_of(check: str) -> MoreCases:
    """The cases of the check of this name have it already."""
    return MoreCases(check)


@dataclass(frozen=True)
class NamedCases:
    """An entry whose cases the author draws; what it `says` comes before what came of the first failure."""

    name: str
    says: str
    off: str  # why it is off where nothing of the kind is seen in the question


@dataclass(frozen=True)
class SaidOfResult:
    """An entry that a question asks for by True: what the task says of every result, and why it is else off."""

    name: str
    hows: tuple[str, ...]
    unfit: str
    off: str
    finding: Callable[[Equals, object, Mapping], Finding | None]


NAMED_CASES = (
    NamedCases(
        "ties",
        "Among equal ones the first should decide, however many they are (a sort has to be stable).",
        "nothing is chosen among equals",
    ),
    NamedCases(
        "boundary",
        "What lies exactly on a limit that the task names should count as it says (< is not ≤).",
        "the task names no limit",
    ),
    NamedCases("empty", "Where there is nothing, the task says what comes out.", "the task does not speak of nothing"),
    NamedCases(
        "any shape",
        "The task says any shape: one with four axes, or without an entry, too.",
        "the task names the axes of its arguments",
    ),
    NamedCases(
        "extremes",
        "The task names or allows such values, though they are rare.",
        "its checks draw whatever the task names",
    ),
)


def named_finding(check: Equals, more: Mapping[str, MoreCases], ask, state: Mapping) -> Finding | None:
    """What the learner's code makes of the cases that the author draws for this check."""
    for entry in NAMED_CASES:
        asked = more.get(entry.name)
        if asked is None or asked.check != check.name or asked.draw is None:
            continue
        if found := finding_of_more(check, asked.draw, entry.says, ask, generator_at(state)):
            return found
    return None


def _floats_kept(check: Equals, ask, state: Mapping) -> Finding | None:
    """In single precision the result has single precision, too."""
    args = check.cases(generator_at(state))[0]
    single = tuple(_in_single_precision(value) for value in args)
    came = ask(*single)
    wide = [array.dtype for array in leaves(came) if array.dtype.kind == "f" and array.dtype != np.float32]
    if not wide:
        return None
    tried = situation(ask.calls[-1].args, ask.question.how)
    return Finding(
        f"{tried} your function returned numbers of dtype {wide[0]} for arguments of float32; the task asks for "
        "the type of the arguments: an array that you make yourself needs `dtype=`."
    )


def _in_single_precision(value):
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    return value


def _new_result(check: Equals, ask, state: Mapping) -> Finding | None:
    """The result of no call holds memory of an argument."""
    for place, call in enumerate(ask.calls):
        if shared := call.reply.get("shared"):
            tried = situation(call.args, ask.question.how)
            return Finding(
                f"{tried} your result shares its memory with argument {shared[0] + 1}, so that whoever changes one "
                "changes the other; the task asks for a new one: a slice or a transpose needs a copy.",
                call=place,
            )
    return None


def _first_values(check: Equals, ask, state: Mapping) -> Finding | None:
    """Parameters begin with the numbers that the reference gives them, or with others for each seed."""
    (plan,) = check.cases(generator_at(state))[0]
    plans = [{**plan, "weights": None, "calls": [], "gives": "values", "seed": seed} for seed in (0, 1)]
    expected = [_values_of(check.reference, one) for one in plans]
    came = [ask(one) for one in plans]
    for name, value in expected[0].items():
        fixed = np.array_equal(value, expected[1][name])
        if not all(isinstance(values.get(name), np.ndarray) for values in came):
            return Finding(f"Your module has no parameter `{name}`.")
        if fixed and not all(np.array_equal(values[name], value) for values in came):
            return Finding(f"The parameter `{name}` does not begin with the numbers that the task names.")
        if not fixed and np.array_equal(came[0][name], came[1][name]):
            return Finding(f"The parameter `{name}` begins with the same numbers each time; it should be drawn anew.")
    return None


def _values_of(reference: Callable, plan: dict) -> dict[str, np.ndarray]:
    asked = CallRequest("reference", seconds=60.0, how="module")
    return call_named({"reference": reference}, asked, pack(asked.arguments_to_send((plan,))))["value"]


SAID_OF_RESULTS = (
    SaidOfResult(
        "floats kept",
        ("function",),
        "PyTorch is always asked in float32, and every comparison asks for it",
        "the task does not say which float type its result has",
        _floats_kept,
    ),
    SaidOfResult(
        "new result",
        ("function", "tensors"),
        "a module, a loop and a text may hand on what they got",
        "the task does not say that its result is new, so that it may share its memory with an argument",
        _new_result,
    ),
    SaidOfResult(
        "first values",
        ("module",),
        "there is no module whose parameters begin with something",
        "the task does not say with which numbers its parameters begin",
        _first_values,
    ),
)


def said_finding(check: Equals, asked: frozenset[str], ask, state: Mapping) -> Finding | None:
    """Whether what the task says of every result holds."""
    for entry in SAID_OF_RESULTS:
        before = len(ask.calls)
        if entry.name in asked and (found := entry.finding(check, ask, state)):
            return found if found.call >= 0 else replace(found, call=before)
    return None
