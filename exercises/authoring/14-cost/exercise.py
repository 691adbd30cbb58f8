"""Checks of exercise 14: steps on all sides of the ridge, blocks that nobody may see, caches after a round."""

from clearcheck import Exercise

from . import blocks, decode, figure, grouped, merge, paged, rolling, seldom

EXERCISE = Exercise(
    slug="14-cost",
    title="Cost and long sequences",
    chapter="chapters/14-cost",
    core=("decode", "merge", "grouped"),
    questions=tuple(one.QUESTION for one in (decode, figure, merge, blocks, seldom, grouped, rolling, paged)),
)
