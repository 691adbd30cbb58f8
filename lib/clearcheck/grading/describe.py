"""Values in the words of a message: kinds and shapes, and no long arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from clearcheck.worker.values import UnsupportedValue

NOT_NUMBERS = ("an array", "a torch tensor")  # how `worker.values` begins to name those that cannot cross
ARRAYS = (*NOT_NUMBERS, "a NumPy array")
SHORT = 60  # characters of an argument that a sentence shows in full


@dataclass(frozen=True)
class Wording:
    """What sentences call the learner's code and its values, by how a question drives it."""

    defined: str = "function"  # what the learner is asked to define
    subject: str = "your function"
    returned: str = "returned"
    array: str = "a tensor"
    place: str = "under the key {!r}"  # of a part of a dict
    nothing: str = "does the function end with `return`?"  # advice where None came


BY_HOW = {
    "function": Wording(array="an array"),
    "tensors": Wording(),
    "module": Wording(
        defined="class",
        subject="your module",
        returned="gave",
        place="in the gradient of `{}`",
        nothing="does `forward` end with `return`?",
    ),
    "training": Wording(),
    "generation": Wording(),
}


def describe(value, array: str = "an array") -> str:
    """A value in a few words."""
    if isinstance(value, UnsupportedValue):
        return value.what
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{array} of shape {value.shape}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict of {len(value)}"
    if isinstance(value, np.ndarray | np.generic | float) and not isinstance(value, bool):
        return number(value)
    return repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "…"


def instead_of(came, expected: str, how: str) -> str:
    """What is expected, said of numbers where an array came whose numbers cannot be compared."""
    if isinstance(came, UnsupportedValue) and came.what.startswith(NOT_NUMBERS):
        precise = "float64" if how == "function" else "float32"
        return f"numbers of dtype {precise}, whole numbers or truth values are expected"
    return expected


def places_in_words(where: Sequence[str | int]) -> list[str]:
    """The places, from outside to inside: "at position 1"; of several in a row "at position [1][0]", as in Python."""
    told: list[str] = []
    for key, steps in groupby(where, lambda step: isinstance(step, str)):
        some = [str(step) for step in steps]
        told += some if key else [f"at position {some[0] if len(some) == 1 else ''.join(f'[{i}]' for i in some)}"]
    return told


CHANGED = ", called again after its weights were changed,"


def situation(args: tuple, how: str = "function", call: int | None = None) -> str:
    """What was tried: "For arguments of shapes (5, 7) and (7,)", "With d_model=8 and a tensor of shape (2, 5, 8)".

    Of several calls of one module, `call` is the one that is meant.
    """
    if how == "module":
        return _describe_module_call(args[0], call or 0)
    array = BY_HOW[how].array
    if how == "generation":
        told = [describe_argument(value, array) for value in args[0]["arguments"]]
        return f"For the arguments ({', '.join(['the model', *told])})"
    planned = how == "training" or (how == "tensors" and is_plan(args))
    return f"For {describe_arguments(args[0]['arguments'] if planned else args, array)}"


def is_plan(args: tuple) -> bool:
    """Whether these are the arguments of a function and what is asked of it besides its result (`tensors_call`)."""
    return len(args) == 1 and isinstance(args[0], dict) and "arguments" in args[0]


def _describe_module_call(plan: dict, call: int) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in plan["sizes"].items())
    inputs = _inputs(plan["calls"][call]) if plan["calls"] else []
    told = " and ".join(filter(None, [sizes, ", ".join(inputs)]))
    when = ", in train() mode" if plan["training"] else ""
    last = CHANGED if plan["gives"] == "changed" else "," if when else ""
    return f"With {told or 'no arguments'}{when}{last}"


def _inputs(values: tuple) -> list[str]:
    if len(values) > 1 and all(isinstance(value, np.ndarray) and value.ndim for value in values):
        return [f"tensors of shapes {_shapes(values)}"]
    return [describe(value, "a tensor") for value in values]


def _shapes(arrays: tuple) -> str:
    *others, last = (str(array.shape) for array in arrays)
    return f"{', '.join(others)} and {last}" if others else last


def describe_arguments(args: tuple, array: str = "an array") -> str:
    """The arguments by their shapes: "arguments of shapes (5, 7) and (7,)"."""
    if args and all(isinstance(value, np.ndarray) for value in args):
        return f"arguments of shapes {_shapes(args)}" if len(args) > 1 else f"an argument of shape {_shapes(args)}"
    told = ", ".join(describe_argument(value, array) for value in args)
    return f"the arguments ({told})" if args else "a call without arguments"


def describe_argument(value, array: str) -> str:
    """A short list, tuple or dict in full, and the beginning of a long list or tuple."""
    if not isinstance(value, tuple | list | dict):
        return describe(value, array)
    if len(value) <= SHORT and len(written := _python_text(value, array)) <= SHORT:
        return written
    entries = [] if isinstance(value, dict) else [_python_text(entry, array) for entry in value[:SHORT]]
    lengths = accumulate(len(entry) + 2 for entry in entries)
    begin = ", ".join(entry for entry, length in zip(entries, lengths, strict=True) if length <= SHORT)
    return f"{describe(value, array)}: {begin}, …" if begin else describe(value, array)


def _python_text(value, array: str) -> str:
    """As Python writes it, with an array by its shape and NumPy's numbers as plain ones."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_python_text(entry, array)}' for key, entry in value.items())}}}"
    if isinstance(value, tuple | list):
        inside = ", ".join(_python_text(entry, array) for entry in value)
        single = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{single})"
    return describe(value, array)


def number(value) -> str:
    return f"{value:.4g}" if np.asarray(value).dtype.kind in "fc" else str(value)
