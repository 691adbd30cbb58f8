"""The entries of the battery that are made from the cases of a question's first comparison.

Each turns a case into others, which the reference answers as it does the author's.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from clearcheck.author.subject import leaves
from clearcheck.grading.compare import Finding
from clearcheck.grading.describe import situation
from clearcheck.grading.question import Equals
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.values import pack

ROWS = 3  # so many rows of a batch are given alone
SMALL_IDS = (np.uint8, np.int16, np.int32)  # that of int64 is the author's own
Case = tuple


@dataclass(frozen=True)
class CaseEntry:
    """More cases, made from those that an author draws; what is `said` comes before what came of the first failure."""

    name: str
    hows: tuple[str, ...]
    unfit: str  # why it is off for other questions
    nothing: str  # why it is off where no case gives others
    says: str
    derive: Callable[[str, Case], list[Case]]

    def why_not(self, how: str) -> str:
        return "" if how in self.hows else self.unfit


@dataclass(frozen=True)
class DerivedCases:
    """The cases of an entry as `Equals` draws them: two of the same question are equal, and kept together."""

    check: Equals
    entry: CaseEntry
    asked: CallRequest

    def __call__(self, rng: np.random.Generator) -> list[Case]:
        return derived_cases(self.check, self.entry, self.asked, rng.bit_generator.state)


def derived_cases(check: Equals, entry: CaseEntry, asked: CallRequest, state: Mapping) -> list[Case]:
    """The first cases that come of one of the author's; none where no case has what the entry deals with."""
    return _derived_cases(check.cases, entry, asked.how, json.dumps(state))


@lru_cache(maxsize=512)
def _derived_cases(cases: Callable, entry: CaseEntry, how: str, state: str) -> list[Case]:
    drawn = cases(_generator(json.loads(state)))
    return next((more for args in drawn if (more := entry.derive(how, args))), [])


def _generator(state: Mapping) -> np.random.Generator:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng


def finding_of_cases(check: Equals, entry: CaseEntry, ask, state: Mapping) -> Finding | None:
    """What the learner's code makes of the cases of an entry; None as well where it has none."""
    asked = ask.question.call_request
    if not derived_cases(check, entry, asked, state):
        return None
    before = len(ask.calls)
    cases = DerivedCases(check, entry, asked)
    more = Equals(check.name, check.points, cases, check.reference, check.atol, check.dtype, check.parts)
    found = more.run(ask, _generator(state))
    return found and replace(found, message=f"{entry.says} {found.message}", call=before + max(found.call, 0))


class FloatsKept:
    """In single precision the result has single precision, too."""

    @staticmethod
    def finding(check: Equals, ask, state: Mapping) -> Finding | None:
        args = check.cases(_generator(state))[0]
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


def _called_again(how: str, args: Case) -> list[Case]:
    """A case, other numbers of the same shapes, the case again; a module also after its weights were changed."""
    if how == "module":
        return _module_called_again(args[0])
    turned = tuple(_turned(value) for value in args)
    return [args, turned, args] if pack(turned) != pack(args) else []


def _module_called_again(plan: dict) -> list[Case]:
    first = plan["calls"][0] if plan["calls"] else ()
    other = tuple(value[::-1].copy() if _is_batch(value, first) else value for value in first)
    if plan["gives"] != "output" or plan["weights"] is None or pack(other) == pack(first):
        return []
    quiet = {**plan, "training": False}
    return [({**quiet, "calls": [first, other, first]},), ({**quiet, "calls": [first, other], "gives": "changed"},)]


def _is_batch(value, inputs: tuple) -> bool:
    """Whether its first axis is that of the first input."""
    return isinstance(value, np.ndarray) and value.ndim > 1 and len(value) == len(inputs[0])


def _turned(value):
    """Its numbers in another order, each of which was there before."""
    return value[::-1].copy() if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind == "f" else value


def _rows_alone(how: str, args: Case) -> list[Case]:
    """Each of the first rows of a batch as a batch of one."""
    if how == "module":
        return [({**args[0], "calls": [row], "training": False},) for row in _rows_of_module(args[0])]
    batches = [value for value in args if isinstance(value, np.ndarray) and value.ndim > 2]
    sizes = {len(value) for value in batches}
    if len(sizes) != 1 or sizes == {1}:
        return []
    (size,) = sizes
    return [_row(args, size, row) for row in range(min(ROWS, size))]


def _rows_of_module(plan: dict) -> Iterator[Case]:
    first = plan["calls"][0] if plan["calls"] else ()
    alone = plan["gives"] != "output" or plan["weights"] is None or len(plan["calls"]) != 1
    if alone or not first or len(first[0]) == 1 or not all(_is_batch(value, first) for value in first):
        return
    for row in range(min(ROWS, len(first[0]))):
        yield tuple(value[row : row + 1] for value in first)


def _row(args: Case, size: int, row: int) -> Case:
    return tuple(
        value[row : row + 1].copy() if isinstance(value, np.ndarray) and value.ndim and len(value) == size else value
        for value in args
    )


def _small_ids(how: str, args: Case) -> list[Case]:
    """The same whole numbers in each narrower type that holds them."""
    return [tuple(_as_ids(value, kind) for value in args) for kind in SMALL_IDS if _fit(args, kind)]


def _fit(args: Case, kind: type) -> bool:
    ids = [value for value in args if _is_ids(value)]
    limits = np.iinfo(kind)
    return bool(ids) and all(limits.min <= value.min() and value.max() <= limits.max for value in ids)


def _as_ids(value, kind: type):
    return value.astype(kind) if _is_ids(value) else value


def _is_ids(value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.int64 and value.size > 0


FROM_CASES = (
    CaseEntry(
        "called again",
        ("function", "tensors", "module"),
        "a loop is called with what it changes, and a text is drawn",
        "none of its cases has other numbers in another order",
        "Called once more, with other numbers of the same shapes or after its weights were changed, your answer is "
        "another than when it is called for the first time: nothing may be kept from one call to the next.",
        _called_again,
    ),
    CaseEntry(
        "rows of a batch",
        ("function", "tensors", "module"),
        "a loop and a text are not asked for row by row",
        "its arguments have no axis of a batch",
        "A row of the batch, given alone, should get what it gets among others.",
        _rows_alone,
    ),
    CaseEntry(
        "ids",
        ("function",),
        "PyTorch's own functions, such as gather, ask for int64",
        "no argument is an array of whole numbers",
        "Whole numbers may come in any integer type, from uint8 to int64, and should give the same.",
        _small_ids,
    ),
)
