"""Whose file it is: what Moodle, Canvas and Gradescope make of names, and patterns of one's own."""

from pathlib import Path

import pytest
from clearcheck.cli import main
from clearclass.learners import BadPattern, LearnersMerged, learners_of, name_pattern
from clearclass.submitted_files import SubmittedFile, submitted_files
from inline_snapshot import snapshot

from tests.clearcheck.toy_notebook import MEANS, SLUG

from .class_folder import put


def learner_from_path(inside: str, pattern: str = "", root: Path = Path("work")):
    [learner] = learners_of([SubmittedFile(root / inside, root)], name_pattern(pattern) if pattern else None)
    return learner.name, learner.id, learner.late


NAMES = {
    "Ada Lovelace_12345_assignsubmission_file_/nb.ipynb": ("Ada Lovelace", "12345", False),
    "Ada Lovelace_12345_assignsubmission_file/03/nb.ipynb": ("Ada Lovelace", "12345", False),
    "Zoë_van Dam_7_assignsubmission_file_03_8_nb.ipynb": ("Zoë_van Dam", "7", False),
    "group a/Ada_1_assignsubmission_file_/Bob_2_3_nb.ipynb": ("Ada", "1", False),
    "lovelaceada_12345_678910_nb.ipynb": ("lovelaceada", "12345", False),
    "lovelaceada_LATE_12345_678910_03_nb-1.ipynb": ("lovelaceada", "12345", True),
    "submission_123456/nb.ipynb": ("submission 123456", "123456", False),
    "03_nb.ipynb": ("03_nb", "", False),
    "ada/03.ipynb": ("ada/03", "", False),
    "ada/exercise_31_101_final.ipynb": ("ada/exercise_31_101_final", "", False),
    "exercise_3_1_final.ipynb": ("exercise_3_1_final", "", False),
    "ada.IPYNB": ("ada", "", False),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_exports(name):
    """Catches a learner without a number, a number that is part of a name, and a class that becomes one learner."""
    assert learner_from_path(name) == NAMES[name]


def test_files_of_one_name_are_not_one_learner():
    """Catches a class of which the best file counts for everybody, where nothing but folders tells them apart."""
    given = [SubmittedFile(Path(f"plain/{who}/03.ipynb"), None) for who in ("ann", "ben")]
    groups = [SubmittedFile(Path(f"{group}/mueller.ipynb"), Path(group)) for group in ("group a", "group b")]
    assert len({learner.key for learner in learners_of([*given, *groups], None)}) == 4
    assert [learner.name for learner in learners_of(given, None)] == ["plain/ann/03", "plain/ben/03"]
    folder = name_pattern(r"(?P<name>[^/]+)/[^/]+$")
    assert [learner.name for learner in learners_of(given, folder)] == ["ann", "ben"]
    with pytest.raises(BadPattern) as caught:
        learners_of(given, name_pattern(r"student-(?P<id>\d+)"))
    assert str(caught.value) == snapshot(
        "--name-pattern 'student-(?P<id>\\\\d+)' fits none of the 2 files, such as plain/ann/03.ipynb."
    )


METADATA = """---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '30'
    :email: ada@example.edu
  :created_at: 2026-11-02 10:00:00
  :results:
    :tests:
    - :name: no learner
      :sid: no number
submission_2:
  :submitters:
  - :name: Bob
    :sid: '31'
  - :name: Cy
    :sid:
submission_3:
  :submitters: []
"""


def test_gradescopes_list_gives_names(tmp_path):
    """Catches names taken from old results, groups with one member, and a list that a learner hands in."""
    (tmp_path / "submission_metadata.yml").write_text(METADATA)
    for number in (1, 2, 3, 4):
        (tmp_path / f"submission_{number}").mkdir()
    (tmp_path / "submission_1" / "submission_metadata.yml").write_text(METADATA.replace("Ada Lovelace", "Eve"))
    assert learner_from_path("submission_1/a.ipynb", root=tmp_path) == ("Ada Lovelace", "30", False)
    assert learner_from_path("submission_2/a.ipynb", root=tmp_path) == ("Bob and Cy", "31", False)
    assert learner_from_path("submission_3/a.ipynb", root=tmp_path) == ("submission 3", "3", False)
    assert learner_from_path("submission_4/a.ipynb", root=tmp_path) == ("submission 4", "4", False)


def test_a_pattern_of_ones_own():
    """Catches a pattern that is searched in the wrong part of the path, or mixed with those of the exports."""
    folders = r"^(?P<name>[^/]+)/"
    assert (
        learner_from_path("ada/03.ipynb", folders) == learner_from_path("ada/08.ipynb", folders) == ("ada", "", False)
    )
    assert learner_from_path("03-s4711.ipynb", r"-s(?P<id>\d+)") == ("4711", "4711", False)
    said = []
    given = [SubmittedFile(Path(name), Path()) for name in ("03-s4711.ipynb", "lovelaceada_12_67_nb.ipynb")]
    fits, other = learners_of(given, name_pattern(r"-s(?P<id>\d+)"), None, said.append)
    assert (fits.id, other.name) == ("4711", "lovelaceada_12_67_nb")
    assert said[1:] == snapshot(
        [
            "Warning: lovelaceada_12_67_nb.ipynb does not fit --name-pattern, as others do: it counts as a learner of its own."
        ]
    )
    with pytest.raises(BadPattern, match="names nobody"):
        name_pattern("a(b)")


def whose(*paths: str, system: str | None = None) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Name, number and system of each file of a folder, and what is said about the folder."""
    said: list[str] = []
    root = Path("work")
    found = learners_of([SubmittedFile(root / path, root) for path in paths], None, system, said.append)
    return [(learner.name, learner.id, learner.system) for learner in found], said


LONG = "L" * 200
MIXED = {
    "Canvas keeps underscores and short numbers": {
        "team_a_12348_678914_03.ipynb": ("team_a", "12348", "canvas"),
        "eve_7_678915_x.ipynb": ("eve", "7", "canvas"),
        "bob_LATE_12350_678916_x.ipynb": ("bob", "12350", "canvas"),
    },
    "a name with a number is told by the length of the others' numbers": {
        "smith_20_12345_678910_x.ipynb": ("smith_20", "12345", "canvas"),
        "bob_12350_678916_x.ipynb": ("bob", "12350", "canvas"),
        "li_3_12351_678917_03_1_x.ipynb": ("li_3", "12351", "canvas"),
    },
    "a file that a learner named as Moodle would": {
        "anna_12350_678915_x_99_assignsubmission_file_y.ipynb": ("anna", "12350", "canvas"),
        "bob_12351_678916_x.ipynb": ("bob", "12351", "canvas"),
    },
    "the same file alone": {
        "anna_12350_678915_x_99_assignsubmission_file_y.ipynb": ("anna", "12350", "canvas"),
    },
    "surnames with a number and a year": {
        "lovelace_03_2025_answers.ipynb": ("lovelace_03_2025_answers", "", ""),
        "ray_03_2025_answers.ipynb": ("ray_03_2025_answers", "", ""),
    },
    "Moodle with names of every kind": {
        "J\udc94rg_12353_assignsubmission_file_/03.ipynb": ("J\udc94rg", "12353", "moodle"),
        'O\'Neil "Bo" 🙂_2_assignsubmission_file_/03.ipynb': ('O\'Neil "Bo" 🙂', "2", "moodle"),
        "עדה_3_assignsubmission_file_/a_99_assignsubmission_file_/03.ipynb": ("עדה", "3", "moodle"),
        "4711_4_assignsubmission_file_/submission_5/03.ipynb": ("4711", "4", "moodle"),
        f"{LONG}_6_assignsubmission_file_/ada_12345_678910_x.ipynb": (LONG, "6", "moodle"),
        "a_b_7_assignsubmission_onlinetext_x.html": ("a_b", "7", "moodle"),
    },
    "folders as of Gradescope and Moodle within those of Gradescope": {
        "submission_12/submission_13/Bob_3_assignsubmission_file_/a.ipynb": ("submission 12", "12", "gradescope"),
        "submission_14/a_12_123_b.ipynb": ("submission 14", "14", "gradescope"),
    },
    "one learner of a plain folder with folders as of Moodle": {
        "ada/03.ipynb": ("ada/03", "", ""),
        "ben/03.ipynb": ("ben/03", "", ""),
        "cy/Bob_1_assignsubmission_file_/x.ipynb": ("cy/Bob_1_assignsubmission_file_/x", "", ""),
    },
}


@pytest.mark.parametrize("case", MIXED)
def test_the_system_is_decided_once_for_a_folder(case):
    """Catches a name that a learner chose and that makes the file another's, or one of another system."""
    assert whose(*MIXED[case])[0] == list(MIXED[case].values())


def test_what_does_not_fit_is_a_warning():
    """Catches a file that nobody gets and nobody hears of, and a folder read as another system's in silence."""
    canvas = ["a_12_678_x.ipynb", "b_13_679_x.ipynb", "late by mail.ipynb"]
    assert whose(*canvas)[1] == snapshot(
        [
            "work: 3 files of 3 learners, named as Canvas names them.",
            "Warning: late by mail.ipynb is not named as Canvas names what it exports, unlike the others: it counts as a learner of its own. Rename it, or say whose it is by --name-pattern.",
        ]
    )
    plain = ["a_12_678_x.ipynb", "b.ipynb", "c.ipynb"]
    assert whose(*plain)[1] == snapshot(
        [
            "work: 3 files of 3 learners, each file stands for a learner of its own.",
            "Warning: a_12_678_x.ipynb is named as Canvas names files, most others are not: each file counts as a learner of its own. Where that is wrong, say --system canvas, or whose they are by --name-pattern.",
        ]
    )
    assert whose("lovelace_03_2025_a.ipynb", "ray_03_2025_a.ipynb")[1] == snapshot(
        [
            "work: 2 files of 2 learners, each file stands for a learner of its own.",
            "Warning: lovelace_03_2025_a.ipynb and ray_03_2025_a.ipynb have one number in common: each file counts as a learner of its own. Where that is wrong, say --system canvas, or whose they are by --name-pattern.",
        ]
    )
    assert [who[2] for who in whose(*plain, system="canvas")[0]] == ["canvas", "", ""]
    assert [who[2] for who in whose(*canvas, system="plain")[0]] == ["", "", ""]
    with pytest.raises(BadPattern, match="--system moodle fits none of the 3 files, such as a_12"):
        whose(*canvas, system="moodle")


@pytest.mark.parametrize("name", ["Bob", "x_99_assignsubmission_file_y"])
def test_two_learners_of_one_number_are_an_error(name):
    """Catches a grade that is given to two people, or a learner who takes another's place by a name."""
    paths = [f"{name}_99_assignsubmission_file_/a.ipynb", "Ada_99_assignsubmission_file_/b.ipynb"]
    with pytest.raises(LearnersMerged) as caught:
        whose(*paths)
    assert all(path in str(caught.value) for path in paths)
    one_name = [f"Zo{e}_99_assignsubmission_file_/a.ipynb" for e in ("\u00eb", "e\u0308")]
    assert len(whose(*one_name)[0]) == 2


def test_repositories_of_github_classroom(tmp_path):
    """Catches an account with a hyphen that is cut, and an assignment's name that is taken for a learner's."""

    def accounts(*folders: str) -> list[str]:
        for folder in folders:
            (tmp_path / folder / ".git").mkdir(parents=True)
        files = [SubmittedFile(tmp_path / folder / "work" / "03.ipynb", tmp_path) for folder in folders]
        return [learner.name for learner in learners_of(files, None)]

    assert accounts("hw-3-ada-l", "hw-3-ada", "hw-3-bob") == ["ada-l", "ada", "bob"]
    assert accounts("one-submissions/one-li-wu") == ["li-wu"]


def test_an_empty_folder_is_a_learner_who_handed_in_nothing(tmp_path):
    """Catches a learner without a row, a folder of results that is called empty, and the same for hidden files."""
    for folder in ("Ada_1_assignsubmission_file_", "Bob_2_assignsubmission_file_/.hidden", "all/out", "x.ipynb"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "hw-cy" / ".git").mkdir(parents=True)
    found = submitted_files([tmp_path], tmp_path / "all" / "out")
    empty = [file for file in found if "nothing was handed in" in file.reason]
    assert all(file.nothing for file in empty)
    assert [file.path.name[:5] for file in empty] == ["Ada_1", "Bob_2", "hw-cy"]
    assert [learner.label for learner in learners_of(empty[:2], None)] == ["Ada 1", "Bob 2"]
    assert [learner.system for learner in learners_of(empty[2:], None)] == ["github"]


def test_a_dry_run_says_whose_the_files_are(course, capsys):
    """Catches a dry run that grades or writes, and a learner, exercise or system that it does not tell."""
    put("Ada_12_assignsubmission_file_/nb.ipynb", MEANS)
    (course / "work" / "notes.txt").write_text("")
    assert main(["grade", "work", "--dry-run", "--results", "out"]) == 2
    said = capsys.readouterr()
    assert not (course / "out").exists()
    head, ada, notes = (line.split() for line in said.out.splitlines())
    assert head == ["learner", "number", "exercise", "file", "system"]
    assert ada == ["Ada", "12", SLUG, "Ada_12_assignsubmission_file_/nb.ipynb", "moodle"]
    assert notes == ["notes", "-", "-", "notes.txt", "plain"]
    assert "notes.txt is not named as Moodle" in said.err
    assert main(["grade", "work", "--dry-run", "--json", "--exercise", SLUG]) == 2
    assert '"exercise": "' + SLUG in capsys.readouterr().out
