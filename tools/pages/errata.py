"""What stands on the errata page, chapters/errata.ipynb: its entries, and what runs them."""

import re
from dataclasses import dataclass

from tools.pages import reading

PAGE = reading.CHAPTERS / "errata.ipynb"
UNBROKEN = "\N{NON-BREAKING HYPHEN}"
KINDS = ("Changes a result", "Wording", "Incomplete", "Checked, and right", "Withdrawn")
ENTRY = re.compile(r"\(errata-[tsj]-\d+\)=\n### ([TSJ]-\d+) · ([^\n]+)\n\n\*([^\n]+?)\.\* ([^\n]+)\n\n(.*)", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """One entry: its number such as T-3, its title and kind, where the source has it, the rest of its text, and the
    code cell behind it, if it has one.
    """

    number: str
    title: str
    kind: str
    where: str
    text: str
    proof: dict | None


def entries() -> dict[str, Entry]:
    """The entries of the page by number, in order."""
    found = {}
    cells = reading.cells(PAGE)
    for cell, following in zip(cells, [*cells[1:], {}], strict=True):
        if match := ENTRY.fullmatch("".join(cell["source"]).strip()):
            proof = following if following.get("cell_type") == "code" else None
            number, title, kind, where, text = match.groups()
            found[number] = Entry(number, title, kind, where, text, proof)
    return found


def reference(number: str) -> str:
    """A link to an entry, from any page; its number is not broken at the end of a line."""
    return f"[{number.replace('-', UNBROKEN)}](#errata-{number.lower()})"
