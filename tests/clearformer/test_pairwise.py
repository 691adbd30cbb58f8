"""The cases that stand for all combinations: every pair of values is among them, and they are fewer."""

from itertools import combinations, product
from math import prod

import pytest

from tests.clearformer.pairwise import covering_cases, each_pair


@pytest.mark.parametrize("sizes", [(8, 2, 6, 2), (8, 3, 4, 2), (2, 3, 10), (3, 3, 3, 3), (1, 5), (4,) * 6])
def test_every_two_values_meet_and_few_cases_are_needed(sizes):
    """Catches a pair of values that no case has, and a list that is no shorter than that of all combinations."""
    values = [[f"{axis}.{place}" for place in range(size)] for axis, size in enumerate(sizes)]
    cases = covering_cases(values)
    for one, other in combinations(range(len(sizes)), 2):
        assert {(case[one], case[other]) for case in cases} == set(product(values[one], values[other]))
    largest, second = sorted(sizes)[:-3:-1]
    assert largest * second <= len(cases) <= prod(sizes)
    assert len(cases) <= 2 * largest * second


def test_the_cases_are_the_same_at_every_call_and_carry_the_names():
    mark = each_pair(mask=["none", "causal"], dtype=[1, 2, 3], seed=(5, 6)).mark
    assert mark.args == each_pair(mask=["none", "causal"], dtype=[1, 2, 3], seed=(5, 6)).mark.args
    assert mark.args[0] == ("mask", "dtype", "seed")
    assert len(mark.args[1]) == 6
