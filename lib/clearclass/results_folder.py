"""The folder of results: a table, a page for each learner, an overview, and what other systems take in."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import one_line

from clearclass.absent import nothing_record, with_absent
from clearclass.feedback_page import feedback_html
from clearclass.gradescope import results_json
from clearclass.hand import HandRow
from clearclass.learners import Learner, exported_by_moodle
from clearclass.overview_page import overview_html
from clearclass.similar import similar_pairs, told_pairs, write_similar
from clearclass.standings import Entry, Standing, add_hand_points, page_names, standings
from clearclass.tables import write_canvas, write_files, write_grades, write_moodle


@dataclass(frozen=True)
class Remarks:
    """What a run knows beside what it graded: who handed in nothing, what it warned of, and its points by hand."""

    absent: tuple[Learner, ...] = ()
    warnings: tuple[str, ...] = ()
    hand: tuple[HandRow, ...] = ()


def write_results(
    folder: Path, entries: list[Entry], record_of: Callable[[Entry], dict], remarks: Remarks = Remarks()
) -> list[str]:
    """Write everything, and delete pages of learners who are gone; gives a sentence for each row of points by hand
    that could not be placed. The bytes depend on the entries alone: no times, no order of grading.

    Raises: OSError.
    """
    names = page_names({learner.key: learner for learner in _learners(entries, remarks.absent)}.values())
    everyone = with_absent(standings(entries, names), remarks.absent, names)
    found, problems = add_hand_points(everyone, remarks.hand)
    handed_in = [standing for standing in found if standing.handed_in]
    write_grades(folder / "grades.csv", found)
    write_files(folder / "files.csv", entries, found)
    for_other_systems(folder, found)
    pairs = similar_pairs(handed_in)
    write_similar(folder / "similar.csv", pairs)
    told = {
        "Warnings": list(remarks.warnings),
        "Points by hand": problems,
        "Nothing handed in": _without_work(found),
        "Similar submissions": told_pairs(pairs),
    }
    _write(folder / "overview.html", overview_html(handed_in, entries, told))
    pages = dict(_pages(found, record_of))
    _replace(folder / "feedback", "*.html", pages.items())
    _for_moodles_feedback(folder / "moodle-feedback.zip", found, pages)
    _replace(folder / "gradescope", "*.json", _results(handed_in, record_of))
    return problems


def _learners(entries: list[Entry], absent: Iterable[Learner]) -> Iterable[Learner]:
    yield from (entry.learner for entry in entries)
    yield from absent


def _without_work(found: list[Standing]) -> list[str]:
    """Each learner of the roster with the exercises of which nothing was handed in."""
    exercises: dict[str, list[str]] = {}
    for standing in found:
        if not standing.handed_in:
            exercises.setdefault(one_line(standing.learner.label), []).append(standing.counts.row.exercise)
    return [f"{name}: {', '.join(slugs)}" for name, slugs in exercises.items()]


def for_other_systems(folder: Path, found: list[Standing]):
    """Canvas takes a column for each exercise, Moodle a worksheet: of several exercises each has a file of its own."""
    canvas, moodle = ([s for s in found if s.learner.system == system] for system in ("canvas", "moodle"))
    tables = {"canvas.csv": (write_canvas, canvas)}
    slugs = sorted({standing.counts.row.exercise for standing in moodle} - {""})
    for slug in slugs or [""]:
        name = f"moodle-{slug}.csv" if len(slugs) > 1 else "moodle.csv"
        tables[name] = write_moodle, [standing for standing in moodle if standing.counts.row.exercise in ("", slug)]
    for old in {*folder.glob("canvas.csv"), *folder.glob("moodle*.csv")}:
        if old.name not in tables or not tables[old.name][1]:
            old.unlink()
    for name, (write, theirs) in tables.items():
        if theirs:
            write(folder / name, theirs)


def _for_moodles_feedback(path: Path, found: list[Standing], pages: dict[str, str]):
    """The pages in folders named as Moodle named those of the files, which is how it knows whose each page is."""
    theirs = [standing for standing in found if standing.learner.system == "moodle"]
    folders = {_name_for_moodle(standing): standing.page for standing in theirs}
    if not folders:
        path.unlink(missing_ok=True)
        return
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, page in folders.items():
            file.writestr(
                zipfile.ZipInfo(f"{name}/feedback.html"),
                pages[f"{page}.html"].encode("utf-8", "backslashreplace"),
                zipfile.ZIP_DEFLATED,
            )
    _write_bytes(path, archive.getvalue())


def _name_for_moodle(standing: Standing) -> str:
    """As Moodle named the folder; by the number alone where an archive cannot hold the name."""
    name = exported_by_moodle(standing.counts.file)
    return name if name and name.isprintable() else f"Participant_{standing.learner.id}_assignsubmission_file_"


def _pages(found: list[Standing], record_of) -> Iterable[tuple[str, str]]:
    by_page: dict[str, list[Standing]] = {}
    for standing in found:
        by_page.setdefault(standing.page, []).append(standing)
    for page, theirs in by_page.items():
        records = [record_of(s.counts) if s.handed_in else nothing_record(s) for s in theirs]
        yield f"{page}.html", feedback_html(list(zip(theirs, records, strict=True)))


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
    _write_bytes(path, text.encode("utf-8", "backslashreplace"))


def _write_bytes(path: Path, data: bytes):
    if not path.is_file() or path.read_bytes() != data:
        write_whole(path, data)
