"""The folder of results: a table, a page for each learner, an overview, and what other systems take in."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.instructor.feedback_page import feedback_html
from clearcheck.instructor.gradescope import results_json
from clearcheck.instructor.hand import HandRow
from clearcheck.instructor.overview_page import overview_html
from clearcheck.instructor.standings import Entry, Standing, merged, standings
from clearcheck.instructor.tables import write_canvas, write_files, write_grades, write_moodle

IMPORTS = {"moodle": write_moodle, "canvas": write_canvas}


def write_results(
    folder: Path, entries: list[Entry], record_of: Callable[[Entry], dict], hand: Iterable[HandRow]
) -> list[str]:
    """Write everything, and delete pages of learners who are gone; gives a sentence for each row of points by hand
    that could not be placed. The bytes depend on the entries alone: no times, no order of grading.

    Raises: OSError.
    """
    found, problems = merged(standings(entries), hand)
    write_grades(folder / "grades.csv", found)
    write_files(folder / "files.csv", entries, found)
    for system, write in IMPORTS.items():
        theirs = [standing for standing in found if standing.learner.system == system]
        _keep(folder / f"{system}.csv", bool(theirs))
        if theirs:
            write(folder / f"{system}.csv", theirs)
    _write(folder / "overview.html", overview_html(found, entries, problems))
    _replace(folder / "feedback", "*.html", _pages(found, record_of))
    _replace(folder / "gradescope", "*.json", _results(found, record_of))
    return problems


def _pages(found: list[Standing], record_of) -> Iterable[tuple[str, str]]:
    by_page: dict[str, list[Standing]] = {}
    for standing in found:
        by_page.setdefault(standing.page, []).append(standing)
    for page, theirs in by_page.items():
        yield f"{page}.html", feedback_html([(standing, record_of(standing.counts)) for standing in theirs])


def _results(found: list[Standing], record_of) -> Iterable[tuple[str, str]]:
    for standing in found:
        slug = standing.counts.row.exercise or "not-graded"
        content = results_json(record_of(standing.counts), standing)
        yield f"{standing.page}.{slug}.json", json.dumps(content, indent=1)


def _replace(folder: Path, pattern: str, files: Iterable[tuple[str, str]]):
    folder.mkdir(exist_ok=True)
    written = set()
    for name, text in files:
        _write(folder / name, text)
        written.add(name)
    for path in folder.glob(pattern):
        if path.name not in written:
            path.unlink()


def _write(path: Path, text: str):
    data = text.encode("utf-8", "backslashreplace")
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data)


def _keep(path: Path, wanted: bool):
    if not wanted:
        path.unlink(missing_ok=True)
