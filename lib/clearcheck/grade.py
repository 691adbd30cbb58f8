"""One submission in, one result out."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearcheck.evaluate import QuestionResult, Transport, describe_error, evaluate
from clearcheck.exercise import Exercise
from clearcheck.loading import Authored, load
from clearcheck.names import defined_names, missing_sentence
from clearcheck.report import points_of, question_text
from clearcheck.sandbox import Limits, Sandbox
from clearcheck.submission import Cell, Submission, exercise_slug, read_submission

VERSION = 1
MUCH_PRINTED = 1_000_000  # characters


@dataclass(frozen=True)
class Grade:
    """The result of one submission."""

    exercise: Exercise
    file: str
    seed: int
    questions: list[QuestionResult]
    notes: list[str]

    @property
    def points(self) -> int:
        return sum(result.points for result in self.questions)

    def as_json(self) -> dict:
        return {
            "version": VERSION,
            "exercise": self.exercise.slug,
            "file": self.file,
            "seed": self.seed,
            "points": self.points,
            "max_points": self.exercise.points,
            "questions": [_question_json(result) for result in self.questions],
            "notes": self.notes,
        }

    def as_text(self) -> str:
        blocks = [question_text(self.exercise, result) for result in self.questions]
        notes = [f"Note: {note}" for note in self.notes]
        total = f"{self.exercise.title}: {points_of(self.points, self.exercise.points)} (seed {self.seed})"
        return "\n".join([*blocks, *notes, total])


def grade(path: Path, slug: str | None = None, seed: int | None = None, limits: Limits | None = None) -> Grade:
    """Grade a notebook; without a seed a fresh one is drawn, and noted in the result.

    Raises: NotANotebook, ExerciseNotFound, SandboxError.
    """
    submission = read_submission(path)
    authored = load(slug or exercise_slug(submission))
    seeds = [draw_seed(seed)]
    return grade_submission(submission, authored, seeds, limits or Limits())[0]


def draw_seed(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else seed


def grade_submission(submission: Submission, authored: Authored, seeds: Sequence[int], limits: Limits) -> list[Grade]:
    """One result for each seed, all from one run of the notebook's cells."""
    places = _places(submission.cells)
    questions = authored.exercise.questions
    asked = {question.name for question in questions}
    spare = {name: f"in code cell {cells[-1]}" for name, cells in places.items() if name not in asked}
    grades = []
    with Sandbox(submission.cells, limits) as sandbox:
        shared = [*submission.notes, *_cell_notes(sandbox.run_cells(), limits)]
        shared += [note for question in questions for note in _twice(question.name, places)]
        for seed in seeds:
            printed: dict[str, int] = defaultdict(int)
            transport = _transport(sandbox, spare, printed)
            wrong = [authored.wrong.of(question.id) for question in questions]
            results = [evaluate(q, transport, seed, known) for q, known in zip(questions, wrong, strict=True)]
            much = [_printed_note(f"`{name}`", n) for name, n in printed.items() if n > MUCH_PRINTED]
            grades.append(Grade(authored.exercise, str(submission.path), seed, results, shared + much))
    return grades


def _transport(sandbox: Sandbox, spare: dict[str, str], printed: dict[str, int]) -> Transport:
    def transport(name: str, packed: bytes, seconds: float) -> dict:
        reply = sandbox.call(name, packed, seconds)
        printed[name] += _count(reply)
        if reply["kind"] == "missing":
            reply["text"] = missing_sentence(name, spare)
        return reply

    return transport


def _places(cells: list[Cell]) -> dict[str, list[int]]:
    """The cells that define each name."""
    places = defaultdict(list)
    for cell in cells:
        for name in dict.fromkeys(defined_names(cell.source)):
            places[name].append(cell.number)
    return dict(places)


def _twice(name: str, places: dict[str, list[int]]) -> list[str]:
    cells = places.get(name, [])
    if len(cells) < 2:
        return []
    listed = ", ".join(map(str, cells[:-1]))
    return [f"`{name}` is defined in code cells {listed} and {cells[-1]}: the last one counts."]


def _cell_notes(outcomes: dict[int, dict], limits: Limits) -> list[str]:
    notes = []
    for number, outcome in sorted(outcomes.items()):
        kind, cell = outcome["kind"], f"Code cell {number}"
        if kind == "raised":
            notes.append(f"{cell} stopped with {describe_error(outcome)}; the other cells were still run.")
        if kind == "time":
            limit = f"{limits.cell_seconds:g} s"
            notes.append(f"{cell} ran longer than {limit} and was stopped: look for a loop that never ends.")
        if kind == "ended":
            notes.append(
                f"{cell} ended the Python process ({outcome['text']}): only its definitions were kept, "
                "and the other cells were still run."
            )
        if _count(outcome) > MUCH_PRINTED:
            notes.append(_printed_note(cell, _count(outcome)))
    return notes


def _printed_note(who: str, characters: int) -> str:
    return f"{who} printed {characters:,} characters: the grader dropped them."


def _count(reply: dict) -> int:
    printed = reply.get("printed")
    return printed if type(printed) is int and printed > 0 else 0


def _question_json(result: QuestionResult) -> dict:
    return {
        "id": result.question.id,
        "title": result.question.title,
        "status": result.status,
        "points": result.points,
        "max_points": result.question.points,
        "checks": [
            {
                "name": check.name,
                "points": check.points,
                "max_points": check.max_points,
                "passed": check.passed,
                "message": check.message,
                "diagnosis": check.diagnosis
                and {
                    "mistake": check.diagnosis.mistake,
                    "message": check.diagnosis.sentence,
                    "section": check.diagnosis.section,
                },
            }
            for check in result.checks
        ],
    }
