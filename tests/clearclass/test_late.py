"""Late work: policies in a few words, when things were handed in by roster, system, name or file, and what it costs."""

import json
import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearclass.handed_in import LateRules, lateness_of
from clearclass.late import Lateness, LateProblem, parse_policy
from clearclass.learners import Learner, learners_of
from clearclass.roster import Person
from clearclass.standings import Entry, GradeSummary, standings
from clearclass.submitted_files import SubmittedFile, submitted_files
from clearclass.times import parse_time, span_in_words
from inline_snapshot import snapshot

from tests.clearcheck.test_summary_page import words
from tests.clearcheck.toy_notebook import SLUG

from .class_folder import FOLDERS, grade, table

HOURS = timedelta(hours=1)
COSTS = {  # of 50 points of 80, for a delay of so many hours
    ("10% a day", 0): 0,
    ("10% a day", -5): 0,
    ("10% a day", 1): 8,
    ("10% a day", 24): 8,
    ("10% a day", 24.01): 16,
    ("10% a day", 999): 50,
    ("10% a day, at most 3", 999): 24,
    ("10% a day, at most 3 days", 999): 24,
    ("2.5 points an hour", 1.5): 5,
    ("1 point per week, 2 days free", 48): 0,
    ("1 point per week, 2 days free", 49): 1,
    ("10 percent each day,15 minutes free,nothing after 7 days", 0.2): 0,
    ("10 percent each day, at most 2, nothing after 7 days", 168): 16,
    ("10 percent each day, at most 2, nothing after 7 days", 168.1): 50,
    ("33% a day", 1): 26.4,
}


@pytest.mark.parametrize(("policy", "hours"), COSTS)
def test_what_a_policy_takes_off(policy, hours):
    """Catches a day that is counted before it has begun, or not at all, and more points taken than there are."""
    late = Lateness(parse_policy(policy), hours * HOURS, "")
    assert late.taken_off(50, 80) == COSTS[policy, hours]
    assert late.taken_off(-3, 80) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ten percent a day", "'ten percent a day' is no policy for late work: \"10% a day\" (of the most points"),
        ("10% a day, at most 30%", "'at most 30%' is no part of a policy"),
        ("10% a day, at most 3 weeks", "as points are taken off for each day, say how many days"),
        ("10% a day, at most 3, at most 4", "says twice what is at most"),
        ("10%", "'10%' is no policy"),
        ("", "'' is no policy"),
        ("-1 points a day", "is no policy"),
    ],
)
def test_a_policy_that_is_none_names_the_forms(work, capsys, text, says):
    """Catches a policy that is half understood, and an error that does not say what can be said."""
    with pytest.raises(LateProblem) as caught:
        parse_policy(text)
    assert says in str(caught.value)
    with pytest.raises(SystemExit):
        main(["grade", "work", "--results", "out", f"--late={text}"])
    assert says in capsys.readouterr().err


SAME = {
    "2026-11-02T23:59:00+01:00": "2026-11-02T22:59:00+00:00",
    "2026-11-02 23:59:12.123456000 Z": "2026-11-02T23:59:12+00:00",
    "2026-11-02 9:05 -0800": "2026-11-02T17:05:00+00:00",
    "2026-11-02 09:05:00 UTC": "2026-11-02T09:05:00+00:00",
}


def test_times_in_the_forms_of_systems():
    """Catches a zone that is dropped, a day alone that ends before its evening, and a form that is guessed at."""
    assert all(parse_time(text) == datetime.fromisoformat(SAME[text]) for text in SAME)
    here = datetime(2026, 11, 2, 22, 5).astimezone()
    for text in (
        "2026-11-02 22:05",
        "Monday, 2 November 2026, 10:05 PM",
        "Monday, November 2, 2026, 10:05\u202fPM",
        "Monday, 2 November 2026, 22:05",
    ):
        assert parse_time(text) == here
    assert parse_time("2026-11-02") == here.replace(hour=0, minute=0)
    assert parse_time("2026-11-02", end_of_day=True) == here.replace(hour=23, minute=59, second=59)
    assert parse_time(" - ") is None
    for text in ("02/11/2026", "2026-11-31 10:00", "2026-11-02 25:00", "Montag, 2. November 2026, 10:05", "tomorrow"):
        with pytest.raises(ValueError, match="a time such as 2026-11-02 23:59 is expected"):
            parse_time(text)
    assert [span_in_words(n * HOURS) for n in (0.001, 1, 25.5, 48)] == ["1 minute", "1 hour", "1 day 1 hour", "2 days"]


DUE = datetime.fromisoformat("2026-11-02T12:00:00+00:00")
DAILY = parse_policy("10% a day")


def lateness(learner: Learner, path: str = "a.ipynb", deadline: datetime | None = DUE, **rules):
    """How many days are counted for one file, and what is said."""
    try:
        found = lateness_of([SubmittedFile(Path(path), Path())], [learner], LateRules(DAILY, deadline, **rules))
    except LateProblem as error:
        return str(error)
    [late] = found.lateness
    return (late.units if late else 0), found.warnings


