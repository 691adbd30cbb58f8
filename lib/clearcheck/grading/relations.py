"""How a wrong result stands to the right one, in ways that tell a slip whatever the question: transposed, unscaled, …

`relation_of` looks at all wrong results of a check; one relation has to hold for each of them. Nothing is told of the
right numbers but that relation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clearcheck.grading import partly_right
from clearcheck.grading.pair import FEW, Pair

LARGE = {"f8": 700.0, "f4": 88.0}  # numbers whose exponentials overflow, by the type
MOST_AXES = 4


@dataclass(frozen=True)
class Relation:
    name: str
    sentence: str


def relation_of(pairs: Sequence[Pair]) -> Relation | None:
    """The first relation that holds for all of these."""
    with np.errstate(all="ignore"):
        if any(pair.same(pair.came, pair.right) for pair in pairs):  # their values are not what is wrong
            return None
        for relation in RELATIONS if pairs else ():
            first, *others = ([*relation(pair)] for pair in pairs)
            for sentence in first:
                if all(sentence in told for told in others):
                    return Relation(relation.__name__, sentence)
    return None


def overflow(pair: Pair) -> Iterator[str]:
    if pair.came.shape != pair.right.shape or not pair.floats:
        return
    broken = ~np.isfinite(pair.came) & np.isfinite(pair.right)
    largest = max(
        (float(np.abs(x[np.isfinite(x)]).max(initial=0)) for x in pair.given if x.dtype.kind == "f"), default=0
    )
    if broken.any() and largest > LARGE.get(pair.came.dtype.str[1:], np.inf):
        yield (
            "Your result is nan or inf where the arguments are large: an exponential, or a square, overflows. "
            "Take the largest number away before exp."
        )


def given_back(pair: Pair) -> Iterator[str]:
    for place, argument in enumerate(pair.given, 1):
        if argument.size >= FEW and pair.same(pair.came, argument):
            yield f"Your result is array {place} of the arguments as it came."
    if pair.came.size >= FEW and pair.came.dtype.kind in "fiu" and not pair.came.any() and pair.right.any():
        yield "Your result is 0 everywhere."


def inverted(pair: Pair) -> Iterator[str]:
    if pair.came.dtype.kind == pair.right.dtype.kind == "b" and pair.same(pair.came, ~pair.right):
        yield "True and False are exchanged in your result."


def other_layout(pair: Pair) -> Iterator[str]:
    """The right numbers with their axes in another order, or in the order of a reshape."""
    came, right = pair.came, pair.right
    if came.size != right.size or not pair.telling:
        return
    if came.ndim == right.ndim <= MOST_AXES:
        for order in permutations(range(right.ndim)):
            if order != tuple(range(right.ndim)) and pair.same(came, right.transpose(order)):
                moved = [axis for axis, place in enumerate(order) if axis != place]
                which = f"axes {moved[0]} and {moved[1]} are exchanged" if len(moved) == 2 else "its axes are mixed up"
                yield f"Your result holds the right numbers, and {which}."
    if came.shape != right.shape and pair.same(came.ravel(), right.ravel()):
        yield "Your result holds the right numbers in the right order, and has another shape."


def other_places(pair: Pair) -> Iterator[str]:
    came, right = pair.came, pair.right
    if came.shape != right.shape or came.size < FEW:
        return
    for axis in range(came.ndim):
        if came.shape[axis] > 2:
            if pair.same(came, np.flip(right, axis)):
                yield f"Your result holds the right numbers in the inverse order along axis {axis}."
            ahead, behind = (np.delete(x, place, axis) for x, place in ((right, 0), (right, -1)))
            if pair.same(np.delete(came, -1, axis), ahead) or pair.same(np.delete(came, 0, axis), behind):
                yield f"Your result holds the right numbers one place off along axis {axis}."
    values = np.unique(right)
    if pair.floats and values.size == right.size and pair.same(np.sort(came, axis=None), values):
        yield (
            "Your result holds the right numbers in other places: look for a reshape where axes are to be exchanged, "
            "and at the order of what is joined."
        )


def factor(pair: Pair) -> Iterator[str]:
    """All numbers are off by one factor that has a name."""
    ratio = _ratio(pair)
    if ratio is None:
        return
    for value, sentence in _named_factors(pair.sizes or {}):
        if abs(ratio / value - 1) < 10 * pair.close:
            yield sentence
    if pair.telling:
        yield "All numbers of your result are off by one and the same factor: look for a scale or a count."


def _ratio(pair: Pair) -> float | None:
    if not pair.comparable or not pair.right.any():
        return None
    largest = np.unravel_index(np.abs(pair.right).argmax(), pair.right.shape)
    ratio = float(pair.came[largest] / pair.right[largest])
    return ratio if ratio and pair.same(pair.came, ratio * pair.right) else None


def _named_factors(sizes: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    start = "All numbers of your result are"
    yield -1.0, "All numbers of your result have the wrong sign."
    for letter, n in sizes.items():
        if n > 1:
            yield (
                float(n),
                f"{start} {letter} times too large: a sum where a mean is asked for, or a division left out.",
            )
            yield 1 / n, f"{start} {letter} times too small: a mean where a sum is asked for, or one division too many."
            yield n**0.5, f"{start} √{letter} times too large: look at what is divided by a root."
            yield n**-0.5, f"{start} √{letter} times too small: look at what is divided by a root."
            counted = f"{start} off as if {letter} − 1 were counted in place of {letter}, or the other way round."
            for power in (1, -1, 0.5, -0.5):
                yield (n / (n - 1)) ** power, counted
    for value, log in ((np.log(2), "of base 2"), (np.log(10), "of base 10")):
        yield value, f"{start} off by the factor between the natural logarithm and that {log}."
        yield 1 / value, f"{start} off by the factor between the natural logarithm and that {log}."
    yield 2.0, f"{start} twice as large as they should be."
    yield 0.5, f"{start} half as large as they should be."


def power(pair: Pair) -> Iterator[str]:
    """A function of the right numbers: a root, a logarithm or the like is missing, or one too many."""
    if not pair.comparable or not pair.telling:
        return
    forms: tuple[tuple[Callable, str], ...] = (
        (np.square, "Your numbers are the squares of the right ones: a root is missing."),
        (np.sqrt, "Your numbers are the roots of the right ones: there is a root too many, or a square is missing."),
        (np.exp, "Your numbers are the exponentials of the right ones: a logarithm is missing."),
        (np.log, "Your numbers are the logarithms of the right ones: there is one logarithm too many."),
        (np.reciprocal, "Your numbers are one divided by the right ones."),
        (np.abs, "Your numbers are the right ones without their signs."),
        (lambda right: 1 - right, "Your numbers are one minus the right ones."),
        (lambda right: np.maximum(right, 0), "Your numbers are the right ones, with 0 for those below 0."),
    )
    for function, sentence in forms:
        if pair.same(pair.came, function(pair.right)):
            yield sentence


def amount(pair: Pair) -> Iterator[str]:
    """All numbers are off by one amount, or by an argument."""
    came, right = pair.came, pair.right
    if came.shape != right.shape or not pair.telling or not {came.dtype.kind, right.dtype.kind} <= set("fiu"):
        return
    gap = came.astype(float) - right.astype(float)
    if not np.isfinite(gap).all():
        return
    for place, argument in enumerate(pair.given, 1):
        if argument.shape == gap.shape and argument.dtype.kind == "f" and argument.any():
            if pair.same(gap, argument):
                yield f"Array {place} of the arguments is added once too often."
            if pair.same(gap, -argument):
                yield f"Array {place} of the arguments is not added to your result, or is taken away."
    if pair.same(gap, np.full_like(gap, gap.flat[0])):
        one = "by one" if abs(gap.flat[0]) == 1 else "by one and the same amount"
        yield f"All numbers of your result are off {one}: look for a term left out or counted twice."


def other_sums(pair: Pair) -> Iterator[str]:
    """Shares that sum to 1 along another axis than the right ones."""
    if not pair.comparable:
        return
    come, due = (
        {axis for axis in _axes(x) if pair.same(x.sum(axis), np.ones_like(x.sum(axis)))}
        for x in (pair.came, pair.right)
    )
    for axis in due - come:
        for other in come - due:
            yield f"Your numbers sum to 1 along axis {other}; they should along axis {axis}."
        yield f"Your numbers do not sum to 1 along axis {axis}, as they should."


def lost_axis(pair: Pair) -> Iterator[str]:
    """An axis was summed or averaged that should stay, or the other way round."""
    forms = (("summed up", np.sum), ("averaged", np.mean))
    for word, function in forms if pair.floats else ():
        for axis in _axes(pair.right):
            if pair.right.shape[axis] > 1 and pair.same(pair.came, function(pair.right, axis=axis)):
                yield f"Axis {axis} of the result is {word} in yours; it should stay."
            spread = function(pair.right, axis=axis, keepdims=True)
            if pair.right.shape[axis] > 1 and pair.same(pair.came, np.broadcast_to(spread, pair.right.shape)):
                yield f"Along axis {axis} all of your numbers are the right ones {word}: each should have its own."
        for axis in _axes(pair.came):
            if pair.came.shape[axis] > 1 and pair.same(function(pair.came, axis=axis), pair.right):
                yield f"Axis {axis} of your result is still to be {word}."


def one_end(pair: Pair) -> Iterator[str]:
    """Wrong at one end of an axis, and right everywhere else."""
    if pair.came.shape != pair.right.shape or pair.came.size < FEW:
        return
    for axis in _axes(pair.right):
        for place, word in ((0, "first"), (-1, "last")):
            if pair.right.shape[axis] > 2 and pair.same(
                np.delete(pair.came, place, axis), np.delete(pair.right, place, axis)
            ):
                yield f"Only the {word} place along axis {axis} is wrong: look at where your loop or your slice ends."


def along_an_axis(pair: Pair) -> Iterator[str]:
    """Along an axis all numbers are off by a common factor or amount."""
    if not pair.comparable or not pair.telling or pair.right.ndim < 2:
        return
    for axis in _axes(pair.right):
        if pair.right.shape[axis] < 3 or pair.right.size < 2 * FEW:
            continue
        scale = (pair.came * pair.right).sum(axis, keepdims=True) / np.square(pair.right).sum(axis, keepdims=True)
        if pair.same(pair.came, scale * pair.right):
            yield f"Along axis {axis} your numbers are off by a common factor: what divides them is not right."
        shift = (pair.came - pair.right).mean(axis, keepdims=True)
        if pair.same(pair.came, pair.right + shift):
            yield f"Along axis {axis} your numbers are off by a common amount: what is added is not right."


def _axes(array: np.ndarray) -> range:
    return range(array.ndim)


RELATIONS: tuple[Callable[[Pair], Iterator[str]], ...] = (
    overflow,
    partly_right.not_a_number,
    given_back,
    inverted,
    other_layout,
    other_places,
    partly_right.other_order,
    partly_right.unspread,
    partly_right.cut_short,
    lost_axis,
    power,
    factor,
    amount,
    other_sums,
    partly_right.rounded,
    partly_right.only_the_first,
    partly_right.left_at_0,
    one_end,
    along_an_axis,
)
