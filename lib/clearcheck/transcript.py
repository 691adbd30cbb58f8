"""One call of a function and how it ended, and when two calls ended alike."""

from dataclasses import dataclass

import numpy as np

CLOSE = 1e-9  # relative to the largest magnitude, as `equals` does by default


@dataclass(frozen=True)
class Call:
    """The arguments, and the reply of `calls.call_named`."""

    args: tuple
    reply: dict

    @property
    def value(self):
        return self.reply.get("value")

    @property
    def changed(self) -> list[int]:
        return self.reply.get("changed", [])


def same_reply(a: dict, b: dict) -> bool:
    """Both gave the same value and changed the same arguments, or both raised the same exception and text."""
    if a["kind"] != b["kind"]:
        return False
    if a["kind"] != "value":
        return (a.get("type"), a.get("text")) == (b.get("type"), b.get("text"))
    return a["changed"] == b["changed"] and same_value(a["value"], b["value"])


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
