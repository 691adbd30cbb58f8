"""How long a chapter is: within its budget, and as long as it says."""

import json

import pytest

from tools.pages import lengths
from tools.pages.chapters import chapters

CHAPTERS = chapters()
PROSE = (
    "# Title\n\nTwo words, $a + b$ and [a link](page.md) of five.\n\n$$\na = b\n$$ (eq-x)\n\n```text\nnot prose\n```\n"
)
QUIZ = (
    "## Check yourself\n\n**1. Which?**\n\n<details><summary>a</summary>\n\nno\n\n</details>\n\n"
    "**2. Why?**\n\n## Three more words\n"
)
TIME = "\n*Time:* 1 minutes to read, a minute to run, 2 minutes to practise.\n"


def page(path, *cells):
    made = [
        {"cell_type": "markdown", "source": [cell], "metadata": {}}
        if isinstance(cell, str)
        else {"cell_type": "code", "source": [cell[0]], "metadata": {"tags": list(cell[1:])}}
        for cell in cells
    ]
    path.write_text(json.dumps({"cells": made, "metadata": {"run_seconds_at_most": 30}}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_its_budget(path):
    """Catches a chapter that grows beyond an hour."""
    assert not lengths.length(path).excess(), lengths.length(path)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_says_how_long_it_takes(path):
    """Catches minutes that somebody typed, and those of a page or an exercise as it was before it changed."""
    message = "run .venv/bin/python -m tools.pages.lengths --write"
    assert lengths.TIME.search("".join(lengths.cells(path)[0]["source"]))[0] == lengths.time_line(path), message


def test_what_counts(tmp_path):
    """Catches formulas, code blocks, targets of links and quiz answers taken for prose, and folded code for visible."""
    found = lengths.length(
        page(tmp_path / "a.ipynb", PROSE, ("x = 1\n\ny = 2",), ("z = 3", "hide-input"), ("w = 4", "nbval-x"), QUIZ)
    )
    assert (found.words, found.lines, found.questions) == (12, 3, 2)


@pytest.mark.parametrize(("numbers", "minutes"), [((150, 0, 0), 5), ((1500, 0, 0), 10), ((1500, 75, 1), 25)])
def test_minutes_are_rounded_up_to_five(numbers, minutes):
    assert lengths.Length(*numbers).minutes == minutes


def test_each_limit_is_told():
    assert lengths.Length(3000, 200, 6).excess() == []
    assert lengths.Length(3001, 0, 0).excess() == ["3001 words of at most 3000"]
    assert [text.split()[1] for text in lengths.Length(3000, 400, 6).excess()] == ["lines", "minutes"]


def test_the_line_is_written_and_one_without_it_refused(tmp_path, monkeypatch):
    """Catches a tool that writes another number than it prints, or loses what stands beside it."""
    monkeypatch.setattr(lengths, "practice", lambda slug: 85)
    path = page(tmp_path / "01-a.ipynb", PROSE + TIME)
    lengths.write_time(path)
    (cell,) = lengths.cells(path)
    assert "".join(cell["source"]) == PROSE + TIME.replace("1 minutes", "5 minutes").replace(
        "a minute", "half a minute"
    ).replace("2 minutes", "85 minutes")
    with pytest.raises(ValueError, match=r"02-b\.ipynb: its first cell has no line of the form '\*Time:\*"):
        lengths.time_line(page(tmp_path / "02-b.ipynb", PROSE))
