"""Exercise 05, question lamp: light any lamp by hand."""

from itertools import product

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery


def lamp_network(wanted):
    n = len(wanted) - 1
    changes = np.diff(np.diff(wanted), prepend=0.0)
    return np.ones((n, n)), -np.arange(n, dtype=float), changes[None, :], wanted[:1].copy()


def any_numbers(rng):
    sizes = [1, 2, *rng.choice([3, 4, 5, 6, 7], 2, replace=False)]
    return [(rng.normal(size=int(n) + 1) + 2.0,) for n in sizes]


def lamps(rng):
    """Burns with some brightness when an odd number of switches is up."""
    return [(rng.uniform(1.5, 9) * (np.arange(n + 1) % 2),) for n in (2, 3, 5)]


def every_position_of_the_switches(ask, rng):
    for n in (2, 4):
        wanted = rng.normal(size=n + 1)
        found = ask(wanted)
        if not isinstance(found, tuple | list) or len(found) != 4 or not all(isinstance(a, np.ndarray) for a in found):
            return "The result should be a tuple of four arrays: W_1, b_1, W_2 and b_2."
        W_1, b_1, W_2, b_2 = found
        if W_1.ndim != 2 or W_1.shape[1] != n or len(W_1) > n or W_2.shape != (1, len(W_1)):
            return f"For {n} switches W_1 needs {n} columns and at most {n} rows, and W_2 one column for each of these."
        if b_1.shape != (len(W_1),) or b_2.shape != (1,):
            return "A bias has one number for each row of its matrix."
        switches = np.array(list(product([0.0, 1.0], repeat=n))).T
        burns = mlp_relu_any(switches, W_1, b_1, W_2, b_2)[0]
        bad = np.abs(burns - wanted[switches.sum(axis=0).astype(int)]) > 1e-9
        if bad.any():
            column = switches[:, np.flatnonzero(bad)[0]].astype(int).tolist()
            return f"With the switches at {column} your network gives {burns[bad][0]:.4g}, which is not what is wanted."
    return None


def mlp_relu_any(X, W_1, b_1, W_2, b_2):
    """An MLP whose output may be narrower than its input."""
    return W_2 @ np.maximum(W_1 @ X + b_1[:, None], 0) + b_2[:, None]


QUESTION = Question(
    id="lamp",
    title="Light any lamp by hand",
    name="lamp_network",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("any wish", 6, any_numbers, lamp_network),
        equals("lamps", 2, lamps, lamp_network),
        holds("every position of the switches", 4, every_position_of_the_switches),
        off=dict.fromkeys(
            ("one of each", "odd sizes"), "one number is a lamp without a switch, and one switch is among the cases"
        ),
    ),
    hints=(
        "Draw the output against the number of switches that are up, as a line with corners. What does the "
        "network give when all are down, and which of its parts is then at work alone?",
        "From a count of f on, unit f grows by 1 with every further switch, and goes on doing so. What is the "
        "slope of your line between two counts, in terms of the entries of W_2?",
        "Go from left to right. Between the counts 0 and 1 only one unit moves: that gives its weight. Between "
        "1 and 2 two of them move, and one weight is known already.",
    ),
    section="the-same-network-for-every-token",
    inputs=Inputs(axes("W")),
)

right, wrong = answers_to(QUESTION)


@right
def second_differences(wanted):
    n = len(wanted) - 1
    slopes = wanted[1:] - wanted[:-1]
    weights = slopes - np.concatenate([[0.0], slopes[:-1]])
    return np.ones((n, n)), -1.0 * np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0


@right
def by_solving_equations(wanted):
    n = wanted.size - 1
    counts = np.arange(n + 1.0)
    units = np.maximum(counts[1:, None] - np.arange(n), 0)
    readout = np.linalg.solve(units, wanted[1:] - wanted[0])
    return np.ones((n, n)), -np.arange(float(n)), readout[None], np.array([wanted[0]])


@right
def from_left_to_right(wanted):
    n = len(wanted) - 1
    b_1 = np.array([-float(f) for f in range(n)])
    W_2, reached = np.zeros((1, n)), np.full(n + 1, wanted[0])
    for f in range(n):
        W_2[0, f] = wanted[f + 1] - reached[f + 1]
        reached = reached + W_2[0, f] * np.maximum(np.arange(n + 1) - f, 0)
    return np.ones((n, n)), b_1, W_2, np.array([wanted[0]])


