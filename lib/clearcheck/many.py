"""Many notebooks at once: which files a folder holds, and one row of a table for each."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.grade import VERSION, Grade
from clearcheck.report import points_of
from clearcheck.submission import NotANotebook

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a cell that begins so


@dataclass(frozen=True)
class Outcome:
    """What became of one file: its grade, or the sentence that says why there is none."""

    file: str
    grade: Grade | None = None
    error: str = ""

    def as_line(self, as_json: bool) -> str:
        if as_json:
            refused = {"version": VERSION, "file": self.file, "error": self.error}
            return json.dumps(self.grade.as_json() if self.grade else refused)
        if self.grade is None:
            return f"Not graded: {self.error}"
        grade = self.grade
        return f"{self.file}: {points_of(grade.points, grade.exercise.points)} (seed {grade.seed})"


def notebooks(paths: Iterable[Path]) -> list[Path]:
    """The files given, and for a folder the notebooks in it, however deep: no hidden ones, no author's sources.

    Raises: NotANotebook where a folder holds none.
    """
    found = []
    for path in paths:
        inside = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        kept = [file for file in inside if not path.is_dir() or _handed_in(file, path)]
        if not kept:
            raise NotANotebook(f"{path} holds no notebook: a folder with .ipynb files is expected.")
        found += kept
    return list(dict.fromkeys(found))


def write_csv(path: Path, outcomes: list[Outcome]):
    """One row for each file; a question's column holds its points.

    Raises: OSError.
    """
    graded = [outcome.grade for outcome in outcomes if outcome.grade]
    ids = list(dict.fromkeys(result.question.id for grade in graded for result in grade.questions))
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["file", "exercise", "seed", "points", "max_points", *ids, "notes"])
    for outcome in outcomes:
        writer.writerow([_plain(value) for value in _row(outcome, ids)])
    write_whole(path, table.getvalue().encode("utf-8-sig"))  # with the mark by which Excel knows UTF-8


def _row(outcome: Outcome, ids: list[str]) -> list:
    grade = outcome.grade
    if grade is None:
        return [outcome.file, "", "", "", "", *("" for _ in ids), outcome.error]
    points = {result.question.id: result.points for result in grade.questions}
    columns = [points.get(id, "") for id in ids]
    start = [outcome.file, grade.exercise.slug, grade.seed, grade.points, grade.exercise.points]
    return [*start, *columns, " ".join(grade.notes)]


def _plain(value):
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _handed_in(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return file.is_file() and not hidden and not (file.parent / "checks.py").is_file()
