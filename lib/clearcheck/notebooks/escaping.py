"""Names and texts of others, made safe to print: in a terminal, in a table, in the name of a file."""

import re
import unicodedata
from html import escape

# A spreadsheet would run a cell that begins so, some also with the wide forms of these signs; `;` begins one in some.
FORMULA = re.compile(r"(^ *|; *)([=+\-@＝＋－＠])(?=.)")
QUOTED = re.compile(r"`([^`\n]+)`")
UNSAFE = re.compile(r"[^a-z0-9.]+")


def one_line(text: str) -> str:
    """On one line, with an escape for what a terminal would obey or hide: new lines, ESC, turned directions, bytes."""
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def cell(value):
    """What may stand in a cell of a table: no text begins a formula."""
    return FORMULA.sub(r"\1'\2", one_line(value)) if isinstance(value, str) else value


def html_text(text: str) -> str:
    """As HTML, in which nothing of the text is markup but its `code`."""
    return QUOTED.sub(r"<code>\1</code>", escape(text))


def file_stem(text: str) -> str:
    """Letters a–z, digits, points and hyphens, which every system takes for a file; "" where none is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return UNSAFE.sub("-", plain).strip("-.")[:60]


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a file's name that is no UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
