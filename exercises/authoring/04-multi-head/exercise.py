"""Checks of exercise 04: heads, tokens, widths and batch that do not divide each other."""

from clearcheck import Exercise

from . import counts, groups, join, layer, low_rank, museum, split

EXERCISE = Exercise(
    slug="04-multi-head",
    title="Multi-head attention",
    chapter="chapters/04-multi-head",
    core=("split", "join", "layer"),
    questions=tuple(one.QUESTION for one in (split, join, layer, low_rank, counts, groups, museum)),
)
