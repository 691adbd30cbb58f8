"""Find every display equation of the book in the sources of its pages."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"(`{3,}|~{3,})(?!\{(?:note|tip|warning|margin|admonition|dropdown)).*?\n.*?\1|`[^`\n]+`", re.DOTALL)
DISPLAY = re.compile(r"\$\$(.+?)\$\$(?:[ \t]*\(([^)\s]+)\))?", re.DOTALL)
OTHER_FORMS = re.compile(r"\\begin\{(?:equation|align|gather|multline)\*?\}|\{math\}|\\\[")


@dataclass(frozen=True)
class PrintedEquation:
    """A display equation as a page prints it."""

    page: str
    label: str | None
    latex: str


def equations(text: str, page: str) -> list[PrintedEquation]:
    """The display equations of one Markdown text; code is passed over.

    Raises: ValueError for a form of display maths that carries no label of ours.
    """
    prose = CODE.sub("", text)
    found = [PrintedEquation(page, label or None, latex) for latex, label in DISPLAY.findall(prose)]
    other = OTHER_FORMS.search(DISPLAY.sub("", prose))
    if other:
        raise ValueError(f"{page}: display maths written as {other[0]!r}; write it as $$ … $$ (eq-label)")
    return found


def pages() -> list[Path]:
    """Every notebook and Markdown page of the book."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("chapters/*.md"), *ROOT.glob("chapters/**/*.ipynb")])


def markdown(path: Path) -> str:
    """The prose of a page."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def all_equations() -> list[PrintedEquation]:
    """Every display equation of the book, in the order of the pages."""
    return [found for path in pages() for found in equations(markdown(path), path.relative_to(ROOT).as_posix())]
