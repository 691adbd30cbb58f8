"""Checks of exercise 17: what is read, a state in rounds, chunks of two kinds, and a fact exchanged."""

from clearcheck import Exercise

from . import chunks, delta, edit, museum, reads, scan

EXERCISE = Exercise(
    slug="17-long-memory",
    title="Long memory",
    chapter="chapters/17-long-memory",
    core=("museum", "reads", "scan"),
    questions=tuple(one.QUESTION for one in (reads, museum, delta, edit, scan, chunks)),
)
