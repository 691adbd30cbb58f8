"""The whole course, graded from a learner's folder: what `python -m clearcheck report` tells."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from clearcheck.author.loading import AuthoringError, ExerciseNotFound, authoring_folder, load_exercise, slugs_in
from clearcheck.grading.evaluate import PASSED, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.telling import points_of
from clearcheck.learner.answered_exercise import NoExercise
from clearcheck.learner.progress_file import in_words, now
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook
from clearcheck.own_course import own_course
from clearcheck.report.course_files import CourseChanged
from clearcheck.report.grade import Grade, draw_seed, grade
from clearcheck.report.no_grade import grader_failure
from clearcheck.worker.limits import Limits
from clearcheck.worker.worker_process import WorkerError

VERSION = 1
HEAD = ("exercise", "points", "passed", "minutes left", "what next")
RIGHT_ALIGNED = (1, 2, 3)


@dataclass(frozen=True)
class CourseRow:
    """One exercise of the course; without a grade where the folder holds no notebook of it that can be graded."""

    exercise: Exercise
    grade: Grade | None

    @property
    def points(self) -> int:
        return self.grade.points if self.grade else 0

    @property
    def n_passed(self) -> int:
        return len(self.exercise.questions) - len(self._open)

    @property
    def minutes(self) -> int:
        """What the open questions ask for."""
        return sum(question.minutes for question in self._open)

    @property
    def next_question(self) -> str:
        if self.grade is None:
            return "no notebook of it that could be graded"
        result = next((result for result in self.grade.questions if result.status != PASSED), None)
        return f"{result.question.id} ({result.status})" if result else "all passed"

    @property
    def _open(self) -> list:
        results = self.grade.questions if self.grade else []
        passed = {result.question.id for result in results if result.status == PASSED}
        return [question for question in self.exercise.questions if question.id not in passed]


@dataclass(frozen=True)
class Course:
    """Every exercise, when and how it was graded, and the files that have no part in it, with the reason."""

    rows: list[CourseRow]
    seed: int
    when: datetime
    version: str
    broken: dict[str, str]
    remarks: list[str]

    @property
    def points(self) -> int:
        return sum(row.points for row in self.rows)

    @property
    def max_points(self) -> int:
        return sum(row.exercise.points for row in self.rows)

    def as_text(self) -> str:
        table = [HEAD, *(_cells(row) for row in self.rows), _total_cells(self)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(_align_cells(cells, widths)).rstrip() for cells in table]
        files = [f"Not graded: {one_line(reason)}" for reason in self.broken.values()]
        left = "Minutes left are those that the open questions ask for."
        when = f"Graded as on disk, {in_words(self.when)} (seed {self.seed}). {left}"
        return "\n".join([*lines, "", *files, *map(one_line, self.remarks), when])

    def as_json(self) -> dict:
        return {
            "version": VERSION,
            "course": self.version,
            "when": self.when.isoformat(timespec="seconds"),
            "seed": self.seed,
            "points": self.points,
            "max_points": self.max_points,
            "exercises": [_row_json(row) for row in self.rows],
            "not_graded": [{"file": file, "error": reason} for file, reason in self.broken.items()],
            "notes": self.remarks,
        }


def grade_course(folder: Path | None, seed: int | None, tell: Callable[[str], None], limits: Limits | None = None):
    """Grade every notebook that lies in the folder (default: the course's own exercises), all with one seed.

    Raises: NotANotebook where there is none, ExerciseNotFound, AuthoringError, CourseChanged.
    """
    authoring = authoring_folder(own_course())
    folder, seed = folder or _from_here(authoring.parent), draw_seed(seed)
    files = sorted(file for file in folder.glob("*.ipynb") if not file.name.startswith("."))
    if not files:
        raise NotANotebook(f"{folder} holds no notebook: pass the folder with your exercise notebooks.")
    best: dict[str, Grade] = {}
    broken, remarks = {}, []
    for file in files:
        tell(f"Grading {file.name} …")
        try:
            came = grade(file, None, seed, limits)
        except NoExercise:
            remarks.append(f"Left out, since it answers no exercise: {file.name}")
        except (NotANotebook, ExerciseNotFound, WorkerError, AuthoringError) as error:
            broken[file.name] = str(error)
        except CourseChanged:
            raise
        except Exception as error:
            broken[file.name] = grader_failure(str(file), error)
        else:
            slug = came.exercise.slug
            if slug in best:
                remarks.append(_two_notebooks_note(*_rank_grades(best[slug], came)))
            best[slug] = _rank_grades(best[slug], came)[0] if slug in best else came
    rows = [CourseRow(_exercise(slug, best), best.get(slug)) for slug in sorted({*slugs_in(authoring), *best})]
    return Course(rows, seed, now(), course_version(authoring.parents[1]), broken, remarks)


def _from_here(folder: Path) -> Path:
    """Named from the working folder where it lies inside it."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def course_version(root: Path) -> str:
    """Name and version from the project file beside the exercises, or "unknown"."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return f"{project['name']} {project['version']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"


def _exercise(slug: str, best: dict[str, Grade]) -> Exercise:
    return best[slug].exercise if slug in best else load_exercise(slug, own_course()).exercise


def _rank_grades(*grades: Grade) -> list[Grade]:
    """Of notebooks for one exercise first the one with most points; at a tie the one that bears its name."""
    return sorted(grades, key=lambda grade: (-grade.points, Path(grade.file).stem != grade.exercise.slug))


def _two_notebooks_note(counted: Grade, other: Grade) -> str:
    first, second = (f"{Path(it.file).name} ({points_of(it.points, it.exercise.points)})" for it in (counted, other))
    return f"Two notebooks answer {counted.exercise.slug}: {first} counts, {second} does not."


def _cells(row: CourseRow) -> tuple[str, ...]:
    passed = f"{row.n_passed} of {len(row.exercise.questions)}"
    return row.exercise.slug, f"{row.points} of {row.exercise.points}", passed, str(row.minutes), row.next_question


def _total_cells(course: Course) -> tuple[str, ...]:
    asked = sum(len(row.exercise.questions) for row in course.rows)
    passed = f"{sum(row.n_passed for row in course.rows)} of {asked}"
    minutes = str(sum(row.minutes for row in course.rows))
    return "total", f"{course.points} of {course.max_points}", passed, minutes, ""


def _align_cells(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    pairs = enumerate(zip(cells, widths, strict=True))
    return [cell.rjust(width) if i in RIGHT_ALIGNED else cell.ljust(width) for i, (cell, width) in pairs]


def _row_json(row: CourseRow) -> dict:
    return {
        "exercise": row.exercise.slug,
        "title": row.exercise.title,
        "file": row.grade.file if row.grade else None,
        "points": row.points,
        "max_points": row.exercise.points,
        "questions_passed": row.n_passed,
        "minutes_left": row.minutes,
        "next": row.next_question,
        "questions": [_question_json(result) for result in row.grade.questions] if row.grade else [],
        "notes": row.grade.notes if row.grade else [],
    }


def _question_json(result: QuestionResult) -> dict:
    return {"id": result.question.id, "status": result.status, "points": result.points}
