"""Checks of exercise 02: counts, look-ups, and a player that learns where to look."""

from clearcheck import Exercise

from . import lookup, lookups, recall, softmax, waiting

EXERCISE = Exercise(
    slug="02-attention",
    title="Attention",
    chapter="chapters/02-attention",
    core=("softmax", "lookups"),
    questions=tuple(one.QUESTION for one in (waiting, softmax, lookup, lookups, recall)),
)
