"""The rules that every exercise of this course keeps, beyond those that `clearcheck lint` has for any course."""

from functools import cache

from clearcheck.author.lint import misfits
from clearcheck.author.subject import Subject

from tests.exercises.course_exercises import course_exercise


def lint(subject: Subject) -> list[str]:
    """Every misfit of an exercise."""
    of_the_whole = [misfit for rule in OF_AN_EXERCISE for misfit in rule(subject)]
    return of_the_whole + misfits(subject, subject.exercise.questions)


@cache
def subject_of(slug: str) -> Subject:
    it = course_exercise(slug)
    return Subject(it.exercise, it.right, it.wrong)


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


OF_AN_EXERCISE = (points, number_of_questions, stretch)
