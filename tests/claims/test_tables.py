"""Tables of a page that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import (
    chapter_08,
    chapter_09,
    chapter_09_rates,
    chapter_09_recipes,
    closer_09_more_steps,
    closer_09_short_text,
    closer_09_your_own_text,
    slips,
    stored,
    tables,
)
from tests.claims.pages import ROOT, cells

TABLES = {  # the experiments, what makes a table of their numbers, and the cell that shows it
    "twenty slips": (
        (chapter_08.fresh_checks, chapter_08.by_heart, chapter_08.slips),
        tables.slips_table,
        "museum",
    ),
    "parts": ((chapter_08.parts,), tables.parts_table, "what-each-part-is-worth"),
    "rates": ((chapter_09.rates, chapter_09_rates.rates_for_longer), tables.rates_table, "rate-words"),
    "recipes": (
        (chapter_09_recipes.recipes, chapter_09_recipes.by_the_clock),
        tables.recipes_table,
        "muon-words",
    ),
    "two starts": (
        (closer_09_your_own_text.starts, closer_09_your_own_text.own_merges),
        tables.own_text_table,
        "my-model-read",
    ),
    "a third of the rate": ((closer_09_more_steps.thousand_steps,), tables.third_of_the_rate, "my-model-read"),
    "a short text": ((closer_09_short_text.short_text,), tables.short_text_table, "my-model-read"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_page_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiments, table, cell = TABLES[name]
    wanted = table(*(stored.numbers(stored.load(it)) for it in experiments))
    page = experiments[0].page
    source = "".join(cells(page)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {(ROOT / page).name}:\n{wanted}"


def test_a_slip_that_is_typed_nowhere_is_refused():
    """Catches a slip that changes nothing, since the page has changed."""
    assert slips.edited("a + b", (("a +", "a -"),)) == "a - b"
    with pytest.raises(ValueError, match="'c' is not on"):
        slips.edited("a + b", (("c", "d"),))


def test_a_check_sees_a_slip_above_rounding_alone():
    """Catches a table that calls rounding an error, and one that overlooks an order that makes no difference."""
    numbers = {("it", case, 1): [5, 4] for case in chapter_08.CHECKS}
    numbers["it", "padding_error", 1] = [0, 3]
    assert chapter_08.seen_by("it", numbers) == "PyTorch, prefix, cache"
    numbers["it", "order_gap", 1] = [0, 0]
    assert chapter_08.seen_by("it", numbers) == "PyTorch, prefix, cache, order"
