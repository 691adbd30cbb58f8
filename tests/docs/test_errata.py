"""The errata page is complete, its index agrees with it, and what changes a result is run."""

import json
import re

import pytest

from tools.pages import errata, reading

ENTRIES = errata.entries()
BOXES = {number for box in reading.boxes() for number in box.numbers}  # of chapters that still hold a proof
COUNTS = {"T": 22, "S": 18, "J": 16}
INDEX = "".join(reading.cells(errata.PAGE)[0]["source"])
ELSEWHERE = re.compile(r"It is run (?:below \[([TSJ]).(\d+)\]|in chapter \d+, \[.+?\]\((\d\d)[^)#]*#([^)]+)\))")


def write(path, cells):
    """A notebook with the given prose (str) and code cells (tuples of source and output)."""
    made = [
        {"cell_type": "markdown", "source": [cell]}
        if isinstance(cell, str)
        else {"cell_type": "code", "source": [cell[0]], "outputs": [{"text": [cell[1]]}]}
        for cell in cells
    ]
    path.write_text(json.dumps({"cells": made}), encoding="utf-8")


def test_the_numbers_have_no_gap():
    """Catches an entry that was lost, put in twice, or written so that it is not found."""
    assert list(ENTRIES) == [f"{letter}-{i}" for letter, count in COUNTS.items() for i in range(1, count + 1)]


@pytest.mark.parametrize("number", ENTRIES)
def test_an_entry_is_complete(number):
    """Catches an entry that does not say where it is, what is printed, what is meant, or why."""
    entry = ENTRIES[number]
    assert entry.kind in errata.KINDS and entry.where.endswith(".")
    for word in {"Checked, and right": (), "Withdrawn": ("Printed",)}.get(entry.kind, ("Printed", "Meant")):
        assert f"- {word}: " in entry.text
    assert entry.text.split("\n\n")[-1].endswith(".")


def test_the_index_names_each_entry_under_its_kind():
    """Catches an entry whose kind was changed in one of the two places."""
    for kind in errata.KINDS:
        (line,) = re.findall(rf"^- \*\*{kind}:\*\* (.+)$", INDEX, re.MULTILINE)
        assert line.split(", ") == [errata.reference(n) for n, entry in ENTRIES.items() if entry.kind == kind]


@pytest.mark.parametrize("number", [n for n, entry in ENTRIES.items() if entry.kind == "Changes a result"])
def test_what_changes_a_result_is_run(number):
    """Catches an entry without a cell that runs it, and one that sends its reader to a place that does not."""
    entry = ENTRIES[number]
    if entry.proof is None:
        letter, below, chapter, anchor = ELSEWHERE.search(entry.text).groups()
        if below:
            assert ENTRIES[f"{letter}-{below}"].proof
        else:
            assert number in BOXES and anchor in reading.headings(reading.pages()[chapter])


@pytest.mark.parametrize("number", [n for n, entry in ENTRIES.items() if entry.proof])
def test_a_proof_shows_something_and_can_fail(number):
    proof = ENTRIES[number].proof
    assert reading.printed_output(proof).strip()
    assert re.search(r"\bassert\b|assert_|except ValueError", "".join(proof["source"]))


def test_no_entry_is_overlooked():
    """Catches a heading with another dash, or without its anchor or its kind, which would not be read."""
    text = "\n".join("".join(cell["source"]) for cell in reading.cells(errata.PAGE) if cell["cell_type"] == "markdown")
    assert len(re.findall(r"^### ", text, re.MULTILINE)) == len(ENTRIES)
    assert "$$" not in text  # a display equation would need a check of its own


def test_a_box_is_read_with_its_section_and_its_output(tmp_path, monkeypatch):
    cells = ["# Title\n\n## One *thing*", ":::{admonition} Errata proven · T-1 and S-2\n:::", ("print(6)", "6\n")]
    write(tmp_path / "01-x.ipynb", cells)
    monkeypatch.setattr(reading, "CHAPTERS", tmp_path)
    (box,) = reading.boxes()
    assert (box.numbers, box.evidence) == (("T-1", "S-2"), "6")
    assert box.section.link == "[One *thing*](01-x.ipynb#one-thing)"


@pytest.mark.parametrize("after", [[], ["More prose."]])
def test_a_box_without_a_proof_is_refused(tmp_path, monkeypatch, after):
    write(tmp_path / "01-x.ipynb", ["# Title", ":::{admonition} Errata proven · T-1\n:::", *after])
    monkeypatch.setattr(reading, "CHAPTERS", tmp_path)
    with pytest.raises(ValueError, match=r"01-x.*T-1.*not followed by a code cell"):
        reading.boxes()
