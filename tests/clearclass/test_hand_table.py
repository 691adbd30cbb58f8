"""Points that are given on the page: what is asked for, whose work it is, and the table in which they are kept."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from clearcheck.files import remove_parts
from clearclass.hand import HandProblem, lose_no_points, read_hand
from clearclass.hand_page.given import ChangedMeanwhile, Given, GivenPoints
from clearclass.hand_page.rubric import RubricQuestion, read_rubric
from clearclass.hand_page.works import read_works

from .class_folder import grade, table
from .hand_class import ESSAY, PLOT, code_cell, write_work

NOTHING = Given()


@pytest.fixture
def given(tmp_path) -> GivenPoints:
    works = [
        write_work(tmp_path / "a.ipynb", "Ada", "12", code_cell("1")),
        write_work(tmp_path / "b.ipynb", "Bob", "", code_cell("2")),
        write_work(tmp_path / "c.ipynb", "Bob", "", code_cell("3")),
    ]
    return GivenPoints(tmp_path / "hand.csv", works)


def kept(given: GivenPoints, number: int, question: RubricQuestion = PLOT) -> Given:
    return given.all([PLOT, ESSAY])[number, question.id]


def test_what_is_saved_is_what_the_grader_reads(given):
    """Catches points under another name, a remark that belongs to no question, and two of one name who share a row."""
    given.save(0, PLOT, NOTHING, Given("2,5", "Label your axes;\r\nthe rest is “clear”, =1+1. "))
    given.save(0, ESSAY, NOTHING, Given("12"))
    given.save(1, PLOT, NOTHING, Given("0", "Nothing to see."))
    given.save(2, PLOT, NOTHING, Given("", "Come and see me."))
    rows = read_hand(given.path)
    assert [[(mark.name, mark.points, mark.max_points) for mark in row.marks] for row in rows] == [
        [("plot", 2.5, 4)],
        [("essay", 12, 12)],
        [("plot", 0, 4)],
        [],
    ]
    assert [row.comment for row in rows] == [
        "plot: Label your axes;\nthe rest is “clear”, =1+1.",
        "",
        "plot: Nothing to see.",
        "plot: Come and see me.",
    ]
    for row, number in zip(rows, (0, 0, 1, 2), strict=True):
        assert [i for i, work in enumerate(given.works) if row.fits(work.known)] == [number]
    assert kept(given, 0) == Given("2.5", "Label your axes;\nthe rest is “clear”, =1+1.")


def test_what_is_taken_back_leaves_nothing(given):
    """Catches an empty cell that counts as 0 of 4, and a row that nobody can explain."""
    given.save(0, PLOT, NOTHING, Given("3", "Well"))
    given.save(0, PLOT, Given("3", "Well "), Given("", "Well done"))
    assert [(row.marks, row.comment) for row in read_hand(given.path)] == [((), "plot: Well done")]
    given.save(0, PLOT, Given("", "Well done"), NOTHING)
    assert read_hand(given.path) == [] and kept(given, 0) == NOTHING


def test_a_table_of_the_instructors_own_goes_on(given):
    """Catches points of an earlier table that are lost, given a second time, or changed in the wrong row."""
    given.path.write_text("\ufeffID;Plot;plot max;style;comment\n12;1,5;4;2;Yours\n99;1;4;;\n", encoding="utf-8")
    assert kept(given, 0) == Given("1.5")
    given.save(0, PLOT, Given("1.5"), Given("3", "Better."))
    ada, nobody, remark = read_hand(given.path)
    assert [(mark.name, mark.points) for mark in ada.marks] == [("Plot", 3), ("style", 2)] and ada.comment == "Yours"
    assert nobody.who == {"id": "99"}
    assert remark.comment == "plot: Better." and not remark.marks


def test_two_windows_do_not_overwrite_each_other(given):
    """Catches the second of two windows that undoes what the first one gave, and one that stands in the way of a
    window that says the same or gives other points.
    """
    given.save(0, PLOT, NOTHING, Given("3"))
    with pytest.raises(ChangedMeanwhile) as told:
        given.save(0, PLOT, NOTHING, Given("1"))
    assert told.value.kept == Given("3") == kept(given, 0)
    given.save(0, PLOT, NOTHING, Given("3"))
    given.save(0, ESSAY, NOTHING, Given("7"))
    given.save(0, PLOT, Given("3"), Given("1"))
    assert (kept(given, 0), kept(given, 0, ESSAY)) == (Given("1"), Given("7"))


@pytest.mark.parametrize(
    "now", [Given("5"), Given("-1"), Given("x"), Given("nan"), Given("1", "\0"), Given("1", "\ud800")]
)
def test_what_the_table_cannot_hold_is_refused(given, now):
    """Catches points above the maximum, and a table that can be read no more."""
    with pytest.raises(HandProblem):
        given.save(0, PLOT, NOTHING, now)
    assert not given.path.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from clearcheck import files
from clearclass.hand_page.given import Given, GivenPoints
from clearclass.hand_page.rubric import RubricQuestion
from clearclass.hand_page.works import Work

files.system.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
work = Work("Ada", "12", "01-columns", Path("a.ipynb"), "", "", ("a.ipynb",))
GivenPoints(Path("hand.csv"), [work]).save(0, RubricQuestion("plot", "The plot", 4), Given("3", "Well"), Given("4", "Well done"))
"""


