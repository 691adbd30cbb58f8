"""How numbers are shown on the page of claims: counts, losses, runaways, and what there is not."""

import math

import pytest

from tests.claims import stored
from tests.claims.registry import register
from tests.claims.shown import decimals, span
from tools.pages import claims


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
        ([4.56e7, 45.69], 2, "45.69–4.6 · 10⁷"),
        ([1.2e12, math.nan], 0, "1.2 · 10¹²–∞"),
        ([17768.5, 49739.5], 2, "17,768–49,740"),
        ([22.62, 183.4], 2, "22.62–183.40"),
        ([3668.0, 3750.0], 0, "3,668–3,750"),
        ([999_999.0], 2, "999,999"),
        ([98.74, 100.0], 2, "98.74–100.00"),
        ([383.0, 392.0], 0, "383–392"),
        ([math.nan, math.nan], 2, "–"),
    ],
)
def test_the_lowest_and_the_highest_are_shown(found, places, shown):
    """Catches a number that is finite and shown as ∞, however large, and one that there is not."""
    assert span(found, places) == shown


def test_no_finite_number_of_the_record_is_infinite_on_the_page():
    """Catches a limit above which what was measured is hidden, in any experiment there is."""
    experiments, _ = register()
    for it in experiments.values():
        entry = stored.load(it)
        assert entry, it.name
        numbers = stored.numbers(entry)
        rows = "\n".join(claims.table(it, numbers))
        if all(math.isfinite(number) for found in numbers.values() for number in found):
            assert "∞" not in rows, it.name
