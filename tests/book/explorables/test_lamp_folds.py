"""The folded surface as a reader moves it: every number beside the library's layer, and both goals within reach."""

from itertools import product

import numpy as np
import pytest
from clearformer.reference.functions import relu
from clearformer.reference.layers import mlp

from tests.book.explorables.shown import stored_data

CONTROLS = ("w1", "w2", "bias", "out")
BY_HAND = [(1, 1, 0, 1), (1, 1, -1, -2)]  # the two units of the chapter
NO_BIAS = [(1, -1, 0, 1), (-1, 1, 0, 1)]
AGREE = [(1, 1, -1, 1), (-1, -1, 1, 1)]  # for a lamp that is on when both or none are up


def choose(shown, units):
    """Set the number of units, and then the weights of each."""
    shown.press("count", len(units) - 1)
    for f, unit in enumerate(units):
        shown.press("unit", f)
        shown.set(**dict(zip(CONTROLS, unit, strict=True)))


def sums(units) -> np.ndarray:
    """What the library's layer makes of the four settings, with these hidden units."""
    columns, inputs = np.array(units, float).T, np.array(stored_data("lamp-folds")["inputs"]).T
    w = np.column_stack(columns[:2])
    downwards = np.stack([columns[3], np.zeros(len(units))])  # as wide as a token
    return mlp(inputs, w, columns[2], downwards, np.zeros(2), relu)[0]


@pytest.mark.parametrize("units", [BY_HAND, NO_BIAS, AGREE, [(-2.5, 3, 1.5, -3)] * 4, [(0, 0, 0, 0)]], ids=str)
def test_the_sums_are_those_of_the_library(show, units):
    """Catches a bias that is left out, a unit that is not counted, a ReLU that lets negative numbers pass."""
    shown = show("lamp-folds")
    choose(shown, units)
    expected = sums(units)
    shown.agrees_with("sum", expected)
    w_1, w_2, bias, _ = units[-1]
    shown.agrees_with("before", [w_1 * x + w_2 * y + bias for x, y in stored_data("lamp-folds")["inputs"]])
    assert shown.texts(*(f"lamp-{i}" for i in range(4))) == ["on" if x > 0.5 else "off" for x in expected]
    assert shown.page.complaints == []


def test_the_surface_is_folded_where_a_unit_sets_in(show):
    """Catches a fold that is drawn elsewhere, and tiles that are lit where the sum is not above one half."""
    shown = show("lamp-folds")
    choose(shown, BY_HAND)
    shown.press("view", "above")
    points = shown.element.locator("polyline").evaluate_all("all => all.map(line => line.getAttribute('points'))")
    places = [np.array([pair.split(",") for pair in text.split()], float) for text in points]
    for place, level in zip(places, (0, 1), strict=True):  # where the switches add up to it
        np.testing.assert_allclose(place[:, 0] / 100 + 0.5 + 0.5 - place[:, 1] / 100, level, atol=1e-9)
    lit = shown.element.locator("polygon.warm").count()
    middles = np.arange(16) / 8 - 0.5 + 1 / 16
    raised = np.add.outer(middles, middles)
    assert lit == (relu(raised) - 2 * relu(raised - 1) > 0.5).sum()


def test_both_goals_can_be_reached(show):
    """Catches a goal that nobody can reach, that is called reached too early, or that forgets what was predicted."""
    shown = show("lamp-folds")
    assert "Predict first" in shown.says and "3 of 4" in shown.says
    shown.press("guess", 2)
    assert shown.says == "3 of 4 are right."
    choose(shown, BY_HAND)
    assert shown.says == "Lit with as few units as possible: 2. You predicted 3."
    choose(shown, [*BY_HAND, (0.5, 0, 0, 0)])
    assert shown.says == "Lit, and fewer units can do it."
    choose(shown, NO_BIAS)
    assert shown.says.endswith("And without a bias.")
    shown.press("lamp", 1)
    choose(shown, AGREE)
    assert shown.says == "Lit with as few units as possible: 2."
    shown.press("lamp", 2)
    choose(shown, [(1, 1, 0, 1)])
    assert shown.says == "Lit with as few units as possible: 1."


def test_no_single_unit_lights_a_lamp_that_needs_two(show):
    """Catches a smallest number of units that is too large: tried out with every setting of the sliders."""
    wanted = np.array(stored_data("lamp-folds")["wanted"])
    inputs, ticks = np.array(stored_data("lamp-folds")["inputs"]), np.arange(-3, 3.5, 0.5)
    w = np.array(list(product(ticks, ticks, ticks)))
    bent = relu(inputs @ w[:, :2].T + w[:, 2])
    found = {tuple(column) for out in ticks for column in (out * bent > 0.5).T.astype(int)}
    assert [tuple(lit) in found for lit in wanted] == [False, False, True]


def test_a_dead_unit_is_named(show):
    """Catches a unit that answers to no setting, and a reader who is not told why nothing moves."""
    shown = show("lamp-folds")
    choose(shown, [(1, 1, 0, 1), (-1, -1, -1, 2)])
    assert "Unit 2 is off for all of them: it is dead." in shown.says


def test_units_that_are_not_there_cannot_be_moved(show):
    """Catches sliders that move a unit which is not counted."""
    shown = show("lamp-folds")
    assert [shown.control("unit", f).is_disabled() for f in range(4)] == [False, True, True, True]
    shown.press("count", 3)
    shown.press("unit", 3)
    shown.press("count", 1)
    assert shown.control("unit", 1).get_attribute("aria-pressed") == "true"
    assert shown.control("unit", 3).is_disabled()
