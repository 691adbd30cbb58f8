"""One call of a function and how it ended, and when two calls ended alike."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearcheck.fault import ON_PURPOSE, PRODUCT
from clearcheck.values import pack

CLOSE = 1e-9  # relative to the largest magnitude, as `equals` does by default
# Slips of the pen: they say nothing about the idea behind an answer, so no mistake is told from them.
SLIPS = {"NameError", "UnboundLocalError", "SyntaxError", "IndentationError", "ImportError", "ModuleNotFoundError"}


@dataclass(frozen=True)
class Call:
    """The arguments, and the reply of `calls.call_named`."""

    args: tuple
    reply: dict

    @property
    def value(self):
        return self.reply.get("value")

    @cached_property
    def packed(self) -> bytes:
        """The arguments as they are sent: kept, since every known mistake is called with them."""
        return pack(self.args)

    @property
    def changed(self) -> list[int]:
        return self.reply.get("changed", [])


def same_reply(a: dict, b: dict) -> bool:
    """Both gave the same value and changed the same arguments, or both failed in the same way."""
    if a["kind"] != b["kind"]:
        return False
    if a["kind"] == "raised":
        return same_error(a, b)
    if a["kind"] != "value":
        return (a.get("type"), a.get("text")) == (b.get("type"), b.get("text"))
    return a["changed"] == b["changed"] and same_value(a["value"], b["value"])


def same_error(a: dict, b: dict) -> bool:
    """The same exception out of the same operation on the same shapes; names and spelling may differ.

    A message alone is not enough: "size 5 is different from 7" fits every product in which these two sizes meet.
    """
    if a["type"] != b["type"] or a["type"] in SLIPS:
        return False
    one, other = a.get("operation", ""), b.get("operation", "")
    if not one or not other:  # not to be told, so nothing less than the same line will do
        return (one, a["text"], a["line"]) == (other, b["text"], b["line"])
    # A product has a message of its own in each spelling, and who raises on purpose writes a message of their own.
    told = one == ON_PURPOSE or one.startswith(f"{PRODUCT} ")
    return one == other and (told or _without_labels(a["text"]) == _without_labels(b["text"]))


def _without_labels(text: str) -> str:
    """A message without the letters that einsum repeats."""
    return re.sub(r"(?<=label )'\w'", "label", text)


def same_value(a, b) -> bool:
    """Equal structure, dtype and shape, and entries equal up to rounding."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _close(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same_value, a, b))
    if _is_number(a) and _is_number(b):
        return _close(np.asarray(a), np.asarray(b))
    return type(a) is type(b) and a == b


def _is_number(value) -> bool:
    return isinstance(value, int | float | np.generic) and not isinstance(value, bool | np.bool_)


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind == "b":
        return bool((a == b).all())
    finite = np.abs(b[np.isfinite(b)])
    return np.allclose(a, b, rtol=0, atol=CLOSE * max(1.0, float(finite.max(initial=0))), equal_nan=True)
