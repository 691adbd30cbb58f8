"""Tables of chapter 16 that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import chapter_16, closer_16_muon, stored, tables_16
from tests.claims.pages import cells

TABLES = {  # the experiment, what makes a table of its numbers, and the cell that shows it
    "switches": (chapter_16.switches, tables_16.switches_table, "switches-words"),
    "optimisers": (closer_16_muon.optimizers, tables_16.optimizers_table, "verdict"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_16_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiment, table, cell = TABLES[name]
    wanted = table(stored.numbers(stored.load(experiment)))
    source = "".join(cells(experiment.page)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {experiment.page}:\n{wanted}"
