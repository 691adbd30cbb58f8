"""What a user passes is looked at once, where it comes in: numbers, texts, paths and lists, or a sentence why not."""

import os
import reprlib
from collections.abc import Callable
from numbers import Real
from operator import index
from pathlib import Path

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def check_whole(caller: str, name: str, value, least: int = 1, most: int | None = None) -> int:
    """``value`` as a Python int, also of NumPy or torch; a size that torch traces as it is, for to look at it fixes it.

    Raises: TypeError for what is no whole number, and for True and False; ValueError outside ``least`` to ``most``.
    """
    if type(value).__name__ == "SymInt":
        return value
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
    """``value`` as it is. Raises: TypeError unless it can be called, and for ``len``, ``int`` and the like."""
    if not callable(value) or getattr(value, "__module__", None) == "builtins":
        raise TypeError(
            f"{caller}: {name}={shorten(value)} is of type {type(value).__name__}, expected something to call, "
            f"such as {example}."
        )
    return value


def check_function(caller: str, name: str, value, example: str):
    """As ``check_callable``, but no class: calling it would only make an object. Raises: TypeError."""
    check_callable(caller, name, value, example)
    if isinstance(value, type):
        raise TypeError(
            f"{caller}: {name}={value.__name__} is a class, expected something to call, such as {example}. "
            f"Pass {value.__name__}(...), an object of it."
        )
    return value


def check_text(caller: str, name: str, value, advice: str = "") -> str:
    """``value`` as it is. Raises: TypeError unless it is a ``str``."""
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {kind}, expected str. {advice}".rstrip())
    return value


def check_path(caller: str, name: str, value, what: str) -> Path:
    """``value`` as a path, if it can be one; ``what`` says of which file or folder.

    Raises: TypeError for what is neither text nor a path; ValueError for an empty text, which would be the folder that
    the program happens to be in, and for one with a zero byte.
    """
    try:
        path = os.fspath(value)
    except TypeError:
        path = None
    if not isinstance(path, str):
        kind = type(value).__name__
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {kind}, expected the path of {what}.")
    if not path or "\0" in path:
        raise ValueError(f"{caller}: {name}={shorten(value)} is no path, expected that of {what}.")
    return Path(path)


def check_items(caller: str, name: str, value, expected: str) -> list:
    """The items of ``value`` as a list. Raises: TypeError for a text, and for what has no items."""
    items = None
    if not isinstance(value, str):
        try:
            items = iter(value)
        except TypeError:
            items = None
    if items is None:
        kind = type(value).__name__
        raise TypeError(f"{caller}: {name}={shorten(value)} is of type {kind}, expected {expected}.")
    return list(items)


def check_model(caller: str, value):
    """``value`` as it is. Raises: TypeError unless it is a module of PyTorch, which this file does without."""
    if isinstance(value, type) or not hasattr(value, "named_parameters"):
        raise TypeError(f"{caller}: model={shorten(value)}, expected a torch.nn.Module, such as GPT(config).")
    return value


def shorten(value) -> str:
    """What a message repeats of a value: its beginning, on one line."""
    return " ".join(_SHORT.repr(value).split())
