"""The figure and the table of chapter 18 that hold stored numbers: they are the stored ones."""

from tests.claims import tables_18
from tests.claims.chapter_18 import PAGE
from tests.claims.pages import ROOT, cells


def test_the_figure_of_chapter_18_draws_the_stored_numbers():
    """Catches a figure that shows an older run than the claims below it are decided by."""
    kept = (ROOT / tables_18.FILE).read_text(encoding="utf-8")
    assert kept == tables_18.figure_file(), "Write it anew: python -m tests.claims.tables_18"


def test_the_table_of_chapter_18_says_what_is_stored():
    """Catches a number that was typed, and a table that is older than its run."""
    wanted = tables_18.ways_table()
    source = "".join(cells(PAGE)["replay-read"]["source"])
    assert wanted in source, f"put this into the cell replay-read of {PAGE}:\n{wanted}"
