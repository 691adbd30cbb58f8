"""What becomes of one file of a class, without the class: its record, and the limits and rows that others rely on."""

from clearcheck.worker.limits import Limits
from clearclass.container import Container
from clearclass.one_file import Job, grade_file, public_record
from clearclass.standings import row_of


def test_a_file_that_is_no_notebook_says_so_and_is_not_tried_again(tmp_path):
    """Catches a refusal without its sentence, and a broken file that every run opens anew."""
    path = tmp_path / "cy.ipynb"
    path.write_text("{")
    record = grade_file(Job(str(path), None, 5, Limits()))
    assert record["file"] == str(path) and "JSON text is expected" in record["error"]
    assert record.keys() - {"grader"} == public_record(record).keys()


def test_a_refused_file_counts_for_nothing():
    """Catches a file that brings points, or asks for some, although nothing was graded."""
    row = row_of({"file": "cy.ipynb", "error": "no notebook"})
    assert (row.points, row.max_points, row.questions, row.error) == (0, 0, {}, "no notebook")


def test_a_container_outlives_the_clocks_inside():
    """Catches a container that is ended from outside while the grader in it would have told the learner why."""
    assert Container("podman", "image").seconds > Limits().submission_net_seconds
