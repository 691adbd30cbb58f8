"""The last result of a check that takes long, kept while the answer and everything that it uses are unchanged.

What an answer uses is looked at by value: the code of functions and classes, numbers, texts, arrays. Where that cannot
be seen, as with an object that may have changed inside, nothing is kept, and the check runs again.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from clearcheck.grading.question import Question
from clearcheck.worker.values import UnsupportedValue, canonical, pack

SLOW = 1.0  # seconds from which a result is kept
UNSEEN = {"globals", "locals", "vars", "eval", "exec", "open", "__import__", "input"}  # what reads more than names tell
PLAIN = (bool, int, float, complex, str, bytes, type(None), range)
WRAPPERS = (staticmethod, classmethod)
OF_EVERY_CLASS = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__"}
OF_EVERY_CLASS |= {"__static_attributes__", "__annotations__"}


class CannotTell(Exception):
    """There is something of which nobody can see whether it has changed."""


class KeptResults:
    """The last result of each question and seed that took long, with the answer that it belongs to."""

    def __init__(self):
        self._kept: dict[tuple[str, int], tuple[tuple, Any]] = {}

    def of(self, question: Question, seed: int, namespace: dict, evaluate: Callable[[], tuple[Any, bool]]) -> Any:
        """What was kept, or what `evaluate` gives now; it also says whether that may be kept."""
        answer = answer_of(question.name, namespace)
        before, value = self._kept.get((question.id, seed), (None, None))
        if answer is not None and answer == before:
            return value
        self._kept.pop((question.id, seed), None)
        began = time.perf_counter()
        value, lasting = evaluate()
        if answer is not None and lasting and time.perf_counter() - began >= SLOW:
            self._kept[question.id, seed] = answer, value
        return value


def answer_of(name: str, namespace: dict) -> tuple | None:
    """All that an answer is made of, to be compared with what it was; None where that cannot be told."""
    try:
        return tuple(_parts_of(name, namespace))
    except (CannotTell, RecursionError):
        return None


def _parts_of(name: str, namespace: dict) -> Iterator[tuple]:
    """The value of this name, and that of every name of the notebook that it uses."""
    waiting, seen = [name], set()
    while waiting:
        one = waiting.pop()
        if one in seen or one not in namespace:
            continue
        seen.add(one)
        used: list[str] = []
        yield one, _fingerprint(namespace[one], namespace, used)
        waiting += used


def _fingerprint(value: Any, namespace: dict, used: list[str]) -> tuple:
    """What a value is, by value; the names of the notebook that its code uses are added to `used`."""
    if isinstance(value, PLAIN):
        return type(value), repr(value)
    if isinstance(value, tuple | list):
        return type(value), tuple(_fingerprint(entry, namespace, used) for entry in value)
    if isinstance(value, FunctionType) and value.__globals__ is namespace:
        return _function(value, namespace, used)
    if isinstance(value, type) and value.__module__ == namespace.get("__name__"):
        return _class(value, namespace, used)
    if isinstance(value, WRAPPERS):
        return type(value), _fingerprint(value.__func__, namespace, used)
    if isinstance(value, property):
        return property, *(_fingerprint(part, namespace, used) for part in (value.fget, value.fset, value.fdel))
    if isinstance(value, ModuleType | type | FunctionType | BuiltinFunctionType):
        return _of_a_library(value)
    return _array(value)


def _of_a_library(value: Any) -> tuple:
    """What is installed stays as it is; a file beside the notebook may be edited and loaded anew."""
    owner = getattr(value, "__self__", None)
    if not isinstance(owner, ModuleType | type | None):  # a method of an object that may have changed
        raise CannotTell
    module = value if isinstance(value, ModuleType) else sys.modules.get(value.__module__ or "")
    path = Path(getattr(module, "__file__", None) or sys.executable).absolute()
    if path.is_relative_to(Path.cwd()) and "site-packages" not in path.parts:
        raise CannotTell
    return value, getattr(value, "__code__", None)


def _array(value: Any) -> tuple:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise CannotTell
    plain = canonical(value)
    if isinstance(plain, UnsupportedValue):
        raise CannotTell
    return type(value), pack((plain,))


def _function(function: FunctionType, namespace: dict, used: list[str], within: type | None = None) -> tuple:
    """Its code, and by value what it holds besides; a method with `super()` holds the class that it stands `within`."""
    names = _names(function.__code__)
    if vars(function) or UNSEEN.intersection(names):
        raise CannotTell
    used += names
    try:
        closed = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        raise CannotTell from None
    held = [*(function.__defaults__ or ()), *closed]
    held += [entry for pair in (function.__kwdefaults__ or {}).items() for entry in pair]
    return function.__code__, *(_fingerprint(value, namespace, used) for value in held if value is not within)


def _class(kind: type, namespace: dict, used: list[str]) -> tuple:
    """Its bases, and all that stands in its body."""
    bases: list = []
    for base in kind.__bases__:
        own = base.__module__ == kind.__module__
        bases.append(base.__name__ if own else base)
        used += [base.__name__] if own else []
    members = [(name, value) for name, value in vars(kind).items() if name not in OF_EVERY_CLASS]
    return kind.__name__, *bases, *((name, _member(value, kind, namespace, used)) for name, value in members)


def _member(value: Any, kind: type, namespace: dict, used: list[str]) -> tuple:
    if isinstance(value, FunctionType) and value.__globals__ is namespace:
        return _function(value, namespace, used, kind)
    return _fingerprint(value, namespace, used)


def _names(code: CodeType) -> list[str]:
    """The names that the code, and what is defined within it, takes from outside."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return [*code.co_names, *(name for one in inner for name in _names(one))]