def of(**facts) -> Learner:
    return Learner("Ada", "1", people=(Person(2, "Ada", **facts),))


def test_when_it_was_due():
    """Catches an extension that is not granted, or added to nothing, and a deadline of one's own that is passed over."""
    late = DUE + 30 * HOURS
    assert lateness(of(submitted=late))[0] == 2
    assert lateness(of(submitted=late, deadline=DUE + 7 * HOURS))[0] == 1
    assert lateness(of(submitted=late, extension=timedelta(days=2)))[0] == 0
    assert lateness(of(submitted=late, extension=DUE + 29 * HOURS))[0] == 1
    assert lateness(of(submitted=late, deadline=late, extension=DUE))[0] == 0  # an extension never shortens
    assert lateness(of(submitted=late, extension=late), deadline=None)[0] == 0
    two = Learner("A and B", "1 2", people=(Person(2, submitted=DUE), Person(3, submitted=late, deadline=late)))
    assert lateness(two)[0] == 0  # the latest of a group's


def test_what_is_not_known_is_told():
    """Catches points that are taken off by a guess, a deduction that is left out in silence, and a useless policy."""
    late = of(submitted=DUE + HOURS)
    assert lateness(of()) == snapshot(
        "--late cannot be used: nothing says when it was handed in; have a column submitted in the roster (Moodle's grading worksheet has one), leave submission_metadata.yml in an export of Gradescope, or let the times of the files count by --file-times."
    )
    assert lateness(late, deadline=None) == snapshot(
        "--late cannot be used: nothing says when the work was due; say --deadline, or have a column deadline in the roster."
    )
    marked = Learner("bob", "2", "canvas", late=True)
    assert lateness(marked) == snapshot(
        (1, ["a.ipynb is marked as late, nobody knows by how much: one day is counted."])
    )
    extended = replace(of(extension=DUE), system="canvas", late=True)
    assert lateness(extended) == snapshot(
        (0, ["a.ipynb is marked as late, nobody knows by how much, and there was an extension: look at it."])
    )
    files = [SubmittedFile(Path(name), Path()) for name in ("a.ipynb", "b.ipynb", "c.ipynb")]
    found = lateness_of(files, [late, of(), marked], LateRules(DAILY, DUE))
    assert found.warnings[-1] == snapshot(
        "Nothing is taken off 1 of 3 files for being late, b.ipynb the first of them: nothing says when it was handed in; have a column submitted in the roster (Moodle's grading worksheet has one), leave submission_metadata.yml in an export of Gradescope, or let the times of the files count by --file-times."
    )
    canvas = lateness_of(files[:2], [marked, Learner("eve", "3", "canvas")], LateRules(DAILY))
    assert canvas.lateness[1] is None and len(canvas.warnings) == 1  # Canvas marks who is late


LIST = """---
submission_1:
  :submitters:
  - :name: "Zo\\xEB \\U0001F642 \\"Bo\\""
    :sid: '30'
    :email: ada@example.edu
  :created_at: 2026-11-02 13:30:00.123456789 Z
  :results:
    :created_at: 2020-01-01 00:00:00 Z
    :name: nobody
submission_2:
  :created_at: 2026-11-02 11:00:00 Z
  :submitters:
  - :name: 'O''Neil: one'
    :sid:
  - :name: LONG
      name that goes on
    :sid: '32'
"""


def test_gradescopes_list_says_when(tmp_path):
    """Catches the time of an old result, a name cut at a quotation mark, and a long one cut at the end of its line."""
    (tmp_path / "submission_metadata.yml").write_text(LIST.replace("LONG", "L" * 90), "utf-8")
    for number in (1, 2, 3):
        (tmp_path / f"submission_{number}").mkdir()
        (tmp_path / f"submission_{number}" / "a.ipynb").write_text("{}")
    files = submitted_files([tmp_path])
    learners = learners_of(files, None)
    assert [(learner.name, learner.id) for learner in learners] == [
        ('Zoë 🙂 "Bo"', "30"),
        (f"O'Neil: one and {'L' * 90} name that goes on", "32"),
        ("submission 3", "3"),
    ]
    found = lateness_of(files, learners, LateRules(DAILY, DUE))
    assert [late and late.late for late in found.lateness] == [timedelta(minutes=90), None, None]
    assert "submission_3/a.ipynb the first of them" in found.warnings[0]


def test_the_time_of_a_file_counts_where_it_is_asked_for(tmp_path):
    """Catches a deduction by a time that a copy may have changed, unasked or unsaid."""
    path = tmp_path / "a.ipynb"
    path.write_text("{}")
    os.utime(path, (DUE.timestamp() + 60, DUE.timestamp() + 60))
    assert "--file-times" in lateness(Learner("Ada", "1"), str(path))
    units, [warning] = lateness(Learner("Ada", "1"), str(path), file_times=True)
    assert units == 1 and "an archive that was unpacked may have changed them" in warning
    assert lateness(of(submitted=DUE), str(path), file_times=True) == (0, [])


