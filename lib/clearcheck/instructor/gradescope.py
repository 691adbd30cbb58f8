"""What Gradescope reads, and the run in its container: `python -m clearcheck.instructor.gradescope SLUG SEED`."""

import argparse
import json
from pathlib import Path

from clearcheck.grading.evaluate import PASSED
from clearcheck.instructor.feedback_page import question_lines
from clearcheck.instructor.handed_in import handed_in
from clearcheck.instructor.one_file import Job, grade_file, refused
from clearcheck.instructor.standings import Standing
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.shown import shown

ROOT = Path("/autograder")


def results_json(record: dict, standing: Standing | None = None) -> dict:
    """A `results.json`: a test for each question, and one for each column of points given by hand."""
    marks = standing.marks if standing else []
    tests = [_test(question) for question in record.get("questions", [])]
    tests += [
        {"name": shown(mark.name), "score": mark.points, "max_score": mark.max_points, "visibility": "visible"}
        for mark in marks
    ]
    notes = standing.notes if standing else record.get("notes", [])
    output = [record["error"]] if "error" in record else notes
    return {
        "score": record.get("points", 0) + sum(mark.points for mark in marks),
        "output": shown_lines(output),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def shown_lines(lines: list[str]) -> str:
    return "\n".join(map(shown, lines))


def run(root: Path, slug: str, seed: int):
    """Grade what lies in `root/submission` and write `root/results/results.json`, whatever happens."""
    try:
        records = [_graded(file.path, file.reason, slug, seed) for file in handed_in([root / "submission"])]
    except NotANotebook as error:
        records = [refused("submission", str(error))]
    best = max(reversed(records), key=lambda record: record.get("points", -1))
    target = root / "results" / "results.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(results_json(best), indent=1), encoding="utf-8")


def _graded(path: Path, reason: str, slug: str, seed: int) -> dict:
    return refused(str(path), reason) if reason else grade_file(Job(str(path), slug, seed))


def _test(question: dict) -> dict:
    return {
        "name": f"{question['id']}: {question['title']}",
        "score": question["points"],
        "max_score": question["max_points"],
        "status": "passed" if question["status"] == PASSED else "failed",
        "output": shown_lines(question_lines(question)),
        "output_format": "text",
        "visibility": "visible",
    }


def main(argv: list[str] | None = None):
    parser = argparse.ArgumentParser(description="Grade a submission inside of Gradescope's container.")
    parser.add_argument("slug", help="the exercise")
    parser.add_argument("seed", type=int, help="of the inputs")
    parser.add_argument("--root", type=Path, default=ROOT, help="Gradescope's folder")
    options = parser.parse_args(argv)
    run(options.root, options.slug, options.seed)


if __name__ == "__main__":
    main()
