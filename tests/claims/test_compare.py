"""What sentences compare, on numbers that anybody can check."""

import pytest

from tests.claims.compare import below

NUMBERS = {
    ("low", "", 1): [1.0, 2.0],
    ("high", "", 1): [3.0, 9.0],
    ("higher", "", 1): [8.0, 9.0],
    ("low", "", 4): [1.0, 5.0],
    ("high", "", 4): [3.0, 9.0],
    ("higher", "", 4): [8.0, 9.0],
    ("low", "far", 1): [0.0],
    ("high", "far", 1): [0.0],
}


@pytest.mark.parametrize(
    ("contenders", "options", "found"),
    [
        (("low", "higher"), {}, True),
        (("higher", "low"), {}, False),
        (("low", "high"), {}, False),  # at four times the budget one run of each is on the wrong side
        (("low", "high"), {"times": (1,)}, True),
        (("low", "higher", "high"), {}, False),
        (("low", "higher"), {"by": 2.9}, True),
        (("low", "higher"), {"by": 3.0}, False),
        (("low", "high"), {"case": "far", "times": (1,)}, False),
    ],
)
def test_every_run_counts_at_every_budget(contenders, options, found):
    """Catches a comparison of means, of one budget, of one rival, or of another case, and a tie that is a victory."""
    assert below(NUMBERS, *contenders, **options) is found
