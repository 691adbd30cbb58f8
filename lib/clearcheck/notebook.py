"""What a learner calls in a notebook: `exercise`, `bring`, `check`, `hint`, `progress`, `reset`. None of them raises.

The answers are the functions of the caller's own notebook. What is kept are their points, in a file on this machine.
"""

import sys
from dataclasses import dataclass, field

from clearcheck.bring import brought_card
from clearcheck.calls import call_named
from clearcheck.evaluate import QuestionResult, evaluate
from clearcheck.exercise import Question
from clearcheck.loading import Authored, load, slugs_in
from clearcheck.names import missing_sentence
from clearcheck.records import RecordProblem, known, record_file, remember
from clearcheck.report import NOTHING, Card, course_card, notice, progress_card, question_card
from clearcheck.reset import offer

SEED = 0  # fixed, so that a check repeats; `grade` draws a fresh one


@dataclass
class _Session:
    """The exercise that this notebook works on, and how many hints of each question were shown."""

    authored: Authored | None = None
    hints: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # remarks about the record, each made once


_session = _Session()


def exercise(slug: str) -> Card:
    """Choose the exercise of this notebook."""
    try:
        authored = load(slug)
    except Exception as error:
        return notice("The exercise could not be loaded.", str(error))
    _session.authored, _session.hints = authored, {}
    chosen = authored.exercise
    size = f"({len(chosen.questions)} questions, {chosen.points} points)."
    return notice(chosen.title, f'{size} Ask check("…"), hint("…") or progress() at any time.')


def check(id: str, seed: int = SEED) -> Card:
    """Check one answer now."""
    namespace = sys._getframe(1).f_globals
    question = _question(id)
    if isinstance(question, Card):
        return question
    result = _evaluate(question, namespace, seed)
    return _kept([result], namespace, question_card(_session.authored.exercise, result))


def hint(id: str) -> Card:
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
    results = [_evaluate(question, namespace, seed) for question in chosen.questions]
    return _kept(results, namespace, progress_card(chosen, results)) + _course()


def reset(id: str) -> Card:
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
        return brought_card(_session.authored.exercise, namespace)
    except Exception as error:
        return notice("The earlier notebooks could not be read.", str(error))


def _evaluate(question: Question, namespace: dict, seed: int) -> QuestionResult:
    def transport(name: str, packed: bytes, seconds: float) -> dict:
        reply = call_named(namespace, name, packed, seconds)
        if reply["kind"] == "missing":
            reply["text"] = missing_sentence(name, _spare_functions(namespace))
        return reply

    return evaluate(question, transport, seed, _session.authored.wrong.of(question.id))


def _kept(results: list[QuestionResult], namespace: dict, card: Card) -> Card:
    """The card, its results recorded. A question whose cell did not run in this session keeps its old entry."""
    file, run = record_file(_session.authored.folder.parent), [r for r in results if r.question.name in namespace]
    if file is None or not run:
        return card
    try:
        return card + _once(remember(file, _session.authored.exercise, run))
    except RecordProblem as problem:
        return card + _once(str(problem))


def _course() -> Card:
    authoring = _session.authored.folder.parent
    file = record_file(authoring)
    try:
        return course_card(known(file), slugs_in(authoring)) if file else NOTHING
    except RecordProblem as problem:
        return _once(str(problem))


def _once(remark: str) -> Card:
    if not remark or remark in _session.told:
        return NOTHING
    _session.told.add(remark)
    return notice("Your record:", remark)


def _spare_functions(namespace: dict) -> dict[str, str]:
    """The learner's own functions that no question asks for."""
    asked = {question.name for question in _session.authored.exercise.questions}
    own = [name for name, value in namespace.items() if getattr(value, "__globals__", None) is namespace]
    return {name: "" for name in own if name not in asked}


def _question(id: str) -> Question | Card:
    if _session.authored is None:
        return _not_chosen()
    try:
        return _session.authored.exercise.question(id)
    except KeyError as error:
        return notice("No such question.", str(error.args[0]))


def _not_chosen() -> Card:
    return notice("No exercise is chosen.", 'Run the cell with exercise("…") at the top of the notebook first.')
