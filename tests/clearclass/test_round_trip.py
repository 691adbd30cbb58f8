"""From the names that a system gives to files to the tables that it takes in, and back, whatever people are called."""

import csv
import json
import os
import re
import zipfile
from pathlib import Path

import pytest
from clearcheck.notebooks.escaping import cell
from clearclass.hand import read_hand
from clearclass.learners import learners_of
from clearclass.results_folder import Remarks, write_results
from clearclass.roster import read_roster
from clearclass.settled import settle
from clearclass.standings import Entry, GradeSummary, Result
from clearclass.submitted_files import submitted_files

from .class_folder import table

SLUG = "01-columns"
NAMES = {
    12353: "J\udc94rg",  # a name whose bytes are no UTF-8
    12354: "team_a",
    12355: 'O\'Neil "Bo" 🙂',
    12356: "עדה לאבלייס",
    12357: "Smith 20",
    12358: "4711",
    12359: "L" * 200,
    12360: "Ada Lovelace",
    12361: "Ada Lovelace",
    12362: "=1+2;=3, too",
    12363: "Zoë\u202eeoZ",
}


def moodle(number: int, name: str) -> str:
    return f"{name}_{number}_assignsubmission_file_/03.ipynb"


def canvas(number: int, name: str) -> str:
    return f"{name}_{number}_{number + 600_000}_03.ipynb"


def gradescope(number: int, name: str) -> str:
    """A folder, and the lines of the list beside it, with texts quoted as YAML does."""
    quoted = json.dumps(name.replace("\udc94", "\ufffd"), ensure_ascii=False)
    with open("work/submission_metadata.yml", "a", encoding="utf-8") as file:
        file.write(f"submission_{number + 5}:\n  :submitters:\n  - :name: {quoted}\n    :sid: '{number}'\n")
    return f"submission_{number + 5}/03.ipynb"


def plain(number: int, name: str) -> str:
    return f"{number}/{name}.ipynb"


@pytest.fixture(params=[moodle, canvas, gradescope, plain])
def results(request, tmp_path, monkeypatch) -> str:
    """Everyone's points, each another number of them, in a folder of results; gives the system."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("work")
    for number, name in NAMES.items():
        path = Path("work", request.param(number, name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    files = submitted_files([Path("work")])
    entries = []
    for file, learner in zip(files, learners_of(files, None), strict=True):
        points = int(re.search(r"123\d\d", learner.id + file.relative_path)[0]) % 100
        questions = {"means": Result("Means", points, 99, "partly right", {})}
        row = GradeSummary(
            file.name, exercise=SLUG, title="Columns", seed=1, points=points, max_points=99, questions=questions
        )
        entries.append(Entry(file, learner, row))
    Path("out").mkdir()
    record = {"points": 0, "questions": [], "notes": [], "page": {"title": "Columns", "read": {}}}
    Path("hand.csv").write_text("id,learner,plot\n", "utf-8")
    assert write_results(Path("out"), entries, lambda entry: record, Remarks()) == []
    return request.param.__name__


def written(name: str, system: str) -> str:
    """As a table has it."""
    if system == "gradescope":
        name = name.replace("\udc94", "\ufffd")
    return cell(name)


def test_everyone_comes_back_from_every_table(results):
    """Catches a learner whose row a table lacks, gives to another, or cuts at a sign of the name."""
    rows = table("out/grades.csv")
    points = {int(row["points"]) + 12300: row for row in rows}
    assert sorted(points) == sorted(NAMES) and len(rows) == len(NAMES)
    assert {int(row["points"]) + 12300 for row in table("out/files.csv")} == set(NAMES)
    for number, name in NAMES.items():
        expected = cell(f"{number}/{name}") if results == "plain" else written(name, results)
        assert points[number]["learner"] == expected
        assert results == "plain" or points[number]["id"] == str(number)
    pages = list(Path("out/feedback").iterdir())
    assert len(pages) == len(NAMES) and all(re.fullmatch(r"[a-z0-9.-]{1,80}", page.name) for page in pages)
    told = "".join(page.read_text("utf-8") for page in pages)
    assert told.count("Ada Lovelace") >= 2 and "\u202e" not in told
    assert len(list(Path("out/gradescope").iterdir())) == len(NAMES)


def test_what_systems_take_in_has_everyone_once(results):
    """Catches a row that Moodle or Canvas cannot place, and a page that Moodle gives to another learner."""
    if results == "moodle":
        taken = {row["Identifier"].removeprefix("Participant "): row for row in table("out/moodle.csv")}
        grades = {number: row["Grade"] for number, row in taken.items()}
        assert {int(number): row["Full name"] for number, row in taken.items()} == {n: cell(NAMES[n]) for n in NAMES}
        with zipfile.ZipFile("out/moodle-feedback.zip") as archive:
            places = [
                re.fullmatch(r"(.*)_(\d+)_assignsubmission_file_/feedback.html", name) for name in archive.namelist()
            ]
            pages = {int(place[2]): archive.read(place[0]).decode("utf-8") for place in places}
        assert all(f"{number % 100} of 99 points" in re.sub(r"<[^>]+>", "", pages[number]) for number in NAMES)
    elif results == "canvas":
        grades = {row["ID"]: row[SLUG] for row in table("out/canvas.csv")}
        assert len(table("out/canvas.csv")) == len(NAMES)
    else:
        assert not [*Path("out").glob("moodle*"), *Path("out").glob("canvas*")]
        grades = {str(number): str(number % 100) for number in NAMES}
    assert grades == {str(number): str(number % 100) for number in NAMES}


def test_points_by_hand_find_whom_the_tables_name(results):
    """Catches a name that a person copies from grades.csv into a table of points, and that then fits nobody or two."""
    with open("hand.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["learner", *(["id"] if results != "plain" else []), "plot"])
        for row in table("out/grades.csv"):
            writer.writerow([row["learner"], *([row["id"]] if results != "plain" else []), 1])
    files = submitted_files([Path("work")])
    entries = [
        Entry(file, learner, GradeSummary(file.name, exercise=SLUG, points=1))
        for file, learner in zip(files, learners_of(files, None), strict=True)
    ]
    record = {"points": 0, "questions": [], "notes": [], "page": {"title": "Columns", "read": {}}}
    remarks = Remarks(hand=tuple(read_hand(Path("hand.csv"))))
    assert write_results(Path("out"), entries, lambda entry: record, remarks) == []
    assert {row["points"] for row in table("out/grades.csv")} == {"2"}


def test_what_was_exported_is_a_roster(results):
    """Catches a table of ours that its system would give back and that is then no roster."""
    name = {"moodle": "moodle.csv", "canvas": "canvas.csv"}.get(results, "grades.csv")
    files = submitted_files([Path("work")])
    found = settle(files, learners_of(files, None), read_roster(Path("out") / name))
    assert [[person.id for person in learner.people] for learner in found.learners] == [
        [learner.id] for learner in found.learners
    ]
    assert not found.absent
