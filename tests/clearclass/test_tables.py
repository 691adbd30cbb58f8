"""What other systems take in: tables and archives, read back, whatever the learners are called."""

import re
import zipfile
from pathlib import Path

from clearcheck.cli import main
from clearclass.learners import Learner
from clearclass.results_folder import for_other_systems
from clearclass.standings import Entry, GradeSummary, Result, Standing, standings
from clearclass.submitted_files import SubmittedFile
from clearclass.tables import write_csv, write_grades

from tests.clearcheck.test_summary_page import words
from tests.clearcheck.toy_notebook import MEANS

from .class_folder import ADA, FOLDERS, SEED, WRONG, grade, put, table


def test_names_come_back_from_what_moodle_takes_in(course):
    """Catches a folder's name that ends the run once all is graded, and a row or a page that Moodle gives to nobody."""
    names = {2: 'O\'Neil "Bo" 🙂', 3: "עדה", 4: "4711", 5: "a_b", 6: "L" * 200, 12353: "J\udc94rg"}
    for number, name in names.items():
        put(f"{name}_{number}_assignsubmission_file_/03.ipynb", MEANS)
    assert main(["grade", "work", "--results", "out", "--seed", SEED]) == 0
    rows = {row["Identifier"]: row["Full name"] for row in table("out/moodle.csv")}
    assert rows == {f"Participant {number}": name.replace("\udc94", r"\x94") for number, name in names.items()}
    with zipfile.ZipFile("out/moodle-feedback.zip") as archive:
        told = {
            re.match(r"(.+)_(\d+)_assignsubmission_file_/feedback.html", name).groups() for name in archive.namelist()
        }
    assert told == {(name if number != 12353 else "Participant", str(number)) for number, name in names.items()}


def test_moodle_has_a_worksheet_for_each_exercise(tmp_path, monkeypatch):
    """Catches points of one exercise that Moodle takes for those of another, and a worksheet of an earlier run."""
    monkeypatch.chdir(tmp_path)

    def standing(id: str, slug: str) -> Standing:
        file = SubmittedFile(Path(f"{id}.ipynb"), None)
        learner = Learner(id, id, "moodle")
        return Standing(learner, Entry(file, learner, GradeSummary(file.name, exercise=slug, points=len(slug))), (), id)

    for_other_systems(tmp_path, [standing("12", "01-columns"), standing("13", "")])
    assert [row["Identifier"] for row in table("moodle.csv")] == ["Participant 12", "Participant 13"]
    for_other_systems(tmp_path, [standing("12", "01-columns"), standing("12", "02-rows"), standing("13", "")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moodle-01-columns.csv", "moodle-02-rows.csv"]
    for slug, points in (("01-columns", "10"), ("02-rows", "7")):
        assert [(row["Identifier"], row["Grade"]) for row in table(f"moodle-{slug}.csv")] == [
            ("Participant 12", points),
            ("Participant 13", "0"),
        ]


def test_tables_name_each_column_once_and_who_has_no_grade_by_the_same_maximum(tmp_path, monkeypatch):
    """Catches a question called `file` whose points a table hides, and a maximum of 0 that Moodle would take in."""
    monkeypatch.chdir(tmp_path)
    questions = {id: Result(id, 3, 4, "passed", {}) for id in ("file", "notes", "means")}
    rows = [
        GradeSummary("a.ipynb", exercise="01-columns", points=9, max_points=12, questions=questions),
        GradeSummary("b.ipynb", "a broken file"),
    ]
    entries = [
        Entry(SubmittedFile(Path(row.file), None), Learner(row.file, str(n), "moodle"), row)
        for n, row in enumerate(rows)
    ]
    found = standings(entries)
    write_grades(Path("grades.csv"), found)
    write_csv(Path("files.csv"), rows)
    for name in ("grades.csv", "files.csv"):
        first = table(name)[0]
        assert (first["file"], first["notes"], first["file (question)"], first["means"]) == ("a.ipynb", "", "3", "3")
        head = Path(name).read_text("utf-8-sig").splitlines()[0].split(",")
        assert len(set(head)) == len(head)
    for_other_systems(tmp_path, found)
    assert [row["Maximum Grade"] for row in table("moodle.csv")] == ["12", "12"]
    for_other_systems(tmp_path, found[1:])
    assert [row["Maximum Grade"] for row in table("moodle.csv")] == [""]


def test_what_learners_get_says_nothing_of_where_it_lies(work):
    """Catches the instructor's path in a page, in a comment that Moodle shows, or in what Gradescope shows."""
    put(f"moodle/{ADA}/more.ipynb", WRONG)
    for name in (f"moodle/{ADA}/x.ipynb", "moodle/Eve_15_assignsubmission_file_/y.ipynb"):
        (work / "work" / name).parent.mkdir(exist_ok=True)
        (work / "work" / name).write_text("{")
    folders = [str(work / name) for name in FOLDERS]
    assert main(["grade", *folders, "--results", "out", "--jobs", "1"]) == 2
    told = {path: path.read_text() for kind in ("feedback", "gradescope") for path in (work / "out" / kind).iterdir()}
    told |= {path: path.read_text() for path in (work / "out").glob("moodle*.csv")}
    assert len(told) == 11 and not [path for path in told if str(work) in told[path] or "work/" in told[path]]
    assert "y.ipynb is no notebook" in table("out/moodle.csv")[1]["Feedback comments"]


def test_warnings_stand_in_the_overview(work):
    """Catches a warning that only the terminal of the day has shown."""
    (work / "work" / "moodle" / "by mail.ipynb").write_text("{")
    grade("--jobs", "1")
    said = words(Path("out/overview.html").read_text())
    assert "Warnings by mail.ipynb is not named as Moodle names what it exports" in said
