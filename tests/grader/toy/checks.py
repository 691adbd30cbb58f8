"""A toy exercise about the columns of a table: sizes 7, 5 and 11, 3."""

from clearcheck import Exercise, Question, equals, holds

SECONDS = 2.0  # of one call: short, since some tests loop for ever


def tables(rng):
    return [(rng.normal(size=(7, 5)),), (3 + rng.normal(size=(11, 3)),)]


def means(table):
    return table.mean(axis=0)


def ranges(table):
    return table.min(axis=0), table.max(axis=0)


def a_shift_moves_the_mean(ask, rng):
    table = rng.normal(size=(7, 5))
    gap = ask(table + 2.0) - ask(table)
    return None if abs(gap - 2.0).max() < 1e-9 else "Adding 2 to every entry must add 2 to every mean."


EXERCISE = Exercise(
    slug="01-columns",
    title="Columns",
    chapter="chapters/01-columns",
    questions=(
        Question(
            id="means",
            title="Means of the columns",
            name="column_means",
            minutes=5,
            difficulty=1,
            checks=(equals("values", 4, tables, means), holds("shift", 2, a_shift_moves_the_mean)),
            hints=("Which axis runs down a column?", "Axis 0 runs down a column."),
            section="means-of-columns",
            seconds=SECONDS,
        ),
        Question(
            id="ranges",
            title="Smallest and largest",
            name="column_ranges",
            minutes=5,
            difficulty=2,
            checks=(equals("values", 3, tables, ranges),),
            hints=("Two arrays are asked for.",),
            section="ranges-of-columns",
            seconds=SECONDS,
        ),
    ),
)