def test_of_several_files_the_best_counts_after_what_being_late_takes_off():
    """Catches a late file of more points that pushes out one in time that is worth more in the end."""
    ada = Learner("ada", "12")
    week = Lateness(parse_policy("10% a day"), timedelta(days=6), "6 days late")
    entries = [
        Entry(
            SubmittedFile(Path(name), None), ada, GradeSummary(name, exercise="e", points=points, max_points=10), late
        )
        for name, points, late in (("a", 5, None), ("b", 10, week))
    ]
    [standing] = standings(entries)
    assert (standing.counts, standing.points) == (entries[0], 5)
    assert "b (10 of 10 points), handed in late, does not count." in standing.notes


ROSTER = (
    "id,name,submitted,extension\n12,Ada Lovelace,2026-11-03 12:00,\n77,Bobby,,\n20,cy,2026-11-03 12:00,2 days\n"
    "21,Eve,2026-11-03 12:00,\n"
)
OPTIONS = ["--roster", "r.csv", "--deadline", "2026-11-02 11:00", "--late", "10% a day, at most 3"]


def test_late_work_in_all_that_is_written(work, capsys):
    """Catches a deduction that is missing on a page or in a table, or points before it that nobody can see."""
    Path("r.csv").write_text(ROSTER)
    Path("hand.csv").write_text("id,plot,plot max\n12,1,1\n")
    grade(*OPTIONS, "--hand", "hand.csv", "--jobs", "1")
    said = capsys.readouterr().err
    assert "Warning: Eve 21 handed something in, as the roster says, but no file is theirs" in said
    assert "bobby_LATE_77_8899_nb.ipynb is marked as late, nobody knows by how much: one day is counted." in said
    rows = {row["learner"]: row for row in table("out/grades.csv")}
    columns = ("points_before", "late", "points", "max_points")
    assert [rows["Ada Lovelace"][name] for name in columns] == ["10", "-2", "8", "10"]
    assert [rows["Bobby"][name] for name in columns] == ["5", "-0.9", "4.1", "9"]
    assert [rows["cy"][name] for name in columns] == ["2", "", "2", "9"]
    told = "Handed in 1 day 1 hour late (handed in 2026-11-03 12:00"
    page = words(Path("out/feedback/ada-lovelace-12.html").read_text())
    assert (
        "8 of 10 points" in page and told in page and "2 of 10 points taken off" in page and "10 before, 8 now" in page
    )
    moodle = table("out/moodle.csv")[0]
    assert moodle["Grade"] == "8" and told in moodle["Feedback comments"]
    assert table("out/canvas.csv")[0][SLUG] == "4.1"
    result = json.loads(Path(f"out/gradescope/ada-lovelace-12.{SLUG}.json").read_text())
    assert result["score"] == sum(test["score"] for test in result["tests"]) == 8
    files = {Path(row["file"]).name: row["late"] for row in table("out/files.csv")}
    assert files["nb.ipynb"].startswith("1 day 1 hour late") and files["bobby_77_8890_nb.ipynb"] == ""
    assert "marked as late" in words(Path("out/overview.html").read_text())
    grade("--jobs", "1")
    assert table("out/grades.csv")[0]["points"] == "8" and "out/late.json, as before" in capsys.readouterr().err
    grade("--jobs", "1", "--late", "1 point a day", "--deadline", "2026-11-02 11:00")
    assert table("out/grades.csv")[0]["late"] == "-2" and table("out/grades.csv")[1]["late"] == "-1"
    Path("out/late.json").write_text("{}")
    grade("--jobs", "1")
    assert "out/late.json is not as a run wrote it: delete it" in capsys.readouterr().err
    Path("out/late.json").unlink()
    grade("--jobs", "1")  # the points of the grader are kept
    assert "late" not in table("out/grades.csv")[0] and table("out/grades.csv")[0]["points"] == "10"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--late", "10% a day"], "--late takes points off in the folder of results: name one"),
        (["--deadline", "2026-11-02"], "--deadline and --file-times are for late work: say by --late"),
        (
            ["--results", "out", "--late", "10% a day", "--system", "plain"],
            "--late cannot be used: nothing says when it",
        ),
    ],
)
def test_late_work_that_cannot_be_judged_is_told_first(work, capsys, options, says):
    """Catches an hour of grading before a policy turns out to be of no use."""
    assert main(["grade", *FOLDERS, *options]) == 2
    said = capsys.readouterr()
    assert says in said.err and not said.out
    with pytest.raises(SystemExit):
        main(["grade", *FOLDERS, "--late", "10% a day", "--deadline", "Monday"])
    assert "'Monday' came, a time such as" in capsys.readouterr().err
