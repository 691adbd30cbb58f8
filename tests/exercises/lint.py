"""The rules that the checks of every exercise keep, tried on what the checks really draw. A rule yields sentences.

Each rule stands for a wrong answer that well-known courses let pass: equal sizes hide a missing transpose, saturated
scores a missing scale, small ones an overflow, biases of 0 a missing bias, positions 0 to n a position that is ignored.

    python -m tests.exercises.lint 03-self-attention [FOLDER OF ANOTHER COURSE]     for one exercise alone
"""

import sys
from itertools import permutations
from pathlib import Path

from tests.exercises.lint_inputs import ON_INPUTS
from tests.exercises.subject import Subject, subject_of


def lint(subject: Subject) -> list[str]:
    """Every misfit of an exercise."""
    misfits = [misfit for rule in OF_AN_EXERCISE for misfit in rule(subject)]
    for question in subject.exercise.questions:
        if not subject.right.of(question.id):
            misfits.append(f"{question.id}: there is no right solution.")
            continue
        misfits += [f"{question.id}: {misfit}" for rule in OF_A_QUESTION for misfit in rule(subject, question)]
    return misfits


def points(subject):
    if not 10 <= subject.exercise.points <= 100:
        yield f"the notebook has {subject.exercise.points} points; 10 to 100 are expected."


def number_of_questions(subject):
    if len(subject.exercise.questions) < 5:
        yield f"the notebook has {len(subject.exercise.questions)} questions; at least 5 are expected."


def stretch(subject):
    titles = [question.title for question in subject.exercise.questions]
    if [title.startswith("Stretch: ") for title in titles] != [False] * (len(titles) - 1) + [True]:
        yield "the last question, and no other, is a stretch task: its title begins with 'Stretch: '."
    elif subject.exercise.questions[-1].difficulty != 3:
        yield "the stretch task has the difficulty 3."


def solutions(subject, question):
    for kind, collection, least in (("right", subject.right, 3), ("wrong", subject.wrong, 8)):
        if len(collection.of(question.id)) < least:
            yield f"{len(collection.of(question.id))} {kind} solutions; at least {least} are expected."
    wrong = subject.wrong.of(question.id)
    for entry in wrong:
        if not entry.says.endswith("."):
            yield f"{entry.name} needs a whole sentence."
    for one, other in permutations(wrong, 2):
        if one.says in other.says:
            yield f"what {one.name} is told is told to {other.name}, too."


def partial_credit(subject, question):
    if len(question.checks) < 2:
        yield "one check for all points; at least two are expected, so that half an answer is worth something."
    if question.how != "training" and not any(hasattr(check, "cases") for check in question.checks):
        yield "no check compares a whole result with a reference."


def hints(subject, question):
    if len(set(question.hints)) != 3 or not all(hint.strip()[-1:] in set(".?!") for hint in question.hints):
        yield "three different hints, each in whole sentences, are expected."


def effort(subject, question):
    if not 5 <= question.minutes <= 45:
        yield f"{question.minutes} minutes; 5 to 45 are expected."
    if question.difficulty not in (1, 2, 3):
        yield f"a difficulty of {question.difficulty}; 1, 2 or 3 is expected."
    if not question.section:
        yield "no section to read."


OF_AN_EXERCISE = (points, number_of_questions, stretch)
OF_A_QUESTION = (solutions, partial_credit, hints, effort, *ON_INPUTS)


if __name__ == "__main__":
    found = lint(subject_of(sys.argv[1], *map(Path, sys.argv[2:3])))
    print("\n".join(found) or "No misfit.")
    sys.exit(1 if found else 0)
