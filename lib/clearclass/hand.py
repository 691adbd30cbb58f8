"""Points that people gave, from a table with a row for each learner."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clearcheck.notebooks.escaping import cell, one_line

from clearclass.csv_table import CsvTable, TableProblem, read_csv

WHO = ("id", "learner", "file")
EXERCISE, QUESTION, COMMENT, MAX = "exercise", "question", "comment", " max"
NO_COLUMNS_OF_POINTS = (*WHO, EXERCISE, QUESTION, COMMENT)
KEPT = "hand.csv"  # in the folder of results
THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")  # or a decimal comma with three places behind it


class HandProblem(TableProblem):
    """A table of hand-graded points that cannot be used; the text names the line and what is expected."""


@dataclass(frozen=True)
class Mark:
    """What one column gives: points, and the most that there are, which is 0 for points on top."""

    name: str
    points: float
    max_points: float


@dataclass(frozen=True)
class HandRow:
    """One row: whom it means, by which columns, what it gives, and what the grader wrote to the learner."""

    line: int
    who: dict[str, str]
    marks: tuple[Mark, ...]
    comment: str

    def fits(self, known: Mapping[str, Iterable[str]]) -> bool:
        """Whether each value of the row is among those known under its heading."""
        return fits(self.who, known)

    @property
    def gives(self) -> set[tuple[str, str]]:
        """Whom it gives what, without the values."""
        about = [mark.name for mark in self.marks] + (["a remark"] if self.comment else [])
        return {(self.description.casefold(), name) for name in about}

    @property
    def description(self) -> str:
        return one_line(", ".join(f"{name} {value}" for name, value in self.who.items()))


@dataclass(frozen=True)
class HandTable(CsvTable):
    """A table of points as it stands in the file."""

    @property
    def columns_of_points(self) -> list[str]:
        return [n for n in self.head if n.lower() not in NO_COLUMNS_OF_POINTS and not n.lower().endswith(MAX)]


def fits(who: dict[str, str], known: Mapping[str, Iterable[str]]) -> bool:
    """Whether each value is among those known under its heading, as they are or as the tables write them."""
    return all(value.casefold() in {form.casefold() for form in _forms(known[name])} for name, value in who.items())


def read_hand(path: Path) -> list[HandRow]:
    """The rows of a table: columns `learner`, `id` or `file` (and `exercise`) say whose, a column X and, beside it,
    `X max` give points, `comment` is a text for the learner, `question` says what the comment is about.

    Raises: HandProblem.
    """
    table = read_table(path)
    return [_row(path, line, table.columns_of_points, row) for line, row in table.rows]


def lose_no_points(kept: Path, table: Path, rows: list[HandRow]):
    """See to it that a table that is to take the place of the kept one has all that the kept one gives.

    Raises: HandProblem.
    """
    if not kept.is_file():
        return
    lost = {what for row in read_hand(kept) for what in row.gives} - {what for row in rows for what in row.gives}
    if lost:
        who, name = min(lost)
        raise HandProblem(
            f"{one_line(str(kept))} stays as it is: it gives what {one_line(str(table))} does not ({len(lost)} in all, "
            f"such as {one_line(name)} for {who}). Put the new points into it, on its page or by an editor, and grade "
            "without --hand; or move it away first."
        )


def read_table(path: Path) -> HandTable:
    """The texts of a table, whatever points they give.

    Raises: HandProblem.
    """
    table = read_csv(path, HandProblem)
    if not set(WHO) & {name.lower() for name in table.head}:
        name = one_line(str(path))
        raise HandProblem(f"{name} does not say whose the points are: a column named {', '.join(WHO)} is expected.")
    return HandTable(table.delimiter, table.head, table.rows)


def _forms(values: Iterable[str]) -> Iterable[str]:
    for value in values:
        yield from (value, cell(value))


def whose(row: dict[str, str]) -> dict[str, str]:
    """What a row of a table says of whom it means."""
    return {name: row[name] for name in (*WHO, EXERCISE) if row.get(name)}


def _row(path: Path, line: int, names: list[str], row: dict[str, str]) -> HandRow:
    who = whose(row)
    if not set(WHO) & set(who):
        raise HandProblem(f"{path}, line {line}: nobody is named.")
    marks = []
    for name in names:
        value, most = row.get(name.lower(), ""), row.get(name.lower() + MAX, "")
        if value or most:
            given = _number(path, line, name, value or "0")
            mark = Mark(name, given, _number(path, line, name + MAX, most or "0"))
            if most and not 0 <= mark.points <= mark.max_points:
                raise HandProblem(f"{path}, line {line}, column {name}: {value} is not between 0 and {most}.")
            marks.append(mark)
    about, comment = row.get(QUESTION, ""), row.get(COMMENT, "")
    return HandRow(line, who, tuple(marks), f"{about}: {comment}" if about and comment else comment)


def _number(path: Path, line: int, column: str, text: str) -> float:
    place = f"{path}, line {line}, column {column}"
    if THOUSANDS.fullmatch(text):
        one, other = text.replace(",", ".", 1).rstrip("0").rstrip("."), text.replace(",", "")
        raise HandProblem(f"{place}: {text} may be {one} or {other} points: write it without the comma.")
    plain = text.replace(",", ".")
    number = float(plain) if re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", plain) else math.nan
    if math.isnan(number):
        raise HandProblem(f"{place}: {one_line(text)!r} is no number of points.")
    return int(number) if number.is_integer() else number
