"""Write chapters/source-map.md, from every piece of the four sources to its place in the book.

The rows are data, in chapters/source-map.yml; the text of each link is the heading that it leads to.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from tools.pages import errata, reading

DATA = reading.CHAPTERS / "source-map.yml"
PAGE = reading.CHAPTERS / "source-map.md"
FRONT = "index"
NAMES = {"part": "", "formula": "Formula", "slide": "Slide", "reference": "Reference"}
INTRO = """\
# Source map

<!-- Written by `make pages` from source-map.yml; edit that. -->

Reading Turner, Jiang or the slides? Find the place where you are, and follow the link to where this book proves it, runs it or draws it.

The map goes through the four sources in their own order and names every section, numbered equation, footnote, figure, step and slide title. The number after *ch.* is that of the chapter. Numbers such as T-3 are [errata](errata.ipynb): look them up before you copy a formula.

- [Turner, version 2](#turner-version-2)
- [Turner, version 1](#turner-version-1)
- [Jiang: forward pass, backward pass, GPT-3](#jiang-forward-pass-backward-pass-gpt-3)
- [The lecture](#the-lecture)
"""  # noqa: E501


@dataclass(frozen=True)
class Row:
    """One piece of a source: what it is, and the places of the book that treat it."""

    kind: str
    number: str
    what: str
    places: tuple[str, ...]
    note: str

    @property
    def name(self) -> str:
        """What the piece is called: Equation 3, Slides 4–5, Forward step 2."""
        if self.kind == "section" or not (name := NAMES.get(self.kind, self.kind[:1].upper() + self.kind[1:])):
            return self.number
        if self.kind == "footnote" and not self.number.isdigit():
            return f"Footnote of the {self.number}"
        return f"{name}{'s' * ('–' in self.number)} {self.number}".strip()


def load() -> dict:
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


def rows(source: dict) -> list[Row]:
    """The rows of one source. Raises: ValueError for a row without a place."""
    found = []
    for kind, number, what, places, *note in source["rows"]:
        if not places:
            raise ValueError(f"{source['key']}: {kind} {number} ({what}) leads nowhere.")
        found.append(Row(kind, number, what, tuple(places.split()), "".join(note)))
    return found


def page() -> str:
    """The whole page, as Markdown."""
    parts = [INTRO]
    for source in load()["sources"]:
        parts.append(f"## {source['title']}\n\n{source['intro']}\n")
        parts.append("\n".join(lines(rows(source))) + "\n")
    return "\n".join(parts)


def lines(found: list[Row]) -> Iterator[str]:
    """A paragraph for each section, and a list item for each piece of it."""
    before = ""
    for row in found:
        if row.kind == "section":
            yield f"{before}**{f'{row.name} {row.what}'.strip()}** → {target(row)}\n"
            before = ""
        else:
            what = f"*{row.what}*" if row.kind in ("part", "slide", "reference") else row.what
            yield f"- {' · '.join(filter(None, [f'**{row.name}**' * bool(row.name), what]))} → {target(row)}"
            before = "\n"


def target(row: Row) -> str:
    """The links of a row, chapter by chapter, and its note."""
    links: dict[str, list[str]] = {}
    for place in row.places:
        page, linked = link(place)
        links.setdefault(page, []).append(linked)
    note = re.sub(reading.NUMBER, lambda match: errata.reference(match[0]), row.note)
    return "; ".join(page + ", ".join(linked) for page, linked in links.items()) + f" ({note})" * bool(note)


def link(place: str) -> tuple[str, str]:
    """The page of a place, if the link is to a section of it, and the link."""
    if place == FRONT:
        return "", "[front page](../index.md)"
    name, _, anchor = place.partition("#")
    if name.isdigit():
        return chapter(name), reading.section(place).link
    return f"{reading.section(name).title}: " if anchor else "", reading.section(place).link


def chapter(number: str) -> str:
    """How the map names a chapter; the number stays on the line of its *ch.*"""
    return f"ch.\N{NO-BREAK SPACE}{int(number)} "
