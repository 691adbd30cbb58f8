"""One submission in, one result out."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise, load_exercise
from clearcheck.grading.describe import BY_HOW
from clearcheck.grading.evaluate import QuestionResult, Transport, evaluate
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.leaning import with_leaning
from clearcheck.grading.limits_told import limit_told, printed_told, time_told
from clearcheck.grading.problems import NO_PYTHON, advice_on, advice_on_import, describe_error
from clearcheck.grading.question import SLUG
from clearcheck.grading.telling import points_of
from clearcheck.learner.answered_exercise import exercise_slug
from clearcheck.learner.cards import question_text
from clearcheck.notebooks.definitions import imported_names, may_define, missing_sentence
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import notebook_bytes
from clearcheck.notebooks.submission import Submission, read_submission
from clearcheck.own_course import own_course
from clearcheck.report.course_files import CourseFiles
from clearcheck.worker.call_request import CallRequest, modules_to_import
from clearcheck.worker.launch import isolation
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import LATE, Worker

VERSION = 1
NAMED = 5  # cells of a note, at most
LIBRARY = {"clearbook": ("clearbook", "clearformer"), "clearformer": ("clearformer",), "cleartape": ("cleartape",)}
WATCHED = (*LIBRARY, "clearcheck.author", "torch", "scipy", "sklearn", "transformers")


@dataclass(frozen=True)
class Grade:
    """The result of one submission; `isolation` says what kept its code apart, `uses` which solutions it calls."""

    exercise: Exercise
    file: str
    seed: int
    questions: list[QuestionResult]
    notes: list[str]
    isolation: str = ""
    uses: list[str] = field(default_factory=list)  # modules that could have done the work, and are not the exercise's

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
            "questions": [result.as_json() for result in self.questions],
            "notes": self.notes,
            "isolation": self.isolation,
            "uses": self.uses,
        }

    def as_text(self) -> str:
        blocks = [question_text(self.exercise, result) for result in self.questions]
        notes = [f"Note: {note}" for note in self.notes]
        total = f"{self.exercise.title}: {points_of(self.points, self.exercise.points)} (seed {self.seed})"
        return "\n".join([*blocks, *notes, total])


def grade(path: Path, slug: str | None = None, seed: int | None = None, limits: Limits | None = None) -> Grade:
    """Grade a notebook; without a seed a fresh one is drawn, and noted in the result.

    Raises: NotANotebook, ExerciseNotFound, AuthoringError, WorkerError, CourseChanged.
    """
    course, before = own_course(), _files()
    with Worker(limits or Limits(), *offered(_likely(path, course))) as worker:
        submission = worker.read(notebook_bytes(path), one_line(str(path)))
        authored = _load_once(slug or exercise_slug(submission, course), course)
        _met[course, authored.exercise.slug] = authored
        [result] = grade_submission(worker, submission, authored, [draw_seed(seed)])
    before.check(submission.name)
    return result


_met: dict[tuple[Path, str], AuthoredExercise] = {}  # by course and slug


def _likely(path: Path, course: Path) -> AuthoredExercise | None:
    """The exercise that a file has by its name, of those met before: where it is right, one process is enough."""
    return next((met for (of, slug), met in _met.items() if of == course and slug in path.name), None)


def offered(authored: AuthoredExercise | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The modules that a notebook of this exercise starts with, and the packages that it does without."""
    if authored is None:
        return (), tuple(LIBRARY)
    return modules_to_import(question.how for question in authored.exercise.questions), _not_offered(authored.folder)


@cache
def _load_once(slug: str, course: Path) -> AuthoredExercise:
    """An exercise's checks, read once and then kept, whatever becomes of its files."""
    return load_exercise(slug, course)


@cache
def _files() -> CourseFiles:
    """As they were before this process graded anything."""
    return CourseFiles()


