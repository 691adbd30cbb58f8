"""The folder of results: who stands where, points by hand, pages, and what the next run takes from it."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearcheck.files import hold_lock
from clearcheck.report import course_files
from clearclass.learners import Learner
from clearclass.one_file import grader_version
from clearclass.standings import Entry, GradeSummary, standings
from clearclass.submitted_files import SubmittedFile
from inline_snapshot import snapshot

from tests.book.pages import CHROMIUM, NO_CHROMIUM
from tests.book.test_browser import AXE, FLAGS
from tests.clearcheck.test_summary_page import words
from tests.clearcheck.toy_notebook import MEANS, RANGES, SLUG

from .class_folder import ADA, FOLDERS, SEED, grade, put, same_files, table

ROOT = Path(__file__).parents[2]
HAND = "id,clarity,clarity max,style,comment\n12,2,4,1,Well said.\n99,1,4,,\n"


@pytest.fixture(scope="module")
def kept_results(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("kept") / "out"


@pytest.fixture
def results_folder(work, kept_results) -> Path:
    """The results of the class, graded once for all tests; only what a test adds is graded in it."""
    if kept_results.exists():
        shutil.copytree(kept_results, work / "out")
    else:
        grade("--seed", SEED, "--jobs", "2")
        shutil.copytree(work / "out", kept_results)
    return work / "out"


def test_one_row_for_each_learner(results_folder):
    """Catches two rows for one learner, the worse of two files that counts, a broken file without a row."""
    ada, bobby, cy, dee = table("out/grades.csv")
    assert (ada["learner"], ada["id"], ada["points"], ada["max_points"]) == ("Ada Lovelace", "12", "9", "9")
    assert (bobby["learner"], bobby["points"], bobby["mistakes"]) == ("bobby", "5", "means/over_rows")
    assert bobby["notes"] == snapshot("Handed in late. bobby_77_8890_nb.ipynb (2 of 9 points) does not count.")
    assert "late" not in ada["notes"]
    assert (cy["means"], cy["ranges"], cy["exercise"]) == ("2", "0", SLUG)
    assert (dee["points"], dee["max_points"]) == ("", "") and "JSON text is expected" in dee["notes"]
    files = table("out/files.csv")
    apart = {Path(row["file"]).name: row["isolation"] for row in files}
    assert apart.pop("dee.ipynb") == "" and set(apart.values()) == {ada["isolation"]} != {""}
    counts = {Path(row["file"]).name: row["counts"] for row in files}
    assert counts.pop("bobby_77_8890_nb.ipynb") == "no" == counts.pop("dee.ipynb")
    assert set(counts.values()) == {"yes"}


def test_tables_for_moodle_and_canvas(results_folder):
    """Catches a column that Moodle looks for, and learners of one system in the table of the other."""
    (ada,) = table("out/moodle.csv")
    assert (ada["Identifier"], ada["Grade"], ada["Last modified (grade)"]) == ("Participant 12", "9", "-")
    with zipfile.ZipFile("out/moodle-feedback.zip") as archive:
        assert archive.namelist() == [f"{ADA}/feedback.html"]
        assert (
            archive.read(f"{ADA}/feedback.html") == (results_folder / "feedback" / "ada-lovelace-12.html").read_bytes()
        )
    (bobby,) = table("out/canvas.csv")
    assert (bobby["Student"], bobby["ID"], bobby[SLUG]) == ("bobby", "77", "5")
    assert main(["grade", *FOLDERS[1:], "--results", "out", "--replace"]) == 2
    assert not list(results_folder.glob("moodle*")) and len(table("out/grades.csv")) == 3
    assert sorted(path.stem for path in (results_folder / "feedback").iterdir()) == ["bobby-77", "cy", "dee"]


def test_points_by_hand_are_added_and_shown(results_folder, capsys):
    """Catches points that are lost, counted twice, or given to nobody in silence."""
    Path("hand.csv").write_text(HAND)
    grade("--hand", "hand.csv")
    assert re.search(r"\bid 99 \(line 3\): .*nobody", capsys.readouterr().err)
    ada, bobby, *_ = table("out/grades.csv")
    assert (ada["points"], ada["max_points"], ada["clarity (by hand)"]) == ("12", "13", "2")
    assert (bobby["points"], bobby["clarity (by hand)"]) == ("5", "")
    said = words((results_folder / "feedback/ada-lovelace-12.html").read_text())
    assert "12 of 13 points" in said and "clarity 2 of 4" in said and "style 1 on top" in said
    assert "Well said." in said
    assert json.loads((results_folder / f"gradescope/ada-lovelace-12.{SLUG}.json").read_text())["score"] == 12
    assert "id 99" in words((results_folder / "overview.html").read_text())
    assert "clarity: 2 of 3 have none, bobby" in words((results_folder / "overview.html").read_text())
    grade()
    assert table("out/grades.csv")[0]["points"] == "12" and "out/hand.csv, as before" in capsys.readouterr().err
    (results_folder / "hand.csv").unlink()
    grade()
    assert table("out/grades.csv")[0]["points"] == "9"


def test_nobody_is_lost_to_late_files_graded_alone(work, results_folder, capsys):
    """Catches a class of which one late file, or one learner graded again, leaves nothing."""
    before = {path: path.read_bytes() for path in results_folder.rglob("*") if path.is_file()}
    put("plain/late/eve.ipynb", MEANS)
    capsys.readouterr()
    for file in ("work/plain/late", "work/plain/cy.ipynb"):
        assert main(["grade", file, "--results", "out"]) == 2
        assert "such as Ada Lovelace 12" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in results_folder.rglob("*") if path.is_file()} == before
    (work / "work" / "moodle" / ADA / "nb.ipynb").rename(
        work / "work" / "moodle" / ADA / "again.ipynb"
    )  # another file, nobody lost
    grade()
    assert len(table("out/grades.csv")) == 5
    grade("--name-pattern", "(?P<name>[^/]+)[.]ipynb")  # the same files under other names
    assert table("out/grades.csv")[0]["learner"] == "again"


BAD = {
    "name,points\nada,1\n": "a column named id, learner, file is expected",
    "id,a\n12,many\n": "line 2, column a: 'many' is no number of points",
    "id,a\n,3\n": "line 2: nobody is named",
    "id,a,A\n12,3,4\n": "two columns have the same name",
    "id,a\n12,1e9\n": "is no number of points",
    "id,a,a max\n12,40,4\n": "line 2, column a: 40 is not between 0 and 4",
    "id,a,a max\n12,3,five\n": "hand.csv, line 2, column a max: 'five' is no number of points",
    "id,a,a max\n12,-1,4\n": "-1 is not between 0 and 4",
    'id,a,comment\n12,1,"two\nlines"\n13,2,"' + "x" * 131_073 + '"\n': "begins in line 4 cannot be read (field larger",
    '"' + "x" * 131_073 + '"\n': "begins in line 1 cannot be read (field larger",
    'id,a,comment\n12,1,"well done\n13,2,\n': "begins in line 2 cannot be read (unexpected end of data): look for",
    "id,a\n12,3,5\n": "line 2: 3 values under 2 headings",
    "": "a column named id, learner, file is expected",
    'id,a,a max\n12,"1,000","2,000"\n': "line 2, column a: 1,000 may be 1 or 1000 points: write it without the comma",
    "id;a\n12;-1,500\n": "column a: -1,500 may be -1.5 or -1500 points",
    "id\ta\n12\t3\t5\n": "line 2: 3 values under 2 headings; a value with a tab in it",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_table_by_hand_that_cannot_be_used_is_told_first(work, capsys, text):
    """Catches a traceback, or an hour of grading before the mistake is told."""
    Path("hand.csv").write_text(text)
    grade("--hand", "hand.csv")
    said = capsys.readouterr()
    assert BAD[text] in said.err and not said.out


def test_other_tables_by_hand(results_folder, capsys):
    """Catches decimal commas, semicolons, marks of Windows, names instead of numbers, and a row that comes twice."""
    Path("hand.csv").write_text("\ufeffLearner;essay;essay max\nada lovelace;1,5;4\nADA LOVELACE;1;2\ncy;0;4\n")
    grade("--hand", "hand.csv")
    ada, _, cy, _ = table("out/grades.csv")
    assert (ada["points"], ada["max_points"]) == ("10.5", "13")
    said = capsys.readouterr().err
    assert "Going on: 5 of 5 files were graded before" in said
    assert [line for line in said.splitlines() if line.startswith("Hand-graded")] == snapshot(
        [
            "Hand-graded points for learner ADA LOVELACE (line 3): the row gives essay a second time.",
            "Hand-graded points for essay: 1 of 3 have none, bobby the first of them.",
        ]
    )
    assert (cy["points"], cy["max_points"]) == ("2", "13")
    Path("out/hand.csv").unlink()  # its points are not in the next table
    Path("hand.csv").write_text("id\tplot\tplot max\tcomment\t\n12\t0,125\t2\tWell, done; so\t\n")
    grade("--hand", "hand.csv")
    assert table("out/grades.csv")[0]["points"] == "9.125"
    assert "Well, done; so" in table("out/moodle.csv")[0]["Feedback comments"]


def test_the_feedback_tells_all_and_no_seed(results_folder):
    """Catches a page that leaves out a message or a section to read, or that gives away the inputs of the class."""
    page = (results_folder / "feedback/bobby-77.html").read_text()
    said = words(page)
    assert "bobby Columns 5 of 9 points" in said
    assert "known mistake: The mean runs along" in said
    assert 'Read "Rows and columns" in chapter 01, Columns' in said
    assert SEED not in page and SEED not in "".join(
        path.read_text() for path in (results_folder / "gradescope").iterdir()
    )
    assert "JSON text is expected" in words((results_folder / "feedback/dee.html").read_text())


def test_the_overview_counts_the_class(results_folder):
    """Catches mistakes that are counted by check or by file, and a file without a grade that is not told."""
    said = words((results_folder / "overview.html").read_text())
    assert "4 learners, 5 files" in said
    assert re.search(r"means: The mean runs .*?\b67 %, 2 of 3\b", said)
    # Points 6, 2, 2 of 6 and, for the other question, 3, 3, 0: a correlation of one half.
    assert re.search(r"means: Means of .*?\b3\.3 of 6 56 % 0\.50 1 2 0 0 ", said)
    assert "90 to 100 % 1" in said and "50 to 60 % 1" in said and "20 to 30 % 1" in said
    assert "Not graded work/plain/dee.ipynb" in said


def test_pages_stand_alone(results_folder):
    """Catches anything that is loaded from elsewhere or run, and a name that is HTML."""
    put("plain/<script>alert(1)<\\script>.ipynb", MEANS)
    grade()
    pages = [path.read_text() for path in results_folder.rglob("*.html")]
    assert len(pages) == 6
    for page in pages:
        assert not re.search(r"https?:|src=|url\(|@import|<link|<script", page)


def test_results_as_gradescope_reads_them(results_folder):
    """Catches a field that Gradescope does not know, and scores that do not add up."""
    results = json.loads((results_folder / f"gradescope/bobby-77.{SLUG}.json").read_text())
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 5
    assert [(test["name"], test["status"]) for test in results["tests"]] == [
        ("means: Means of the columns", "failed"),
        ("ranges: Smallest and largest", "passed"),
    ]
    output = results["tests"][0]["output"]  # the words of a card, as test_same_words holds
    assert re.search(
        r'2 of 6 points\b.*known mistake: The mean runs\b.*\nRead "Rows and columns" in ', output, re.DOTALL
    )
    known = {"score", "max_score", "status", "name", "output", "output_format", "visibility", "tests"}
    assert set(results) <= known | {"stdout_visibility"} and set(results["tests"][0]) <= known


def test_two_runs_are_the_same_bytes(work, results_folder):
    """Catches times, orders and names of temporary files in the results, and jobs that change them."""
    assert main(["grade", *FOLDERS, "--results", "other", "--seed", SEED, "--jobs", "1"]) == 2
    assert same_files(results_folder, work / "other")


@pytest.mark.parametrize(("points", "counts"), [((2, 3, 3), 2), ((3, 3, 2), 1), ((2, 3, 2), 1), ((0, 0, 0), 2)])
def test_of_several_files_the_best_counts_and_at_a_tie_the_last(points, counts):
    """Catches the first of two equally good files, and a later one that is worse."""
    ada = Learner("ada", "12")
    files = [SubmittedFile(Path(f"{number}.ipynb"), None) for number in range(len(points))]
    entries = [
        Entry(file, ada, GradeSummary(str(file.path), exercise="e", points=n, max_points=3))
        for file, n in zip(files, points, strict=True)
    ]
    (standing,) = standings(entries)
    assert standing.counts is entries[counts]
    assert [*standing.others] == [entry for entry in entries if entry is not entries[counts]]


def test_what_changed_is_graded_again(work, results_folder, capsys):
    """Catches an old grade for a new file, and a new exercise or grader that keeps the old grades."""
    put("plain/cy.ipynb", MEANS, RANGES)
    grade()
    assert "4 of 5 files" in capsys.readouterr().err
    assert table("out/grades.csv")[2]["points"] == "9"
    checks = work / "exercises" / "authoring" / SLUG / "shared.py"
    checks.write_text(checks.read_text() + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "clearcheck", "grade", *FOLDERS, "--results", "out"], capture_output=True
    )
    assert done.returncode == 2 and b"graded before" not in done.stderr


def test_a_reference_is_a_part_of_what_a_grade_depends_on(course, monkeypatch, tmp_path):
    """Catches grades that are kept where the library changed from which the exercises take their references."""
    library = tmp_path / "lib" / "clearformer" / "reference"
    library.mkdir(parents=True)
    (library / "attention.py").write_text("axis = 0")
    monkeypatch.setattr(course_files, "LIB", tmp_path / "lib")
    before = grader_version.__wrapped__()
    (library / "attention.py").write_text("axis = 1")
    assert grader_version.__wrapped__() != before


def test_a_folder_for_results_that_cannot_be_used(results_folder, capsys):
    """Catches other files that are replaced, two runs that write at once, and grades of two seeds in one table."""
    capsys.readouterr()
    for options, says in (
        (["--results", "work"], "work holds other files"),
        (["--results", "out", "--seed", "6"], f"was graded with the seed {SEED}"),
        (["--hand", "x.csv"], "name one with --results"),
        (["--results", "work/plain/cy.ipynb"], "cannot be written"),
    ):
        assert main(["grade", *FOLDERS, *options]) == 2
        assert says in capsys.readouterr().err
    with hold_lock(results_folder / ".lock", 0):
        grade()
    assert "Another run writes to out" in capsys.readouterr().err


def test_the_results_may_lie_in_the_folder_that_is_graded(work, results_folder, capsys):
    """Catches tables and pages of the last run that are taken for handed-in work."""
    capsys.readouterr()
    grade()
    first = capsys.readouterr().out
    results_folder.rename(work / "work" / "plain" / "results")
    assert main(["grade", *FOLDERS, "--results", "work/plain/results"]) == 2
    assert capsys.readouterr().out == first


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_the_pages_in_a_browser(results_folder):
    """Catches a page that is wider than a phone, hardly to be read in the dark, or that axe objects to."""
    from playwright.sync_api import sync_playwright

    Path("hand.csv").write_text(HAND)
    grade("--hand", "hand.csv")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme in ("light", "dark"):
            shown = browser.new_page(viewport={"width": 320, "height": 700}, color_scheme=scheme)
            for page in ("overview.html", "feedback/ada-lovelace-12.html", "feedback/bobby-77.html"):
                shown.goto((results_folder / page).as_uri())
                assert shown.evaluate("document.documentElement.scrollWidth") <= 320, (page, scheme)
                if AXE.exists():
                    shown.add_script_tag(path=AXE)
                    found += shown.evaluate("async () => (await axe.run()).violations")
        browser.close()
    assert not [violation["help"] for violation in found]
