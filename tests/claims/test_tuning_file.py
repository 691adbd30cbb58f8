"""The file that chapter 18 draws from."""

from tests.claims import tuning_file
from tests.claims.pages import ROOT


def test_the_figure_of_chapter_18_draws_the_stored_numbers():
    """Catches a figure that shows an older run than the claims below it are decided by."""
    kept = (ROOT / tuning_file.FILE).read_text(encoding="utf-8")
    assert kept == tuning_file.text(), "Write it anew: python -m tests.claims.tuning_file"
