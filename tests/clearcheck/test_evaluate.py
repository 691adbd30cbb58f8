"""How a check is run: how close is right, which call is kept, and a property that asks for an exception."""

import contextlib

import numpy as np
import pytest
from clearcheck import AnswerProblem, equals, holds
from inline_snapshot import snapshot

from .small_questions import DOUBLE, cases, result_of


@pytest.mark.parametrize(("apart", "right"), [(1e-10, True), (1e-7, False)])
def test_a_function_of_numpy_has_to_be_right_in_double_precision(apart, right):
    """Would catch the tolerance of PyTorch, which computes in single precision, for a question about NumPy."""
    check = equals("values", 2, cases, np.sin)
    assert result_of(lambda x: np.sin(x) + apart, check).checks[0].passed is right


def test_the_arguments_are_those_of_the_case_that_failed():
    """Would catch a learner who tries out a case that is right already: the second one is told, and it is kept."""
    result = result_of(lambda x: 2 * x + (len(x) == 7), DOUBLE).checks[0]
    assert "(7,)" in result.message and result.args[0].shape == (7,)
    assert result_of(lambda x: 2 * x, DOUBLE).checks[0].args[0].shape == (5,)


def test_a_property_may_ask_for_an_exception():
    """Would catch a refusal that is asked for, and then taken for a fault: of a call that raises no change is told."""

    def refuses(ask, rng):
        with contextlib.suppress(AnswerProblem):
            ask(-1.0)
            return "A negative number is to be refused."
        return None

    def answer(x):
        if x < 0:
            raise ValueError("no")
        return x

    check = holds("refusal", 2, refuses)
    assert result_of(answer, check).points == 2
    assert result_of(abs, check).checks[0].message == snapshot("A negative number is to be refused.")
