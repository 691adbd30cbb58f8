"""Checks of exercise 06: positions that start late, have gaps and come unsorted, since 0, 1, 2, … hides most slips."""

from clearcheck import Exercise

from . import alibi, head, mask, museum, placing, rotary, sinusoids

EXERCISE = Exercise(
    slug="06-position",
    title="Positions",
    chapter="chapters/06-position",
    core=("sinusoids", "rotary", "head"),
    questions=tuple(one.QUESTION for one in (sinusoids, placing, alibi, rotary, head, mask, museum)),
)
