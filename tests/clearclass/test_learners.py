"""Whose file it is: what Moodle, Canvas and Gradescope make of names, and patterns of one's own."""

from pathlib import Path

import pytest
from clearclass.learners import BadPattern, learner_of, learners_of, name_pattern
from clearclass.submitted_files import SubmittedFile
from inline_snapshot import snapshot


def learner_from_path(inside: str, pattern: str = "", root: Path = Path("work")):
    learner = learner_of(SubmittedFile(root / inside, root), name_pattern(pattern) if pattern else None)
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
    assert learner_from_path("lovelaceada_12_67_nb.ipynb", r"-s(?P<id>\d+)") == ("lovelaceada_12_67_nb", "", False)
    with pytest.raises(BadPattern, match="names nobody"):
        name_pattern("a(b)")