def draw_seed(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else seed


def grade_submission(
    worker: Worker, submission: Submission, authored: AuthoredExercise, seeds: Sequence[int]
) -> list[Grade]:
    """One result for each seed, all from one run of the cells of the notebook that the worker has read."""
    places = submission.definitions
    questions = authored.exercise.questions
    asked = {question.name for question in questions}
    spare = {name: f"in code cell {cells[-1]}" for name, cells in places.items() if name not in asked}
    drawn = []
    worker.load_first(*offered(authored))
    shared = [*_other_exercise_note(submission, authored.exercise.slug), *submission.notes]
    shared += _cell_notes(worker.run_cells(), worker.limits)
    shared += [note for question in questions for note in _repeated_definition_note(question.name, places)]
    for seed in seeds:
        printed: dict[str, int] = defaultdict(int)
        transport = _transport(worker, spare, printed)
        wrong = [authored.wrong.of(question.id) for question in questions]
        results = [evaluate(q, transport, seed, known) for q, known in zip(questions, wrong, strict=True)]
        drawn.append(
            (
                seed,
                with_leaning(results),
                [*filter(None, (printed_told(f"`{name}`", n) for name, n in printed.items()))],
            )
        )
    uses = _uses(worker, submission, authored)
    late = worker.overrun
    worker.stop()
    shared += _notes_on_the_process(worker, late)
    return [
        Grade(authored.exercise, submission.name, seed, results, shared + much, isolation(), uses)
        for seed, results, much in drawn
    ]


def _uses(worker: Worker, submission: Submission, authored: AuthoredExercise) -> list[str]:
    """The watched modules that the code names in an import or has loaded, without those that the exercise hands out."""
    own = {name for name in WATCHED if any(_is_within(module, name) for module in _imports_of(authored.folder))}
    named = [name for name in WATCHED if any(_is_within(module, name) for module in submission.imports)]
    return [name for name in dict.fromkeys([*named, *worker.loaded_modules(WATCHED)]) if name not in own]


def _not_offered(folder: Path) -> tuple[str, ...]:
    """The packages of the library that the author's own notebook does without."""
    imports = _imports_of(folder)
    if not imports:
        return ()
    needed = [LIBRARY[name] for name in LIBRARY if any(_is_within(module, name) for module in imports)]
    return tuple(name for name in LIBRARY if not any(name in names for names in needed))


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@cache
def _imports_of(folder: Path) -> list[str]:
    """What the author's own notebook of an exercise imports; nothing is known where only the checks are there."""
    source = folder / "source.ipynb"
    return read_submission(source).imports if source.is_file() else []


def _notes_on_the_process(worker: Worker, late: str) -> list[str]:
    notes = []
    if late:
        notes.append(f"The notebook {late}: what was not asked by then has no points.")
    if worker.left_behind:
        notes.append("The code had started other processes and left them behind: they were ended.")
    if worker.lost_server:
        notes.append("The process that starts those of the notebooks ended, or did not answer, while this one ran.")
    return notes


def _transport(worker: Worker, spare: dict[str, str], printed: dict[str, int]) -> Transport:
    lost = _lost_imports(worker)

    def transport(asked: CallRequest, packed: bytes) -> dict:
        reply = worker.call(asked, packed)
        printed[asked.name] += _count(reply)
        reply["advice"] = advice_on_import(reply, lost) or limit_told(reply, worker.limits)
        if reply["kind"] == LATE:
            reply["text"] = worker.overrun
        if reply["kind"] == "missing":
            broken = _broken_cell(worker, asked.name)
            reply["text"] = broken or missing_sentence(asked.name, spare, BY_HOW[asked.how].defined)
        return reply

    return transport


def _broken_cell(worker: Worker, name: str) -> str:
    """The sentence for a name whose definition stands in a cell that is no Python, or an empty text."""
    for cell in worker.cells:
        outcome = worker.outcomes.get(cell.number, {})
        if outcome.get("type") in NO_PYTHON and may_define(cell.source, name):
            told = f"`{name}` stands in code cell {cell.number}, which is no Python: {describe_error(outcome)}."
            return " ".join(filter(None, (told, advice_on(outcome))))
    return ""


def _lost_imports(worker: Worker) -> dict[str, str]:
    """The names that cells were to import and that stopped at a missing module, each with its module."""
    lost: dict[str, str] = {}
    for cell in worker.cells:
        if worker.outcomes.get(cell.number, {}).get("type") == "ModuleNotFoundError":
            lost |= imported_names(cell.source)
    return lost


def _other_exercise_note(submission: Submission, graded: str) -> list[str]:
    """A note where the notebook also says that it answers another exercise than the one it is graded as."""
    others = list(dict.fromkeys(slug for slug in submission.slugs if SLUG.fullmatch(slug) and slug != graded))
    return [f"The notebook says that it answers {' and '.join(others)}; it was graded as {graded}."] if others else []


def _repeated_definition_note(name: str, places: dict[str, list[int]]) -> list[str]:
    cells = places.get(name, [])
    if len(cells) < 2:
        return []
    earlier, more = cells[:-1], len(cells) - 1 - NAMED
    listed = ", ".join(map(str, earlier[:NAMED])) + (f", {more} more" if more > 0 else "")
    return [f"`{name}` is defined in code cells {listed} and {cells[-1]}: the last one counts."]


def _cell_notes(outcomes: dict[int, dict], limits: Limits) -> list[str]:
    notes = []
    for number, outcome in sorted(outcomes.items()):
        kind, cell = outcome["kind"], f"Code cell {number}"
        limit = f" {told}" if (told := limit_told(outcome, limits)) else ""
        if kind == "raised":
            notes.append(f"{cell} stopped with {describe_error(outcome)}; the other cells were still run.{limit}")
        if kind == "time":
            told = time_told(outcome, limits.cell_seconds, "look for a loop that never ends")
            notes.append(f"{cell} {told}; its other definitions and the other cells were still read.")
        if kind == "ended":
            notes.append(
                f"{cell} ended the Python process ({outcome['text']}): only its definitions were kept, "
                f"and the other cells were still run.{limit}"
            )
        if printed := printed_told(cell, _count(outcome)):
            notes.append(printed)
    return notes


def _count(reply: dict) -> int:
    printed = reply.get("printed")
    return printed if type(printed) is int and printed > 0 else 0
