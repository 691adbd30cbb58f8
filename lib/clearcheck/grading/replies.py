"""One call of a function and how it ended, and when two calls ended alike."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearcheck.grading.coercion import as_array
from clearcheck.grading.compare import both_whole, not_whole
from clearcheck.worker.failing_operation import ON_PURPOSE, shapes_alone
from clearcheck.worker.values import unpack

# Relative to the largest magnitude, as `equals` does by default: for NumPy, and for PyTorch, which is asked in float32.
CLOSE, CLOSE_IN_FLOAT32 = 1e-9, 1e-5
# Slips of the pen: they say nothing about the idea behind an answer, so no mistake is told from them.
SLIPS = {"NameError", "UnboundLocalError", "SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError"}


@dataclass(frozen=True)
class Call:
    """The arguments as they were sent, the reply, and how close values have to be to count as equal, as in `equals`."""

    packed: bytes
    reply: dict
    close: float = CLOSE

    @property
    def value(self):
        return self.reply.get("value")

    @cached_property
    def args(self) -> tuple:
        return unpack(self.packed)

    def raised(self, kind: str) -> bool:
        """Whether it ended in an exception of this class, or of one that is derived from it."""
        bases = self.reply.get("bases")
        return self.reply["kind"] == "raised" and kind in (self.reply["type"], *(bases if type(bases) is list else ()))

    @property
    def changed(self) -> list[int]:
        return self.reply.get("changed", [])

    @property
    def held(self) -> int:
        """The most bytes that the answer held at once; 0 where that was not measured."""
        return self.reply.get("held", 0)


def same_reply(a: dict, b: dict, close: float = CLOSE, parts: tuple = ()) -> bool:
    """Both gave the same value and changed the same arguments, or both failed in the same way.

    With `parts`, keys of a dict or places of a tuple, the values are compared there alone.
    """
    if a["kind"] != b["kind"]:
        return False
    if a["kind"] == "raised":
        return same_error(a, b)
    if a["kind"] != "value":
        return (a.get("type"), a.get("text")) == (b.get("type"), b.get("text"))
    return a["changed"] == b["changed"] and same_value(_parts(a["value"], parts), _parts(b["value"], parts), close)


def _parts(value, parts: tuple):
    """These parts of a value, and all of it where it has not all of them."""
    if parts and isinstance(value, dict):
        return {part: value[part] for part in parts} if value.keys() >= set(parts) else value
    if parts and isinstance(value, tuple | list):
        known = all(type(part) is int and part < len(value) for part in parts)
        return [value[part] for part in parts] if known else value
    return value


def same_error(a: dict, b: dict) -> bool:
    """The same exception out of the same operation on the same shapes; the names in it may differ.

    A message alone is not enough: "size 5 is different from 7" fits every product in which these two sizes meet.
    """
    one, other = a.get("operation", ""), b.get("operation", "")
    if shapes_alone(one):  # libraries have their own words, and types, for the same
        return one == other
    if a["type"] != b["type"] or a["type"] in SLIPS:
        return False
    if one == other == ON_PURPOSE:  # in words of their own, but where both give figures they speak of the same
        figures, others = _figures(a["text"]), _figures(b["text"])
        return figures <= others or others <= figures
    if one and other:
        return (one, a["text"]) == (other, b["text"])
    return (one, a["text"], a["line"]) == (other, b["text"], b["line"])


def _figures(text: str) -> set[str]:
    """The numbers in a message, as plain digits: 1,024 and 1_024 are 1024."""
    return {re.sub("[,_]", "", found) for found in re.findall(r"\b\d+(?:[,_]\d{3})*(?:\.\d+)?\b", text)}


def same_value(a, b, close: float = CLOSE) -> bool:
    """Equal structure, dtype and shape, and entries equal up to rounding; a list may stand for an array.

    Where `a` is the whole number 36, 36.0 is another value: a check may have refused it for that alone.
    """
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        a, b = (as_array(x) if isinstance(x, tuple | list) else x for x in (a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _close(a, b, close)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key], close) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same_value(one, other, close) for one, other in zip(a, b, strict=True))
    if _is_number(a) and _is_number(b):
        return not not_whole(b, a) and _close(np.asarray(a), np.asarray(b), close)
    return type(a) is type(b) and a == b


def _is_number(value) -> bool:
    return isinstance(value, int | float | np.generic) and not isinstance(value, bool | np.bool_)


def _close(a: np.ndarray, b: np.ndarray, close: float) -> bool:
    if both_whole(a, b) or not a.size:
        return bool((a == b).all())
    if a.dtype == b.dtype == np.float32:
        close = max(close, CLOSE_IN_FLOAT32)
    if a.dtype.kind == b.dtype.kind == "f":  # most of what is compared; many times faster than allclose
        with np.errstate(all="ignore"):
            apart, largest = np.abs(a - b).max(), np.abs(b).max()
        if np.isfinite(apart):
            return bool(apart <= close * max(1.0, float(largest)))
    finite = np.abs(b[np.isfinite(b)])
    return np.allclose(a, b, rtol=0, atol=close * max(1.0, float(finite.max(initial=0))), equal_nan=True)
