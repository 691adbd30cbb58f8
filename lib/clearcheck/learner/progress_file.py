"""The learner's record: the last points of each question, in one file on this machine. Nothing of it is sent.

Two notebooks may write at once: each takes the lock, reads what is there, adds its own and replaces the file.
"""

import itertools
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from clearcheck.files import RECORD_VARIABLE, hold_lock, write_whole
from clearcheck.grading.evaluate import NOT_ANSWERED, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.own_course import PACKED

FORMAT, VERSION = "clearcheck progress", 1
LOCK_SECONDS = 20.0
NO_RECORD = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class RecordProblem(Exception):
    """The record cannot be read or written; the text is one sentence."""


@dataclass(frozen=True)
class QuestionRecord:
    """The last points of one question."""

    points: int
    when: datetime


@dataclass(frozen=True)
class ExerciseRecord:
    """What the record holds of one exercise."""

    max_points: int
    questions: dict[str, QuestionRecord]

    @property
    def points(self) -> int:
        return sum(entry.points for entry in self.questions.values())

    @property
    def when(self) -> datetime:
        """The last time."""
        return max(entry.when for entry in self.questions.values())


Record = dict[str, ExerciseRecord]


def record_file(authoring: Path) -> Path | None:
    """The record of the course whose exercises lie in this folder `exercises/authoring`; None where it is off.

    That of an installed course lies in the learner's home: an update would delete it beside the packages.
    """
    chosen = os.environ.get(RECORD_VARIABLE, "")
    if chosen.lower() == "off":
        return None
    course = authoring.parents[1]
    return Path(chosen) if chosen else (Path.home() if course == PACKED else course) / ".clearcheck" / "progress.json"


def remember(file: Path, exercise: Exercise, results: Iterable[QuestionResult]) -> str:
    """Add these results; gives a sentence where the file that was there had to be put aside, else an empty text.

    A question that was never answered gets no entry.

    Raises: RecordProblem.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(file.with_name(f"{file.name}.lock"), LOCK_SECONDS):
            record, note = _read_or_put_aside(file)
            before = record.get(exercise.slug, ExerciseRecord(0, {})).questions
            after = _merge_results(before, exercise, results)
            if after:
                record[exercise.slug] = ExerciseRecord(exercise.points, after)
                write_whole(file, _text(record).encode())
        return note
    except OSError as error:
        raise RecordProblem(
            f"{file} cannot be written ({error.strerror}), so your points are shown but not kept. "
            f"To keep them elsewhere, name a file in the environment variable {RECORD_VARIABLE}."
        ) from None


def read_record(file: Path) -> Record:
    """Everything that is recorded; nothing where there is no file yet.

    Raises: RecordProblem.
    """
    try:
        return _read(file)
    except OSError as error:
        raise RecordProblem(f"{file} cannot be read ({error.strerror}).") from None
    except NO_RECORD as error:
        raise RecordProblem(f"{file} is no record of clearcheck ({_reason(error)}).") from None


def now() -> datetime:
    return datetime.now().astimezone()


def in_words(when: datetime) -> str:
    """ "21 November 2026, 14:06", where the reader is."""
    local = when.astimezone()
    return f"{local.day} {local:%B %Y, %H:%M}"


def _merge_results(
    before: dict[str, QuestionRecord], exercise: Exercise, results: Iterable[QuestionResult]
) -> dict[str, QuestionRecord]:
    """The entries of the questions that the exercise has today, in its order."""
    new = {
        result.question.id: QuestionRecord(result.points, now())
        for result in results
        if result.status != NOT_ANSWERED or result.question.id in before
    }
    both = {**before, **new}
    return {question.id: both[question.id] for question in exercise.questions if question.id in both}


def _read_or_put_aside(file: Path) -> tuple[Record, str]:
    try:
        return _read(file), ""
    except NO_RECORD as error:
        names = (file.with_name(f"{file.stem}-aside-{n}{file.suffix}") for n in itertools.count(1))
        aside = next(name for name in names if not name.exists())
        file.rename(aside)
        return {}, (
            f"{file} was no record of clearcheck ({_reason(error)}). It was put aside as {aside.name}, nothing of it "
            "is lost; a new record begins."
        )


def _read(file: Path) -> Record:
    """Raises: OSError, and one of NO_RECORD where the file holds something else."""
    try:
        record = json.loads(file.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return {}
    if record["format"] != FORMAT or record["version"] != VERSION:
        raise ValueError(f'"{FORMAT}" in version {VERSION} is expected')
    return {slug: _exercise_record(raw) for slug, raw in record["exercises"].items()}


def _exercise_record(raw: dict) -> ExerciseRecord:
    entries = {
        id: QuestionRecord(_count(entry["points"]), datetime.fromisoformat(entry["when"]).astimezone())
        for id, entry in raw["questions"].items()
    }
    if not entries:
        raise ValueError("an exercise without questions")
    return ExerciseRecord(_count(raw["max_points"]), entries)


def _count(value) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{str(value)[:20]!r} is no number of points")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return "it is not JSON"
    return str(error) if type(error) is ValueError else "it is laid out differently"


def _text(record: Record) -> str:
    exercises = {
        slug: {
            "max_points": kept.max_points,
            "questions": {
                id: {"points": entry.points, "when": entry.when.isoformat(timespec="seconds")}
                for id, entry in kept.questions.items()
            },
        }
        for slug, kept in sorted(record.items())
    }
    return json.dumps({"format": FORMAT, "version": VERSION, "exercises": exercises}, indent=1) + "\n"
