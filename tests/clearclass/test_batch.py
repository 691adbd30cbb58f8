"""Many notebooks in one call: one row for each, and no file ends the run, whatever it holds."""

import csv
import json
import os
import socket

import pytest
from clearcheck.cli import main
from clearcheck.notebooks.escaping import cell, one_line
from clearclass import pool
from clearclass.one_file import Job
from clearclass.standings import GradeSummary
from clearclass.submitted_files import submitted_files
from clearclass.tables import write_csv
from inline_snapshot import snapshot

from tests.clearcheck.toy_notebook import MEANS, RANGES, SLUG, START, notebook

from . import class_work

HEAD = ["file", "exercise", "seed", "points", "max_points", "means", "ranges"]
HEAD += ["mistakes", "uses", "isolation", "notes"]
WRONG = MEANS.replace("axis=0", "axis=1")


@pytest.fixture
def folder(course):
    """Handed-in work: two good notebooks, one in a folder of its own, one broken, and what is no work."""
    work = {
        "ada/01.ipynb": json.dumps(notebook(START, MEANS, RANGES)),
        "bob.ipynb": json.dumps(notebook(START, RANGES, "1/0")),
        "cy.ipynb": "{",
        ".ipynb_checkpoints/bob-checkpoint.ipynb": "{",
    }
    for name, text in work.items():
        path = course / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return course


