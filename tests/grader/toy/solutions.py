"""Right solutions of the toy exercise."""

import numpy as np
from clearcheck import Solutions

SOLUTIONS = right = Solutions()


@right("means")
def by_method(table):
    return table.mean(axis=0)


@right("means")
def by_sum(table):
    return table.sum(axis=0) / len(table)


@right("means")
def by_loop(table):
    return np.array([sum(column) / len(column) for column in table.T])


@right("ranges")
def by_methods(table):
    return table.min(axis=0), table.max(axis=0)


@right("ranges")
def by_sorting(table):
    ordered = np.sort(table, axis=0)
    return ordered[0], ordered[-1]


@right("ranges")
def as_a_list(table):
    return [np.min(table, axis=0), np.max(table, axis=0)]
