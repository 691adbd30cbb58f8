"""Grade every first-order mutant of the right answers with one seed, in one worker for each question."""

import json
import random
import tomllib
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from clearcheck.author.edits import rename_definition
from clearcheck.author.loading import AuthoredExercise, AuthoringError, load_exercise
from clearcheck.author.mutants import mutants_of
from clearcheck.grading.evaluate import PASSED, evaluate
from clearcheck.grading.question import Question
from clearcheck.proof.notebooks import Notebooks, fill_in_solutions
from clearcheck.report.grade import offered
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker
from clearcheck.worker.worker_process import WorkerError

SEED = 0
EQUAL_FILE = "equal_mutants.toml"  # beside exercise.py
FIELDS = {"question", "answer", "mutant", "reason"}
CAUGHT, EQUAL, LEARNS, ACCEPTED = "caught", "equal", "learn as well", "accepted"
LONG = 12 * 3600  # seconds: all mutants of a question count as one notebook
TIMES_AS_LONG = 20  # as the longest call of its answer one of a mutant may compute, where no limit is reached before
LEAST_SECONDS = 1.0  # that it may compute in any case


@dataclass(frozen=True)
class Tried:
    """One mutant: of which answer, under which name the worker knows it, and its text under that name."""

    question: Question
    answer: str
    mutant: str
    name: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.question.id, self.answer, self.mutant


@dataclass(frozen=True)
class Mutation:
    """What came of the mutants, and the entries of the file of equal ones that no longer hold."""

    slug: str
    outcomes: list[tuple[Tried, str]]
    stale: list[tuple[str, str, str]]

    def lines(self) -> list[str]:
        """Each mutant that is accepted, each stale entry, and the count."""
        lines = [f"accepted: {' | '.join(it.key)}" for it, outcome in self.outcomes if outcome == ACCEPTED]
        lines += [f"{EQUAL_FILE} names what is caught or no mutant: {' | '.join(key)}" for key in self.stale]
        count = Counter(outcome for _, outcome in self.outcomes)
        shown = [outcome for outcome in (CAUGHT, EQUAL, LEARNS, ACCEPTED) if outcome != LEARNS or count[outcome]]
        told = ", ".join(f"{count[outcome]} {outcome}" for outcome in shown)
        return [*lines, f"{self.slug}: {len(self.outcomes)} mutants of the right answers: {told}."]

    @property
    def fails(self) -> bool:
        return bool(self.stale) or any(outcome == ACCEPTED for _, outcome in self.outcomes)


@dataclass(frozen=True)
class MutantCount:
    """How many mutants an exercise has, and for how many of them it is written down why they are equal."""

    mutants: int
    equal: int


def count_mutants(slug: str) -> MutantCount:
    """Made and not graded, which takes seconds. Raises: as `mutate`."""
    authored = load_exercise(slug)
    mutants = sum(1 for asked in authored.exercise.questions for _ in _mutants(authored, asked))
    return MutantCount(mutants, len(_read_equal(authored)))


def mutate(slug: str, question: str | None = None, sample: int | None = None) -> Mutation:
    """Mutants of an exercise, or of one question; a sample is the same each time.

    Raises: ExerciseNotFound, QuestionNotFound, AuthoringError, WorkerError.
    """
    authored = load_exercise(slug)
    chosen = authored.exercise.questions if question is None else (authored.question(question),)
    equal = _read_equal(authored)
    every = [tried for asked in chosen for tried in _mutants(authored, asked)]
    tried = every if sample is None else random.Random(SEED).sample(every, min(sample, len(every)))
    graded = (
        pair for asked in chosen for pair in _grade(authored, asked, [it for it in tried if it.question is asked])
    )
    outcomes = [(it, _outcome(it, passed, equal)) for it, passed in graded]
    caught = {it.key for it, outcome in outcomes if outcome == CAUGHT}
    asked_ids, known = {asked.id for asked in chosen}, {it.key for it in every}
    stale = [key for key in equal if key[0] in asked_ids and (key not in known or key in caught)]
    return Mutation(slug, outcomes, stale)


