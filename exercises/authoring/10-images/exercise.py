"""Checks of exercise 10: images that are not square, more than one channel, and as many hidden patches as it comes."""

from clearcheck import Exercise

from . import count, hide, look, loss, pool, resize, tokens

EXERCISE = Exercise(
    slug="10-images",
    title="Images",
    chapter="chapters/10-images",
    questions=(
        count.QUESTION,
        tokens.QUESTION,
        pool.QUESTION,
        look.QUESTION,
        hide.QUESTION,
        loss.QUESTION,
        resize.QUESTION,
    ),
)
