"""What a learner calls: `exercise`, `bring`, `check`, `case`, `hint`, `progress`, `reset`. None of them raises.

The answers are the functions of the caller's own notebook. What is kept are their points, in a file on this machine.
"""

import sys
from dataclasses import dataclass, field

from clearcheck.author.loading import AuthoredExercise, load_exercise, slugs_in
from clearcheck.grading.describe import BY_HOW
from clearcheck.grading.evaluate import QuestionResult, evaluate
from clearcheck.grading.leaning import with_leaning
from clearcheck.grading.problems import advice_on_import
from clearcheck.grading.question import Question
from clearcheck.learner.cards import NOTHING, Card, course_card, notice, progress_card, question_card
from clearcheck.learner.case import Case, case_of
from clearcheck.learner.cell_runs import CellRuns
from clearcheck.learner.kept_results import KeptResults
from clearcheck.learner.progress_file import Record, RecordProblem, read_record, record_file, remember
from clearcheck.learner.reset import offer
from clearcheck.learner.reuse import brought_card, given_in
from clearcheck.notebooks.definitions import missing_sentence
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import scope_of
from clearcheck.worker.notebook_transport import namespace_transport

STOPPED = ("time", "ended")  # kinds of replies
SEED = 0  # fixed, so that a check repeats; `grade` draws a fresh one


@dataclass
class _Session:
    """The exercise that this notebook works on, and how many hints of each question were shown."""

    authored: AuthoredExercise | None = None
    hints: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # remarks about the record, each made once
    runs: CellRuns = field(default_factory=lambda: CellRuns([]))
    kept: KeptResults = field(default_factory=KeptResults)


_session = _Session()


def exercise(slug: str) -> Card:
    """Choose the exercise of this notebook. PyTorch is given one thread, as in grading: small models are faster so."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    try:
        authored = load_exercise(slug)
    except Exception as error:
        return notice("The exercise could not be loaded.", str(error))
    chosen = authored.exercise
    _session.authored, _session.hints, _session.kept = authored, {}, KeptResults()
    _session.runs.stop()
    _session.runs = CellRuns(question.name for question in chosen.questions)
    size = f"({len(chosen.questions)} questions, {chosen.points} points)."
    return notice(chosen.title, f'{size} Ask check("…"), case("…"), hint("…") or progress() at any time.')


def check(id: str | None = None, seed: int = SEED) -> Card:
    """Check one answer now."""
    namespace = sys._getframe(1).f_globals
    question = _question(id)
    if isinstance(question, Card):
        return question
    result, printed = _evaluate(question, namespace, seed)
    chosen = _session.authored.exercise
    others = [_evaluate(chosen.question(id), namespace, seed)[0] for id in question.leans_on]
    *_, result = with_leaning([*others, result])
    return _record_results([result], namespace, question_card(chosen, result, printed))


def case(id: str | None = None, seed: int = SEED) -> Case:
    """The arguments of the first check that failed, to call the answer with by hand: `weights(*case("weights"))`."""
    namespace = sys._getframe(1).f_globals
    question = _question(id)
    if isinstance(question, Card):
        return Case((), str(question))
    return case_of(_evaluate(question, namespace, seed)[0])


def hint(id: str | None = None) -> Card:
    """Show the next hint of a question; each is stronger than the one before, none gives the answer."""
    question = _question(id)
    if isinstance(question, Card):
        return question
    if not question.hints:
        return notice(f"No hint for {id}.", "The chapter's section on it is the place to look.")
    number = min(_session.hints.get(id, 0) + 1, len(question.hints))
    _session.hints[id] = number
    last = " (the last one)" if number == len(question.hints) else ""
    return notice(f"Hint {number} of {len(question.hints)}{last}:", question.hints[number - 1])


def progress(seed: int = SEED) -> Card:
    """Check every question now, and show the points and what is on record of the other exercises."""
    namespace = sys._getframe(1).f_globals
    if _session.authored is None:
        return _not_chosen()
    chosen = _session.authored.exercise
    results = [_evaluate(question, namespace, seed)[0] for question in chosen.questions]
    return _record_results(results, namespace, progress_card(chosen, results)) + _course()


def reset(id: str | None = None) -> Card:
    """Offer the answer cell of a question as it was released; the learner's own cell stays as it is."""
    question = _question(id)
    if isinstance(question, Card):
        return question
    try:
        return offer(_session.authored, question)
    except Exception as error:
        return notice("The released cell could not be read.", str(error))


