"""A submission as HTML that runs nothing of it: code and texts escaped, pictures of known kinds as data."""

import base64
import binascii
import re
import struct
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook, NotebookFile, cell_source, read_notebook

from clearclass.hand_page.works import Work

MOST_CELLS, MOST_OUTPUTS = 500, 50  # that are shown; outputs of a cell
LONGEST_TEXT = 20_000  # characters of a cell or an output
LARGEST_PICTURE = 10 * 2**20  # bytes
MOST_PIXELS = 64_000_000
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # which a terminal would obey
HEADING = re.compile(r"^ {0,3}#{1,6} ", re.MULTILINE)
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
KINDS = ("image/png", "image/jpeg", "image/svg+xml")


def work_html(work: Work, shown: str) -> str:
    """The section of the notebook in which `shown` stands, or all of it, or why there is nothing to see."""
    notes = [work.reason] if work.reason else []
    notes += [work.trouble] if work.trouble else []
    try:
        cells = read_notebook(work.path).cells
    except NotANotebook as error:
        return _notes([*notes, str(error)])
    found = section(cells, shown)
    if shown and not found:
        notes.append(f"No cell holds {one_line(shown)}: the whole notebook is shown.")
    numbers = {id(cell): number for number, cell in enumerate(NotebookFile({"cells": cells}, "").code_cells, 1)}
    cells = found or cells
    if len(cells) > MOST_CELLS:
        notes.append(f"{len(cells) - MOST_CELLS:,} more cells are not shown.")
    parts = [_cell_html(cell, numbers.get(id(cell))) for cell in cells[:MOST_CELLS]]
    return "\n".join([_notes(notes), *parts])


def section(cells: list[dict], shown: str) -> list[dict]:
    """The cells from the heading above the first cell with this text to the next heading; none where it is nowhere."""
    place = next((i for i, cell in enumerate(cells) if shown and shown in cell_source(cell)), None)
    if place is None:
        return []
    heads = [i for i, cell in enumerate(cells) if cell.get("cell_type") == "markdown" and _has_heading(cell)]
    start = max((i for i in heads if i <= place), default=0)
    end = min((i for i in heads if i > place), default=len(cells))
    return cells[start:end]


def _has_heading(cell: dict) -> bool:
    return bool(HEADING.search(cell_source(cell)))


def _cell_html(cell: dict, number: int | None) -> str:
    source = _text(cell_source(cell))
    pictures = "".join(_attached(cell.get("attachments")))
    if number is None:
        return f'<div class="said"><pre>{source}</pre>{pictures}</div>'
    outputs = cell.get("outputs")
    outputs = [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []
    made = "\n".join(_output_html(output, number) for output in outputs[:MOST_OUTPUTS])
    left = f"<p>{len(outputs) - MOST_OUTPUTS:,} more outputs are not shown.</p>" if len(outputs) > MOST_OUTPUTS else ""
    label = f"Code cell {number}"
    code = f'<pre class="code" tabindex="0" role="region" aria-label="{label}"><code>{source}</code></pre>'
    return f'<div class="cell"><p class="of">{label}</p>{code}{pictures}{made}{left}</div>'


def _attached(attachments: Any) -> Iterator[str]:
    """The pictures that were pasted into a cell of text."""
    for bundle in attachments.values() if isinstance(attachments, dict) else ():
        if isinstance(bundle, dict):
            yield _picture(bundle, "Picture in the text of the submission")


def _output_html(output: dict, number: int) -> str:
    if output.get("output_type") == "stream":
        return _pre(_joined(output.get("text")))
    if output.get("output_type") == "error":
        traceback = output.get("traceback")
        lines = [line for line in traceback if isinstance(line, str)] if isinstance(traceback, list) else []
        return _pre("\n".join(lines) or f"{output.get('ename')}: {output.get('evalue')}")
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    picture = _picture(data, f"Output of code cell {number}")
    text = _joined(data.get("text/plain"))
    if picture:
        return picture
    html = '<p class="of">An output in HTML, which is not run here, as plain text:</p>' if "text/html" in data else ""
    return html + _pre(text)


def _picture(data: dict, alternative: str) -> str:
    """The first picture of a kind that is known, as an image that holds its own data; a note for one that is broken."""
    kind = next((kind for kind in KINDS if kind in data), None)
    if kind is None:
        return ""
    found = _picture_bytes(kind, _joined(data[kind]))
    if found is None:
        return f"<p>A picture ({kind}) that is damaged, too large or holds something else is not shown.</p>"
    address = f"data:{kind};base64,{base64.b64encode(found).decode()}"
    return f'<p><img src="{address}" alt="{escape(alternative)}"></p>'


def _picture_bytes(kind: str, text: str) -> bytes | None:
    if len(text) > 2 * LARGEST_PICTURE:
        return None
    if kind == "image/svg+xml":  # as an image a drawing runs no script and loads nothing
        drawing = text.encode("utf-8", "replace")
        return drawing if b"<svg" in drawing[:4096] and b"<!ENTITY" not in drawing else None
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) > LARGEST_PICTURE:
        return None
    if kind == "image/jpeg":
        return data if data.startswith(JPEG) else None
    return data if _is_png(data) else None


def _is_png(data: bytes) -> bool:
    """Whether the bytes begin as a PNG does, with a size that can be shown."""
    if not data.startswith(PNG) or data[12:16] != b"IHDR" or len(data) < 24:
        return False
    width, height = struct.unpack(">II", data[16:24])
    return 0 < width * height <= MOST_PIXELS


def _joined(text: Any) -> str:
    """A text that a notebook may hold as one or as a list of lines; "" where it is neither."""
    if isinstance(text, str):
        return text
    return "".join(line for line in text if isinstance(line, str)) if isinstance(text, list) else ""


def _pre(text: str) -> str:
    made = _text(text)
    return f'<pre tabindex="0" role="region" aria-label="Output">{made}</pre>' if made else ""


def _text(text: str) -> str:
    """Escaped, with a sign for what could hide or turn a part of it."""
    plain = COLOURS.sub("", text)
    left = len(plain) - LONGEST_TEXT
    lines = [one_line(line.replace("\t", "    ")) for line in plain[:LONGEST_TEXT].split("\n")]
    more = [f"… {left:,} more characters are not shown."] if left > 0 else []
    return escape("\n".join([*(line.removesuffix("\\r") for line in lines), *more])).rstrip("\n")


def _notes(notes: Iterable[str]) -> str:
    return "".join(f'<p class="own">{escape(one_line(note))}</p>' for note in notes)
