"""What Gradescope reads, and the run in its container: `python -m clearclass.gradescope SLUG FOLDER`."""

import argparse
import json
import os
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise, load_exercise
from clearcheck.grading.evaluate import PASSED
from clearcheck.grading.telling import feedback_on
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook, notebook_bytes
from clearcheck.own_course import own_course
from clearcheck.report.course_files import CourseFiles
from clearcheck.report.grade import grade_submission
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker

from clearclass.one_file import TOLD, record_of, refusal_record
from clearclass.standings import Standing
from clearclass.submitted_files import SubmittedFile, submitted_files

NOBODY = 65534  # user and group


def results_json(record: dict, standing: Standing | None = None) -> dict:
    """A `results.json`: a test for each question, and one for each column of points given by hand."""
    marks = standing.marks if standing else []
    read = record["page"]["read"] if "page" in record else {}
    tests = [_test(question, read.get(question["id"], [])) for question in record.get("questions", [])]
    tests += [
        {"name": one_line(mark.name), "score": mark.points, "max_score": mark.max_points, "visibility": "visible"}
        for mark in marks
    ]
    notes = standing.notes if standing else record.get("notes", [])
    output = [record.get(TOLD) or record["error"]] if "error" in record else notes
    if standing:
        output = [standing.without_folders(one_line(line)) for line in output]
        tests += _for_being_late(standing)
    return {
        "score": standing.points if standing else record.get("points", 0),
        "output": shown_lines(output),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _for_being_late(standing: Standing) -> list[dict]:
    if not standing.late:
        return []
    late = {"name": "Handed in late", "score": -standing.taken_off, "output": one_line(standing.late)}
    return [{**late, "output_format": "text", "visibility": "visible"}]


def shown_lines(lines: list[str]) -> str:
    return "\n".join(map(one_line, lines))


def grade_folder(submission: Path, slug: str, seed: int) -> dict:
    """The results for what lies in the folder; what the grader itself fails of is raised, since it is no grade."""
    authored = load_exercise(slug, own_course())
    user = _become_nobody()
    course = CourseFiles()
    try:
        records = [_grade_file(file, authored, seed) for file in submitted_files([submission])]
    except NotANotebook as error:
        records = [refusal_record("submission", str(error))]
    course.check("this submission")
    best = max(reversed(records), key=lambda record: record.get("points", -1))
    isolation = ", ".join(filter(None, [user, best.get("isolation")]))
    return _with_what_was_noticed(results_json(best), isolation, best.get("uses", []))


def _become_nobody() -> str:
    """Where root runs this: from here on neither it nor what it starts can read the checks, or write results."""
    if os.getuid():
        return ""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    return "nobody"


def _grade_file(file: SubmittedFile, authored: AuthoredExercise, seed: int) -> dict:
    if file.reason:
        return refusal_record(file.name, file.reason)
    try:
        with Worker(Limits()) as worker:
            submission = worker.read(notebook_bytes(file.path), one_line(file.name))
            [graded] = grade_submission(worker, submission, authored, [seed])
    except NotANotebook as error:
        return refusal_record(file.name, str(error))
    return record_of(graded)


def _with_what_was_noticed(results: dict, isolation: str, uses: list[str]) -> dict:
    """What `grades.csv` has in its last columns, in a test that learners never see, since it is for the instructor."""
    noticed = {"isolation": isolation, "uses": ", ".join(uses)}
    test = {
        "name": "For the instructor",
        "output": shown_lines([f"{name}: {text}" for name, text in noticed.items()]),
        "output_format": "text",
        "visibility": "hidden",
    }
    return {**results, "extra_data": noticed, "tests": [*results["tests"], test]}


def _test(question: dict, read: list[str]) -> dict:
    feedback = feedback_on(question, read)
    return {
        "name": f"{question['id']}: {question['title']}",
        "score": question["points"],
        "max_score": question["max_points"],
        "status": "passed" if question["status"] == PASSED else "failed",
        "output": shown_lines([f"{feedback.sign} {feedback.verdict}", *feedback.lines]),
        "output_format": "text",
        "visibility": "visible",
    }


def main(argv: list[str] | None = None):
    parser = argparse.ArgumentParser(description="Grade a submission inside of Gradescope's container.")
    parser.add_argument("slug", help="the exercise; the seed of its inputs comes by standard input")
    parser.add_argument("submission", type=Path, help="the folder of what was handed in")
    options = parser.parse_args(argv)
    print(json.dumps(grade_folder(options.submission, options.slug, int(input())), indent=1))


if __name__ == "__main__":
    main()
