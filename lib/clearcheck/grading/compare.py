"""Compare canonical values: structure, shape, dtype, finite, value, each with its sentence.

A sentence shows the learner's own value, the index and the size of the difference, never the expected value.
"""

from dataclasses import dataclass

import numpy as np

from clearcheck.grading.describe import ARRAYS, BY_HOW, describe, instead_of, number, places_in_words, situation
from clearcheck.worker.values import UnsupportedValue

KINDS = {"float": "f", "int": "iu", "bool": "b"}
WORDS = {"f": "floating-point", "i": "integer", "u": "integer", "b": "boolean", "c": "complex"}
WHOLE = (
    "a whole number is expected: /, np.ceil and np.floor give floats, // of whole numbers gives a whole one, "
    "and so does int(…) of a float"
)
FEW_KEYS = 10
ABOUT_AS_WRONG = 0.999  # of the largest difference: rounding must not choose among entries that are off alike
AS_FLOAT32 = 1e-6  # shares of the largest entry that are lost by one step in single precision
NUMBER = bool | int | float | np.generic
Where = tuple[str | int, ...]  # a place in a nested result: keys in words, and positions, from outside to inside


@dataclass(frozen=True)
class Finding:
    """Why a check failed; `margin` is the largest difference in units of the tolerance where only values differ."""

    message: str
    margin: float | None = None
    call: int = -1  # the place of the call among those of the check
    slight: bool = False  # whether the values differ by no more than single precision loses
    unlearned: bool = False  # whether a model was trained as it should be, and has not learned enough


@dataclass(frozen=True)
class _Comparison:
    """What every step of one comparison needs to know."""

    args: tuple
    atol: float
    dtype: str | None
    how: str
    parts: tuple = ()

    def sentence(self, where: Where, came: str, expected: str) -> Finding:
        words = BY_HOW[self.how]
        tried = situation(self.args, self.how, self._call(where))
        if where:
            tried = ", ".join([tried.removesuffix(","), *self._in_words(where)]) + ","
        return Finding(f"{tried} {words.subject} {words.returned} {came}; {expected}.")

    def _in_words(self, where: Where) -> list[str]:
        call = self._call(where)
        return places_in_words(where) if call is None else [f"in call {call + 1}", *places_in_words(where[1:])]

    def _call(self, where: Where) -> int | None:
        """Which of several calls of one module is meant; None where there is no list of such."""
        several = where and self.how == "module" and len(self.args[0]["calls"]) > 1
        return where[0] if several and isinstance(where[0], int) else None

    def not_right(self, where: Where, came) -> Finding:
        return self.sentence(where, self.describe(came), "this is not right")

    def describe(self, came) -> str:
        return describe(came, BY_HOW[self.how].array)


def compare(
    came,
    expected,
    args: tuple,
    atol: float = 1e-9,
    dtype: str | None = None,
    how: str = "function",
    parts: tuple = (),
) -> Finding | None:
    """None when `came` equals `expected`, else the first difference in the fixed order of steps.

    With `parts`, keys of a dict or places of a tuple, the values of the others are not looked at.
    """
    return _compare(came, expected, _Comparison(args, atol, dtype, how, parts), ())


def kind_finding(came, args: tuple, how: str = "function") -> Finding | None:
    """Values of a kind that cannot be right whatever they are: no numbers, another library's, or less precise ones."""
    asked = _Comparison(args, 0.0, None, how)
    for value in _leaves(came):
        if isinstance(value, UnsupportedValue) and value.what.startswith(ARRAYS):
            return asked.sentence((), value.what, instead_of(value, f"{BY_HOW[how].array} is expected", how))
        if how == "function" and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            wrong = _precision(value, asked, ())
            if wrong:
                return wrong
    return None


def change_finding(changed: list[int], how: str = "function") -> Finding | None:
    """A function may read its arguments; writing into them changes the caller's data."""
    if not changed:
        return None
    if how == "module":
        return Finding("Your module changed its input in place: compute into a new tensor (`x = x + y`, not `x += y`).")
    plans = how in ("training", "generation")  # one argument that holds those of the learner's function
    *others, last = (str(index + 1) for index in changed)
    which = f"arguments {', '.join(others)} and {last}" if others else f"argument {last}"
    names = "one of its arguments" if plans else f"its {which}"
    new = f"a new {BY_HOW[how].array.split()[-1]}"
    return Finding(
        f"Your function changed {names} in place: compute into {new}, so that the caller's data stays as it was."
    )


