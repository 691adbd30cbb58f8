"""The parts that a table of models names: each is explained below it, and leads to a section of the book."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from clearbook.today import lacking, today
from clearbook.today.parts import PARTS
from clearbook.today.rows import gallery

from tools.pages import reading

ROOT = Path(__file__).parents[2]
HELD = gallery()


def test_each_part_that_a_table_names_is_explained():
    """Catches a part that the column names and no list explains, one that no model has, and a page that is not there."""
    shown = {part for model in HELD.models.values() for part in lacking(model)}
    assert shown == {*PARTS}
    for part, (what, page) in PARTS.items():
        file, _, anchor = page.partition("#")
        assert 3 <= len(what.split()) <= 10, part
        assert anchor in reading.headings(ROOT / "chapters" / file), page


@pytest.mark.parametrize(("folder", "up"), [("chapters", ""), ("chapters/closer", "../")])
def test_a_table_explains_the_parts_that_it_names(folder, up, monkeypatch):
    """Catches a part that is left out of the list, one that the table does not name, and a link from a wrong folder."""
    monkeypatch.chdir(ROOT / folder)
    table = today("missing", models=["Qwen3 8B", "Llama 3.1 8B"])
    soup = BeautifulSoup(table._repr_html_(), "html.parser")
    links = soup.select("a.part")
    assert [link.text for link in links] == table.parts == ["a head of its own", "slower angles"]
    assert [link["href"] for link in links] == [up + PARTS[link.text][1] for link in links]
    assert "\nslower angles: " in repr(table)
    assert not BeautifulSoup(today("context", models=["Qwen3 8B"])._repr_html_(), "html.parser").select("a.part")
