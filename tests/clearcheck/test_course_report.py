"""`python -m clearcheck report`: the whole course from the files on disk, as the notebook and `grade` count it."""

import json
import shutil

import pytest
from clearcheck.cli import main
from clearcheck.own_course import COURSE_VARIABLE
from clearcheck.report import course as course_report
from clearcheck.report.course_files import CourseChanged
from inline_snapshot import snapshot

from .toy_notebook import IMPORTS, MEANS, RANGES, SLUG, TOY, notebook

WRONG = MEANS.replace("axis=0", "axis=1")
OTHER = "02-columns"


@pytest.fixture
def second_exercise(course):
    """A second exercise with the same questions."""
    folder = course / "exercises" / "authoring" / OTHER
    shutil.copytree(TOY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    checks = folder / "exercise.py"
    checks.write_text(checks.read_text().replace(SLUG, OTHER))
    source = (folder.parent / SLUG / "source.ipynb").read_text()
    (folder / "source.ipynb").write_text(source.replace(SLUG, OTHER))
    (course / "pyproject.toml").write_text('[project]\nname = "columns"\nversion = "3.1"\n')
    return course


@pytest.fixture
def report(second_exercise, capsys):
    def call_report(*arguments: str, code: int = 0) -> dict:
        assert main(["report", "--json", "--seed", "5", *arguments]) == code
        return json.loads(capsys.readouterr().out)

    return call_report


def test_the_table(second_exercise, learner, capsys):
    """Would catch wrong sums, minutes of questions that are passed, or an exercise that is left out."""
    learner(RANGES, WRONG)
    learner(slug=OTHER)
    assert main(["report", "--seed", "5"]) == 0
    *table, _, last = capsys.readouterr().out.splitlines()
    assert table == snapshot(
        [
            "exercise     points  passed  minutes left  what next",
            "01-columns   5 of 9  1 of 2             5  means (partly right)",
            "02-columns   0 of 9  0 of 2            10  means (not answered)",
            "total       5 of 18  1 of 4            15",
        ]
    )
    assert "(seed 5)" in last


ANSWERS = {"untouched": (), "one wrong": (WRONG,), "one right": (RANGES,), "mixed": (WRONG, RANGES)}
POINTS = {"untouched": 0, "one wrong": 2, "one right": 3, "mixed": 5, "solved": 9}


@pytest.mark.parametrize(("name", "seed"), [*((name, 0) for name in POINTS), ("mixed", 7)])
def test_the_notebook_grade_and_report_agree(second_exercise, learner, run, capsys, name, seed):
    """Would catch a second way of counting: every question's points, from each of the three."""
    path = learner(*ANSWERS.get(name, (MEANS, RANGES)))
    cells = [cell["source"] for cell in json.loads(path.read_text())["cells"] if cell["source"].startswith("def ")]
    shown = repr(run("\n".join([*cells, f"progress(seed={seed})"]))).splitlines()
    assert main(["grade", str(path), "--json", "--seed", str(seed)]) == 0
    graded = json.loads(capsys.readouterr().out)
    assert main(["report", "--json", "--seed", str(seed)]) == 0
    reported = json.loads(capsys.readouterr().out)
    row = reported["exercises"][0]
    assert shown[0] == f"Columns: {POINTS[name]} of 9 points"
    assert graded["points"] == row["points"] == reported["points"] == POINTS[name]
    assert [(q["id"], q["points"], q["status"]) for q in graded["questions"]] == [
        (q["id"], q["points"], q["status"]) for q in row["questions"]
    ]
    for line, question in zip(shown[1:], graded["questions"], strict=True):
        assert line.endswith(f"({question['points']} of {question['max_points']} points)")


def test_elsewhere_the_exercises_without_a_notebook_are_those_of_the_course_that_is_named(
    report, learner, second_exercise, tmp_path_factory, monkeypatch
):
    """Catches a row that is looked up where the command was started, or in the grader's own course."""
    work = learner(MEANS).parent
    monkeypatch.setenv(COURSE_VARIABLE, str(second_exercise))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    said = report(str(work))
    assert [(row["exercise"], row["max_points"]) for row in said["exercises"]] == [(SLUG, 9), (OTHER, 9)]


def test_a_solved_course(report, learner):
    """Would catch a last line that still asks for something."""
    learner(MEANS, RANGES)
    learner(MEANS, RANGES, slug=OTHER)
    said = report()
    assert (said["points"], said["max_points"], said["course"], said["seed"]) == (18, 18, "columns 3.1", 5)
    assert [(row["next"], row["minutes_left"]) for row in said["exercises"]] == [("all passed", 0)] * 2


def test_a_broken_notebook_is_listed_and_stops_nothing(report, learner, second_exercise, capsys):
    """Would catch a report that ends at the first bad file, or hides it."""
    (second_exercise / "exercises" / f"{SLUG}.ipynb").write_text("{")
    learner(MEANS, slug=OTHER)
    said = report(code=2)
    assert [row["points"] for row in said["exercises"]] == [0, 6]
    assert [entry["file"] for entry in said["not_graded"]] == [f"{SLUG}.ipynb"]
    assert "JSON text is expected" in said["not_graded"][0]["error"]
    assert said["exercises"][0]["next"] == snapshot("no notebook of it that could be graded")
    assert main(["report"]) == 2
    assert f"Not graded: exercises/{SLUG}.ipynb" in capsys.readouterr().out


def test_other_files_in_the_folder_do_no_harm(report, learner, second_exercise):
    """Would catch notes that are taken for an exercise, an author's source that is graded, and a failure by them."""
    learner(MEANS)
    (second_exercise / "exercises" / "notes.ipynb").write_text(json.dumps(notebook("x = 1")))
    (second_exercise / "exercises" / ".hidden.ipynb").write_text("{")
    (second_exercise / "exercises" / "list.txt").write_text("x")
    said = report()
    assert said["points"] == 6
    assert said["notes"] == snapshot(["Left out, since it answers no exercise: notes.ipynb"])


@pytest.mark.parametrize("better", [f"{SLUG}.ipynb", f"{SLUG}-Copy1.ipynb"])
def test_of_two_notebooks_for_one_exercise_the_better_counts(report, learner, second_exercise, better):
    """Would catch counting both, or the one that happens to come last."""
    names = {f"{SLUG}.ipynb", f"{SLUG}-Copy1.ipynb"}
    for name in sorted(names):
        path = learner(*([MEANS] if name == better else []))
        path.rename(second_exercise / name)
    for name in names:
        (second_exercise / name).rename(second_exercise / "exercises" / name)
    said = report()
    [other] = names - {better}
    assert (said["points"], said["exercises"][0]["file"]) == (6, f"exercises/{better}")
    (note,) = said["notes"]
    assert SLUG in note and f"{better} (6 of 9 points) counts, {other} (0 of 9 points)" in note


def test_a_folder_elsewhere_and_one_that_holds_nothing(report, learner, second_exercise, tmp_path):
    """Would catch a report that only looks at the course's own folder, and a table of zeros for a mistyped path."""
    mine = second_exercise / "mine"
    mine.mkdir()
    assert "mine holds no notebook" in report("mine", code=2)["error"]
    assert "nowhere holds no notebook" in report("nowhere", code=2)["error"]
    learner(MEANS).rename(mine / "renamed.ipynb")
    said = report("mine")
    assert [row["points"] for row in said["exercises"]] == [6, 0]
    assert said["exercises"][0]["file"] == "mine/renamed.ipynb"


def test_without_any_exercises_the_report_says_where_it_looked(tmp_path, monkeypatch, capsys):
    """Would catch a traceback in a folder that is no course."""
    monkeypatch.setattr("clearcheck.author.loading.CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 2
    assert f"No exercises: looked for {tmp_path / 'exercises' / 'authoring'}" in capsys.readouterr().err


def test_a_submission_may_call_everything_that_a_notebook_may(grade_cells):
    """Would catch a function of the notebook that the grader's worker does not know: the cell would stop."""
    calls = [IMPORTS, 'check("means")', 'hint("means")', "progress()", f'reset("means")\n{MEANS}']
    came = grade_cells(*calls)
    assert (came.points, came.notes) == (6, [])


def test_a_file_on_which_the_grader_fails_is_listed(second_exercise, learner, capsys, monkeypatch):
    """Catches a report that ends with one file, and a file name that adds a line to it."""
    path = learner(MEANS)
    path.rename(path.with_name("a\nb.ipynb"))
    learner(RANGES)
    true = course_report.grade

    def grade_or_fail(file, *arguments):
        if "b" in file.stem and "\n" in file.stem:
            raise TypeError("no such thing")
        return true(file, *arguments)

    monkeypatch.setattr(course_report, "grade", grade_or_fail)
    assert main(["report", "--seed", "5"]) == 2
    said = capsys.readouterr().out
    assert r"Not graded: The grader failed on exercises/a\nb.ipynb (TypeError: no such thing)" in said
    assert "01-columns   3 of 9" in said


def test_a_change_of_the_course_ends_the_report(second_exercise, learner, capsys, monkeypatch):
    """Catches a table with points from checks that a notebook has rewritten, and a sentence that blames the grader."""
    learner(MEANS)
    learner(MEANS, slug=OTHER)
    graded = []

    def raise_course_changed(file, *arguments):
        graded.append(file.name)
        raise CourseChanged(f"While {file} was graded, files of the course changed: means.py.")

    monkeypatch.setattr(course_report, "grade", raise_course_changed)
    assert main(["report", "--seed", "5"]) == 2
    said = capsys.readouterr()
    assert f"exercises/{SLUG}.ipynb" in said.err and "changed: means.py" in said.err
    assert not said.out and graded == [f"{SLUG}.ipynb"]
