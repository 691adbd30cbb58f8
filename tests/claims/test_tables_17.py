"""Tables of chapter 17 that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import chapter_17, stored, tables_17
from tests.claims.pages import cells

TABLES = {"memories": (chapter_17.memories, "memories-words"), "stacks": (chapter_17.stacks, "hybrids-words")}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_17_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiment, cell = TABLES[name]
    wanted = tables_17.answers_table(stored.numbers(stored.load(experiment)), experiment.cases)
    source = "".join(cells(experiment.page)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {experiment.page}:\n{wanted}"
