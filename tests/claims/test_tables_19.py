"""Tables of chapter 19 that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import chapter_19, chapter_19_fooled, stored, tables_19
from tests.claims.pages import cells

TABLES = {  # the experiments, what makes a table of their numbers, and the cell that shows it
    "wrong attempts": ((chapter_19.wrong_attempts, chapter_19.enough_attempts), tables_19.wrong_table, "adder-wrong"),
    "fooled": ((chapter_19_fooled.fooled,), tables_19.fooled_table, "fooled-read"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_19_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiments, table, cell = TABLES[name]
    wanted = table(*(stored.numbers(stored.load(it)) for it in experiments))
    source = "".join(cells(chapter_19.PAGE)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {chapter_19.PAGE}:\n{wanted}"