def _compare(came, expected, asked: _Comparison, where: Where) -> Finding | None:
    if isinstance(expected, dict):
        return _dicts(came, expected, asked, where)
    if isinstance(expected, tuple | list):
        return _sequences(came, expected, asked, where)
    if isinstance(expected, NUMBER | np.ndarray) and np.ndim(expected) > 0:
        wrong = _structure(came, np.ndarray, asked, where, BY_HOW[asked.how].array)
        return wrong or _arrays(came, expected, asked, where)
    if isinstance(expected, bool) or getattr(expected, "dtype", None) == np.bool_:
        return _truth(came, expected, asked, where)
    if isinstance(expected, NUMBER | np.ndarray):
        return _numbers(came, expected, asked, where)
    kind, name = (str, "a text") if isinstance(expected, str) else (type(None), "None")
    wrong = _structure(came, kind, asked, where, name)
    return wrong or (None if came == expected else asked.not_right(where, came))


def _structure(came, kind, asked: _Comparison, where: Where, name: str) -> Finding | None:
    if isinstance(came, kind):
        return None
    advice = f" ({BY_HOW[asked.how].nothing})" if came is None else ""
    return asked.sentence(where, asked.describe(came), instead_of(came, f"{name} is expected{advice}", asked.how))


def _dicts(came, expected: dict, asked: _Comparison, where: Where) -> Finding | None:
    wrong = _structure(came, dict, asked, where, "a dict")
    if wrong:
        return wrong
    if came.keys() != expected.keys():
        return _keys(came, expected, asked, where)
    place = BY_HOW[asked.how].place
    keys = asked.parts if asked.parts and not where else expected
    findings = (_compare(came[key], expected[key], asked, (*where, place.format(key))) for key in keys)
    return next((finding for finding in findings if finding), None)


def _keys(came: dict, expected: dict, asked: _Comparison, where: Where) -> Finding:
    """Few keys are all named; of many, one that is missing or one that is too much."""
    if len(expected) <= FEW_KEYS:
        keys = ", ".join(map(repr, expected))
        return asked.sentence(where, f"a dict with the keys {list(came)[:FEW_KEYS]}", f"the keys {keys} are expected")
    lacking, surplus = sorted(expected.keys() - came.keys()), sorted(came.keys() - expected.keys())
    misfit = f"the key {lacking[0]!r} is missing" if lacking else f"the key {surplus[0]!r} is not expected"
    return asked.sentence(where, f"a dict of {len(came)}", misfit)


def _sequences(came, expected, asked: _Comparison, where: Where) -> Finding | None:
    name = f"a {type(expected).__name__} of {len(expected)}"
    wrong = _structure(came, tuple | list, asked, where, name)
    if wrong:
        return wrong
    if len(came) != len(expected):
        return asked.sentence(where, asked.describe(came), f"{name} is expected")
    places = asked.parts if asked.parts and not where else range(len(expected))
    findings = (_compare(came[i], expected[i], asked, (*where, i)) for i in places)
    return next((finding for finding in findings if finding), None)


def _truth(came, expected, asked: _Comparison, where: Where) -> Finding | None:
    if not isinstance(came, bool) and (getattr(came, "dtype", None) != np.bool_ or np.ndim(came) > 0):
        return asked.sentence(where, asked.describe(came), "True or False is expected")
    return None if bool(came) == bool(expected) else asked.not_right(where, came)


def _numbers(came, expected, asked: _Comparison, where: Where) -> Finding | None:
    plain = isinstance(came, int | float) and not isinstance(came, bool)
    if not plain and not (isinstance(came, np.ndarray | np.generic) and np.ndim(came) == 0):
        return asked.sentence(where, asked.describe(came), "one number is expected")
    if not plain or asked.dtype == "int":
        wrong = _dtype(np.asarray(came), np.asarray(expected), asked, where, lenient=asked.dtype is None)
        if wrong:
            return wrong
    return _values(np.asarray(came), np.asarray(expected), asked, where) or _whole_number(came, expected, asked, where)


def not_whole(came, expected) -> bool:
    """A float where a whole number is asked for: 36.0 is a sign of / for //, and no longer exact when it is large."""
    return np.asarray(expected).dtype.kind in "iu" and np.asarray(came).dtype.kind == "f"


def both_whole(came: np.ndarray, expected: np.ndarray) -> bool:
    """Counts, ids and truth values, which are equal or not: rounding cannot make two of them differ, however large."""
    return came.dtype.kind in "iub" and expected.dtype.kind in "iub"


