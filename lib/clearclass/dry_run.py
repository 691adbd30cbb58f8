"""What `--dry-run` says: whose each file is, for which exercise, and by which system's names; nothing is graded."""

import json

from clearcheck.learner.answered_exercise import exercise_slug
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import notebook_bytes
from clearcheck.own_course import own_course
from clearcheck.report.no_grade import EXPLAINED
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker

from clearclass.exports import PLAIN
from clearclass.learners import Learner
from clearclass.submitted_files import SubmittedFile
from clearclass.whose import Whose

HEAD = ("learner", "number", "exercise", "file", "system")
UNKNOWN = "-"


def show(files: list[SubmittedFile], whose: Whose, exercise: str | None, as_json: bool) -> int:
    """Print a line for each file and each learner without one, or a JSON object; 2 where a file could not be graded."""
    rows, refused = [], False
    for file, learner in zip(files, whose.learners, strict=True):
        slug = _exercise_of(file, exercise)
        refused = refused or not slug
        path = one_line(file.relative_path)
        rows.append(_row(learner, slug, path))
    rows += [_row(learner, "", "") for learner in whose.absent]
    if as_json:
        for row in rows:
            print(json.dumps(dict(zip(HEAD, row, strict=True))))
    else:
        _print_table([HEAD, *rows])
    return 2 if refused else 0


def _row(learner: Learner, slug: str, path: str) -> tuple[str, ...]:
    return one_line(learner.name), one_line(learner.id), slug, path, learner.system or PLAIN


def _exercise_of(file: SubmittedFile, exercise: str | None) -> str:
    """The exercise that was set, or that the notebook says it answers; "" where there is nothing to grade."""
    if file.reason:
        return ""
    try:
        with Worker(Limits()) as worker:
            submission = worker.read(notebook_bytes(file.path), one_line(file.name))
            return exercise or exercise_slug(submission, own_course())
    except EXPLAINED:
        return ""


def _print_table(rows: list[tuple[str, ...]]):
    shown = [[text or UNKNOWN for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