@pytest.mark.parametrize("typed", ["1,000", " 12,500 "])
def test_a_thousand_with_a_comma_is_refused_as_the_table_refuses_it(given, typed):
    """Catches 1,000 that is kept as 1 point."""
    question = RubricQuestion("large", "A large one", 20_000)
    with pytest.raises(HandProblem, match="may be a decimal or a thousand: write it without the comma"):
        given.save(0, question, NOTHING, Given(typed))
    assert not given.path.exists()
    given.save(0, question, NOTHING, Given("1000,25"))
    assert given.all([question])[0, "large"] == Given("1000.25")


def test_a_save_that_is_killed_loses_nothing(given):
    """Catches a table that is written in place, of which a process that dies leaves a part."""
    given.save(0, PLOT, NOTHING, Given("3", "Well"))
    before = given.path.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=given.path.parent, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert given.path.read_bytes() == before
    (part,) = given.path.parent.glob(".*")
    assert part.suffix == ".part"
    remove_parts(given.path)
    assert [path.name for path in given.path.parent.glob("*.csv*")] == ["hand.csv"] and not part.exists()
    given.save(0, PLOT, Given("3", "Well"), Given("4", "Well done"))
    assert kept(given, 0) == Given("4", "Well done")


def test_points_of_the_page_come_into_every_table(work):
    """Catches a work that the next class run does not find again: of Moodle, of Canvas with a second file, without a
    number, and one that could not be graded.
    """
    grade("--seed", "1")
    works = read_works(Path("out"))
    assert [(it.learner, it.id, it.exercise, it.path.name) for it in works] == [
        ("Ada Lovelace", "12", "01-columns", "nb.ipynb"),
        ("bobby", "77", "01-columns", "bobby_LATE_77_8899_nb.ipynb"),
        ("cy", "", "01-columns", "cy.ipynb"),
        ("dee", "", "", "dee.ipynb"),
    ]
    assert "JSON text is expected" in works[3].reason and not works[0].trouble
    page = GivenPoints(Path("out/hand.csv"), works)
    for number in range(4):
        page.save(number, PLOT, NOTHING, Given(str(number), f"Remark {number}"))
    grade()
    rows = table("out/grades.csv")
    assert [row["plot (by hand)"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["points"] for row in rows] == ["9", "6", "4", "3"]
    assert "plot: Remark 0" in table("out/moodle.csv")[0]["Feedback comments"]
    assert "plot: Remark 3" in Path("out/feedback/dee.html").read_text()
    works[0].path.write_text("{}")
    assert "has changed" in works[0].trouble


def test_results_that_are_not_there(tmp_path):
    """Catches a traceback for a folder that is none of a class run."""
    with pytest.raises(HandProblem, match="no finished results"):
        read_works(tmp_path)


HEAD = '[[question]]\nid = "plot"\ntitle = "Plot"\n'
BAD = {
    "": "a table for each question",
    "x": "TOML in UTF-8 is expected",
    HEAD: "max are missing",
    HEAD + "max = 0": "max are missing",
    HEAD + "max = -1": "above 0",
    HEAD + "max = nan": "above 0",
    HEAD + "max = true": "of another kind",
    HEAD + "max = 4\nweight = 2": "weight is not known",
    HEAD + "max = 4\nlines = [1]": "list of texts",
    (HEAD + "max = 4\n") * 2: "the same id",
    HEAD.replace("plot", "comment") + "max = 4": "is no id",
    HEAD.replace("plot", "a,b") + "max = 4": "is no id",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_rubric_that_cannot_be_used_is_told(tmp_path, text):
    """Catches a traceback, and a question whose points the table could not hold."""
    path = tmp_path / "rubric.toml"
    with pytest.raises(HandProblem, match="There is no rubric"):
        read_rubric(path)
    path.write_text(text)
    with pytest.raises(HandProblem, match=BAD[text]):
        read_rubric(path)


def test_a_rubric_is_read(tmp_path):
    """Catches a part of a question that is lost."""
    path = tmp_path / "rubric.toml"
    path.write_text(HEAD + 'max = 2.5\nlines = ["Axes"]\nexercise = "01-columns"\nshown = "A plot"\n')
    assert read_rubric(path) == [RubricQuestion("plot", "Plot", 2.5, ("Axes",), "01-columns", "A plot")]


def test_another_table_does_not_take_the_place_of_points_that_it_lacks(given, tmp_path):
    """Catches hours on the page that are gone after `grade --hand plots.csv`."""
    given.save(0, PLOT, NOTHING, Given("3", "Well"))
    before = given.path.read_bytes()
    other = tmp_path / "plots.csv"
    other.write_text("id,essay,essay max\n12,2,12\n")
    with pytest.raises(HandProblem, match="2 in all, such as a remark for"):
        lose_no_points(given.path, other, read_hand(other))
    assert given.path.read_bytes() == before
    other.write_bytes(before.replace(b"3", b"4"))
    lose_no_points(given.path, other, read_hand(other))
    lose_no_points(tmp_path / "none.csv", other, read_hand(other))


def test_grading_with_another_table_leaves_what_the_page_gave(work, capsys):
    """Catches a class run that writes the table before it looks at what stands there."""
    grade("--seed", "1")
    GivenPoints(Path("out/hand.csv"), read_works(Path("out"))).save(0, PLOT, NOTHING, Given("3"))
    before = Path("out/hand.csv").read_bytes()
    Path("plots.csv").write_text("id,style\n77,1\n")
    capsys.readouterr()
    grade("--hand", "plots.csv", code=2)
    assert "out/hand.csv stays as it is" in capsys.readouterr().err
    assert Path("out/hand.csv").read_bytes() == before
