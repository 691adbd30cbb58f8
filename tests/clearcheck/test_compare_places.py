"""Where a result differs, said so that one finds it: in arguments, keys, steps of a nested result and gradients."""

import numpy as np
import pytest
from clearcheck.grading.compare import compare
from inline_snapshot import snapshot

from tests.clearcheck.right_results import ARGS, RIGHT


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        ([2, 0, 1], "([2, 0, 1], 7)"),
        ((np.int64(2), 0.123456789), "((2, 0.1235), 7)"),
        ({"a": [1]}, "({'a': [1]}, 7)"),
        ([([1, 0], np.ones((4, 2)))], "([([1, 0], an array of shape (4, 2))], 7)"),
        (["tea", "team"] * 30, "(a list of 60: 'tea', 'team', 'tea', 'team', 'tea', 'team', 'tea', 'team', …, 7)"),
        ([np.ones((2, 3))] * 9, "(a list of 9: an array of shape (2, 3), an array of shape (2, 3), …, 7)"),
        ([list(range(99))] * 9, "(a list of 9, 7)"),
    ],
)
def test_arguments_that_are_short_are_shown(argument, shown):
    """Would catch "the arguments (a list of 3, 7)", with which nobody can try the case, and a screen of numbers."""
    assert f"For the arguments {shown} your function" in compare(1.0, 2.0, (argument, 7)).message


def test_a_place_in_a_nested_result_keeps_all_its_steps():
    """Would catch naming the position and forgetting under which key it stands."""
    message = compare({"A": (3, 4), "B": (1, 9)}, {"A": (3, 4), "B": (1, 2)}, ()).message
    assert "under the key 'B', at position 1, " in message


@pytest.mark.parametrize(
    ("came", "expected", "told"),
    [
        ([[1], [2, 9]], [[1], [2, 3]], "at position [1][1], your function returned 9;"),
        ((1, [RIGHT + 1]), (1, [RIGHT]), "at position [1][0], your function returned 2 at index [0, 0] "),
        ([{"A": (1, 2)}], [{"A": (1, 3)}], "at position 0, under the key 'A', at position 1, your function returned 2"),
        ({3: [[1]]}, {3: [[2]]}, "under the key 3, at position [0][0], your function returned 1;"),
    ],
)
def test_several_positions_are_one_place(came, expected, told):
    """Would catch "at position 1, at position 0, your function returned 116", which is read as two places."""
    assert f"For a call without arguments, {told}" in compare(came, expected, ()).message


def test_of_several_calls_of_a_module_the_one_is_named():
    """Would catch a second call told by the shape of the first, and as a position of a list that nobody returned."""
    calls = [(np.ones((2, 5, 3)),), (np.ones((1, 4, 3)),)]
    plan = {"sizes": {"d_in": 3}, "calls": calls, "training": False, "gives": "output"}
    message = compare([RIGHT, RIGHT + 1], [RIGHT, RIGHT], (plan,), how="module").message
    assert message.startswith("With d_in=3 and a tensor of shape (1, 4, 3), in call 2, your module gave 2 at index ")
    pair = compare([(1.0, 2.0), (1.0, 3.0)], [(1.0, 2.0), (1.0, 2.0)], (plan,), how="module").message
    assert "in call 2, at position 1, your module gave 3;" in pair


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (None, RIGHT),
        (RIGHT.T, RIGHT),
        (RIGHT.astype(np.float32), RIGHT),
        (RIGHT.astype(int), RIGHT),
        (RIGHT * np.nan, RIGHT),
        (RIGHT + 1, RIGHT),
        (RIGHT, 1.0),
        (2.0, 2),
        (2.0, True),
        (False, True),
        ("a", "b"),
        ({"a": 1}, {"b": 1}),
        (dict.fromkeys("abc"), dict.fromkeys("abcdefghijklmn")),
        ([1], [1, 2]),
    ],
)
def test_each_step_tells_the_place(came, expected):
    """Would catch a step that forgets in which part of a result it found the fault, so that another is mended."""
    assert "under the key 'B', your" in compare({"B": came}, {"B": expected}, ()).message
    assert "at position 1, your" in compare((0, came), (0, expected), ()).message


def test_of_a_module_the_place_is_a_gradient():
    """Would catch a wrong gradient whose parameter is not told, or a check that is called broken there."""
    plan = {"sizes": {"d_in": 3}, "calls": [], "training": False, "gives": "gradients"}
    message = compare({"inner.weight": RIGHT + 1}, {"inner.weight": RIGHT}, (plan,), how="module").message
    assert message == snapshot(
        "With d_in=3, in the gradient of `inner.weight`, your module gave 2 at index [0, 0] (35 of 35 entries are wrong); this is off by 1."
    )


def test_of_many_keys_one_that_does_not_fit_is_named():
    """Would catch a sentence that lists the hundred keys of a model."""
    expected = {f"blocks.{i}": 1.0 for i in range(100)}
    surplus = compare({**expected, "other": 1.0}, expected, ()).message
    assert surplus == snapshot(
        "For a call without arguments your function returned a dict of 101; the key 'other' is not expected."
    )
    fewer = {name: value for name, value in expected.items() if name != "blocks.7"}
    assert compare(fewer, expected, ()).message == snapshot(
        "For a call without arguments your function returned a dict of 99; the key 'blocks.7' is missing."
    )
    assert "the keys 'a', 'b' are expected" in compare({"a": 1.0}, {"a": 1.0, "b": 2.0}, ()).message


@pytest.mark.parametrize(
    ("came", "parts", "says"),
    [
        ((RIGHT, 2.0), (0,), None),
        ((RIGHT + 1, 1.0), (1,), None),
        ((RIGHT, 2.0), (1,), "at position 1, your function returned 2"),
        ((RIGHT,), (0,), "a tuple of 2 is expected"),
        ({"a": RIGHT, "b": 2.0}, ("a",), None),
        ({"a": RIGHT, "b": 2.0}, ("b",), "under the key 'b', your function returned 2"),
        ({"a": RIGHT}, ("a",), "the keys 'a', 'b' are expected"),
    ],
)
def test_parts_earn_their_points_whatever_the_others_are(came, parts, says):
    """Would catch a check of one entry that reads all, one that reads none, and one that takes another structure."""
    expected = {"a": RIGHT, "b": 1.0} if isinstance(came, dict) else (RIGHT, 1.0)
    found = compare(came, expected, ARGS, parts=parts)
    assert found is None if says is None else says in found.message
