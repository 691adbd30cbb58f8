"""The roster: tables as systems export them, whose the files are by them, and who handed in nothing."""

from pathlib import Path

import pytest
from clearcheck.cli import main
from clearclass.learners import Learner, LearnersMerged
from clearclass.roster import RosterProblem, read_roster
from clearclass.settled import settle
from clearclass.submitted_files import SubmittedFile
from inline_snapshot import snapshot

from tests.clearcheck.test_summary_page import words
from tests.clearcheck.toy_notebook import MEANS, SLUG

from .class_folder import ADA, FOLDERS, grade, put, table

EXPORTED = {
    "Moodle's grading worksheet": (
        "Identifier,Full name,Email address,Status,Grade,Maximum grade,Last modified (submission)\n"
        '"Participant 12",Ada Lovelace,ada@example.edu,Submitted,,9,"Monday, 2 November 2026, 10:00 AM"\n'
        '"Participant 13",Bob,bob@example.edu,No submission,,9,-\n'
    ),
    "Moodle's list of participants": (
        '"First name","Last name","Email address",Groups\nAda,Lovelace,ada@example.edu,"A, B"\n,Bob,bob@example.edu,\n'
    ),
    "Canvas's gradebook": (
        "Student,ID,SIS User ID,SIS Login ID,Section,Homework (99)\n"
        '    Points Possible,,,,,9\n"Lovelace, Ada",12,u1,ada,A,\nBob,13,u2,bob,A,\n"Student, Test",99,,x,A,\n'
    ),
    "Gradescope's grades": (
        "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time\n"
        "Ada,Lovelace,12,ada@example.edu,A,,,Ungraded,5,2026-11-02 10:00:00 -0800\n,Bob,13,bob@example.edu,A,,,Missing,,\n"
    ),
    "GitHub Classroom's roster": "identifier,github_username,github_id,name\n12,ada-l,5,Ada Lovelace\n13,bob,6,Bob\n",
    "a table of one's own, with tabs": "E-mail\tName\tDue\nada@example.edu\tAda Lovelace\t2026-11-02\n\tBob\t\n",
    "a table of one's own, with semicolons": "\ufeffname;id;section;\nAda Lovelace;12;;\nBob;13;;\n",
}


def roster_of(tmp_path: Path, text: str):
    (tmp_path / "r.csv").write_text(text, "utf-8")
    return read_roster(tmp_path / "r.csv")


@pytest.mark.parametrize("case", EXPORTED)
def test_rosters_as_systems_export_them(tmp_path, case):
    """Catches a heading that is not known, and a row of Canvas's own that becomes a learner."""
    ada, bob = roster_of(tmp_path, EXPORTED[case]).people
    assert "Lovelace" in ada.name and "Ada" in ada.name and bob.name == "Bob"
    assert {ada.id, bob.id} <= {"12", "13", ""} and (ada.id or ada.email)
    assert (ada.submitted is None) == ("10:00" not in EXPORTED[case]) and bob.submitted is None


