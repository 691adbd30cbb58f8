"""A list for an array and an array for a list: taken with a remark, in every kind of check, and nothing else."""

import numpy as np
import pytest
from clearcheck import WrongSolutions, equals, holds
from clearcheck.grading.coercion import AS_ARRAY as ASKED_FOR
from clearcheck.grading.coercion import AS_SEQUENCE, coerce_like
from clearcheck.learner.cards import question_card
from clearcheck.report.grade import Grade
from inline_snapshot import snapshot

from .small_questions import result_of

TABLE = np.arange(6.0).reshape(2, 3)
LIST = TABLE.tolist()
AS_ARRAY = ASKED_FOR.format(array="an array", makes="np.array(…)")
SEQUENCE = AS_SEQUENCE.replace("{array}", "An array")


@pytest.mark.parametrize(
    ("value", "like", "expected", "remarks"),
    [
        (LIST, TABLE, TABLE, [AS_ARRAY]),
        ([TABLE[0], TABLE[1]], TABLE, TABLE, [AS_ARRAY]),
        (tuple(LIST), TABLE, TABLE, [AS_ARRAY]),
        ([], np.array([1, 2]), np.array([], dtype=int), [AS_ARRAY]),
        ([True, False], np.array([True]), np.array([True, False]), [AS_ARRAY]),
        ([True, False], np.array([1.0]), np.array([True, False]), [AS_ARRAY]),
        ([[1, 0], [0, 1]], np.eye(3), np.eye(2), [AS_ARRAY]),
        ([[1.0, 0.0]], np.eye(2, dtype=int), np.array([[1.0, 0.0]]), [AS_ARRAY]),
        ([], np.zeros((0, 3)), np.zeros((0, 3)), [AS_ARRAY]),
        ([], TABLE, np.zeros(0), [AS_ARRAY]),
        ({"A": LIST, "n": 2}, {"A": TABLE, "n": 3}, {"A": TABLE, "n": 2}, [AS_ARRAY]),
        ((LIST, LIST), (TABLE, TABLE), (TABLE, TABLE), [AS_ARRAY, AS_ARRAY]),
        (np.array([3, 1]), [1], [3, 1], [SEQUENCE.format(kind="list")]),
        (np.array([3, 1]), (1, 2), (3, 1), [SEQUENCE.format(kind="tuple")]),
        (np.array([[3, 1]]), [(1, 2)], [(3, 1)], [SEQUENCE.format(kind=kind) for kind in ("list", "tuple")]),
        (TABLE, (TABLE, TABLE, TABLE), TABLE, []),
        (TABLE, TABLE, TABLE, []),
        ([1, 2], [3], [1, 2], []),
        ([[1, 2], [3]], TABLE, [[1, 2], [3]], []),
        (["a"], TABLE, ["a"], []),
        ([None], TABLE, [None], []),
        ([3.0], 3.0, [3.0], []),
        ([1.0], np.array(1.0), [1.0], []),
        (None, TABLE, None, []),
        (TABLE, None, TABLE, []),
    ],
)
def test_what_is_taken_for_what(value, like, expected, remarks):
    """Would catch a list that is refused or passes in silence, and texts or ragged lists made into arrays."""
    told = []
    came = coerce_like(value, like, told)
    assert told == remarks
    np.testing.assert_equal(came, expected)
    assert type(came) is type(expected) and getattr(came, "dtype", 0) == getattr(expected, "dtype", 0)


def test_a_list_inside_a_pair_is_told_in_the_words_of_the_task():
    """Would catch a learner of PyTorch who is asked for an array, one level down."""
    told: list[str] = []
    coerce_like((LIST, {"A": [LIST]}), (TABLE, {"A": [TABLE]}), told, "a tensor")
    assert told == [ASKED_FOR.format(array="a tensor", makes="torch.tensor(…)")] * 2


def test_a_tensor_for_a_pair_is_called_a_tensor():
    """Would catch a learner of PyTorch who is told of an array that he never made."""
    told = []
    coerce_like(TABLE, (TABLE[0], TABLE[1]), told, "a tensor")
    assert told == snapshot(["A tensor was taken as a tuple; the task asks for a tuple: tuple(…) makes one."])


