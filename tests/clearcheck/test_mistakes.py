"""Which known mistake a result is told to equal, and when none is told."""

import numpy as np
import pytest
from clearcheck import AnswerProblem, WrongSolutions, equals, holds
from clearcheck.grading.replies import Call
from inline_snapshot import snapshot

from tests.clearcheck.small_questions import DOUBLE, cases, result_of


def test_of_two_mistakes_that_agree_the_closer_one_is_told():
    """Would catch naming a mistake that other checks of the same question rule out."""
    wrong = WrongSolutions("q")
    wrong("Nothing is doubled.")(lambda x: x)
    wrong("Only positive sums are doubled.")(_doubled_if_positive)
    second = equals("positive", 1, lambda rng: [(np.ones(5),)], lambda x: 2 * x)
    first = equals("negative", 1, lambda rng: [(-np.ones(5),)], lambda x: 2 * x)
    result = result_of(_doubled_if_positive, first, second, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.message == "Only positive sums are doubled."


def test_a_mistake_that_fits_some_checks_alone_is_told_as_such():
    """Would catch asserting a mistake of the whole answer that agrees with it in one check by chance."""
    wrong = WrongSolutions("q")
    wrong("Nothing is doubled.")(lambda x: x)
    checks = (
        equals("positive", 1, lambda rng: [(np.ones(5),)], lambda x: 2 * x),
        equals("negative", 1, lambda rng: [(-np.ones(5),)], lambda x: 2 * x),
    )
    told = result_of(lambda x: abs(x), *checks, wrong=wrong.of("q")).checks
    assert told[0].diagnosis.sentence == (
        snapshot(
            "In this check your result equals that of a known mistake (in others it does not), so it may be another: "
            "Nothing is doubled."
        )
    )
    assert told[1].diagnosis is None
    passed = result_of(lambda x: x if x.sum() > 0 else 2 * x, *checks, wrong=wrong.of("q")).checks
    assert passed[1].passed and not passed[0].diagnosis.everywhere
    whole = result_of(lambda x: 1 * x, *checks, wrong=wrong.of("q")).checks
    assert all(check.diagnosis.sentence.startswith("Your result equals a known mistake: ") for check in whole)


def test_a_mistake_is_not_told_where_it_is_right_itself():
    """Would catch the name of any mistake for a result that is nearly right, as sharply as the check looks."""
    wrong = WrongSolutions("q")
    wrong("Large numbers overflow.")(lambda x: 2 * x)
    check = equals("double", 2, cases, lambda x: 2 * x, atol=1e-12)
    result = result_of(lambda x: 2 * x + 4e-10, check, wrong=wrong.of("q"))
    assert not result.checks[0].passed and result.checks[0].diagnosis is None


def test_a_mistake_is_told_as_closely_as_the_check_looks():
    """Would catch a mistake that has no name where an answer makes it in another order and so rounds otherwise, in a
    check that allows for rounding.
    """
    wrong = WrongSolutions("q")
    wrong("You double.")(lambda x: 2 * x)
    check = equals("triple", 2, cases, lambda x: 3 * x, atol=1e-4)
    told = result_of(lambda x: 2 * x + 1e-5, check, wrong=wrong.of("q")).checks[0].diagnosis
    assert told.sentence == "Your result equals a known mistake: You double."
    assert result_of(lambda x: 2 * x + 1e-3, check, wrong=wrong.of("q")).checks[0].diagnosis is None
    ones = equals("triple", 2, lambda rng: [(np.ones(5),)], lambda x: 3 * x, atol=1e-4)  # 3e-4 apart are equal
    nearly = WrongSolutions("q")
    nearly("The last digit is wrong.")(lambda x: 3 * x + 2e-4)
    passing = result_of(lambda x: 3 * x + 4e-4, ones, wrong=nearly.of("q")).checks[0]
    assert not passing.passed and passing.diagnosis is None


class RefusedError(ValueError):
    """A learner's own kind of ValueError."""


@pytest.mark.parametrize(
    ("kind", "expected"), [(ValueError, True), (RefusedError, True), (TypeError, False), (KeyError, False)]
)
def test_a_class_that_is_derived_from_an_exception_is_one(kind, expected):
    """Would catch refusing a learner's own ValueError where one is asked for."""

    def refuses(x):
        raise kind("no")

    seen = []

    def test(ask, rng):
        with pytest.raises(AnswerProblem):
            ask(1.0)
        seen.append(ask.calls[-1].raised("ValueError"))

    result_of(refuses, holds("refusal", 1, test))
    assert seen == [expected]
    assert not Call(b"", {"kind": "raised", "type": "Odd", "text": "", "bases": 7}).raised("ValueError")


def test_a_mistake_that_raises_is_told_for_its_own_exception_alone():
    """Would catch every crash being called by the name of the one crash that the catalogue knows."""
    wrong = WrongSolutions("q")
    wrong("A width is asked of a vector.")(lambda x: x * x.shape[1])
    same = result_of(lambda x: 2 * x.shape[1] * x, DOUBLE, wrong=wrong.of("q"))
    other = result_of(lambda x: 2 * x * [1, 2][5], DOUBLE, wrong=wrong.of("q"))
    assert "IndexError" in same.checks[0].message and "IndexError" in other.checks[0].message
    assert same.checks[0].diagnosis.message == "A width is asked of a vector."
    assert other.checks[0].diagnosis is None


def _doubled_if_positive(x):
    return 2 * x if x.sum() > 0 else x