def _whole_number(came, expected, asked: _Comparison, where: Where) -> Finding | None:
    if asked.dtype == "float" or not not_whole(came, expected):
        return None
    return asked.sentence(where, f"{float(came)!r}, a float", WHOLE)


def _arrays(came: np.ndarray, expected: np.ndarray, asked: _Comparison, where: Where) -> Finding | None:
    if came.shape != expected.shape:
        transposed = came.ndim > 1 and came.shape == expected.shape[::-1]
        advice = ": yours is the transposed shape" if transposed else ""
        return asked.sentence(where, asked.describe(came), f"the shape {expected.shape} is expected{advice}")
    return _dtype(came, expected, asked, where, lenient=False) or _values(came, expected, asked, where)


def _dtype(came, expected, asked: _Comparison, where: Where, lenient: bool) -> Finding | None:
    kinds = KINDS[asked.dtype] if asked.dtype else ("iu" if expected.dtype.kind in "iu" else expected.dtype.kind)
    if came.dtype.kind not in (kinds + "iuf" if lenient else kinds):
        word = f"{WORDS[kinds[0]]} numbers" if kinds != "b" else "truth values (dtype bool)"
        return asked.sentence(where, f"numbers of dtype {came.dtype}", f"{word} are expected")
    if asked.how != "function":
        fits = came.dtype.kind != "f" or expected.dtype.kind != "f" or came.dtype == expected.dtype
        advice = f"{expected.dtype} is expected, as precise as the arguments"
        return None if fits else asked.sentence(where, f"numbers of dtype {came.dtype}", advice)
    return _precision(came, asked, where)


def _precision(came, asked: _Comparison, where: Where) -> Finding | None:
    given = {np.asarray(value).dtype for value in _leaves(asked.args) if isinstance(value, np.ndarray)}
    if came.dtype.kind == "f" and came.dtype != np.float64 and (not given or np.dtype(np.float64) in given):
        advice = "float64 is expected, as precise as the arguments"
        return asked.sentence(where, f"numbers of dtype {came.dtype}", advice)
    return None


def _values(came: np.ndarray, expected: np.ndarray, asked: _Comparison, where: Where) -> Finding | None:
    if came.dtype == expected.dtype and np.array_equal(came, expected):
        return None
    broken = ~np.isfinite(came) & np.isfinite(expected)
    if broken.any():
        told = _first_index(broken)
        found = f"{number(came[told])}{_wrong_entries(came, broken, told)}"
        return asked.sentence(where, found, "a finite number is expected there")
    finite = np.isfinite(expected)
    largest = float(np.abs(expected[finite]).max(initial=0))
    scale = max(1.0, largest)
    with np.errstate(invalid="ignore", over="ignore"):
        wide = np.complex128 if "c" in came.dtype.kind + expected.dtype.kind else np.float64
        gap = np.abs(came.astype(wide) - expected.astype(wide))
    same = (came == expected) | (np.isnan(came) & np.isnan(expected))
    gap = np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))
    exact = both_whole(came, expected)
    bad = ~same if exact else gap > asked.atol * scale
    if not bad.any():
        return None
    whole = expected.dtype.kind in "iub"  # a difference in whole numbers would give the answer away
    told = _first_index(bad if whole else bad & (gap >= ABOUT_AS_WRONG * gap.max()))
    found = f"{number(came[told])}{_wrong_entries(came, bad, told)}"
    size = "not right" if whole else f"off by {float(gap[told]):.2g}"
    slight = asked.how == "function" and came.dtype == np.float64 and not exact and gap.max() <= AS_FLOAT32 * largest
    margin = float("inf") if exact or not asked.atol else float(gap.max()) / (asked.atol * scale)
    return Finding(asked.sentence(where, found, f"this is {size}").message, margin, slight=slight)


def _wrong_entries(came: np.ndarray, bad: np.ndarray, told: tuple[int, ...]) -> str:
    if came.ndim == 0:
        return ""
    index = ", ".join(map(str, told))
    return f" at index [{index}] ({int(bad.sum())} of {bad.size} entries are wrong)"


def _first_index(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()


def _leaves(value) -> list:
    if isinstance(value, tuple | list):
        return [leaf for entry in value for leaf in _leaves(entry)]
    if isinstance(value, dict):
        return [leaf for entry in value.values() for leaf in _leaves(entry)]
    return [value]