def cases(rng):
    return [(rng.normal(size=(3, 4)),), (rng.normal(size=(1, 5)),)]


def has_a_shape(ask, rng):
    return None if ask(rng.normal(size=(3, 4))).shape == (4,) else "The shape is wrong."


def sums(table):
    return table.sum(axis=0)


CHECKS = (equals("values", 2, cases, sums), holds("shape", 2, has_a_shape))


def test_right_numbers_in_a_list_get_the_points_and_a_remark():
    """Would catch no points for a missing np.array, a property that sees a list, and a remark that nobody reads."""
    result = result_of(lambda table: table.sum(axis=0).tolist(), *CHECKS)
    assert result.points == 4
    exercise = type("Of", (), {"chapter": "chapters/01-columns"})()
    card = question_card(exercise, result)
    assert repr(card).count(f"Note: {AS_ARRAY}") == 1 and f"<p>Note: {AS_ARRAY}</p>" in card._repr_html_()
    as_json = Grade(type("Of", (), {"slug": "s", "points": 4})(), "f", 0, [result], []).as_json()
    assert [check["remark"] for check in as_json["questions"][0]["checks"]] == [AS_ARRAY, AS_ARRAY]
    assert not any(check.remark for check in result_of(sums, *CHECKS).checks)


def test_a_tensor_is_asked_for_in_the_words_of_pytorch():
    """Would catch advice that costs all points: np.array(…) makes no tensor."""
    for value, maker in ((LIST, "torch.tensor"), ([TABLE[0], TABLE[1]], "torch.stack")):
        remarks = []
        coerce_like(value, TABLE, remarks, "a tensor")
        (remark,) = remarks
        assert "a tensor" in remark and f"{maker}(…)" in remark


def test_numbers_of_python_are_as_precise_as_the_task_asks():
    """Would catch a list of floats that is refused for float64, which nobody wrote; and one that hides it."""
    narrow = TABLE.astype(np.float32)
    assert coerce_like(LIST, narrow, [], "a tensor").dtype == np.float32
    assert coerce_like([TABLE[0], TABLE[1]], narrow, [], "a tensor").dtype == np.float64


def test_a_failed_check_has_no_remark():
    """Would catch a remark on a list that stands where the task asks for none."""
    result = result_of(lambda table: table.mean(axis=0).tolist(), *CHECKS)
    assert [check.remark for check in result.checks] == ["", AS_ARRAY]


def test_a_mistake_is_told_from_a_list_as_well():
    """Would catch a diagnosis lost by tolist()."""
    wrong = WrongSolutions("q")
    wrong("The sum runs along the rows.")(lambda table: table.sum(axis=1))
    result = result_of(lambda table: table.sum(axis=1).tolist(), *CHECKS, wrong=wrong.of("q"))
    assert result.checks[0].diagnosis.message == snapshot("The sum runs along the rows.")


def test_a_broken_reference_is_told_by_its_own_check():
    """Would catch a question that cannot be asked because the kind of its result is looked up first."""
    result = result_of(sums, holds("shape", 2, has_a_shape), equals("broken", 2, cases, lambda table: table.nothing))
    assert result.checks[0].passed and "This check itself is broken" in result.checks[1].message


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda table: table.sum(axis=0).astype(np.float32), "numbers of dtype float32; float64 is expected"),
        (lambda table: (1, [table.sum(axis=0).astype(np.float32)]), "numbers of dtype float32; float64 is expected"),
        (lambda table: table.sum(axis=0).astype(object), "returned an array of dtype object; numbers of dtype float64"),
        (lambda table: table.sum(axis=0) + 1, "The sums do not add up."),
    ],
)
def test_the_kind_of_a_result_is_told_before_what_it_breaks(returned, says):
    """Would catch "your sums do not add up" about sums that add up as far as single precision goes."""

    def add_up(ask, rng):
        table = rng.normal(size=(3, 4))
        came = ask(table)
        return None if came.shape == (4,) and abs(came.sum() - table.sum()) < 1e-12 else "The sums do not add up."

    assert says in result_of(returned, holds("sums", 2, add_up)).checks[0].message
