"""Checks of exercise 09: tables of probabilities that forgive no slip of an index, sure models, ties, whole texts."""

from clearcheck import Exercise

from . import bits, discount, filter, induction, loss, pack, surprise

EXERCISE = Exercise(
    slug="09-language-model",
    title="A language model",
    chapter="chapters/09-language-model",
    questions=(
        surprise.QUESTION,
        bits.QUESTION,
        discount.QUESTION,
        loss.QUESTION,
        filter.QUESTION,
        induction.QUESTION,
        pack.QUESTION,
    ),
)
