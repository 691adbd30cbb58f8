"""What checks are made of: sizes that do not fit by chance, cases, and sentences about shapes."""

from itertools import combinations

import numpy as np
from clearcheck.author.cases import SIZES, close, draw_sizes, scaled, shape_slip, shapes_slip, varied
from inline_snapshot import snapshot


def test_no_size_divides_another():
    """Would catch a size put in that lets a transposed table fit."""
    assert all(max(pair) % min(pair) for pair in combinations(SIZES, 2))
    drawn = draw_sizes(np.random.default_rng(0), len(SIZES))
    assert sorted(drawn) == list(SIZES) and all(type(size) is int for size in drawn)
    assert set(draw_sizes(np.random.default_rng(0), 2, (4, 9))) == {4, 9}


def draw(rng, height=2, sign=1):
    return sign * rng.normal(size=(height, 3)), height


def test_cases_vary_one_setting_each_and_come_from_the_generator():
    """Would catch settings that are lost, and cases that are the same for every seed."""
    cases = varied(draw, {}, {"height": 1}, {"sign": -1})
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    expected = [draw(again), draw(again, height=1), draw(again, sign=-1)]
    for came, wanted in zip(cases(rng), expected, strict=True):
        assert np.array_equal(came[0], wanted[0]) and came[1] == wanted[1]
    assert not np.array_equal(cases(rng)[0][0], expected[0][0])


def test_factors_multiply_the_first_argument_alone():
    """Would catch a factor that reaches the values, or one draw for all factors."""
    again = np.random.default_rng(3)
    (one, height), (other, _) = scaled(draw, 30.0, 1e4)(np.random.default_rng(3))
    assert np.array_equal(one, 30.0 * draw(again)[0]) and np.array_equal(other, 1e4 * draw(again)[0]) and height == 2


def test_close_asks_for_an_array_of_the_shape():
    """Would catch broadcasting, and None or a list taken for an array."""
    table = np.ones((2, 3))
    assert close(table + 1e-10, table) and close(table + 1e-4, table, 1e-3)
    assert not any(close(value, table) for value in (table + 1e-8, table[0], None, [[1.0] * 3] * 2, 1.0))
    assert not close(1e6 * table + 1e-4, 1e6 * table)  # close is no share of the value


def test_a_shape_that_is_wrong_is_told_with_what_came():
    """Would catch a sentence without the shape, and one where there is nothing to say."""
    assert shape_slip(np.ones((2, 3)), (2, 3)) is None
    assert shape_slip(np.ones(3), (2, 3)) == (
        snapshot("The result should be an array of shape (2, 3); yours is an array of shape (3,).")
    )
    assert shape_slip(None, (2,), "A_1") == snapshot("A_1 should be an array of shape (2,); yours is a NoneType.")


def test_of_a_tuple_only_the_parts_that_count_are_looked_at():
    """Would catch a right part that earns nothing because another one is missing, and a wrong one that is not seen."""
    shapes = (2, 3), (3,)
    assert shapes_slip((np.ones((2, 3)), np.ones(3)), shapes) is None
    assert shapes_slip((None, np.ones(3)), shapes).startswith("At position 0 of your result None came")
    assert shapes_slip((None, np.ones(3)), shapes, parts=(1,)) is None
    assert shapes_slip((None, np.ones(4)), shapes, parts=(1,)).startswith("The array at position 1")
    assert shapes_slip((np.ones(3),), shapes, parts=(1,)) == snapshot("The result should be a tuple of 2 arrays.")