def bring() -> Card:
    """Offer the functions that this exercise needs from the earlier ones, as a new cell beneath; nothing is run."""
    namespace = sys._getframe(1).f_globals
    if _session.authored is None:
        return _not_chosen()
    try:
        return brought_card(_session.authored.exercise, namespace, None, given_in(_session.authored), _record())
    except Exception as error:
        return notice("The earlier notebooks could not be read.", str(error))


def _evaluate(question: Question, namespace: dict, seed: int) -> tuple[QuestionResult, str]:
    """The result, and what the answer printed meanwhile; those of the last time where it takes long to find the same.

    Of an answer whose cell failed the kernel still has the one of before, which is not asked.
    """
    failure = _session.runs.failure(question.name)
    if failure:
        told = {"kind": "missing", "text": failure}
        return evaluate(question, lambda asked, packed: told, seed, _session.authored.wrong.of(question.id)), ""
    return _session.kept.of(question, seed, namespace, lambda: _evaluate_now(question, namespace, seed))


def _evaluate_now(question: Question, namespace: dict, seed: int) -> tuple[tuple[QuestionResult, str], bool]:
    """The result and what was printed, and whether the same answer would get the same again: not where it was stopped,
    which may have been for want of time.
    """
    replies: list[dict] = []
    with namespace_transport(namespace, question.how) as call:

        def transport(asked: CallRequest, packed: bytes) -> dict:
            reply = call(asked, packed)
            replies.append(reply)
            reply["advice"] = advice_on_import(reply, _session.runs.lost_imports)
            if reply["kind"] == "missing":
                reply["text"] = missing_sentence(asked.name, _spare_functions(namespace), BY_HOW[asked.how].defined)
            return reply

        result = evaluate(question, transport, seed, _session.authored.wrong.of(question.id))
    printed = "".join(reply.get("output", "") for reply in replies)
    return (result, printed), not any(reply["kind"] in STOPPED for reply in replies)


def _record_results(results: list[QuestionResult], namespace: dict, card: Card) -> Card:
    """The card, its results recorded. A question whose cell did not run in this session keeps its old entry."""
    file = record_file(_session.authored.folder.parent)
    run = [r for r in results if r.question.name in namespace or _session.runs.failure(r.question.name)]
    if file is None or not run:
        return card
    try:
        return card + _once(remember(file, _session.authored.exercise, run))
    except RecordProblem as problem:
        return card + _once(str(problem))


def _record() -> Record | None:
    """What is on record; None where it is off or cannot be read."""
    file = record_file(_session.authored.folder.parent)
    try:
        return read_record(file) if file else None
    except RecordProblem:
        return None


def _course() -> Card:
    authoring = _session.authored.folder.parent
    file = record_file(authoring)
    try:
        return course_card(read_record(file), slugs_in(authoring)) if file else NOTHING
    except RecordProblem as problem:
        return _once(str(problem))


def _once(remark: str) -> Card:
    if not remark or remark in _session.told:
        return NOTHING
    _session.told.add(remark)
    return notice("Your record:", remark)


def _spare_functions(namespace: dict) -> dict[str, str]:
    """The learner's own functions and classes that no question asks for."""
    asked = {question.name for question in _session.authored.exercise.questions}
    own = [name for name, value in namespace.items() if callable(value) and scope_of(value) is namespace]
    return {name: "" for name in own if name not in asked}


def _question(id: object) -> Question | Card:
    if _session.authored is None:
        return _not_chosen()
    if not isinstance(id, str):
        ids = ", ".join(f'"{question.id}"' for question in _session.authored.exercise.questions)
        return notice("Which question?", f"Name one in quotation marks: {ids}.")
    try:
        return _session.authored.exercise.question(id)
    except KeyError as error:
        return notice("No such question.", str(error.args[0]))


def _not_chosen() -> Card:
    return notice("No exercise is chosen.", 'Run the cell with exercise("…") at the top of the notebook first.')
