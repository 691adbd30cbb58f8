"""Tables of a page that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import chapter_08, stored
from tests.claims.pages import ROOT, cells

TABLES = {
    "twenty slips": (chapter_08.slips, chapter_08.slips_table, "museum"),
    "parts": (chapter_08.parts, chapter_08.parts_table, "what-each-part-is-worth"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_page_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiment, table, cell = TABLES[name]
    wanted = table(stored.numbers(stored.load(experiment)))
    source = "".join(cells(experiment.page)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {(ROOT / experiment.page).name}:\n{wanted}"


def test_a_slip_that_is_typed_nowhere_is_refused():
    """Catches a slip that changes nothing, since the page has changed."""
    assert chapter_08.edited("a + b", (("a +", "a -"),)) == "a - b"
    with pytest.raises(ValueError, match="'c' is not on"):
        chapter_08.edited("a + b", (("c", "d"),))


def test_a_check_sees_a_slip_above_rounding_alone():
    """Catches a table that calls rounding an error, and one that overlooks an order that makes no difference."""
    found = (*chapter_08.NAMED, "order_gap", "written by heart")
    numbers = {("it", case, 1): [0.5] for case in found}
    numbers["it", "padding_error", 1] = [2e-7]
    assert chapter_08.seen_by("it", numbers) == "PyTorch, prefix, cache"
    numbers["it", "order_gap", 1] = [0.0]
    assert chapter_08.seen_by("it", numbers) == "PyTorch, prefix, cache, order"
