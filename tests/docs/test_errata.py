"""The errata page is what its data and the chapters say, and each proof that it announces is there."""

import json
import re

import errata
import pages
import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.mdit_to_docutils.base import default_slugify

ENTRIES = {entry["n"]: entry for source in errata.load()["sources"] for entry in source["entries"]}
BOXES = pages.boxes()
COUNTS = {"T": 22, "S": 18, "J": 16}
# Where each entry that changes a result is proven.
PROVEN = {
    1: "T-11 T-12 S-6",
    3: "T-1 T-3 T-4 T-7 T-10 J-4 S-6 S-8",
    4: "T-2 T-9 S-5",
    5: "S-8 J-14",
    6: "S-4 J-13",
    7: "T-5 S-1 S-2 S-14 J-2 J-3",
    8: "J-4 J-5 J-12",
    13: "J-6 J-9",
    15: "J-3 J-11 J-12 J-13 J-14 S-14",
}


def write(path, cells):
    """A notebook with the given prose (str) and code cells (tuples of source and output)."""
    made = [
        {"cell_type": "markdown", "source": [cell]}
        if isinstance(cell, str)
        else {"cell_type": "code", "source": [cell[0]], "outputs": [{"text": [cell[1]]}]}
        for cell in cells
    ]
    path.write_text(json.dumps({"cells": made}), encoding="utf-8")


def test_the_page_is_what_the_generator_writes():
    """Catches a page that was edited by hand, or that a changed chapter or data file has left behind."""
    message = "run python tools/errata.py: chapters/errata.md is not what its data and the chapters give"
    assert errata.PAGE.read_text(encoding="utf-8") == errata.page(), message


def test_the_numbers_have_no_gap():
    """Catches an entry that was lost, or put in twice."""
    listed = [entry["n"] for source in errata.load()["sources"] for entry in source["entries"]]
    assert listed == [f"{letter}-{i}" for letter, count in COUNTS.items() for i in range(1, count + 1)]


@pytest.mark.parametrize("number", ENTRIES)
def test_an_entry_is_complete(number):
    """Catches an entry that does not say where it is, what is printed, what is meant, or why."""
    entry = ENTRIES[number]
    needed = {"n", "kind", "title", "where", "why"} | ({"printed", "meant"} if entry["kind"] != "right" else set())
    assert needed <= set(entry) <= needed | {"see"}
    assert entry["kind"] in errata.KINDS
    assert all(entry[name] and entry[name][0] != " " for name in needed)
    assert entry["why"].endswith(".") and not entry["where"].endswith(".")


@pytest.mark.parametrize("chapter", PROVEN)
def test_what_changes_a_result_has_its_box(chapter):
    """Catches a box that has gone from its chapter, or that has been renamed so that the page cannot find it."""
    there = {number for box in BOXES if int(box.section.page[:2]) == chapter for number in box.numbers}
    assert set(PROVEN[chapter].split()) <= there


@pytest.mark.parametrize("number", [number for number, entry in ENTRIES.items() if entry["kind"] == "result"])
def test_what_changes_a_result_is_proven(number):
    """Catches an entry without a box that runs it."""
    assert any(number in box.numbers for box in BOXES)


@pytest.mark.parametrize("box", BOXES, ids=lambda box: "-".join(box.numbers))
def test_a_box_proves_what_it_names(box):
    """Catches a box for an entry that does not exist, one without a number, and a proof that prints nothing."""
    assert box.numbers and set(box.numbers) <= set(ENTRIES)
    assert box.evidence.strip()
    assert box.section.slug in pages.headings(pages.CHAPTERS / box.section.page)


def test_no_box_is_overlooked():
    """Catches a title with another dash, or without the middle dot, which the generator would pass over."""
    texts = ["".join(cell["source"]) for path in pages.pages().values() for cell in pages.cells(path)
             if path.suffix == ".ipynb" and cell["cell_type"] == "markdown"]  # fmt: skip
    assert sum(len(re.findall(r"\{admonition\} *Errat", text)) for text in texts) == len(BOXES)
    titles = re.findall(r"\{admonition\} Errata proven · (.+)", "\n".join(texts))
    assert all(re.fullmatch(r"[TSJ]-\d+((, | and )[TSJ]-\d+)*", title) for title in titles), titles


def test_errata_named_in_the_chapters_exist():
    assert set(pages.mentions()) <= set(ENTRIES)


def test_a_box_is_read_with_its_section_and_its_output(tmp_path, monkeypatch):
    cells = ["# Title\n\n## One *thing*", ":::{admonition} Errata proven · T-1 and S-2\n:::", ("print(6)", "6\n")]
    write(tmp_path / "01-x.ipynb", cells)
    monkeypatch.setattr(pages, "CHAPTERS", tmp_path)
    (box,) = pages.boxes()
    assert (box.numbers, box.evidence) == (("T-1", "S-2"), "6")
    assert box.section.link == "[One *thing*](01-x.ipynb#one-thing)"


@pytest.mark.parametrize("after", [[], ["More prose."]])
def test_a_box_without_a_proof_is_refused(tmp_path, monkeypatch, after):
    write(tmp_path / "01-x.ipynb", ["# Title", ":::{admonition} Errata proven · T-1\n:::", *after])
    monkeypatch.setattr(pages, "CHAPTERS", tmp_path)
    with pytest.raises(ValueError, match=r"01-x.*T-1.*not followed by a code cell"):
        pages.boxes()


@pytest.mark.parametrize("name", pages.pages())
def test_anchors_are_those_of_the_book(name):
    """Catches an anchor that we compute in another way than MyST does when it builds the page."""
    path = pages.pages()[name]
    parser = MarkdownIt().use(dollarmath_plugin).use(anchors_plugin, max_level=3, slug_func=default_slugify)
    prose = ["".join(cell["source"]) for cell in pages.cells(path) if cell["cell_type"] == "markdown"]
    tokens = parser.parse("\n\n".join(prose))
    expected = [token.attrs["id"] for token in tokens if token.type == "heading_open" and "id" in token.attrs]
    assert list(pages.headings(path)) == expected


def test_the_page_has_no_display_equation():
    """A display equation would need a label and a check of its own."""
    assert "$$" not in errata.page() and "\\[" not in errata.page()
