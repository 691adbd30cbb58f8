"""Fewer cases than all combinations: every two values of two parameters meet in one of them."""

from collections.abc import Callable, Iterable
from itertools import combinations, product

import pytest


def each_pair(**values: Iterable) -> pytest.MarkDecorator:
    """``parametrize`` with the cases of ``covering_cases``: most faults need one value, or two that meet."""
    cases = covering_cases([list(choices) for choices in values.values()])
    return pytest.mark.parametrize(tuple(values), cases)


def covering_cases(values: list[list]) -> list[tuple]:
    """Cases, each with a value of every list, in which any two values of two lists meet; the same at every call.

    Greedy: a case begins with two values that have not met, and takes of every other list the value that meets most.
    """
    unmet = {pair for one, other in combinations(range(len(values)), 2) for pair in _pairs(values, one, other)}
    waiting = sorted(unmet)  # by their places, so that the order does not depend on hashes
    cases = []
    for pair in waiting:
        if pair not in unmet:
            continue
        chosen = dict(pair)
        for axis in (axis for axis in range(len(values)) if axis not in chosen):
            chosen[axis] = max(range(len(values[axis])), key=_pair_counter(unmet, chosen, axis))
        unmet -= _met(chosen)
        cases.append(tuple(values[axis][chosen[axis]] for axis in range(len(values))))
    return cases


def _pairs(values: list[list], one: int, other: int) -> Iterable[tuple]:
    for first, second in product(range(len(values[one])), range(len(values[other]))):
        yield (one, first), (other, second)


def _pair_counter(unmet: set, chosen: dict, axis: int) -> Callable[[int], int]:
    """How many pairs that are still unmet a case would meet with this place on the axis."""
    return lambda place: len(unmet & _met(chosen | {axis: place}))


def _met(chosen: dict[int, int]) -> set[tuple]:
    """The pairs of places that meet in a case."""
    return set(combinations(sorted(chosen.items()), 2))
