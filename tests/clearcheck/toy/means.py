"""The toy exercise, question means."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery

from .shared import SECONDS, tables


def means(table):
    return table.mean(axis=0)


def a_shift_moves_the_mean(ask, rng):
    table = rng.normal(size=(7, 5))
    gap = ask(table + 2.0) - ask(table)
    return None if abs(gap - 2.0).max() < 1e-9 else "Adding 2 to every entry must add 2 to every mean."


QUESTION = Question(
    id="means",
    title="Means of the columns",
    name="column_means",
    minutes=5,
    difficulty=1,
    checks=with_battery(equals("values", 4, tables, means), holds("shift", 2, a_shift_moves_the_mean)),
    hints=("Which axis runs down a column?", "Axis 0 runs down a column."),
    section="means-of-columns",
    seconds=SECONDS,
    inputs=Inputs(axes("NM")),
)

right, wrong = answers_to(QUESTION)


@right
def by_method(table):
    return table.mean(axis=0)


@right
def by_sum(table):
    return table.sum(axis=0) / len(table)


@right
def by_loop(table):
    return np.array([sum(column) / len(column) for column in table.T])


@wrong("The caller's table is divided in place.")
def in_place(table):
    table /= len(table)
    return table.sum(axis=0)


wrong.edits("""
# by_method
## over_rows [rows-and-columns]: The mean runs along the rows.
- return table.mean(axis=0)
+ return table.mean(axis=1)
## over_everything: One mean is taken of the whole table.
+ return table.mean()
## median: The median is another kind of middle.
+ return np.median(table, axis=0)
## without_signs: The mean is taken of the sizes, without signs.
+ return np.abs(table).mean(axis=0)

# by_sum
## sum_only: The sum is not divided by the number of rows.
- return table.sum(axis=0) / len(table)
+ return table.sum(axis=0)
## divided_by_columns: The sum is divided by the number of columns.
+ return table.sum(axis=0) / table.shape[1]
## one_row_too_few: The sum is divided by one row too few.
+ return table.sum(axis=0) / (len(table) - 1)
""")
