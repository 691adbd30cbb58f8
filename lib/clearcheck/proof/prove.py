"""Prove a grader: right and wrong solutions, graded as a submission is.

With the first seed every right solution goes the whole way, in a notebook of its exercise and through the worker; with
the others its function is asked in this process, by the same `evaluate`. A wrong one is asked here, where the diagnosis
of all others has to call it anyway. The first wrong ones of each question go the whole way as well, and both ways have
to give the same points for the same reasons.

Solutions of different questions share a notebook: the first right one of each, the second of each, and so on. Every
other answer cell holds the author's answer, and a question never shares one with a question that it leans on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clearcheck.author.loading import AuthoredExercise, load_exercise
from clearcheck.author.mistakes import LEAST_RIGHT, LEAST_WRONG, Solution
from clearcheck.author.release import learner_notebook
from clearcheck.grading.diagnose import reply_of
from clearcheck.grading.evaluate import NOT_ANSWERED, PASSED, QuestionResult, evaluate
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question
from clearcheck.learner.cards import question_text
from clearcheck.proof.notebooks import Key, Notebooks, key_of
from clearcheck.report.grade import Grade
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.limits import Limits

SEEDS = (0, 1)  # 0 is what a learner's notebook uses
QUICK = ("function", "tensors")  # what is asked for otherwise takes long: a wrong one gets the first draw alone
WHOLE_WAY = 2  # so many wrong solutions of each question are graded in a notebook, too
LEAST_MARGIN = 100  # a wrong value differs by more than this many tolerances


@dataclass(frozen=True)
class ProofRow:
    """One solution and its results, one for each seed."""

    question: Question
    solution: Solution
    right: bool
    seeds: Sequence[int]
    results: list[QuestionResult]
    texts: list[str]

    @property
    def key(self) -> Key:
        return key_of(self.solution)

    @property
    def is_accepted(self) -> bool:
        return all(result.status == PASSED for result in self.results)

    @property
    def is_rejected(self) -> bool:
        return all(result.status != PASSED for result in self.results)

    @property
    def tells_mistake(self) -> bool:
        return all(self.solution.says in text for text in self.texts)


@dataclass(frozen=True)
class Proof:
    exercise: Exercise
    rows: list[ProofRow]
    errors: list[str]

    @property
    def graded(self) -> bool:
        """Whether its solutions have results."""
        return any(row.results for row in self.rows)

    def of(self, question: Question) -> list[ProofRow]:
        return [row for row in self.rows if row.question is question]

    @property
    def summary(self) -> str:
        right = [row for row in self.rows if row.right]
        wrong = [row for row in self.rows if not row.right]
        return (
            f"{self.exercise.slug}: right solutions accepted: {sum(row.is_accepted for row in right)} of {len(right)}; "
            f"wrong solutions caught: {sum(row.is_rejected for row in wrong)} of {len(wrong)}, "
            f"told their mistake: {sum(row.tells_mistake for row in wrong)}; errors: {len(self.errors)}."
        )


def prove(slug: str, limits: Limits | None = None, seeds: Sequence[int] = SEEDS, question: str | None = None) -> Proof:
    """An exercise; or one question of it, of whose solutions only the first right and the first wrong one go the whole
    way.

    Raises: ExerciseNotFound, QuestionNotFound, AuthoringError, WorkerError.
    """
    authored = load_exercise(slug)
    chosen = authored.exercise.questions if question is None else (authored.question(question),)
    right = [entry for q in chosen for entry in authored.right.of(q.id)]
    wrong = [entry for q in chosen for entry in authored.wrong.of(q.id)]
    notebooks = Notebooks(authored, chosen, limits or Limits(), seeds[0])
    results = notebooks.grade_each(right if question is None else right[:1])
    rows = [_row(authored, entry, True, seeds, results) for entry in right]
    rows += [_row(authored, entry, False, seeds, {}) for entry in wrong]
    first = [
        entry
        for q in chosen
        if q.how != "training"
        for entry in authored.wrong.of(q.id)[: WHOLE_WAY if question is None else 1]
    ]
    both_ways = notebooks.grade_each(first)
    errors = [
        *_ends(notebooks.grade(notebooks.source), notebooks.grade(learner_notebook(notebooks.source, slug))),
        *(error for q in chosen for error in _counts(q, rows)),
        *(error for row in rows for error in _faults(row)),
        *(error for row in rows if (result := both_ways.get(row.key)) for error in _disagreement(row, result)),
    ]
    return Proof(replace(authored.exercise, questions=chosen, core=()), rows, errors)


def not_graded(authored: AuthoredExercise) -> Proof:
    """Every solution of an exercise, without results."""
    rows = [
        ProofRow(question, solution, right, (), [], [])
        for question in authored.exercise.questions
        for right, collection in ((True, authored.right), (False, authored.wrong))
        for solution in collection.of(question.id)
    ]
    return Proof(authored.exercise, rows, [])


def _row(
    authored: AuthoredExercise,
    solution: Solution,
    right: bool,
    seeds: Sequence[int],
    graded: Mapping[Key, QuestionResult],
) -> ProofRow:
    """The result that the notebook got with the first seed, where there is one, and those of the function alone."""
    question = authored.exercise.question(solution.question)
    known = authored.wrong.of(question.id)
    seeds = seeds if right or question.how in QUICK else seeds[:1]

    def transport(asked: CallRequest, packed: bytes) -> dict:
        return reply_of(solution.function, asked.for_known_mistake(solution.source), packed)

    results = [graded[key_of(solution)]] if key_of(solution) in graded else []
    results += [evaluate(question, transport, seed, known) for seed in seeds[len(results) :]]
    texts = [question_text(authored.exercise, result) for result in results]
    return ProofRow(question, solution, right, seeds, results, texts)


def _ends(solved: Grade, untouched: Grade) -> Iterator[str]:
    """The author's own notebook has every point, the learner's has none."""
    if solved.points != solved.exercise.points:
        yield f"The source notebook gets {solved.points} of {solved.exercise.points} points:\n{solved.as_text()}"
    for result in untouched.questions:
        if result.points or result.status != NOT_ANSWERED:
            yield f"{result.question.id}: the untouched notebook is graded {result.status}."


def _counts(question: Question, rows: list[ProofRow]) -> Iterator[str]:
    for right, least, kind in ((True, LEAST_RIGHT, "right"), (False, LEAST_WRONG, "wrong")):
        count = sum(row.right is right for row in rows if row.question is question)
        if count < least:
            yield f"{question.id}: {count} {kind} solutions, at least {least} are expected."


def _faults(row: ProofRow) -> Iterator[str]:
    """What is wrong with the grading of one solution, told for the first seed on which it shows."""
    name = f"{row.question.id}: {row.solution.name}"
    for seed, result, text in zip(row.seeds, row.results, row.texts, strict=True):
        fault = _right_fault(result, text) if row.right else _wrong_fault(row.solution, result, text)
        if fault:
            yield f"{name} {fault} (seed {seed})"
            return


def _disagreement(row: ProofRow, in_notebook: QuestionResult) -> Iterator[str]:
    """Points and diagnoses are compared: a message may tell what was measured, such as bytes held."""
    graded, asked = ([(c.name, c.points, c.diagnosis) for c in it.checks] for it in (in_notebook, row.results[0]))
    if graded != asked:
        yield f"{row.question.id}: {row.solution.name} is graded {graded} in a notebook, {asked} as a function."


def _right_fault(result: QuestionResult, text: str) -> str:
    return "" if result.status == PASSED else f"is right, and not accepted:\n{text}"


def _wrong_fault(solution: Solution, result: QuestionResult, text: str) -> str:
    if result.status == PASSED:
        return "is wrong, and accepted"
    if not solution.says or solution.says not in text:
        return f'is not told "{solution.says}":\n{text}'
    failed = [check.margin for check in result.checks if not check.passed]
    margins = [margin for margin in failed if margin is not None]
    if len(margins) == len(failed) and max(margins) <= LEAST_MARGIN:
        return f"differs by only {max(margins):.3g} tolerances; more than {LEAST_MARGIN} are expected"
    return ""
