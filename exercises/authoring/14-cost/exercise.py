"""Checks of exercise 14: sums of powers, windows shorter and longer than the text, blocks that nobody may see."""

from clearcheck import Exercise

from . import block, blocks, cache, exponent, merge, paged, rolling

EXERCISE = Exercise(
    slug="14-cost",
    title="Cost and long sequences",
    chapter="chapters/14-cost",
    questions=(
        exponent.QUESTION,
        block.QUESTION,
        cache.QUESTION,
        merge.QUESTION,
        blocks.QUESTION,
        rolling.QUESTION,
        paged.QUESTION,
    ),
)