def rows(path) -> list[list[str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_a_folder_into_a_table(folder, capsys):
    """Catches a row that is missing or shifted, a hidden copy that is graded, lines in another order than the files."""
    assert main(["grade", "work", "--csv", "class.csv", "--seed", "5"]) == 2
    head, *table = rows("class.csv")
    assert head == HEAD
    assert table[0][:8] == ["work/ada/01.ipynb", SLUG, "5", "9", "9", "6", "3", ""]
    assert table[1][:7] == ["work/bob.ipynb", SLUG, "5", "3", "9", "0", "3"]
    assert "Code cell 3 stopped with ZeroDivisionError" in table[1][-1]
    assert table[2][:7] == ["work/cy.ipynb", "", "", "", "", "", ""]
    assert "JSON text is expected" in table[2][-1]
    assert len(table) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == snapshot("work/ada/01.ipynb: 9 of 9 points (seed 5)")
    assert lines[2].startswith("Not graded: work/cy.ipynb is no notebook")


def test_the_files_of_one_exercise_come_together(folder):
    """Catches a class that is graded learner by learner, where each exercise in turn pushes the cases and the known
    mistakes of the others out of what a process keeps.
    """
    for learner in ("ada", "bob"):
        (folder / "work" / f"{learner}_{SLUG}.ipynb").write_text("")
        (folder / "work" / f"{learner}_zz.ipynb").write_text("")
    names = [file.path.name for file in submitted_files([folder / "work"])]
    assert names == ["01.ipynb", "ada_zz.ipynb", "bob.ipynb", "bob_zz.ipynb", "cy.ipynb"] + [
        f"{learner}_{SLUG}.ipynb" for learner in ("ada", "bob")
    ]


def test_an_authors_sources_are_not_graded(folder, capsys):
    """Catches points for the course's own answers, and a learner's folder that vanishes since it holds exercise.py."""
    source = folder / "exercises" / "authoring" / SLUG / "source.ipynb"
    theirs = folder / "work" / "dan"
    theirs.mkdir()
    (theirs / "exercise.py").write_text("")
    (theirs / "source.ipynb").write_bytes(source.read_bytes())
    assert main(["grade", ".", "--jobs", "1"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if "exercises/authoring" in line]
    assert "lies beside an exercise.py" in "".join(line for line in lines if "dan/source.ipynb" in line)


def test_all_get_the_same_inputs_and_a_line_of_json(folder, capsys):
    """Catches one learner being graded on easier inputs than another, text between the objects, a broken file without
    a line."""
    assert main(["grade", "work", "--json"]) == 2
    first, second, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["seed"] == second["seed"]
    assert [first["points"], second["points"]] == [9, 3]
    assert set(first) == set(second) >= {"isolation", "uses", "notes"} and "page" not in first
    assert last["file"] == "work/cy.ipynb" and "JSON text is expected" in last["error"]


def test_the_table_holds_what_was_graded_before_a_stop(folder, monkeypatch, capsys):
    """Catches hours of grading lost because it was stopped, and a traceback after Ctrl-C."""

    def grade_one_and_stop(jobs, work, start, width):
        yield 0, work(jobs[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "grade_jobs", grade_one_and_stop)
    assert main(["grade", "work", "--csv", "class.csv"]) == 130
    assert [row[0] for row in rows("class.csv")] == ["file", "work/ada/01.ipynb"]
    assert "--results FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["=cmd|x.ipynb", "+1.ipynb", "-1.ipynb", "@x.ipynb", " =1", "a; =1", "＝1", "a;＋1", "－1", "＠x"]
)
def test_a_file_name_is_no_formula(tmp_path, name):
    """Catches a learner's file name that a spreadsheet runs, also where `;` separates the cells."""
    write_csv(tmp_path / "a.csv", [GradeSummary(name, "broken")])
    told = rows(tmp_path / "a.csv")[1][0]
    assert told == cell(name) and told.replace("'", "") == name
    assert all(part.lstrip().startswith("'") for part in told.split(";")[-1:])


DECEIVING = {
    "a\nb: 9 of 9 points": r"a\nb: 9 of 9 points",
    "\x1b[2Ka": r"\x1b[2Ka",
    "a\u202eb": r"a\u202eb",
    "M\udcfcller": r"M\xfcller",
    "a\u2028b\x7f": r"a\u2028b\x7f",
    "Zoë Ångström 李": "Zoë Ångström 李",
}


@pytest.mark.parametrize("name", DECEIVING)
def test_a_name_deceives_nobody(name):
    """Catches a name that adds a line, colours or hides one, turns its direction, or cannot be printed at all."""
    assert one_line(name) == DECEIVING[name]
    assert one_line(name).isprintable()
    one_line(name).encode("utf-8")


def test_names_are_shown_wherever_they_are_told(folder, capsys):
    """Catches one of the places where a name is printed as it came: line, table, page, results; and a run that ends."""
    body = json.dumps(notebook(START, MEANS))
    for name in (b"M\xfcller.ipynb", b"x\ny.ipynb", b"\x1b[31m.ipynb"):
        with open(os.path.join(b"work", name), "w") as file:
            file.write(body)
    with open(b"work/bad\n\xfc.ipynb", "w") as file:
        file.write("{")
    assert main(["grade", "work", "--csv", "class.csv", "--results", "out", "--seed", "5", "--jobs", "1"]) == 2
    assert len(capsys.readouterr().out.splitlines()) == 7
    told = [text for row in rows("class.csv") for text in row] + [text for row in rows("out/files.csv") for text in row]
    assert all(text.isprintable() for text in told) and r"work/M\xfcller.ipynb" in told
    for page in (folder / "out").rglob("*.html"):
        assert all(c.isprintable() or c == "\n" for c in page.read_text("utf-8")), page


@pytest.mark.parametrize("name", ["work/cy.ipynb", "nowhere/class.csv"])
def test_the_table_cannot_replace_a_notebook(folder, capsys, name):
    """Catches `--csv` before the wrong file name, and an error after the grading instead of before."""
    with pytest.raises(SystemExit):
        main(["grade", "work", "--csv", name])
    said = capsys.readouterr()
    assert "is expected" in said.err or "there is no folder nowhere" in said.err
    assert said.out == ""
    assert (folder / "work" / "cy.ipynb").read_text() == "{"


def test_every_file_of_a_folder_has_a_row(folder, capsys):
    """Catches a learner without a row: other endings, archives, links, folders and what is no file at all."""
    work = folder / "work"
    (work / "UPPER.IPYNB").write_text(json.dumps(notebook(START, MEANS)))
    (work / "all.zip").write_bytes(b"PK")
    (work / "notes.txt").write_text("")
    (work / "folder.ipynb").mkdir()
    (work / "gone.ipynb").symlink_to("nowhere")
    (work / "copy.ipynb").symlink_to("ada/01.ipynb")
    (work / "others").symlink_to("ada")
    os.mkfifo(work / "pipe.ipynb")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(work / "s.ipynb"))
    assert main(["grade", "work", "--csv", "class.csv", "--seed", "5", "--jobs", "1"]) == 2
    table = {row[0].removeprefix("work/"): row for row in rows("class.csv")[1:]}
    assert table["UPPER.IPYNB"][3] == "6"
    says = {
        "all.zip": "is an archive: unpack it",
        "notes.txt": "is no notebook: a file whose name ends in .ipynb",
        "folder.ipynb": "is a folder",
        "gone.ipynb": "is a link to nowhere",
        "copy.ipynb": "is a link to ada/01.ipynb, and links are not followed",
        "others": "is a link to ada",
        "pipe.ipynb": "is a named pipe",
        "s.ipynb": "is a socket",
    }
    for name, sentence in says.items():
        assert f"work/{name} {sentence}" in table[name][-1]
    assert len(table) == len(says) + 4


def test_what_cannot_be_read_has_a_row(folder, monkeypatch):
    """Catches a folder or a file without permission that is passed over in silence; as root there is no such thing."""
    refused = PermissionError(13, "Permission denied", "work/ada")

    def walk(root, onerror):
        onerror(refused)
        yield str(root), [], ["bob.ipynb"]

    def lstat(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("clearclass.submitted_files.os.walk", walk)
    monkeypatch.setattr(type(folder), "lstat", lstat)
    reasons = [file.reason for file in submitted_files([folder / "work"])]
    assert len(reasons) == 2 and all("cannot be read (Permission denied)" in reason for reason in reasons)


def jobs(folder, names) -> list[Job]:
    made = []
    for name in names:
        (folder / name).write_text(json.dumps(notebook(START, MEANS)))
        made.append(Job(name, None, 5))
    return made


def test_a_process_that_is_killed_costs_its_file_alone(course):
    """Catches a kill that takes the files beside it along, or the rest of the run."""
    names = ["a.ipynb", "kill-1.ipynb", "b.ipynb", "kill-2.ipynb", "c.ipynb", "d.ipynb"]
    found = dict(pool.grade_jobs(jobs(course, names), class_work.killed_by_its_file, pool.process_pool, 2))
    assert sorted(found) == list(range(6))
    for number, name in enumerate(names):
        if name.startswith("kill"):
            assert f"Grading {name} ended the process" in found[number]["error"]
        else:
            assert found[number]["points"] == 6


def test_whatever_the_grader_raises_is_a_row(course):
    """Catches a mistake of the grader's own that ends the run."""
    found = dict(
        pool.grade_jobs(jobs(course, ["raise.ipynb", "b.ipynb"]), class_work.grade_or_raise, pool.process_pool, 2)
    )
    assert found[0]["error"] == snapshot("""\
The grader failed on raise.ipynb (TypeError: unsupported operand
\x1b[31m): it has no grade. Please tell the authors of the course.\
""")
    assert found[1]["points"] == 6


def test_a_process_of_another_version_stops_the_run(course):
    """Catches grades of two versions of the checks in one table."""
    with pytest.raises(pool.RunStopped, match=r"b\.ipynb has another version"):
        dict(pool.grade_jobs(jobs(course, ["b.ipynb"]), class_work.of_another_version, pool.process_pool, 1))


def test_a_course_that_changes_while_it_grades_is_told(folder, monkeypatch, capsys):
    """Catches grades after a submission has rewritten the checks."""

    def grade_and_change_course(jobs, work, start, width):
        yield from ((number, work(job)) for number, job in enumerate(jobs))
        checks = folder / "exercises" / "authoring" / SLUG / "means.py"
        checks.write_text(checks.read_text() + "\n")

    monkeypatch.setattr(pool, "grade_jobs", grade_and_change_course)
    assert main(["grade", "work", "--results", "out"]) == 2
    assert "While this class was graded, files of the course changed: " in capsys.readouterr().err
    assert not (folder / "out" / "grades.csv").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--jobs", "0"], "is no number of files"),
        (["--name-pattern", "("], "is no regular expression"),
        (["--name-pattern", "x"], "names nobody"),
        (["--executor", "host:1"], "dask://HOST:PORT of its scheduler is expected"),
    ],
)
def test_an_option_that_cannot_be_used_is_told_at_once(folder, capsys, options, says):
    """Catches a traceback, or an hour of grading before the mistake is told."""
    with pytest.raises(SystemExit):
        main(["grade", "work", *options])
    said = capsys.readouterr()
    assert says in said.err and not said.out


def test_progress_on_a_terminal(folder, monkeypatch, capsys):
    """Catches a run of hours that does not say how far it is."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["grade", "work", "--seed", "5", "--jobs", "1"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "work: 3 files of 3 learners, each file stands for a learner of its own."
    assert told[1].startswith("1 of 3 · work/ada/01.ipynb: 9 of 9 points (seed 5) · about ")
    assert told[-1].startswith("3 of 3 · Not graded: ") and "left" not in told[-1]