def _outcome(tried: Tried, passed: bool, equal: Container[tuple[str, str, str]]) -> str:
    """A loop with another rate, or in another order, that teaches its module enough is one more right answer."""
    if not passed:
        return CAUGHT
    if tried.key in equal:
        return EQUAL
    return LEARNS if tried.question.how == "training" else ACCEPTED


def _mutants(authored: AuthoredExercise, question: Question) -> Iterator[Tried]:
    for number, entry in enumerate(authored.right.of(question.id)):
        source = rename_definition(entry.source, entry.name, question.name)
        for place, mutant in enumerate(mutants_of(source)):
            name = f"{question.name}_{number}_{place}"
            text = rename_definition(mutant.source, question.name, name)
            yield Tried(question, entry.name, mutant.name, name, text)


def _answers(authored: AuthoredExercise, question: Question) -> Iterator[Tried]:
    """The right answers as they are."""
    for number, entry in enumerate(authored.right.of(question.id)):
        name = f"{question.name}_{number}"
        yield Tried(question, entry.name, "", name, rename_definition(entry.source, entry.name, name))


def _grade(authored: AuthoredExercise, asked: Question, tried: Sequence[Tried]) -> Iterator[tuple[Tried, bool]]:
    """Each mutant of a question has a cell and a name of its own below the author's answers: one worker holds them.

    Those of a whole exercise may be more text than a notebook may hold.
    """
    if not tried:
        return
    limits = Limits(submission_seconds=LONG, submission_net_seconds=LONG, cpu=LONG)
    notebooks = Notebooks(authored, (asked,), limits, SEED)
    notebook = fill_in_solutions(notebooks.source, [])
    answers = list(_answers(authored, asked))
    empty: dict = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**empty, "id": f"mutant-{i}", "source": it.source} for i, it in enumerate([*answers, *tried])]
    notebook["cells"] += cells
    with Worker(notebooks.limits, *offered(authored)) as worker:
        worker.read(json.dumps(notebook).encode(), f"{authored.exercise.slug}.ipynb")
        worker.run_cells()
        longest = {it.answer: _longest_call(it, worker) for it in answers}
        for it in tried:
            yield it, _passes(it, worker, max(LEAST_SECONDS, TIMES_AS_LONG * longest[it.answer]))
        _longest_call(answers[0], worker)  # still passes, or what was caught says nothing


def _longest_call(answer: Tried, worker: Worker) -> float:
    """For how many seconds the longest call of a right answer computes. Raises: WorkerError, where it does not pass."""
    longest = 0.0

    def timed(asked: CallRequest, packed: bytes) -> dict:
        nonlocal longest
        before = worker.computed
        reply = worker.call(replace(asked, name=answer.name), packed)
        longest = max(longest, worker.computed - before)
        return reply

    status = evaluate(answer.question, timed, SEED, []).status
    if status != PASSED:
        raise WorkerError(
            f"{answer.question.id}: in the worker that grades its mutants the answer {answer.answer} is {status}, so "
            "they may have been caught by a worker that no longer answers. Try fewer, with --sample."
        )
    return longest


def _passes(tried: Tried, worker: Worker, seconds: float) -> bool:
    """Whether all checks pass, and no call computes for longer; most mutants fail at the first check, and are asked
    nothing more.
    """

    def ask(asked: CallRequest, packed: bytes) -> dict:
        return worker.call(replace(asked, name=tried.name, seconds=min(asked.seconds, seconds)), packed)

    first = replace(tried.question, checks=tried.question.checks[:1])
    return all(evaluate(question, ask, SEED, []).status == PASSED for question in (first, tried.question))


def _read_equal(authored: AuthoredExercise) -> dict[tuple[str, str, str], str]:
    """The mutants that are equal to the answer, with the reason. Raises: AuthoringError."""
    path = authored.folder / EQUAL_FILE
    if not path.is_file():
        return {}
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equal", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AuthoringError(
            f"{path} cannot be read ({error}): a table [[equal]] for each mutant is expected."
        ) from error
    for entry in entries:
        if set(entry) != FIELDS or not all(isinstance(text, str) and text.strip() for text in entry.values()):
            raise AuthoringError(f"{path}: each [[equal]] needs the texts {', '.join(sorted(FIELDS))}; {entry} came.")
    return {(entry["question"], entry["answer"], entry["mutant"]): entry["reason"] for entry in entries}