wrong.edits("""
# second_differences
## no_matrix_and_no_vector: Your W_2 is a vector and your b_2 a number; they are a matrix and a vector, however small.
- return np.ones((n, n)), -1.0 * np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return np.ones((n, n)), -1.0 * np.arange(n), weights, wanted[0]
## always_up_and_down: Your weights make every second lamp burn alike, whatever is wanted beyond the first two counts.
- weights = slopes - np.concatenate([[0.0], slopes[:-1]])
+ weights = slopes[0] * 2.0 * (-1.0) ** np.arange(n)
+ weights[0] = slopes[0]
## steps_as_weights: You use each step as a weight, but a unit that is on goes on growing with every further switch.
- slopes = wanted[1:] - wanted[:-1]
- weights = slopes - np.concatenate([[0.0], slopes[:-1]])
- return np.ones((n, n)), -1.0 * np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return np.ones((n, n)), -np.arange(float(n)), np.diff(wanted)[None], wanted[:1].copy()
## wishes_as_weights [hidden-units-are-questions]: You use the wanted outputs themselves as weights, as if exactly one
unit were on at a time.
+ return np.ones((n, n)), -np.arange(float(n)), wanted[1:][None].copy(), wanted[:1].copy()
## always_the_lamp: Your weights always give the outputs 0, 1, 0, 1 …, whatever is wanted.
+ weights = 2.0 * (-1.0) ** np.arange(n)
+ weights[0] = 1.0
+ return np.ones((n, n)), -np.arange(float(n)), weights[None], np.zeros(1)
## no_output_bias: Your output bias is 0, so the network cannot give what is wanted when every switch is down.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second[None], np.zeros(1)
## first_climb_from_zero: Your first weight climbs from 0; it should climb from the output for no switch.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ second[0] = wanted[1]
+ return np.ones((n, n)), -np.arange(float(n)), second[None], wanted[:1].copy()
## thresholds_one_too_high: Your thresholds begin one too high: the first unit stays silent when a single switch is up.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(1.0, n + 1), second[None], wanted[:1].copy()
## thresholds_positive: The sign of your thresholds is turned round: every unit is on from the start.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), np.arange(1.0, n + 1), second[None], wanted[:1].copy()
## no_thresholds [the-bend]: None of your units has a threshold, so all of them give the same number.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), np.zeros(n), second[None], wanted[:1].copy()
## readout_upright: Your W_2 stands upright, as if there were n outputs and one hidden unit.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second[:, None], wanted[:1].copy()
## readout_flat: Your W_2 is a vector; a matrix with a single row is still a matrix.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second, wanted[:1].copy()
## output_bias_a_number: Your b_2 is a number; a bias is a vector, even if it holds one number alone.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second[None, :], wanted[0]
## one_switch_each: Each of your units looks at one switch alone, but it should count all of them.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.eye(n), -np.arange(float(n)), second[None], wanted[:1].copy()
## changes_backwards: Your changes of slope are taken backwards, old minus new.
+ slopes = np.diff(wanted)
+ weights = np.append(slopes[:1], slopes[:-1] - slopes[1:])
+ return np.ones((n, n)), -np.arange(float(n)), weights[None], wanted[:1].copy()
## whole_numbers: Your b_1 holds whole numbers; a network's parameters are floating-point numbers.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(n), second[None], wanted[:1].copy()
## three_arrays: You return three of the four arrays: the output has a bias as well.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second[None]
## bias_from_the_other_end: Your output bias is what is wanted with every switch up; the bias works alone when all are
down.
+ second = np.diff(np.diff(wanted), prepend=0.0)
+ return np.ones((n, n)), -np.arange(float(n)), second[None], wanted[-1:].copy()
## matrix_of_whole_numbers: Your W_1 holds whole numbers; a network's parameters are floating-point numbers.
- return np.ones((n, n)), -1.0 * np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return np.ones((n, n), dtype=int), -1.0 * np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
## all_whole_numbers: Your W_1 and b_1 hold whole numbers; a network's parameters are floating-point numbers.
+ return np.ones((n, n), dtype=int), -np.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
""")
