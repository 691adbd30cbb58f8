"""A table that a person or another system wrote: in CSV, with a comma, a semicolon or a tab between its cells."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from clearcheck.notebooks.escaping import one_line

DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


class TableProblem(ValueError):
    """A table that cannot be used; the text names the line and what is expected."""


@dataclass(frozen=True)
class CsvTable:
    """A table as it stands in the file: its delimiter, its headings, and each row under them, in small letters, with
    the number of the line in which it ends.
    """

    delimiter: str
    head: list[str]
    rows: list[tuple[int, dict[str, str]]]


def read_csv(path: Path, problem: type[TableProblem] = TableProblem) -> CsvTable:
    """The texts of a table, without the spaces around them.

    Raises: the problem, where the file is no table, has two columns of one name, or a row with more cells than there
    are headings.
    """
    name = one_line(str(path))
    text = _text(path, problem)
    first = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    lines = _lines(name, csv.reader(io.StringIO(text), delimiter=delimiter, strict=True), problem)
    (_, head), *table = lines or [(1, [])]
    head = [heading.strip() for heading in head]
    while head and not head[-1]:  # columns that a spreadsheet has added
        head.pop()
    lower = [heading.lower() for heading in head]
    if twice := [heading for heading in lower if lower.count(heading) > 1]:
        told = one_line(twice[0]) or "nothing"
        raise problem(f"{name}: two columns have the same name, {told}: rename one of them.")
    rows = []
    for line, cells in table:
        if any(cells[len(head) :]):
            raise problem(
                f"{name}, line {line}: {len(cells)} values under {len(head)} headings; a value with "
                f"{DELIMITERS[delimiter]} in it is to stand between quotation marks."
            )
        if any(cell.strip() for cell in cells):
            rows.append((line, dict(zip(lower, (cell.strip() for cell in cells), strict=False))))
    return CsvTable(delimiter, head, rows)


def _text(path: Path, problem: type[TableProblem]) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise problem(
            f"{one_line(str(path))} cannot be read ({said}): a table in CSV, in UTF-8, is expected; Excel saves one as "
            '"CSV UTF-8".'
        ) from None


def _lines(name: str, table, problem: type[TableProblem]) -> list[tuple[int, list[str]]]:
    """Each row of the table with the number of the line in which it ends."""
    found: list[tuple[int, list[str]]] = []
    try:
        found += ((table.line_num, cells) for cells in table)
    except csv.Error as error:
        begins = found[-1][0] + 1 if found else 1
        raise problem(
            f"{name}: the row that begins in line {begins} cannot be read ({error}): look for a quotation mark there "
            "that is never closed."
        ) from None
    return found
