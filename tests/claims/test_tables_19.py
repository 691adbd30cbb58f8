"""Tables of chapter 19 that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import stored, tables_19
from tests.claims.chapter_19_fooled import PAGE, fooled
from tests.claims.chapter_19_wrong import enough_attempts, wrong_attempts
from tests.claims.pages import cells

TABLES = {  # the experiments, what makes a table of their numbers, and the cell that shows it
    "wrong attempts": ((wrong_attempts, enough_attempts), tables_19.wrong_table, "adder-wrong"),
    "fooled": ((fooled,), tables_19.fooled_table, "fooled-read"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_19_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiments, table, cell = TABLES[name]
    wanted = table(*(stored.numbers(stored.load(it)) for it in experiments))
    source = "".join(cells(PAGE)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {PAGE}:\n{wanted}"
