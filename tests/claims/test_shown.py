"""How numbers are shown on the page of claims: counts, losses, runaways, and what there is not."""

import math

import pytest

from tests.claims.shown import decimals, span


@pytest.mark.parametrize(
    ("column", "places"), [([0, 0, 383.0], 0), ([0.0, 1.0, 1.0], 2), ([2.25, 8.0], 2), ([math.nan, 8.0, math.inf], 0)]
)
def test_whole_numbers_above_one_are_counts(column, places):
    """Catches the count 0 that is written as 0.00, and a share of all that is written as 1."""
    assert decimals(map(float, column)) == places


@pytest.mark.parametrize(
    ("found", "places", "shown"),
    [
        ([2.204, 2.201], 2, "2.20"),
        ([2.31, 2.29, 2.3], 2, "2.29–2.31"),
        ([2.3, math.inf], 2, "2.30–∞"),
        ([5e7], 2, "∞"),
        ([98.74, 100.0], 2, "98.74–100.00"),
        ([383.0, 392.0], 0, "383–392"),
        ([math.nan, math.nan], 2, "–"),
    ],
)
def test_the_lowest_and_the_highest_are_shown(found, places, shown):
    """Catches a training that ran away and is shown as a number, or a number that there is not."""
    assert span(found, places) == shown


def test_what_is_no_loss_may_be_large():
    """Catches milliseconds that are shown as a training that ran away."""
    assert span([22.62, 183.4], 2, math.inf) == "22.62–183.40"
