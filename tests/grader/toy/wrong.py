"""Named mistakes of the toy exercise."""

import numpy as np
from clearcheck import WrongSolutions

WRONG = wrong = WrongSolutions()


@wrong("means", says="The mean runs along the rows.", section="rows-and-columns")
def over_rows(table):
    return table.mean(axis=1)


@wrong("means", says="One mean is taken of the whole table.")
def over_everything(table):
    return table.mean()


@wrong("means", says="The sum is not divided by the number of rows.")
def sum_only(table):
    return table.sum(axis=0)


@wrong("means", says="The sum is divided by the number of columns.")
def divided_by_columns(table):
    return table.sum(axis=0) / table.shape[1]


@wrong("means", says="The sum is divided by one row too few.")
def one_row_too_few(table):
    return table.sum(axis=0) / (len(table) - 1)


@wrong("means", says="The median is another kind of middle.")
def median(table):
    return np.median(table, axis=0)


@wrong("means", says="The mean is taken of the sizes, without signs.")
def without_signs(table):
    return np.abs(table).mean(axis=0)


@wrong("means", says="The caller's table is divided in place.")
def in_place(table):
    table /= len(table)
    return table.sum(axis=0)


@wrong("ranges", says="Smallest and largest have changed places.")
def swapped(table):
    return table.max(axis=0), table.min(axis=0)


@wrong("ranges", says="The ranges run along the rows.")
def of_rows(table):
    return table.min(axis=1), table.max(axis=1)


@wrong("ranges", says="Only the smallest entries are returned.")
def smallest_alone(table):
    return table.min(axis=0)


@wrong("ranges", says="Only the largest entries are returned.")
def largest_alone(table):
    return table.max(axis=0)


@wrong("ranges", says="The two numbers are those of the whole table.")
def of_everything(table):
    return table.min(), table.max()


@wrong("ranges", says="The width of the range is returned, not its ends.")
def width(table):
    return table.max(axis=0) - table.min(axis=0)


@wrong("ranges", says="The first and the last row are returned.")
def first_and_last(table):
    return table[0], table[-1]


@wrong("ranges", says="The places of the entries are returned, not the entries.")
def places(table):
    return table.argmin(axis=0), table.argmax(axis=0)
