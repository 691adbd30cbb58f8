"""What is told of a result that differs: its kind, shape and numbers, and how near is near enough."""

import numpy as np
import pytest
from clearcheck.grading.compare import compare
from clearcheck.grading.replies import same_value
from clearcheck.worker.values import UnsupportedValue, canonical
from inline_snapshot import snapshot

from tests.clearcheck.right_results import ARGS, RIGHT


@pytest.mark.parametrize(
    ("came", "says"),
    [
        (
            None,
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned None; an array is expected (does the function end with `return`?)."
            ),
        ),
        (3.0, snapshot("For arguments of shapes (7, 5) and (5,) your function returned 3; an array is expected.")),
        (
            [1.0, 2.0],
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned a list of 2; an array is expected."
            ),
        ),
        (
            UnsupportedValue("an object of type Table"),
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned an object of type Table; an array is expected."
            ),
        ),
        (
            RIGHT.T,
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned an array of shape (5, 7); the shape (7, 5) is expected: yours is the transposed shape."
            ),
        ),
        (
            RIGHT[0],
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned an array of shape (5,); the shape (7, 5) is expected."
            ),
        ),
        (
            RIGHT.astype(int),
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned numbers of dtype int64; floating-point numbers are expected."
            ),
        ),
        (
            RIGHT.astype(np.float32),
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned numbers of dtype float32; float64 is expected, as precise as the arguments."
            ),
        ),
        (
            RIGHT.astype(complex),
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned numbers of dtype complex128; floating-point numbers are expected."
            ),
        ),
        (
            np.where(RIGHT == 8, np.nan, RIGHT),
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned nan at index [1, 2] (1 of 35 entries are wrong); a finite number is expected there."
            ),
        ),
        (
            RIGHT + 0.25,
            snapshot(
                "For arguments of shapes (7, 5) and (5,) your function returned 1.25 at index [0, 0] (35 of 35 entries are wrong); this is off by 0.25."
            ),
        ),
    ],
)
def test_each_step_has_its_sentence(came, says):
    """Would catch a step that is skipped, comes too late or says something else."""
    message = compare(came, RIGHT, ARGS).message
    assert message == says
    assert message.startswith("For arguments of shapes (7, 5) and (5,)")
    assert message.endswith(".") and message.count(". ") == 0


def test_the_expected_value_is_never_shown():
    """Would catch a message that hands the answer to whoever hard-codes it."""
    expected = np.array([0.123456, 0.654321])
    assert "0.1234" not in compare(np.array([0.5, 0.654321]), expected, ()).message
    assert "0.1235" not in compare(np.array([0.5, 0.654321]), expected, ()).message
    assert "secret" not in compare("guess", "secret", ()).message


def test_the_entry_that_is_told_is_the_worst():
    """Would catch "off by 5e-08", of the entry that comes first, where another is off by 3; and a choice among entries
    that are off alike that rounding makes.
    """
    apart = np.zeros_like(RIGHT)
    apart[0, 0], apart[2, 3], apart[4, 1] = 5e-8, -3.0, 2.0
    message = compare(RIGHT + apart, RIGHT, ARGS).message
    assert message.endswith("returned 11 at index [2, 3] (3 of 35 entries are wrong); this is off by 3.")
    assert "index [0, 0]" in compare(RIGHT + 0.1, RIGHT, ARGS).message
    apart[6, 4] = np.inf
    assert "index [6, 4]" in compare(RIGHT, RIGHT + np.where(apart == np.inf, -np.inf, apart), ARGS).message


def test_the_tolerance_grows_with_the_values_and_not_with_the_answer():
    """Would catch rejecting rounding at 1e8, and accepting any answer that is itself huge."""
    expected = np.array([1e8, 1.0])
    assert compare(expected + 0.05, expected, ()) is None
    assert compare(expected + 0.2, expected, ()).margin == pytest.approx(2, rel=1e-3)
    assert compare(np.array([1e300, 1.0]), np.array([1.0, 1.0]), ()) is not None
    assert compare(np.array([1.0 + 2e-9]), np.array([1.0]), ()) is not None


def test_infinity_is_right_only_where_it_is_expected():
    """Would catch NaN arithmetic making infinite entries equal to anything."""
    expected = np.array([-np.inf, 2.0])
    assert compare(np.array([-np.inf, 2.0]), expected, ()) is None
    assert compare(np.array([5.0, 2.0]), expected, ()) is not None
    assert compare(np.array([np.inf, 2.0]), expected, ()) is not None
    assert compare(np.array([np.nan, 2.0]), expected, ()) is not None


