"""The source map is complete, and each of its links leads somewhere."""

import hashlib
import re
from collections import Counter

import pytest

from tools.pages import errata, reading, source_map, write

SOURCES = {source["key"]: source for source in source_map.load()["sources"]}
ROWS = {key: source_map.rows(source) for key, source in SOURCES.items()}
# How many pieces of each numbered kind the sources have, counted by hand.
COUNTS = {
    "turner-v2": {"equation": 6, "footnote": 22, "figure": 7},
    "turner-v1": {"equation": 6, "footnote": 17, "figure": 5},
    "jiang": {"forward step": 4, "backward step": 4, "GPT-3 step": 4, "figure": 1, "reference": 4},
    "comp336": {"slide": 65},
}
SECTIONS = {
    "turner-v2": "Abstract 1 1.1 1.2 2 2.1 2.2 2.3 3 4 4.1 4.2 4.3 5 References",
    "turner-v1": "Abstract 1 1.1 1.2 2 2.1 2.2 2.3 3 4 4.1 4.2 4.3 References",
}
FORMULAS = {"turner-v2": 8, "turner-v1": 7, "jiang": 1}  # displayed without a number; those of footnotes not counted
DIGEST = "e80e6c3bb203c24872f0d752f47505668853935d4da21df75c253dde080b0efe"
# of the titles of the slides, in order, so that none is changed or lost unseen
ALL = [(key, row) for key, found in ROWS.items() for row in found]


def numbers(row: source_map.Row) -> list[int]:
    """The numbers that a row stands for: one, or a range like 4–5."""
    first, _, last = row.number.partition("–")
    return list(range(int(first), int(last or first) + 1))


@pytest.fixture(scope="module")
def written_source_map() -> str:
    """The page as the generator writes it."""
    return source_map.page()


def test_the_page_is_what_the_generator_writes(written_source_map):
    """Catches a page that was edited by hand, or that a renamed section has left behind."""
    message = "run make pages: chapters/source-map.md is not what its data and the chapters give"
    assert source_map.PAGE.read_text(encoding="utf-8") == written_source_map, message


@pytest.mark.parametrize(("key", "kind"), [(key, kind) for key, kinds in COUNTS.items() for kind in kinds])
def test_numbering_has_no_gap(key, kind):
    """Catches an equation, a footnote, a figure, a step or a slide that has been left out or listed twice."""
    found = [n for row in ROWS[key] if row.kind == kind and row.number[:1].isdigit() for n in numbers(row)]
    assert sorted(found) == list(range(1, COUNTS[key][kind] + 1))
    if kind != "figure":  # figures float
        assert kind == "footnote" or found == sorted(found)


@pytest.mark.parametrize("key", SECTIONS)
def test_sections_are_all_there_and_in_order(key):
    assert [row.number or row.what for row in ROWS[key] if row.kind == "section"] == SECTIONS[key].split()


@pytest.mark.parametrize("key", FORMULAS)
def test_displayed_formulas_without_a_number_are_counted(key):
    assert Counter(row.kind for row in ROWS[key])["formula"] == FORMULAS[key]


def test_the_titles_of_the_slides_are_those_of_the_lecture():
    """Catches a title that is left out, changed or moved: their digest is pinned."""
    titles = [row.what for row in ROWS["comp336"] if row.kind == "slide" for _ in numbers(row)]
    assert hashlib.sha256("\n".join(titles).encode()).hexdigest() == DIGEST


def test_there_are_no_kinds_but_these():
    """Catches a misspelt kind, which no count would miss."""
    known = {kind for kinds in COUNTS.values() for kind in kinds} | {"section", "part", "formula"}
    assert {row.kind for _, row in ALL} == known


@pytest.mark.parametrize("key", ROWS)
def test_every_row_leads_somewhere(key):
    """Catches a link to a section that does not exist."""
    for row in ROWS[key]:
        assert row.what and row.places, row
        for place in row.places:
            if place == source_map.FRONT:
                assert (reading.ROOT / "index.md").is_file()
            else:
                heading = reading.section(place)
                assert heading.slug in reading.headings(reading.CHAPTERS / heading.page), row
        assert len(set(row.places)) == len(row.places), row


@pytest.mark.parametrize("key", ROWS)
def test_errata_named_in_a_row_exist_and_belong_to_its_source(key):
    letter = {"turner-v2": "T", "turner-v1": "T", "jiang": "J", "comp336": "S"}[key]
    known = errata.entries()
    for row in ROWS[key]:
        named = set(reading.NUMBER.findall(row.note))
        assert named <= set(known), row
        assert all(number.startswith(letter) for number in named), row


def test_every_erratum_can_be_found_on_the_map():
    """Catches an erratum that nobody who reads the source along the map would meet."""
    named = {number for _, row in ALL for number in reading.NUMBER.findall(row.note)}
    assert set(errata.entries()) <= named


def test_links_on_the_page_itself_lead_to_its_sections(written_source_map):
    own = {anchor for anchor in re.findall(r"\]\(#([\w-]+)\)", written_source_map) if not anchor.startswith("errata-")}
    assert own == set(reading.headings(source_map.PAGE)) - {"source-map"}


@pytest.mark.parametrize(("place", "said"), [("77#x", "no page '77'"), ("03#x", "no anchor 'x'")])
def test_a_place_that_does_not_exist_is_named(place, said):
    with pytest.raises(ValueError, match=said):
        reading.section(place)


def test_a_row_without_a_place_is_refused():
    with pytest.raises(ValueError, match=r"turner-v9: equation 1 \(all\) leads nowhere"):
        source_map.rows({"key": "turner-v9", "rows": [["equation", "1", "all", ""]]})


def test_make_pages_names_the_link_that_a_renamed_section_breaks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(source_map, "PAGE", tmp_path / source_map.PAGE.name)
    broken = {"key": "turner-v9", "title": "Turner", "intro": "", "rows": [["equation", "1", "all", "03#gone"]]}
    monkeypatch.setattr(source_map, "load", lambda: {"sources": [broken]})
    assert write.main() == 1
    problem = capsys.readouterr().err
    assert problem.startswith("03#gone: 03-self-attention.ipynb has no anchor 'gone'; it has self-attention, ")
    assert not source_map.PAGE.exists()


def test_the_page_has_no_display_equation(written_source_map):
    """A display equation would need a label and a check of its own."""
    assert "$$" not in written_source_map
