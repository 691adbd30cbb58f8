"""The roster of a class: a table of who is in it, in the columns of Moodle, Canvas, Gradescope or one's own."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path

from clearcheck.notebooks.escaping import one_line

from clearclass.csv_table import CsvTable, TableProblem, read_csv
from clearclass.times import NONE, parse_time

HEADINGS = {  # what a column says, by the headings under which systems export it
    "id": ("id", "identifier", "sid", "student id", "number", "participant"),
    "name": ("name", "full name", "student", "student name", "learner"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "email": ("email", "e-mail", "email address", "e-mail address", "mail"),
    "login": ("login", "username", "sis login id", "github_username"),
    "other": ("id number", "sis user id"),
    "section": ("section", "sections", "group", "groups"),
    "submitted": ("submitted", "last modified (submission)", "submission time"),
    "deadline": ("deadline", "due", "due date"),
    "extension": ("extension",),
}
MEANING = {heading: part for part, headings in HEADINGS.items() for heading in headings}
OWN = [headings[0] for headings in HEADINGS.values()]  # as one writes them oneself
CANVAS = "sis user id"  # a heading that only Canvas has
NOBODY = re.compile(r"\s*points possible\s*|student, test", re.I)  # rows of a Canvas gradebook that are no learners
PARTICIPANT = re.compile(r"participant\s+(\d+)", re.I)  # Moodle's worksheet writes the number so
SPAN = re.compile(r"\+?(\d{1,3})\s*(hours?|days?|weeks?)", re.I)
UNITS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
ALIKE = 0.8  # how near to a known heading another one is taken for a slip


class RosterProblem(TableProblem):
    """A roster that cannot be used; the text names the line and what is expected."""


@dataclass(frozen=True)
class Person:
    """One row: who it is, and what was agreed on when the work is due."""

    line: int
    name: str = ""
    id: str = ""
    email: str = ""
    login: str = ""
    other: str = ""  # a number that is not the system's, such as that of the university
    section: str = ""
    submitted: datetime | None = None
    deadline: datetime | None = None
    extension: datetime | timedelta | None = None  # a later deadline, or the time added to it

    @property
    def key(self) -> str:
        """What tells this learner from all others, whatever line the row has."""
        return self.id or self.email.casefold() or self.login.casefold() or self.name

    @property
    def label(self) -> str:
        """The name, and what tells people of one name apart."""
        return one_line(" ".join(filter(None, (self.name or self.email or self.login, self.id))))


@dataclass(frozen=True)
class Roster:
    """Everyone in the class, and the system whose numbers they have, where the table shows it."""

    file: str
    people: tuple[Person, ...]
    system: str = ""


def read_roster(path: Path) -> Roster:
    """Raises: RosterProblem."""
    table = read_csv(path, RosterProblem)
    file = one_line(str(path))
    columns = _columns(file, table)
    people = tuple(filter(None, (_person(file, line, row, columns) for line, row in table.rows)))
    if not people:
        raise RosterProblem(f"{file} names nobody: a row for each learner is expected under the headings.")
    _refuse_twice(file, people)
    moodles = any(PARTICIPANT.fullmatch(row.get(columns.get("id", ""), "")) for _, row in table.rows)
    system = "moodle" if moodles else "canvas" if CANVAS in map(str.lower, table.head) else ""
    return Roster(file, people, system)


def _columns(file: str, table: CsvTable) -> dict[str, str]:
    """The heading of each part that the table has.

    Raises: RosterProblem where two say the same, none says who it is, or one is nearly a known one.
    """
    found: dict[str, str] = {}
    for heading in (name.lower() for name in table.head):
        part = MEANING.get(heading)
        if part in found:
            raise RosterProblem(f"{file}: the columns {found[part]} and {heading} say the same: delete one of them.")
        if part:
            found[part] = heading
        elif close := get_close_matches(heading, OWN, 1, ALIKE):
            raise RosterProblem(
                f"{file}: the column {one_line(heading)} is not known; if {close[0]} is meant, name it so, "
                "else give it another name."
            )
    if not {"id", "name", "email", "login"} & set(found) and not {"first", "last"} <= set(found):
        known = ", ".join(HEADINGS[part][0] for part in ("id", "name", "email"))
        came = ", ".join(map(one_line, table.head)) or "none"
        raise RosterProblem(
            f"{file} does not say who is in the class: a column {known} is expected, or first name and last name, as "
            f"Moodle, Canvas and Gradescope export them; its columns are {came}."
        )
    return found


def _person(file: str, line: int, row: dict[str, str], columns: dict[str, str]) -> Person | None:
    """What a row says; nobody where it is one that Canvas adds to its gradebook."""
    said = {part: row.get(heading, "") for part, heading in columns.items()}
    name = said.get("name") or " ".join(filter(None, (said.get("first", ""), said.get("last", ""))))
    if NOBODY.fullmatch(name):
        return None
    participant = PARTICIPANT.fullmatch(said.get("id", ""))
    texts = {part: said.get(part, "") for part in ("email", "login", "other", "section")}
    person = Person(
        line=line,
        name=name,
        id=participant[1] if participant else said.get("id", ""),
        **texts,
        submitted=_time(file, line, said, columns, "submitted", parse_time),
        deadline=_time(file, line, said, columns, "deadline", _end),
        extension=_time(file, line, said, columns, "extension", _extension),
    )
    if not (person.name or person.id or person.email or person.login):
        raise RosterProblem(f"{file}, line {line}: nobody is named.")
    return person


def _end(text: str) -> datetime | None:
    return parse_time(text, end_of_day=True)


def _extension(text: str) -> datetime | timedelta | None:
    if text in (*NONE, "0"):
        return None
    if found := SPAN.fullmatch(text):
        return int(found[1]) * UNITS[found[2].lower().removesuffix("s")]
    try:
        return _end(text)
    except ValueError as error:
        raise ValueError(f"{error}; or a span such as 2 days") from None


def _time(file: str, line: int, said: dict[str, str], columns: dict[str, str], part: str, read: Callable):
    try:
        return read(said.get(part, ""))
    except ValueError as error:
        text = one_line(said[part])
        raise RosterProblem(f"{file}, line {line}, column {columns[part]}: {text!r} came, {error}.") from None


def _refuse_twice(file: str, people: tuple[Person, ...]):
    """Raises: RosterProblem where two rows have one number or address, or nothing that tells them apart."""
    seen: dict[tuple[str, str], Person] = {}
    for person in people:
        for key in _keys(person):
            if other := seen.get(key):
                raise RosterProblem(
                    f"{file}, lines {other.line} and {person.line}: both have the {key[0]} {one_line(key[1])}: one row "
                    "for each learner is expected."
                )
            seen[key] = person


def _keys(person: Person) -> Iterator[tuple[str, str]]:
    keys = {"id": person.id, "e-mail": person.email.casefold(), "login": person.login.casefold()}
    told = [(name, value) for name, value in keys.items() if value]
    yield from told or [("name", person.name.casefold())]