@pytest.mark.parametrize(
    ("came", "expected", "same"),
    [
        (3, 3.0, True),
        (3.0, 3, False),
        (np.float64(3), 3, False),
        (np.array(3.0), 3, False),
        (np.int64(3), 3, True),
        (np.array(3), 3, True),
        (np.uint8(3), 3, True),
        ({"a": 3.0}, {"a": 3}, False),
        ((3, 4.0), (3, 4), False),
        (True, 1, False),
        (np.array([3.0]), 3, False),
        (np.float32(3), 3.0, False),
        (1, True, False),
        (np.bool_(True), True, True),
        (False, True, False),
        ((1, 2), (1, 2), True),
        ([1, 2], (1, 2), True),
        ((1, 2, 3), (1, 2), False),
        ({"a": 1.0}, {"a": 1.0}, True),
        ({"b": 1.0}, {"a": 1.0}, False),
        ({"a": 2.0}, {"a": 1.0}, False),
        ("rows", "rows", True),
        (None, "rows", False),
        (np.array([True, False]), np.array([True, False]), True),
        (np.array([1, 0]), np.array([True, False]), False),
        (np.array([1, 2]), np.array([1, 2]), True),
        (np.array([1.0, 2.0]), np.array([1, 2]), False),
    ],
)
def test_numbers_truth_values_texts_and_containers(came, expected, same):
    """Would catch a truth value passing for a number, or a container whose entries go unread."""
    assert (compare(came, expected, ()) is None) is same


@pytest.mark.parametrize(("expected", "named"), [(2.5, "one number"), (True, "True or False"), (RIGHT, "the shape")])
def test_an_array_is_called_a_tensor_where_the_question_is_about_pytorch(expected, named):
    """Would catch a learner of PyTorch who reads of arrays that nobody made, in one of the places that compare."""
    for how, noun in (("tensors", "a tensor"), ("function", "an array")):
        message = compare(np.ones((3, 1, 1)), expected, ([np.ones(2)], 7), how=how).message
        assert f"returned {noun} of shape (3, 1, 1); {named}" in message
        assert f"the arguments ([{noun} of shape (2,)], 7)" in message


def test_single_precision_arguments_allow_single_precision_results():
    """Would catch demanding more precision than came in."""
    table = np.ones((7, 5), np.float32)
    assert compare(table, table.astype(float), (table,)) is None
    assert compare(table, table.astype(float), (table, np.ones(5))) is not None


@pytest.mark.parametrize(("dtype", "apart", "same"), [("f4", 5e-6, True), ("f4", 5e-5, False), ("f8", 5e-6, False)])
def test_what_two_answers_gave_is_the_same_up_to_the_rounding_of_its_precision(dtype, apart, same):
    """Catches a mistake that is not told because float32 differs in its last digits, and one told for another value."""
    one = np.array([3.0, 1.0, 0.0], dtype)
    other = one + np.array([0, 3 * apart, 0], dtype)  # relative to the largest number, which is 3
    assert same_value(one, other) is same_value(other, one) is same


def test_the_kind_of_number_can_be_asked_for():
    """Would catch dtype="int" accepting floating-point numbers."""
    assert compare(np.array([1, 2]), np.array([1.0, 2.0]), (), dtype="int") is None
    assert compare(np.array([1.0, 2.0]), np.array([1, 2]), (), dtype="int") is not None
    assert compare(2.0, 2, (), dtype="int") is not None


def test_a_float_for_a_whole_number_is_told_with_its_cure():
    """Would catch 36.0 passing for a count, and a sentence that calls the right number not right."""
    message = compare({"pairs": 36.0}, {"pairs": 36}, ()).message
    assert message == snapshot(
        "For a call without arguments, under the key 'pairs', your function returned 36.0, a float; a whole number is expected: /, np.ceil and np.floor give floats, // of whole numbers gives a whole one, and so does int(…) of a float."
    )
    assert "this is not right" in compare(37.5, 36, ()).message
    assert compare(36.0, 36, (), dtype="float") is None


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (2_000_000_001, 2_000_000_000),
        (2**53 + 1, 2**53),
        (np.array([7, 20_000_000_005]), np.array([7, 20_000_000_000])),
        ({"flops": (20_000_000_005,)}, {"flops": (20_000_000_000,)}),
    ],
)
def test_a_large_count_has_to_be_exact(came, expected):
    """Would catch full points for a count that is off by a few, and a known mistake that is told of one."""
    found = compare(came, expected, ())
    assert "this is not right" in found.message and found.margin == float("inf")
    assert compare(expected, expected, ()) is None
    assert same_value(expected, expected) and not same_value(came, expected) and not same_value(expected, came)


def test_a_float_near_a_large_count_is_told_that_it_is_a_float():
    """Would catch "not right" for a right number that was divided with / and lost its last digits."""
    assert "returned 20000000004.0, a float" in compare(20_000_000_004.0, 20_000_000_000, ()).message
    assert same_value(20_000_000_004.0, 20_000_000_000)


def test_an_array_of_a_foreign_dtype_is_told_by_its_numbers():
    """Would catch "an array of dtype float128; an array is expected", which contradicts itself."""
    came = canonical(np.ones((7, 5), dtype=object))
    message = compare(came, RIGHT, ARGS).message
    assert "array of dtype object; numbers" in message and "an array is expected" not in message


def test_the_difference_of_whole_numbers_is_not_told():
    """Would catch "7 is off by 3", which is the answer."""
    assert "this is not right" in compare(7, 10, ()).message
    assert "off by" not in compare(np.array([7, 2]), np.array([10, 2]), ()).message


def test_whole_numbers_are_shown_in_full():
    """Would catch "your function returned 3.287e+06" about a count that has to be exact."""
    assert "returned 3286608;" in compare(3286608, 1643304, ()).message
    assert "returned 3286608 at index [0]" in compare(np.array([3286608]), np.array([1643304]), ()).message
