"""What a submission cannot see: the grader, the course and its answers, and what lies beside the packages."""

import tempfile
from pathlib import Path

import pytest
from clearcheck.worker import launch, server_process, surroundings

from .toy_notebook import MEANS, SLUG


@pytest.mark.parametrize("room", ["author.loading", "grading.evaluate", "report.grade", "notebook"])
def test_no_other_room_of_the_grader_is_there(grade_cells, isolation, room):
    """Catches an answer that asks the grader for the author's answers."""
    grade = grade_cells(f"import clearcheck.{room} as found\nfound.load", MEANS)
    assert grade.points == 6 and ("ModuleNotFoundError" in grade.notes[0] or "AttributeError" in grade.notes[0])


SEARCH = """
import os, sys
HERE = [*sys.path, os.getcwd(), *os.environ.values()]
if any(os.path.isdir(os.path.join(path, *up, "exercises", "authoring"))
       for path in HERE for up in ([], [".."], ["..", ".."], ["..", "..", ".."]) if path.startswith("/")):
    raise ValueError("found")
"""


def test_no_path_leads_to_the_authors_answers(grade_cells, isolation):
    """Catches sys.path, the working folder or the environment naming the course; its interpreter may lie there."""
    assert "ValueError" not in " ".join(grade_cells(SEARCH, MEANS).notes)


def test_the_authors_answers_cannot_be_read_in_the_sandbox(grade_cells, sandbox, course):
    """Catches a file system that shows the course; the positive control is the folder's own Python."""
    folder = course / "exercises" / "authoring" / SLUG
    look = "import os, sys\n" + "\n".join(
        f"if os.path.exists({str(path)!r}): raise ValueError({path.name!r})" for path in (folder, folder / "means.py")
    )
    look += "\nif not os.path.exists(os.path.dirname(os.__file__)): raise ValueError('no Python')"
    assert grade_cells(look, MEANS).notes == []


@pytest.mark.parametrize("place", ["/tmp/../stays", "/usr/stays", "{home}/stays", "{course}/stays", "{rooms}/stays"])
def test_nothing_outside_its_scratch_folder_can_be_written_in_the_sandbox(grade_cells, sandbox, course, place):
    path = place.format(home=Path.home(), course=course, rooms=surroundings.ROOMS)
    grade = grade_cells(f"open({path!r}, 'w').write('here')", "open('mine', 'w').write('here')", MEANS)
    assert len(grade.notes) == 1 and grade.points == 6
    assert not Path(path).exists()


@pytest.mark.parametrize("package", ["clearcheck", "clearclass"])
def test_packages_below_the_scratch_folder_are_kept_and_their_neighbours_are_not(
    grade_cells, sandbox, monkeypatch, package
):
    """Catches a wiping that goes through all packages, after each notebook, where an environment lies below /tmp, and
    one that leaves what is written beside them, or in place of the grader's own checks; and a grader that is seen.
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        ours, packages = Path(folder, "site", package), Path(folder, "site")
        ours.mkdir(parents=True)
        (ours / "hidden.py").write_text("")
        (packages / "module_below.py").write_text("HERE = True")
        found = surroundings.packages()
        monkeypatch.setattr(surroundings, "packages", lambda: [*found, str(packages)])
        own = server_process.WorkerServer(launch.BUBBLEWRAP)
        monkeypatch.setattr(launch, "_server", lambda owner: own)
        beside = f"{folder}/left"
        grade_cells(f"for name in ({beside!r}, '/tmp/clearcheck_left'):\n    open(name, 'w').write('x')", MEANS)
        seen = f"os.path.exists({beside!r}) or os.listdir({str(ours)!r})"
        look = f"import os, module_below\nif {seen}: raise ValueError('left, or seen')"
        grade = grade_cells(look, f"open({str(ours / 'left')!r}, 'w').write('x')", MEANS)
        own.retire()
    assert len(grade.notes) == 1 and "Read-only" in grade.notes[0] and grade.points == 6


def test_a_course_that_lies_in_the_environment_is_hidden(grade_cells, course, sandbox, monkeypatch):
    """Catches the answers in a sandbox that shows a whole environment, where `pip install -e git+…` has put the course;
    and one that hides the packages, too, where the environment lies in the course.
    """
    inner = course / "environment" / "site"
    inner.mkdir(parents=True)
    (inner / "module_below.py").write_text("HERE = True")
    found = surroundings.packages()
    monkeypatch.setattr(surroundings, "packages", lambda: [*found, str(course), str(inner)])
    own = server_process.WorkerServer(launch.BUBBLEWRAP)
    monkeypatch.setattr(launch, "_server", lambda owner: own)
    look = f"import os, module_below\nif os.listdir({str(course)!r}) != ['environment']: raise ValueError('course')"
    grade = grade_cells(look, f"open({str(course / 'left')!r}, 'w').write('x')", MEANS)
    own.retire()
    assert len(grade.notes) == 1 and "Read-only" in grade.notes[0] and grade.points == 6
