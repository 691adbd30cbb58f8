"""The notation page names every letter that the library uses in its shapes, and with the same meaning."""

import re
from pathlib import Path

import pytest
from clearformer.shapes import MEANING

PAGE = (Path(__file__).parents[2] / "chapters" / "notation.md").read_text(encoding="utf-8")
SIZES = PAGE.split("## Sizes")[1].split("\n## ")[0]
LISTED = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", SIZES, flags=re.MULTILINE))


@pytest.mark.parametrize("letter", sorted(MEANING))
def test_notation_lists_every_letter_of_a_shape(letter):
    """Catches a letter that was added to the shapes, or whose meaning changed, without a word to the reader."""
    assert letter in LISTED, f"chapters/notation.md, section Sizes: add a row for `{letter}` ({MEANING[letter]})"
    assert LISTED[letter].startswith(MEANING[letter]), f"{letter}: {LISTED[letter]!r} should begin {MEANING[letter]!r}"


def test_notation_holds_no_letter_twice():
    letters = re.findall(r"^\| `(\w+)` \|", SIZES, flags=re.MULTILINE)
    assert len(letters) == len(set(letters)) >= len(MEANING)


def test_notation_shows_no_display_equation():
    """A display equation would ask for a check; the page repeats formulas of the chapters, in the line."""
    assert "$$" not in PAGE
