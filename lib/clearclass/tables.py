"""The tables of a class: one for people, one for every file, and those that Moodle and Canvas take in."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import cell, one_line
from clearcheck.worker.worker_process import PROCESS

from clearclass.standings import Entry, GradeSummary, Standing

NOT_APART = f"{PROCESS} (nothing kept the notebooks of this run apart: each could have changed any grade in it)"
NEVER = "-"  # Moodle's word for a grade that was not given before


def write_csv(path: Path, rows: Iterable[GradeSummary]):
    """One row for each file; a question's column holds its points.

    Raises: OSError.
    """
    rows = list(rows)
    ids = list(dict.fromkeys(id for row in rows for id in row.questions))
    start, end = ["file", "exercise", "seed", "points", "max_points"], ["mistakes", "uses", "isolation", "notes"]
    write_rows(path, _headings(start, ids, end), (_of_file(row, ids) for row in rows))


def write_grades(path: Path, standings: list[Standing]):
    """One row for each learner and exercise; the columns of the questions, those by hand and what was taken off for
    being late add up to the points.

    Raises: OSError.
    """
    ids = list(dict.fromkeys(id for standing in standings for id in standing.counts.row.questions))
    names = list(dict.fromkeys(mark.name for standing in standings for mark in standing.marks))
    by_hand = [f"{name} (by hand)" for name in names]
    who = ["learner", "id", *(["email", "section"] if any(s.learner.people for s in standings) else [])]
    late = ["points_before", "late"] if any(s.counts.lateness for s in standings) else []
    start = [*who, "exercise", "points", "max_points", *late]
    end = [*by_hand, "mistakes", "uses", "isolation", "seed", "file", "notes"]
    write_rows(path, _headings(start, ids, end), (_of_learner(standing, ids, names, start) for standing in standings))


def write_files(path: Path, entries: Iterable[Entry], standings: Iterable[Standing]):
    """One row for each file that was handed in, with what became of it.

    Raises: OSError.
    """
    counting = {standing.counts.file.path for standing in standings if not standing.counts.row.error}
    head = ["file", "learner", "id", "exercise", "points", "max_points", "late", "counts", "isolation", "reason"]
    write_rows(path, head, (_of_entry(entry, entry.file.path in counting) for entry in entries))


def write_moodle(path: Path, standings: list[Standing]):
    """Moodle's grading worksheet, for "Upload grading worksheet": who has no grade has the maximum of the others.

    Raises: OSError.
    """
    most = max((standing.max_points for standing in standings), default=0)
    head = ["Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"]
    rows = (
        [f"Participant {s.learner.id}", s.learner.name, _points(s), s.max_points or most or "", NEVER, _comment(s)]
        for s in standings
    )
    write_rows(path, head, rows)


def write_canvas(path: Path, standings: list[Standing]):
    """Canvas's gradebook, for "Import": a column for each exercise.

    Raises: OSError.
    """
    people: dict[str, dict[str, Standing]] = {}
    for standing in standings:
        people.setdefault(standing.learner.id, {})[standing.counts.row.exercise] = standing
    slugs = sorted({slug for theirs in people.values() for slug in theirs} - {""})
    rows = []
    for id, theirs in people.items():
        name = next(iter(theirs.values())).learner.name
        points = [_points(theirs[slug]) if slug in theirs else "" for slug in slugs]
        rows.append([name, id, "", "", "", *points])
    write_rows(path, ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *slugs], rows)


def _headings(start: list[str], ids: list[str], end: list[str]) -> list[str]:
    """A question may have the name of another column, as `file` in an exercise on files."""
    taken = {*start, *end}
    return [*start, *(f"{id} (question)" if id in taken else id for id in ids), *end]


def _of_file(row: GradeSummary, ids: list[str]) -> list:
    if row.error:
        return [row.file, *[""] * (len(ids) + 7), row.error]
    start = [row.file, row.exercise, row.seed, row.points, row.max_points]
    return [*start, *_columns(row, ids), *_remarks(row), " ".join(row.notes)]


def _of_learner(standing: Standing, ids: list[str], names: list[str], start: list[str]) -> list:
    row, people = standing.counts.row, standing.learner.people
    given = {mark.name: mark.points for mark in standing.marks}
    graded = not row.error or bool(standing.marks)
    values = {
        "learner": standing.learner.name,
        "id": standing.learner.id,
        "email": ", ".join(person.email for person in people),
        "section": ", ".join(dict.fromkeys(person.section for person in people)),
        "exercise": row.exercise,
        "points": _points(standing),
        "max_points": standing.max_points if graded else "",
        "points_before": standing.points_before if graded else "",
        "late": -standing.taken_off if standing.late else "",
    }
    notes = " ".join(filter(None, [row.error, standing.late, *standing.notes]))
    by_hand = [given.get(name, "") for name in names]
    end = ["" if row.seed is None else row.seed, row.file, notes]
    return [*(values[name] for name in start), *_columns(row, ids), *by_hand, *_remarks(row), *end]


def _of_entry(entry: Entry, counts: bool) -> list:
    row, who = entry.row, [entry.file.name, entry.learner.name, entry.learner.id]
    if row.error:
        return [*who, "", "", "", "", "no", "", row.error]
    reason = "" if counts else "Another file of this learner counts."
    late = entry.lateness.told if entry.lateness else ""
    isolation = isolation_in_words(row.isolation)
    return [*who, row.exercise, row.points, row.max_points, late, "yes" if counts else "no", isolation, reason]


def _points(standing: Standing) -> float | str:
    """Empty where nothing could be graded: a person decides what that is worth."""
    return "" if standing.counts.row.error and not standing.marks else standing.points


def _columns(row: GradeSummary, ids: list[str]) -> list:
    return [row.questions[id].points if id in row.questions else "" for id in ids]


def _remarks(row: GradeSummary) -> list[str]:
    return ["; ".join(row.mistakes), "; ".join(row.uses), isolation_in_words(row.isolation)]


def isolation_in_words(isolation: str) -> str:
    """What a table says of an isolation: where there was none, what that means."""
    return NOT_APART if isolation == PROCESS else isolation


def _comment(standing: Standing) -> str:
    row = standing.counts.row
    if row.error:
        return standing.without_folders(row.error_for_learner)
    by_question = [f"{id}: {result.points} of {result.max_points}" for id, result in row.questions.items()]
    comments = [one_line(given.comment) for given in standing.hand if given.comment]
    said = standing.notes if not standing.handed_in else []
    return "; ".join(filter(None, [*by_question, *comments, standing.late, *said]))


def write_rows(path: Path, head: list[str], rows: Iterable[list]):
    """A table that no spreadsheet takes for formulas.

    Raises: OSError.
    """
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow([cell(name) for name in head])
    writer.writerows([cell(value) for value in row] for row in rows)
    write_whole(path, table.getvalue().encode("utf-8-sig"))  # with the mark by which Excel knows UTF-8
