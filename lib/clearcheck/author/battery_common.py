"""The entries of the battery for every question: a second call, a row of a batch, whole numbers of every type."""

from collections.abc import Iterator
from inspect import Parameter, signature

import numpy as np

from clearcheck.author.battery_cases import Case, CaseEntry, Source
from clearcheck.worker.values import pack

ROWS = 3  # so many rows of a batch are given alone
SMALL_IDS = (np.uint8, np.int16, np.int32)  # that of int64 is the author's own


def _called_again(source: Source, args: Case) -> list[Case]:
    """A case, other numbers of the same shapes, the case again; a module also after its weights were changed."""
    if source.how == "module":
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


def _rows_alone(source: Source, args: Case) -> list[Case]:
    """Each of the first rows of a batch as a batch of one."""
    if source.how == "module":
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


def _small_ids(source: Source, args: Case) -> list[Case]:
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


def _left_out(source: Source, args: Case) -> list[Case]:
    """The case without what has a default value in the reference, one more left out each time."""
    having = [name for name, it in signature(source.reference).parameters.items() if it.default is not Parameter.empty]
    cases = _sizes_left_out(args[0], having) if source.how == "module" else _last_left_out(source, args, having)
    return [case for case in cases if source.answers(case)]


def _last_left_out(source: Source, args: Case, having: list[str]) -> list[Case]:
    needed = len(signature(source.reference).parameters) - len(having)
    return [args[:given] for given in range(needed, len(args))]


def _sizes_left_out(plan: dict, having: list[str]) -> list[Case]:
    if plan["gives"] != "output":
        return []
    left_out = [[name for name in plan["sizes"] if name == gone] for gone in having]
    given = [{name: size for name, size in plan["sizes"].items() if name not in gone} for gone in left_out if gone]
    return [({**plan, "sizes": sizes},) for sizes in given]


COMMON = (
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
    CaseEntry(
        "defaults",
        ("function", "tensors", "module"),
        "what a loop and a text get is always given",
        "its reference has no default value that can be left out",
        "Where the caller leaves out what has a default value, the one that the task names should hold.",
        _left_out,
    ),
)
