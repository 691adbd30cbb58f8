"""What generated pages read from the written ones: headings with their anchors, errata boxes, what a proof prints."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin
from myst_parser.mdit_to_docutils.base import compute_unique_slug

from tools import ROOT
from tools.pages.chapters import is_chapter

CHAPTERS = ROOT / "chapters"
FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#{1,3})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
BOX = re.compile(r"^:{3,}\{admonition\} Errata proven · (.+)$", re.MULTILINE)
PARSER = MarkdownIt().use(dollarmath_plugin)
NUMBER = re.compile(r"\b[TSJ]-\d+\b")


@dataclass(frozen=True)
class Heading:
    """A heading of a page, and where a link to it leads."""

    page: str
    title: str
    slug: str

    @property
    def link(self) -> str:
        return f"[{self.title}]({self.page}#{self.slug})"


@dataclass(frozen=True)
class Box:
    """A box *Errata proven*: the errata it proves, the section it stands in, and what its proof prints."""

    numbers: tuple[str, ...]
    section: Heading
    evidence: str


def pages() -> dict[str, Path]:
    """The pages of the book by short name: 01 to 19 for the chapters, 02-rnn, notation and so on for the rest."""
    found = {path.stem.partition("-")[0]: path for path in sorted(CHAPTERS.glob("*.ipynb")) if is_chapter(path.stem)}
    everything = [*CHAPTERS.glob("*.*"), *CHAPTERS.glob("closer/*.ipynb")]
    others = [path for path in everything if path.suffix in (".ipynb", ".md") and path not in found.values()]
    return found | {path.stem: path for path in sorted(others)}


def in_the_order_of_the_book() -> list[str]:
    """The pages of the table of contents, from the repository's root and without suffix."""
    return re.findall(r"- file: (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))


@cache
def cells(path: Path) -> list[dict]:
    """The cells of a notebook; a Markdown page is one cell."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text)["cells"] if path.suffix == ".ipynb" else [{"cell_type": "markdown", "source": [text]}]


def walk(path: Path) -> Iterator[tuple[int, str, Heading]]:
    """Each piece of prose that stands under one heading: the number of its cell, its text, the heading before it."""
    name = path.relative_to(CHAPTERS).as_posix()
    heading = Heading(name, path.stem, "")
    used: set[str] = set()
    for number, cell in enumerate(cells(path)):
        if cell["cell_type"] != "markdown":
            continue
        text = FENCED.sub("", "".join(cell["source"]))
        start = 0
        for match in HEADING.finditer(text):
            yield number, text[start : match.start()], heading
            start = match.end()
            anchor = compute_unique_slug(SyntaxTreeNode(PARSER.parse(match[0])), used)
            used.add(anchor)
            heading = Heading(name, match[2], anchor)
        yield number, text[start:], heading


@cache
def headings(path: Path) -> dict[str, Heading]:
    """The headings of a page by their anchors."""
    return {heading.slug: heading for _, _, heading in walk(path) if heading.slug}


def printed_output(cell: dict) -> str:
    """What a code cell has written, as text."""
    texts = (output.get("text", output.get("data", {}).get("text/plain", "")) for output in cell.get("outputs", []))
    return "".join("".join(text) for text in texts).strip("\n")


def boxes() -> list[Box]:
    """Every box *Errata proven* of the chapters, in order. Raises: ValueError if no code cell follows one."""
    found = []
    for path in pages().values():
        if not any(BOX.search("".join(cell["source"])) for cell in cells(path)):
            continue  # to walk through it, past every heading, takes longer
        for number, text, section in walk(path):
            for match in BOX.finditer(text):
                following = cells(path)[number + 1 :][:1]
                if not following or following[0]["cell_type"] != "code":
                    raise ValueError(f"{path.name}: the box {match[1]!r} is not followed by a code cell, its proof.")
                found.append(Box(tuple(NUMBER.findall(match[1])), section, printed_output(following[0])))
    return found


def section(place: str) -> Heading:
    """The heading that a place like 03#values names; a page without anchor is its title. Raises: ValueError."""
    name, _, anchor = place.partition("#")
    if name not in pages():
        raise ValueError(f"{place}: there is no page {name!r}; there are {', '.join(pages())}.")
    known = headings(pages()[name])
    anchor = anchor or next(iter(known))
    if anchor not in known:
        raise ValueError(f"{place}: {pages()[name].name} has no anchor {anchor!r}; it has {', '.join(known)}.")
    return known[anchor]
