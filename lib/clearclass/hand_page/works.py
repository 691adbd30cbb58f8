"""Whose work there is to grade, from the table of files and the journal that a class run has left."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clearcheck.notebooks.escaping import cell, one_line

from clearclass.hand import HandProblem
from clearclass.journal import NAME as JOURNAL
from clearclass.one_file import digest

FILES = "files.csv"


@dataclass(frozen=True)
class Work:
    """What one learner handed in for one exercise: the file that counts, as it was when it was graded."""

    learner: str  # as the tables write it
    id: str
    exercise: str  # "" where nothing could be graded
    path: Path
    digest: str
    reason: str  # why it has no grade
    files: tuple[str, ...]  # all that the learner handed in

    @property
    def known(self) -> dict[str, list[str]]:
        """What a row of the table of points may say of it, by heading."""
        paths = [Path(file).parts for file in self.files]
        ends = ["/".join(parts[i:]) for parts in paths for i in range(len(parts))]
        return {"id": [self.id], "learner": [self.learner], "exercise": [self.exercise], "file": [*self.files, *ends]}

    @property
    def trouble(self) -> str:
        """Why the file cannot be shown as it was graded, or ""."""
        if not self.path.is_file():
            return f"{one_line(str(self.path))} is not there: start this command in the folder where you graded."
        return "" if digest(self.path) == self.digest else "The file has changed since it was graded: grade it again."


def read_works(results: Path) -> list[Work]:
    """A work for each learner and exercise, and one for each learner of whom nothing could be graded.

    Raises: HandProblem where the folder holds no finished results.
    """
    try:
        with open(results / FILES, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row.get("file")]
        graded = dict(_graded(results / JOURNAL))
    except (OSError, ValueError, KeyError, csv.Error) as error:
        folder = one_line(str(results))
        raise HandProblem(
            f"{folder} holds no finished results ({one_line(str(error))}): grade the class with --results {folder}."
        ) from None
    by_learner: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        by_learner.setdefault((row["learner"], row["id"]), []).append(row)
    works = [work for theirs in by_learner.values() for work in _of_one(theirs, graded)]
    if not works:
        raise HandProblem(f"{one_line(str(results))} holds no submission: there is nothing to grade by hand.")
    return works


def _graded(journal: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """The path and the digest of each file, by the name that the tables give it."""
    with open(journal, "rb") as file:
        for line in file:
            content = json.loads(line)
            if "key" in content:
                path, found, *_ = json.loads(content["key"])
                yield cell(path), (path, found)


def _of_one(theirs: list[dict[str, str]], graded: dict[str, tuple[str, str]]) -> Iterator[Work]:
    counting = [row for row in theirs if row["counts"] == "yes"] or theirs[:1]
    files = tuple(graded.get(row["file"], (row["file"], ""))[0] for row in theirs)
    for row in counting:
        path, found = graded.get(row["file"], (row["file"], ""))
        reason = "" if row["counts"] == "yes" else row["reason"]
        yield Work(row["learner"], row["id"], row["exercise"], Path(path), found, reason, files)
