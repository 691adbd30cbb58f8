"""The rules that the checks of a question keep, tried on what the checks really draw. A rule yields sentences.

Each rule stands for a wrong answer that well-known courses let pass: equal sizes hide a missing transpose, saturated
scores a missing scale, small ones an overflow, biases of 0 a missing bias, positions 0 to n a position that is ignored.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import permutations

from clearcheck.author.battery_list import Decision, battery_of, deals_with
from clearcheck.author.lint_inputs import ON_INPUTS
from clearcheck.author.lint_words import advice
from clearcheck.author.loading import load_exercise
from clearcheck.author.mistakes import LEAST_RIGHT, LEAST_WRONG
from clearcheck.author.subject import SEEDS, Subject
from clearcheck.grading.question import Question

LEAST_MINUTES, MOST_MINUTES = 5, 45
NEEDS_A_WORD = {
    "mask": ("a mask", "a mask"),
    "ties": ("a choice among what may be equal", 'more={"ties": …}'),
    "boundary": ("a limit that values are held to", 'more={"boundary": …}'),
}


def lint(slug: str, question: str | None = None) -> list[str]:
    """Every misfit of an exercise, or of one question of it. Raises: ExerciseNotFound, AuthoringError."""
    authored = load_exercise(slug)
    subject = Subject(authored.exercise, authored.right, authored.wrong)
    return misfits(subject, authored.exercise.questions if question is None else [authored.question(question)])


def misfits(subject: Subject, questions: Sequence[Question]) -> list[str]:
    """What the rules say of these questions."""
    found = []
    for question in questions:
        if not subject.right.of(question.id):
            found.append(f"{question.id}: there is no right solution.")
            continue
        found += [f"{question.id}: {misfit}" for rule in OF_A_QUESTION for misfit in rule(subject, question)]
    return found


def solutions(subject: Subject, question: Question) -> Iterator[str]:
    for kind, collection, least in (("right", subject.right, LEAST_RIGHT), ("wrong", subject.wrong, LEAST_WRONG)):
        if len(collection.of(question.id)) < least:
            yield f"{len(collection.of(question.id))} {kind} solutions; at least {least} are expected."
    wrong = subject.wrong.of(question.id)
    for entry in wrong:
        if not entry.says.endswith("."):
            yield f"{entry.name} needs a whole sentence."
    for one, other in permutations(wrong, 2):
        if one.says in other.says:
            yield f"what {one.name} is told is told to {other.name}, too."


def partial_credit(subject: Subject, question: Question) -> Iterator[str]:
    if len(question.checks) < 2:
        yield "one check for all points; at least two are expected, so that half an answer is worth something."
    if question.how != "training" and not any(hasattr(check, "cases") for check in question.checks):
        yield "no check compares a whole result with a reference."


def leaning(subject: Subject, question: Question) -> Iterator[str]:
    others = {other.name: other.id for other in subject.exercise.questions if other.id != question.id}
    for entry in subject.right.of(question.id):
        for name in sorted(_names_from_outside(entry.source) & others.keys()):
            if others[name] not in question.leans_on:
                yield f'{entry.name} calls {name}, and leans_on does not name "{others[name]}".'


def _names_from_outside(source: str) -> set[str]:
    """The names that a solution reads and nowhere sets."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {node.id for node in names} - own


def hints(subject: Subject, question: Question) -> Iterator[str]:
    if len(set(question.hints)) != 3 or not all(hint.strip()[-1:] in set(".?!") for hint in question.hints):
        yield "three different hints, each in whole sentences, are expected."


def effort(subject: Subject, question: Question) -> Iterator[str]:
    if not LEAST_MINUTES <= question.minutes <= MOST_MINUTES:
        yield f"{question.minutes} minutes; {LEAST_MINUTES} to {MOST_MINUTES} are expected."
    if question.difficulty not in (1, 2, 3):
        yield f"a difficulty of {question.difficulty}; 1, 2 or 3 is expected."
    if not question.section:
        yield "no section to read."


def battery_list(slug: str, question: str | None = None) -> list[str]:
    """What the battery tries with each question, and why an entry is off. Raises: as `lint`."""
    authored = load_exercise(slug)
    subject = Subject(authored.exercise, authored.right, authored.wrong)
    chosen = authored.exercise.questions if question is None else [authored.question(question)]
    return [line for asked in chosen for line in _battery_lines(subject, asked)]


def _battery_lines(subject: Subject, question: Question) -> list[str]:
    decisions = _decisions(subject, question)
    if not decisions:
        return [f"{question.id}: no battery; write checks=with_battery(…)."]
    return [f"{question.id}: {decision}" for decision in decisions]


def _decisions(subject: Subject, question: Question) -> list[Decision]:
    return battery_of(question, deals_with(subject, question), SEEDS)


def battery(subject: Subject, question: Question) -> Iterator[str]:
    for decision in _decisions(subject, question):
        if not decision.on and not decision.why:
            deals, ask = NEEDS_A_WORD[decision.name]
            yield f"it deals with {deals}, and its battery does not: give with_battery {ask}, or say in off why not."


OF_A_QUESTION = (solutions, partial_credit, leaning, hints, advice, effort, battery, *ON_INPUTS)
