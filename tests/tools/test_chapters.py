"""What a chapter is called: its number and its slug, and one that is put between two others."""

from types import SimpleNamespace

import pytest
from docutils import nodes

from tests.book.pages import CHAPTERS
from tools.extension.chapter_numbers import number_by_file_name
from tools.pages.chapters import chapter_number, chapter_slug, chapters, is_chapter


def test_the_contents_name_every_chapter_in_its_place():
    """Catches a chapter that is not published, or stands in the contents before one with a smaller number."""
    assert list(CHAPTERS.values()) == [f"chapters/{path.stem}.html" for path in chapters()]


def test_a_chapter_between_two_others_has_its_place_and_a_number_of_its_own(tmp_path):
    """Catches an inserted chapter for which those behind it would have to be renamed."""
    (tmp_path / "chapters").mkdir()
    for name in ("05-c", "04b-b", "04-a", "transformer", "concordance"):
        (tmp_path / "chapters" / f"{name}.ipynb").touch()
    names = [path.stem for path in chapters(tmp_path)]
    assert names == ["04-a", "04b-b", "05-c"]
    assert [chapter_number(name) for name in names] == ["4", "4b", "5"]
    assert [chapter_slug(f"chapters/{name}") for name in names] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "name", ["chapters/closer/05-hidden-units", "chapters/solutions/05-x", "chapters/api", "5-x", "index"]
)
def test_another_page_is_no_chapter(name):
    assert not is_chapter(name)
    with pytest.raises(ValueError, match=f"{name}.*04b-slug"):
        chapter_number(name)


def test_the_site_numbers_a_chapter_by_the_name_of_its_file():
    """Catches chapters that are counted, so that one more gives all behind it another number than the prose has."""
    names = ["chapters/04-a", "chapters/04b-b", "chapters/05-c", "chapters/closer/05-d"]
    counted = {name: {"": (n,)} for n, name in enumerate(names, start=4)} | {"chapters/api": {"": None}}
    env = SimpleNamespace(
        toc_secnumbers=counted,
        titles={name: nodes.title() for name in names},
        tocs={name: nodes.bullet_list("", nodes.reference()) for name in names},
    )
    assert number_by_file_name(None, env) == names[1:3]
    assert [counted[name][""] for name in names] == [(4,), ("4b",), (5,), (7,)]
    assert [env.titles[name].get("secnumber") for name in names] == [None, ("4b",), (5,), None]
    assert env.tocs[names[2]][0]["secnumber"] == (5,)
