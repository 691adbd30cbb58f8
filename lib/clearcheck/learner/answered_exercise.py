"""Which exercise a learner's notebook answers."""

from pathlib import Path

from clearcheck.author.loading import AuthoredExercise, known_slugs, load_exercise
from clearcheck.grading.question import SLUG
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import Submission


class NoExercise(NotANotebook):
    """A notebook that does not say which exercise it answers."""


def answered_exercise(submission: Submission, slug: str | None = None) -> AuthoredExercise:
    """The exercise of this name, or without one that which the notebook answers, from where it lies.

    Raises: NoExercise, ExerciseNotFound, AuthoringError.
    """
    return load_exercise(slug or exercise_slug(submission))


def exercise_slug(submission: Submission, start: Path | None = None) -> str:
    """The exercise by its `exercise("…")` call, else its metadata, else its file name, if `start` knows it.

    Raises: NoExercise.
    """
    known = known_slugs(start)
    in_the_name = (slug for slug in known if slug in submission.name)
    for candidate in [*submission.slugs, *in_the_name]:
        if SLUG.fullmatch(candidate):
            return candidate
    example = known[0] if known else "03-self-attention"
    raise NoExercise(
        f'{submission.name} does not say which exercise it answers: keep its cell exercise("…"), '
        f"or pass --exercise, for instance --exercise {example}."
    )
