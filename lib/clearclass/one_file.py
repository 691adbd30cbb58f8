"""Grade one file of a class: whatever it holds or does, a record comes back, plain enough to be kept as JSON."""

import hashlib
import json
import os
import sys
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clearcheck.author.loading import ExerciseNotFound, authoring_folder
from clearcheck.grading.telling import to_read
from clearcheck.notebooks.file import MAX_NOTEBOOK
from clearcheck.own_course import own_course
from clearcheck.report.course_files import CourseChanged, libraries
from clearcheck.report.grade import VERSION, Grade, grade
from clearcheck.report.no_grade import EXPLAINED, grader_failure
from clearcheck.worker.launch import isolation
from clearcheck.worker.limits import Limits
from clearcheck.worker.worker_process import PROCESS, WorkerError

from clearclass.class_run import TRUST_VARIABLE

MOST_NOTES = 20
PAGE = "page"  # the part of a record that is for those who read about it, and is not printed
AGAIN = "again"
TOLD = "told"  # what the learner reads in place of the error
NOT_YOUR_WORK = (
    "Your file could not be graded, for a reason that lies with the grader and says nothing about your work. It will "
    "be graded again."
)
OTHER_COURSE = (
    "The process that graded {file} has another version of the course or the grader than this one: "
    "bring both to the same version and run the same command again."
)

NEEDS_TRUST = (
    "There is no sandbox here, so each notebook could read and change what you can, the grades of all others among it. "
    "Install bubblewrap, grade in containers (--container), or, where you trust everybody who handed in, pass --trust: "
    '"What is protected, and what is not" in chapters/instructor.md says what that means.'
)

_one_at_a_time = threading.Lock()  # loading an exercise changes what Python has imported


class NeedsTrust(RuntimeError):
    """Nothing would keep the notebooks apart, and nobody has said that this is meant."""


@dataclass(frozen=True)
class Job:
    """A file to grade, and all that its grade depends on but the course."""

    file: str
    exercise: str | None
    seed: int
    limits: Limits | None = None
    trust: bool = False  # whether it may be graded without a sandbox


def grade_file(job: Job) -> dict:
    """The record of a file: its grade, or the sentence under "error" that says why there is none.

    Raises: CourseChanged, NeedsTrust, after which nothing more should be graded.
    """
    version = grader_version()
    try:
        with _one_at_a_time:
            trusted = job.trust or os.environ.get(TRUST_VARIABLE)
            if not trusted and isolation() == PROCESS:
                raise NeedsTrust(NEEDS_TRUST)
            record = record_of(grade(Path(job.file), job.exercise, job.seed, job.limits))
    except (CourseChanged, NeedsTrust):
        raise
    except EXPLAINED as error:
        own = isinstance(error, WorkerError)
        record = refusal_record(job.file, str(error), again=own, told=NOT_YOUR_WORK if own else "")
    except Exception as error:
        record = refusal_record(job.file, grader_failure(job.file, error), again=True, told=NOT_YOUR_WORK)
    return {**record, "grader": version}


def refusal_record(file: str, sentence: str, again: bool = False, told: str = "") -> dict:
    """A record without a grade; `again` where the next run should try once more, `told` where the learner is told
    something else than the instructor.
    """
    more = {**({AGAIN: True} if again else {}), **({TOLD: told} if told else {})}
    return {"version": VERSION, "file": file, "error": sentence, **more}


def public_record(record: dict) -> dict:
    """What `--json` prints of a record."""
    return {key: value for key, value in record.items() if key not in (PAGE, AGAIN, TOLD, "grader")}


def digest(path: Path) -> str:
    """Of the bytes of a file, or of what there is instead of one that can be read."""
    if not path.is_file():
        return "no file"
    try:
        if path.stat().st_size > MAX_NOTEBOOK:
            return f"{path.stat().st_size} bytes"
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"cannot be read ({error.strerror})"


@cache
def grader_version() -> str:
    """A digest of the code of the grader, of its libraries and of the exercises, as it was when this process first
    asked.
    """
    files = [*(file for library in libraries() for file in sorted(library.rglob("*.py"))), *sorted(_authoring_files())]
    return hashlib.sha256("".join(digest(file) for file in files).encode()).hexdigest()[:16]


def _authoring_files() -> list[Path]:
    try:
        return [path for path in authoring_folder(own_course()).rglob("*") if path.suffix in (".py", ".ipynb")]
    except ExerciseNotFound:
        return []


def record_of(graded: Grade) -> dict:
    """The record of a grade, with what its readers are told beside the points."""
    exercise, record = graded.exercise, graded.as_json()
    left_out = len(graded.notes) - MOST_NOTES
    more = [f"… and {left_out:,} more notes."] if left_out > 0 else []
    read = {one.question.id: [section.words for section in to_read(exercise, one)] for one in graded.questions}
    page = {"title": exercise.title, "read": read}
    return {**record, "notes": [*graded.notes[:MOST_NOTES], *more], PAGE: page}


def main():
    """A job on standard input, its record on standard output: what runs in a container."""
    asked = json.load(sys.stdin)
    print(json.dumps(grade_file(Job(asked["file"], asked["exercise"], asked["seed"], trust=True))))


if __name__ == "__main__":
    main()
