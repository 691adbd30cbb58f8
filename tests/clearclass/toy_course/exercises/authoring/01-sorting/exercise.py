"""A course that knows nothing of transformers: two questions on sorting, with numbers that repeat and change sign."""

from clearcheck import Exercise

from . import merge, order

EXERCISE = Exercise(
    slug="01-sorting",
    title="Sorting",
    chapter="chapters/01-sorting",
    core=("order",),
    questions=(order.QUESTION, merge.QUESTION),
)
