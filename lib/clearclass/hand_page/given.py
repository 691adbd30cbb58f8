"""Points and remarks that were given, kept in the table of points of the folder of results after every change."""

import csv
import io
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import cell, one_line

from clearclass.hand import (
    COMMENT,
    MAX,
    QUESTION,
    THOUSANDS,
    HandProblem,
    HandTable,
    fits,
    read_hand,
    read_table,
    whose,
)
from clearclass.hand_page.rubric import RubricQuestion
from clearclass.hand_page.works import Work

LONGEST_REMARK = 10_000  # characters
POINTS = re.compile(r"\d{1,5}([.,]\d{1,4})?")
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class ChangedMeanwhile(Exception):
    """Another window, or a person with an editor, has changed the same; `kept` is what stands there now."""

    def __init__(self, kept: "Given"):
        super().__init__("These points or remarks were changed elsewhere.")
        self.kept = kept


@dataclass(frozen=True)
class Given:
    """What is given for one question, as texts; "" is nothing yet."""

    points: str = ""
    remark: str = ""


class GivenPoints:
    """The table of points. Each change reads the file, changes one row of it and writes it whole: what others wrote in
    it stays, and a process that is killed leaves the table as it was before or after the change.
    """

    def __init__(self, path: Path, works: list[Work]):
        self.path, self.works = path, works
        self._lock = threading.Lock()
        self._owners: dict[tuple, int | None] = {}

    def all(self, questions: list[RubricQuestion]) -> dict[tuple[int, str], Given]:
        """What is given, by the number of the work and the id of the question. Raises: HandProblem."""
        table = self._read()
        by_work: dict[int | None, list[dict[str, str]]] = {}
        for _, row in table.rows:
            by_work.setdefault(self._owner(row), []).append(row)
        return {
            (number, question.id): _given(by_work.get(number, []), question)
            for number in range(len(self.works))
            for question in questions
        }

    def save(self, number: int, question: RubricQuestion, was: Given, now: Given):
        """Put what is given now in the place of what was.

        Raises: HandProblem where it cannot be, ChangedMeanwhile where something else stands there, OSError.
        """
        now = _checked(now, question)
        with self._lock:
            table = self._read()
            theirs = [row for _, row in table.rows if self._owner(row) == number]
            stands = _given(theirs, question)
            if stands == now:
                return
            if stands != _plain(was):
                raise ChangedMeanwhile(stands)
            self._write(table, _changed(table, theirs, self._who(number), question, now))

    def _read(self) -> HandTable:
        if not self.path.exists():
            return HandTable(",", [], [])
        read_hand(self.path)
        return read_table(self.path)

    def _write(self, table: HandTable, rows: list[dict[str, str]]):
        lower = {name.lower(): name for name in table.head} | {
            name: name for row in rows for name in row if name not in {head.lower() for head in table.head}
        }
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=table.delimiter)
        writer.writerow(lower.values())
        writer.writerows([row.get(name, "") for name in lower] for row in rows)
        write_whole(self.path, text.getvalue().encode("utf-8-sig"))

    def _owner(self, row: dict[str, str]) -> int | None:
        """The number of the one work that a row means; none where it means nobody, or several."""
        who = whose(row)
        key = tuple(who.items())
        if key not in self._owners:
            found = [number for number, work in enumerate(self.works) if fits(who, work.known)] if who else []
            self._owners[key] = found[0] if len(found) == 1 else None
        return self._owners[key]

    def _who(self, number: int) -> dict[str, str]:
        """What a row says to mean this work and no other."""
        work = self.works[number]
        parts = {"id": work.id, "learner": work.learner, "exercise": work.exercise}
        who = {name: value for name, value in parts.items() if value}
        return who if self._owner(who) == number else {**who, "file": cell(str(work.path))}


def _given(theirs: list[dict[str, str]], question: RubricQuestion) -> Given:
    """The points from any row, since an instructor may have one for all questions; the remark from the question's."""
    points = next((row for row in theirs if _has_points(row, question)), {})
    remark = next((row for row in theirs if row.get(QUESTION) == question.id), {})
    column = question.id.lower()
    return _plain(Given(points.get(column) or ("0" if points else ""), remark.get(COMMENT, "")))


def _has_points(row: dict[str, str], question: RubricQuestion) -> bool:
    return bool(row.get(question.id.lower()) or row.get(question.id.lower() + MAX))


def _changed(
    table: HandTable, theirs: list[dict[str, str]], who: dict[str, str], question: RubricQuestion, now: Given
) -> list[dict[str, str]]:
    """All rows, with what is given now in those of this question; its own row goes where nothing is left in it."""
    rows = [row for _, row in table.rows]
    own = next((row for row in theirs if row.get(QUESTION) == question.id), None)
    if own is None:
        own = {**who, QUESTION: question.id}
        rows.append(own)
    own[COMMENT] = now.remark
    points = next((row for row in theirs if _has_points(row, question)), own)
    column = question.id.lower()
    points[column] = now.points
    points[column + MAX] = f"{question.max_points:g}" if now.points else ""
    if not own[COMMENT] and not _has_points(own, question):
        rows.remove(own)
    return rows


def _checked(now: Given, question: RubricQuestion) -> Given:
    """The texts as the table will hold them.

    Raises: HandProblem.
    """
    plain = _plain(now)
    points, remark, typed = plain.points, plain.remark, now.points.strip()
    if THOUSANDS.fullmatch(typed):
        raise HandProblem(f"{typed[:20]!r} may be a decimal or a thousand: write it without the comma.")
    if points and not (POINTS.fullmatch(points) and 0 <= float(points) <= question.max_points):
        raise HandProblem(f"{one_line(now.points)[:20]!r} is no number of points from 0 to {question.max_points:g}.")
    if len(remark) > LONGEST_REMARK:
        raise HandProblem(f"The remark has {len(remark):,} characters; at most {LONGEST_REMARK:,} are kept.")
    if UNSEEN.search(remark):
        raise HandProblem("The remark holds a control character, which a table cannot: type it again without.")
    return plain


def _plain(given: Given) -> Given:
    """With a decimal point, line ends of one kind and nothing around the texts, as a table gives them back."""
    remark = given.remark.replace("\r\n", "\n").replace("\r", "\n")
    return Given(given.points.strip().replace(",", "."), remark.strip())
