"""Checks of exercise 17: a state that is the sum over the past, and chunks of any length."""

from clearcheck import Exercise

from . import chunks, museum

EXERCISE = Exercise(
    slug="17-long-memory",
    title="Long memory",
    chapter="chapters/17-long-memory",
    core=("museum",),
    questions=tuple(one.QUESTION for one in (museum, chunks)),
)
