"""Numbers and functions that a user passes: each is looked at once, where it comes in, and refused with a sentence."""

import reprlib
from collections.abc import Callable
from numbers import Real
from operator import index

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def check_whole(caller: str, name: str, value, least: int = 1, most: int | None = None) -> int:
    """``value`` as a Python int, also of NumPy or torch.

    Raises: TypeError for what is no whole number, and for True and False; ValueError outside ``least`` to ``most``.
    """
    expected = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {type(value).__name__}, expected {expected}.")
    if number < least or (most is not None and number > most):
        raise ValueError(f"{caller}: {name}={number}, expected {expected}.")
    return number


def check_real(caller: str, name: str, value, fits: Callable[[float], bool], expected: str) -> float:
    """``value`` as a Python float, also of NumPy or torch, if it ``fits`` what is ``expected``, such as "above 0".

    Raises: TypeError for what is no real number, and for True and False; ValueError for one that does not fit.
    """
    single = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    number = value.item() if single else value
    if isinstance(number, bool) or not isinstance(number, Real):
        kind = type(value).__name__
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {kind}, expected a number, {expected}.")
    if not fits(float(number)):
        raise ValueError(f"{caller}: {name}={number}, expected {expected}.")
    return float(number)


def check_flag(caller: str, name: str, value) -> bool:
    """``value`` as it is. Raises: TypeError unless it is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {type(value).__name__}, expected True or False.")
    return value


def check_callable(caller: str, name: str, value, example: str):
    """``value`` as it is. Raises: TypeError unless it can be called."""
    if not callable(value):
        raise TypeError(
            f"{caller}: {name}={shorten(value)} is of type {type(value).__name__}, expected something to call, "
            f"such as {example}."
        )
    return value


def shorten(value) -> str:
    """What a message repeats of a value: its beginning, on one line."""
    return " ".join(_SHORT.repr(value).split())
