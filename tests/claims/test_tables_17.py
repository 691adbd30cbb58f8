"""Tables of chapter 17 that hold stored numbers: they are the stored ones."""

import pytest

from tests.claims import chapter_17, chapter_17_stacks, stored, tables_17
from tests.claims.pages import cells

TABLES = {  # the experiment, the cell that shows its numbers, and the steps of its smaller budget
    "memories": (chapter_17.memories, "memories-words", 300),
    "stacks": (chapter_17_stacks.stacks, "hybrids-words", 120),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_chapter_17_says_what_is_stored(name):
    """Catches a number that was typed, and a table that is older than its run."""
    experiment, cell, steps = TABLES[name]
    wanted = tables_17.answers_table(stored.numbers(stored.load(experiment)), experiment.cases, steps)
    source = "".join(cells(experiment.page)[cell]["source"])
    assert wanted in source, f"put this into the cell {cell} of {experiment.page}:\n{wanted}"
