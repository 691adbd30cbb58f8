"""How long a chapter is: within its budget, and as long as it says."""

import json

import pytest

from tools.pages import lengths
from tools.pages.chapters import chapters
from tools.pages.lengths import Length

CHAPTERS = chapters()
PROSE = (
    "# Title\n\nTwo words, $a + b$ and [a link](page.md) of five.\n\n$$\na = b\n$$ (eq-x)\n\n```text\nnot prose\n```\n"
)
QUIZ = (
    '## Check yourself\n\n**1. Which?**\n\n<details class="quiz"><summary>a</summary>\n\nno\n\n</details>\n\n'
    "**2. Why?**\n\n## Three more words\n"
)
TIME = "\n*Time:* 1 minutes to read, a minute to run, 2 minutes to practise.\n"


def printed(text):
    return {"output_type": "stream", "text": [text]}


def shown(kind, text):
    return {"output_type": "display_data", "data": {kind: [text]}}


def made_cell(cell):
    """Prose, or the source of a code cell with its tags and outputs."""
    if isinstance(cell, str):
        return {"cell_type": "markdown", "source": [cell], "metadata": {}}
    tags = [more for more in cell[1:] if isinstance(more, str)]
    outputs = [more for more in cell[1:] if not isinstance(more, str)]
    return {"cell_type": "code", "source": [cell[0]], "outputs": outputs, "metadata": {"tags": tags}}


def page(path, *cells):
    made = [made_cell(cell) for cell in cells]
    path.write_text(json.dumps({"cells": made, "metadata": {"run_seconds_at_most": 30}}), encoding="utf-8")
    return path


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_its_budget(path):
    """Catches a chapter that takes more than 65 minutes."""
    found = lengths.length(path)
    assert found.minutes <= lengths.MOST_MINUTES, (found, found.minutes)


@pytest.mark.parametrize("path", lengths.timed_pages(), ids=lambda path: path.stem)
def test_a_page_says_how_long_it_takes(path):
    """Catches minutes that somebody typed, and those of a page or an exercise as it was before it changed."""
    message = "run .venv/bin/python -m tools.pages.lengths --write"
    assert lengths.TIME.search("".join(lengths.cells(path)[0]["source"]))[0] == lengths.time_line(path), message


def test_what_counts_in_prose(tmp_path):
    """Catches formulas, code blocks, targets of links and quiz answers taken for prose."""
    found = lengths.length(page(tmp_path / "a.ipynb", PROSE, QUIZ, "![alt](a.png)\n\n```{figure} b.png\n```\n"))
    assert found == Length(words=16, displays=1, formulas=1, figures=2, questions=1)


def test_what_counts_in_code(tmp_path):
    """Catches folded code taken for visible, and outputs that nobody sees."""
    found = lengths.length(
        page(
            tmp_path / "a.ipynb",
            ("x = 1\n\ny = 2", printed("1"), printed(" \n")),
            ("z = 3", "hide-input", shown("image/svg+xml", "<svg/>")),
            ("w = 4", "hide-cell", printed("2")),
            ("v = 5", "hide-output", shown("text/html", "<table/>")),
            ("u = 6", "nbval-x", shown("text/html", '<a-b class="explorable"></a-b>')),
        )
    )
    assert found == Length(lines=4, tables=1, figures=1, explorables=1)


SECONDS = {"displays": 60, "formulas": 5, "lines": 8, "tables": 20, "figures": 20, "explorables": 60, "questions": 45}


@pytest.mark.parametrize(("what", "seconds"), SECONDS.items())
def test_what_each_thing_takes(what, seconds):
    """Catches a part of the formula that is left out or weighs otherwise than the course's page of design says."""
    assert Length(**{what: 12}).minutes == pytest.approx(seconds / 5)
    assert Length(words=300, **{what: 12}).minutes == pytest.approx(2 + seconds / 5)


@pytest.mark.parametrize(("words", "minutes"), [(150, 5), (750, 5), (751, 10), (1500, 10)])
def test_the_minutes_that_a_page_names_are_rounded_up_to_five(words, minutes):
    assert Length(words).stated == minutes


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
