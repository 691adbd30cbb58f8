"""Read a `.ipynb` file, any of format 4 whatever was changed in it, and write it as it was laid out."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearcheck.notebooks.escaping import one_line

FORMAT = 4
MAX_NOTEBOOK = 50 * 2**20  # bytes of a file
ASK = "pass the .ipynb file that Jupyter saved"
MARK = "\ufeff"  # which Windows puts in front of a text
LAYOUTS: list[dict[str, Any]] = [
    {"indent": indent, "ensure_ascii": ascii} for indent in (1, 2, 4, None) for ascii in (False, True)
]
SAFE: dict[str, Any] = {"indent": 1, "ensure_ascii": True}  # can be written whatever the texts hold


class NotANotebook(ValueError):
    """The file cannot be used; the text says what came, what was expected and how to go on."""


@dataclass(frozen=True)
class NotebookFile:
    """A notebook and the text of its file, so that what does not change can be written as it was."""

    content: dict
    text: str

    @property
    def cells(self) -> list[dict]:
        return self.content["cells"]

    @property
    def code_cells(self) -> list[dict]:
        return [cell for cell in self.cells if cell.get("cell_type") == "code"]

    @property
    def metadata(self) -> dict:
        found = self.content.get("metadata")
        return found if isinstance(found, dict) else {}

    def layout(self) -> "FileLayout":
        """How the text is laid out: to be asked for before the content is changed."""
        plain = self.text.removeprefix(MARK).replace("\r\n", "\n")
        body = plain.rstrip()
        layout = next((layout for layout in LAYOUTS if json.dumps(self.content, **layout) == body), SAFE)
        mark = MARK if self.text.startswith(MARK) else ""
        return FileLayout(mark, "\r\n" if "\r\n" in self.text else "\n", layout, plain[len(body) :])


@dataclass(frozen=True)
class FileLayout:
    """What a file looks like, whatever stands in it."""

    mark: str
    newline: str
    options: dict
    end: str

    def to_bytes(self, content: dict) -> bytes:
        text = json.dumps(content, **self.options) + self.end
        return (self.mark + text.replace("\n", self.newline)).encode("utf-8")


def read_notebook(path: Path) -> NotebookFile:
    """Raises: NotANotebook."""
    return parse_notebook(notebook_bytes(path), one_line(str(path)))


def notebook_bytes(path: Path) -> bytes:
    """What the file holds; nothing that is no plain file is opened, since a pipe would never end.

    Raises: NotANotebook.
    """
    name = one_line(str(path))
    if not path.is_file():
        raise NotANotebook(f"{name} is no file: pass the path of a notebook.")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_NOTEBOOK + 1)
    except OSError as error:
        raise NotANotebook(f"{name} cannot be read ({error.strerror}): check its permissions.") from None
    if len(data) > MAX_NOTEBOOK:
        raise NotANotebook(f"{name} is larger than {MAX_NOTEBOOK // 2**20} MB: clear its outputs and save it again.")
    return data


def parse_notebook(data: bytes, name: str) -> NotebookFile:
    """The notebook in the bytes of a file; `name` begins the sentences.

    Raises: NotANotebook.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _no_json(name) from None
    if not text.removeprefix(MARK).strip():
        raise NotANotebook(f"{name} is empty: {ASK}.")
    try:
        content = json.loads(text.removeprefix(MARK))
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError of its own
        raise _no_json(name) from None
    if not isinstance(content, dict) or "nbformat" not in content:
        raise NotANotebook(f"{name} is no notebook: it is JSON without the key nbformat; {ASK}.")
    if content["nbformat"] != FORMAT:
        came = json.dumps(content["nbformat"])[:20]
        raise NotANotebook(
            f"{name} has the notebook format {came}, format {FORMAT} is expected: open it in Jupyter and save it again."
        )
    if not isinstance(content.get("cells"), list):
        raise NotANotebook(f"{name} is no whole notebook: its list of cells is missing; {ASK}.")
    for number, cell in enumerate(content["cells"], start=1):
        if not _has_source(cell):
            raise NotANotebook(f"{name}: cell {number} has no source text; open the notebook in Jupyter and save it.")
    return NotebookFile(content, text)


def cell_source(cell: dict) -> str:
    """The text of a cell, which a file may hold as one text or as a list of lines."""
    return "".join(cell["source"])


def _no_json(name: str) -> NotANotebook:
    return NotANotebook(f"{name} is no notebook: JSON text is expected, something else came; {ASK}.")


def _has_source(cell) -> bool:
    source = cell.get("source") if isinstance(cell, dict) else None
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))
