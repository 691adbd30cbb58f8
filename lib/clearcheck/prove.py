"""Prove a grader: real notebooks with right and wrong solutions, graded as a submission is.

Solutions of different questions share a notebook: the first right one of each, the second of each, and so on. Every
other answer cell holds the author's answer, and a question never shares one with a question whose function it uses.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clearcheck.evaluate import NOT_ANSWERED, PASSED, QuestionResult
from clearcheck.exercise import Exercise, Question
from clearcheck.grade import Grade, grade_submission
from clearcheck.loading import Authored, load
from clearcheck.release import learner_notebook, read_source
from clearcheck.report import question_text
from clearcheck.sandbox import Limits
from clearcheck.sheets import filled, sheets
from clearcheck.solutions import Solution
from clearcheck.submission import read_submission

SEEDS = (0, 1, 2, 3, 4)  # 0 is what a learner's notebook uses
LEAST_RIGHT, LEAST_WRONG = 3, 8
LEAST_MARGIN = 100  # a wrong value differs by more than this many tolerances


@dataclass(frozen=True)
class Row:
    """One solution and its results, one for each seed."""

    question: Question
    solution: Solution
    right: bool
    seeds: Sequence[int]
    results: list[QuestionResult]
    texts: list[str]

    @property
    def accepted(self) -> bool:
        return all(result.status == PASSED for result in self.results)

    @property
    def rejected(self) -> bool:
        return all(result.status != PASSED for result in self.results)

    @property
    def told(self) -> bool:
        return all(self.solution.says in text for text in self.texts)


@dataclass(frozen=True)
class Proof:
    exercise: Exercise
    rows: list[Row]
    errors: list[str]

    def of(self, question: Question) -> list[Row]:
        return [row for row in self.rows if row.question is question]

    @property
    def summary(self) -> str:
        right = [row for row in self.rows if row.right]
        wrong = [row for row in self.rows if not row.right]
        return (
            f"{self.exercise.slug}: right solutions accepted: {sum(row.accepted for row in right)} of {len(right)}; "
            f"wrong solutions caught: {sum(row.rejected for row in wrong)} of {len(wrong)}, "
            f"told their mistake: {sum(row.told for row in wrong)}; errors: {len(self.errors)}."
        )


def prove(slug: str, limits: Limits | None = None, seeds: Sequence[int] = SEEDS) -> Proof:
    """Raises: ExerciseNotFound, AuthoringError, SandboxError."""
    authored = load(slug)

    def grades(notebook: dict, asked: Sequence[Question] = authored.exercise.questions) -> list[Grade]:
        """Only the questions that are `asked` are graded, since the others hold the author's answer."""
        chosen = replace(authored, exercise=replace(authored.exercise, questions=tuple(asked)))
        return _grades(notebook, chosen, limits or Limits(), seeds)

    source = read_source(authored.folder / "source.ipynb")
    learner = learner_notebook(source, slug)
    rows = [
        row
        for collection, right in ((authored.right, True), (authored.wrong, False))
        for chosen in sheets(authored.exercise, collection)
        for row in _rows(chosen, right, grades(filled(source, chosen), [question for question, _ in chosen]))
    ]
    errors = [
        *_ends(grades(source), grades(learner)),
        *(error for question in authored.exercise.questions for error in _counts(question, rows)),
        *(error for row in rows for error in _faults(row)),
    ]
    return Proof(authored.exercise, rows, errors)


def _grades(notebook: dict, authored: Authored, limits: Limits, seeds: Sequence[int]) -> list[Grade]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{authored.exercise.slug}.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return grade_submission(read_submission(path), authored, seeds, limits)


def _rows(chosen: list[tuple[Question, Solution]], right: bool, grades: list[Grade]) -> list[Row]:
    rows = []
    for question, solution in chosen:
        results = [result for grade in grades for result in grade.questions if result.question is question]
        texts = [question_text(grades[0].exercise, result) for result in results]
        rows.append(Row(question, solution, right, [grade.seed for grade in grades], results, texts))
    return rows


def _ends(solved: list[Grade], untouched: list[Grade]) -> Iterator[str]:
    """The author's own notebook has every point, the learner's has none."""
    for grade in solved:
        if grade.points != grade.exercise.points:
            yield f"The source notebook gets {grade.points} of {grade.exercise.points} points:\n{grade.as_text()}"
    for grade in untouched:
        for result in grade.questions:
            if result.points or result.status != NOT_ANSWERED:
                yield f"{result.question.id}: the untouched notebook is graded {result.status}."


def _counts(question: Question, rows: list[Row]) -> Iterator[str]:
    for right, least, kind in ((True, LEAST_RIGHT, "right"), (False, LEAST_WRONG, "wrong")):
        count = sum(row.right is right for row in rows if row.question is question)
        if count < least:
            yield f"{question.id}: {count} {kind} solutions, at least {least} are expected."


def _faults(row: Row) -> Iterator[str]:
    """What is wrong with the grading of one solution, told for the first seed on which it shows."""
    name = f"{row.question.id}: {row.solution.name}"
    for seed, result, text in zip(row.seeds, row.results, row.texts, strict=True):
        fault = _right_fault(result, text) if row.right else _wrong_fault(row.solution, result, text)
        if fault:
            yield f"{name} {fault} (seed {seed})"
            return


def _right_fault(result: QuestionResult, text: str) -> str:
    return "" if result.status == PASSED else f"is right, and not accepted:\n{text}"


def _wrong_fault(solution: Solution, result: QuestionResult, text: str) -> str:
    if result.status == PASSED:
        return "is wrong, and accepted"
    if not solution.says or solution.says not in text:
        return f'is not told "{solution.says}":\n{text}'
    margins = [check.margin for check in result.checks if not check.passed]
    if None not in margins and max(margins) <= LEAST_MARGIN:
        return f"differs by only {max(margins):.3g} tolerances; more than {LEAST_MARGIN} are expected"
    return ""
