"""A toy exercise about the columns of a table: sizes 7, 5 and 11, 3."""

from clearcheck import Exercise

from . import means, ranges

EXERCISE = Exercise(
    slug="01-columns",
    title="Columns",
    chapter="chapters/01-columns",
    questions=(means.QUESTION, ranges.QUESTION),
)
