"""Tables of chapter 19 that hold stored numbers: they are the stored ones."""

from collections.abc import Callable

import pytest

from tests.claims import stored, tables_19
from tests.claims.chapter_19_fooled import PAGE, fooled
from tests.claims.chapter_19_wrong import enough_attempts, wrong_attempts
from tests.claims.pages import cells
from tests.claims.registry import Experiment

TABLES: dict[
    str, tuple[tuple[Experiment, ...], Callable[..., str], str]
] = {  # the experiments, what makes a table of their numbers, and the cell that shows it
    "wrong attempts": ((wrong_attempts, enough_attempts), tables_19.wrong_table, "adder-wrong"),
    "fooled": ((fooled,), tables_19.fooled_table, "fooled-read"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_19_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiments, table, cell = TABLES[name]
    wanted = table(*(stored.numbers(stored.load(it) or {"found": {}}) for it in experiments))
    source = "".join(cells(PAGE)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {PAGE}:\n{wanted}"
