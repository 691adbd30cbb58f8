"""The toy exercise, question ranges."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals
from clearcheck.author.battery import with_battery

from .shared import SECONDS, tables


def ranges(table):
    return table.min(axis=0), table.max(axis=0)


QUESTION = Question(
    id="ranges",
    title="Smallest and largest",
    name="column_ranges",
    minutes=5,
    difficulty=2,
    checks=with_battery(equals("values", 3, tables, ranges)),
    hints=("Two arrays are asked for.",),
    section="ranges-of-columns",
    seconds=SECONDS,
    inputs=Inputs(axes("NM")),
)

right, wrong = answers_to(QUESTION)


@right
def by_methods(table):
    return table.min(axis=0), table.max(axis=0)


@right
def by_sorting(table):
    ordered = np.sort(table, axis=0)
    return ordered[0], ordered[-1]


@right
def as_a_list(table):
    return [np.min(table, axis=0), np.max(table, axis=0)]


wrong.edits("""
# by_methods
## swapped: Smallest and largest have changed places.
- return table.min(axis=0), table.max(axis=0)
+ return table.max(axis=0), table.min(axis=0)
## of_rows: The ranges run along the rows.
+ return table.min(axis=1), table.max(axis=1)
## smallest_alone: Only the smallest entries are returned.
+ return table.min(axis=0)
## largest_alone: Only the largest entries are returned.
+ return table.max(axis=0)
## of_everything: The two numbers are those of the whole table.
+ return table.min(), table.max()
## width: The width of the range is returned, not its ends.
+ return table.max(axis=0) - table.min(axis=0)
## places: The places of the entries are returned, not the entries.
+ return table.argmin(axis=0), table.argmax(axis=0)

# by_sorting
## first_and_last: The first and the last row are returned.
- return ordered[0], ordered[-1]
+ return table[0], table[-1]
""")