WRONG = {
    "points,plot\n1,2\n": "does not say who is in the class: a column id, name, email is expected, or first name and",
    "id,name,id\n1,a,2\n": "two columns have the same name, id",
    "id,SID,name\n1,2,a\n": "the columns id and sid say the same: delete one of them",
    "id,deadlne\n1,2\n": "the column deadlne is not known; if deadline is meant, name it so",
    "id,name\n1,Ada\n1,Bob\n": "lines 2 and 3: both have the id 1: one row for each learner",
    "name,email\nA,a@x.org\nB,A@x.org\n": "lines 2 and 3: both have the e-mail a@x.org",
    "name\nAda\nada\n": "lines 2 and 3: both have the name ada",
    "id,name,deadline\n1,Ada,soon\n": "line 2, column deadline: 'soon' came, a time such as 2026-11-02 23:59 is",
    "id,deadline\n1,2026-13-02\n": "column deadline: '2026-13-02' came, a time such as",
    "id,extension\n1,two days\n": "column extension: 'two days' came, a time such as",
    "id,section\n,A\n": "line 2: nobody is named",
    "id,name\n": "names nobody: a row for each learner is expected",
    "id,name\n1,Ada,x\n": "line 2: 3 values under 2 headings; a value with a comma in it",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_roster_that_cannot_be_used_is_told(tmp_path, text):
    """Catches a traceback, and a column that is passed over in silence though it was meant."""
    with pytest.raises(RosterProblem) as caught:
        roster_of(tmp_path, text)
    assert WRONG[text] in str(caught.value)


def test_a_roster_in_another_encoding_is_told(tmp_path):
    """Catches names of which the accents are wrong, or a traceback."""
    (tmp_path / "r.csv").write_bytes("name\nZoë\n".encode("latin-1"))
    with pytest.raises(RosterProblem, match=r'it is not UTF-8.*"CSV UTF-8"'):
        read_roster(tmp_path / "r.csv")


def settled(tmp_path, text: str, *learners: Learner):
    files = [SubmittedFile(Path(f"{learner.name[:20]}-{n}.ipynb"), Path()) for n, learner in enumerate(learners)]
    return settle(files, list(learners), roster_of(tmp_path, text))


ROSTER = (
    "id,name,email,login,section\n"
    "12,Ada Lovelace,ada@x.org,,A\n13,Zoë van Dam,zd@x.org,,A\n14,Li Wei,,li-wei,B\n15,Wei Li,,wei,B\n"
    "16,Sam Roe,s1@x.org,,\n17,Sam Roe,s2@x.org,,\n18,עדה,,,\n"
)
MATCHED = {
    Learner("Ada L.", "12", "moodle"): "12",
    Learner("lovelaceada", "99", "canvas"): "12",
    Learner("Lovelace, Ada"): "12",
    Learner("vandamzoe", "98", "canvas"): "13",
    Learner("zd@x.org"): "13",
    Learner("LI-WEI", system="github"): "14",
    Learner("Li Wei"): "14",
    Learner("weili", "97", "canvas"): "",  # as Canvas writes both
    Learner("Sam Roe"): "",
    Learner("Sam Roe", "17", "moodle"): "17",
    Learner("עדה", "96", "moodle"): "18",
    Learner("Ada"): "12",  # the address without its end
    Learner("Eve"): "",
}


@pytest.mark.parametrize("learner", MATCHED, ids=lambda it: f"{it.name} {it.id}")
def test_who_is_who(tmp_path, learner):
    """Catches a learner who is not found, and one who is given to the wrong one of two."""
    known = Learner("Zed", "18" if MATCHED[learner] != "18" else "13", "moodle")
    found = settled(tmp_path, ROSTER, learner, known).learners[0]
    assert [person.id for person in found.people] == list(filter(None, [MATCHED[learner]]))
    assert found.id == (learner.id or MATCHED[learner])  # the number that the system needs stays


def test_what_fits_nobody_or_two_is_told(tmp_path):
    """Catches a grade that is given to another by a number, and a file whose owner nobody hears of."""
    given = [
        Learner("Eve", "77", "moodle"),
        Learner("Sam Roe", "78", "moodle"),
        Learner("Bob Ray", "13", "moodle"),
        Learner("Ada Lovelace", "12", "moodle"),
    ]
    found = settled(tmp_path, ROSTER, *given)
    assert [warning.replace(f"{tmp_path}/", "") for warning in found.warnings] == snapshot(
        [
            "Eve-0.ipynb is of Eve 77, whom r.csv does not have.",
            "Sam Roe-1.ipynb is of Sam Roe 78, who may be Sam Roe 16, Sam Roe 17 of r.csv: only a number or an address tells.",
            "The number 13 stands beside Bob Ray in the files and beside Zoë van Dam 13 on the roster, whose work it is taken for.",
        ]
    )
    assert [learner.label for learner in found.absent] == snapshot(
        ["Li Wei 14", "Wei Li 15", "Sam Roe 16", "Sam Roe 17", "עדה 18"]
    )
    with pytest.raises(RosterProblem) as caught:
        settled(tmp_path, ROSTER, Learner("Ada Lovelace", "14", "moodle"))
    assert str(caught.value).replace(f"{tmp_path}/", "") == snapshot(
        "Ada Lovelace-0.ipynb has the number 14, which r.csv gives to Li Wei 14, and the name of Ada Lovelace 12: its numbers seem to be others than those of the files. Leave the column with the numbers out, and names decide."
    )
    with pytest.raises(RosterProblem, match="has none of the 1 learners who handed in, such as Eve 77"):
        settled(tmp_path, ROSTER, given[0])
    with pytest.raises(LearnersMerged, match="2 numbers of the files would be one learner of the roster, 12: Ada"):
        settled(tmp_path, ROSTER, Learner("Ada Lovelace", "5", "moodle"), Learner("Lovelace, Ada", "6", "moodle"))


def test_a_file_named_as_another_is_not_anothers(tmp_path):
    """Catches a learner of a system who takes another's place by the name of a file."""
    files = [SubmittedFile(Path("Eve_7_/li-wei.ipynb"), Path()), SubmittedFile(Path("Ada_12_/x.ipynb"), Path())]
    given = [Learner("Eve", "7", "moodle"), Learner("Ada Lovelace", "12", "moodle")]
    found = settle(files, given, roster_of(tmp_path, ROSTER))
    assert found.learners[0].people == ()


def test_a_group_counts_for_all_of_its_members(tmp_path):
    """Catches a member of a group who is said to have handed in nothing, and loses the points."""
    text = "name,sid\nAda Lovelace,30\nBob Ray,31\nCy Doe,\nDee Fox,33\n"
    found = settled(tmp_path, text, Learner("Ada Lovelace and Bob Ray and Cy Doe", "30 31", "gradescope"))
    assert [person.name for person in found.learners[0].people] == ["Ada Lovelace", "Bob Ray", "Cy Doe"]
    assert [learner.name for learner in found.absent] == ["Dee Fox"]


def test_who_handed_in_nothing_has_the_maximum_of_the_others(work):
    """Catches a maximum without the points by hand, which gives one exercise two maxima in Moodle and in the table."""
    Path("r.csv").write_text(RUN_ROSTER)
    Path("h.csv").write_text("id,plot,plot max,bonus\n12,3,4,1\n")
    grade("--roster", "r.csv", "--hand", "h.csv", "--jobs", "1")
    rows = {row["learner"]: row for row in table("out/grades.csv")}
    assert rows["Ada King"]["max_points"] == "13" == rows["Eve Fox"]["max_points"]
    eve = rows["Eve Fox"]
    assert (eve["points"], eve["plot (by hand)"], eve["bonus (by hand)"]) == ("0", "0", "")
    worksheet = {row["Identifier"]: row["Maximum Grade"] for row in table("out/moodle.csv")}
    assert set(worksheet.values()) == {"13"} and "Participant 15" in worksheet
    assert "0 of 13 points" in words(Path("out/feedback/eve-fox-15.html").read_text())


RUN_ROSTER = (
    "Identifier,Full name,Email address,Group\nParticipant 12,Ada King,ada@x.org,A\nParticipant 15,Eve Fox,,B\n"
    "Participant 16,Fay Low,,B\nParticipant 77,Bobby,,\n"
)


def test_a_run_with_a_roster(work, capsys):
    """Catches names that are not settled, a learner without a file who has no zero, and a stranger nobody hears of."""
    (work / "work" / "moodle" / "Fay_16_assignsubmission_file_").mkdir()
    Path("r.csv").write_text(RUN_ROSTER)
    grade("--roster", "r.csv", "--jobs", "1")
    said = capsys.readouterr().err
    assert "r.csv: 4 learners, 1 of them has handed in nothing." in said
    assert "Warning: cy.ipynb is of cy, whom r.csv does not have." in said
    rows = {row["learner"]: row for row in table("out/grades.csv")}
    assert [rows["Ada King"][key] for key in ("id", "email", "section", "points")] == ["12", "ada@x.org", "A", "9"]
    for name in ("Eve Fox", "Fay Low"):
        told = [rows[name][key] for key in ("exercise", "points", "max_points", "notes")]
        assert told == [SLUG, "0", "9", "Nothing was handed in."]
    grades = {row["Identifier"]: (row["Grade"], row["Maximum Grade"]) for row in table("out/moodle.csv")}
    assert grades == {"Participant 12": ("9", "9"), "Participant 15": ("0", "9"), "Participant 16": ("0", "9")}
    page = words(Path("out/feedback/eve-fox-15.html").read_text())
    assert "Eve Fox Columns 0 of 9 points" in page and "Nothing was handed in." in page
    overview = words(Path("out/overview.html").read_text())
    assert f"Eve Fox 15: {SLUG}" in overview and "whom r.csv does not have" in overview
    assert "2 of 3" in overview.partition("Mistakes by frequency")[2]  # of those who handed in
    assert not [path for path in Path("out/gradescope").iterdir() if "eve" in path.name]
    Path("r.csv").unlink()
    before = table("out/grades.csv")
    grade("--jobs", "1")
    assert table("out/grades.csv") == before and "Roster: out/roster.csv, as before" in capsys.readouterr().err


def test_zeros_for_the_exercises_that_somebody_left_out(work):
    """Catches a zero beside a file that could not be graded and may have been for that exercise."""
    put(f"moodle/{ADA}/second.ipynb", MEANS)
    (work / "work" / "moodle" / "Eve_15_assignsubmission_file_").mkdir()
    (work / "work" / "moodle" / "Eve_15_assignsubmission_file_" / "x.ipynb").write_text("{")
    Path("r.csv").write_text("id,name\n12,Ada Lovelace\n15,Eve\n16,Fay\n")
    grade("--roster", "r.csv", "--jobs", "1")
    points = {row["learner"]: row["points"] for row in table("out/grades.csv")}
    assert (points["Eve"], points["Fay"]) == ("", "0")


def test_a_dry_run_shows_who_is_missing(work, capsys):
    """Catches a roster that is only seen to be wrong when everything is graded."""
    Path("r.csv").write_text(RUN_ROSTER)
    assert main(["grade", *FOLDERS, "--roster", "r.csv", "--dry-run"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("Eve")] == [["Eve", "Fox", "15", "-", "-", "moodle"]]
    assert main(["grade", *FOLDERS, "--roster", "none.csv"]) == 2
    assert "none.csv cannot be read (No such file" in capsys.readouterr().err
