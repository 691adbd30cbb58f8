"""Exercise 05, question lamp: light any lamp by hand."""

from itertools import product

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery

from .shared import IN_FLOAT32


def lamp_network(wanted):
    n = len(wanted) - 1
    changes = torch.diff(torch.diff(wanted), prepend=torch.zeros(1))
    return torch.ones(n, n), -torch.arange(float(n)), changes[None, :], wanted[:1].clone()


def any_numbers(rng):
    sizes = [1, 2, *rng.choice([3, 4, 5, 6, 7], 2, replace=False)]
    return [(rng.normal(size=int(n) + 1) + 2.0,) for n in sizes]


def lamps(rng):
    """Are on, with some brightness, when an odd number of switches is up."""
    return [(rng.uniform(1.5, 9) * (np.arange(n + 1) % 2),) for n in (2, 3, 5)]


def every_position_of_the_switches(ask, rng):
    for n in (2, 4):
        wanted = rng.normal(size=n + 1)
        found = ask(wanted)
        if not isinstance(found, tuple | list) or len(found) != 4 or not all(isinstance(a, np.ndarray) for a in found):
            return "The result should be a tuple of four tensors: W_1, b_1, W_2 and b_2."
        W_1, b_1, W_2, b_2 = found
        if W_1.ndim != 2 or W_1.shape[1] != n or len(W_1) > n or W_2.shape != (1, len(W_1)):
            return f"For {n} switches W_1 needs {n} columns and at most {n} rows, and W_2 one column for each of these."
        if b_1.shape != (len(W_1),) or b_2.shape != (1,):
            return "A bias has one number for each row of its matrix."
        switches = np.array(list(product([0.0, 1.0], repeat=n)))
        given = (np.maximum(switches @ W_1.T + b_1, 0) @ W_2.T + b_2)[:, 0]
        bad = np.abs(given - wanted[switches.sum(axis=1).astype(int)]) > IN_FLOAT32
        if bad.any():
            row = switches[np.flatnonzero(bad)[0]].astype(int).tolist()
            return f"With the switches at {row} your network gives {given[bad][0]:.4g}, which is not what is wanted."
    return None


QUESTION = Question(
    id="lamp",
    title="Light any lamp by hand",
    name="lamp_network",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("any wish", 5, any_numbers, lamp_network, parts=(2, 3)),
        equals("units", 1, any_numbers, lamp_network, parts=(0, 1)),
        equals("lamps", 2, lamps, lamp_network, parts=(2, 3)),
        holds("every position of the switches", 4, every_position_of_the_switches),
        also=("units",),
        off={
            **dict.fromkeys(
                ("one of each", "odd sizes"), "one number is a lamp without a switch, and one switch is among the cases"
            ),
            "gradients": "the network is built by hand, number by number if one likes",
        },
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
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def second_differences(wanted):
    n = len(wanted) - 1
    slopes = wanted[1:] - wanted[:-1]
    weights = slopes - torch.cat([torch.zeros(1), slopes[:-1]])
    return torch.ones(n, n), -1.0 * torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0


@right
def by_solving_equations(wanted):
    n = wanted.numel() - 1
    counts = torch.arange(n + 1.0)
    units = (counts[1:, None] - torch.arange(n)).clamp(min=0)
    readout = torch.linalg.solve(units, wanted[1:] - wanted[0])
    return torch.ones(n, n), -torch.arange(float(n)), readout[None], wanted[0].reshape(1)


@right
def from_left_to_right(wanted):
    n = len(wanted) - 1
    b_1 = torch.tensor([-float(f) for f in range(n)])
    W_2, reached = torch.zeros(1, n), wanted[0].repeat(n + 1)
    for f in range(n):
        W_2[0, f] = wanted[f + 1] - reached[f + 1]
        reached = reached + W_2[0, f] * (torch.arange(n + 1) - f).clamp(min=0)
    return torch.ones(n, n), b_1, W_2, torch.tensor([wanted[0]])


wrong.edits("""
# second_differences
## no_matrix_and_no_vector: Your W_2 is a vector and your b_2 a number; they are a matrix and a vector, however small.
- return torch.ones(n, n), -1.0 * torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return torch.ones(n, n), -1.0 * torch.arange(n), weights, wanted[0]
## always_up_and_down: Your weights make every second output alike, whatever is wanted beyond the first two counts.
- weights = slopes - torch.cat([torch.zeros(1), slopes[:-1]])
+ weights = slopes[0] * 2.0 * (-1.0) ** torch.arange(n)
+ weights[0] = slopes[0]
## steps_as_weights: You use each step as a weight, but a unit that is on goes on growing with every further switch.
- slopes = wanted[1:] - wanted[:-1]
- weights = slopes - torch.cat([torch.zeros(1), slopes[:-1]])
- return torch.ones(n, n), -1.0 * torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return torch.ones(n, n), -torch.arange(float(n)), wanted.diff()[None], wanted[:1].clone()
## wishes_as_weights [hidden-units-are-questions]: You use the wanted outputs themselves as weights, as if exactly one
unit were on at a time.
+ return torch.ones(n, n), -torch.arange(float(n)), wanted[1:][None].clone(), wanted[:1].clone()
## always_the_lamp: Your weights always give the outputs 0, 1, 0, 1 …, whatever is wanted.
+ weights = 2.0 * (-1.0) ** torch.arange(n)
+ weights[0] = 1.0
+ return torch.ones(n, n), -torch.arange(float(n)), weights[None], torch.zeros(1)
## no_output_bias: Your output bias is 0, so the network cannot give what is wanted when every switch is down.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second[None], torch.zeros(1)
## first_climb_from_zero: Your first weight climbs from 0; it should climb from the output for no switch.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ second[0] = wanted[1]
+ return torch.ones(n, n), -torch.arange(float(n)), second[None], wanted[:1].clone()
## thresholds_one_too_high: Your thresholds begin one too high: the first unit stays silent when a single switch is up.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(1.0, n + 1), second[None], wanted[:1].clone()
## thresholds_positive: The sign of your thresholds is turned round: every unit is on from the start.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), torch.arange(1.0, n + 1), second[None], wanted[:1].clone()
## no_thresholds [the-bend-relu-gelu-silu]: None of your units has a threshold, so all of them give the same number.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), torch.zeros(n), second[None], wanted[:1].clone()
## readout_upright: Your W_2 stands upright, as if there were n outputs and one hidden unit.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second[:, None], wanted[:1].clone()
## readout_flat: Your W_2 is a vector; a matrix with a single row is still a matrix.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second, wanted[:1].clone()
## output_bias_a_number: Your b_2 is a number; a bias is a vector, even if it holds one number alone.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second[None, :], wanted[0]
## one_switch_each: Each of your units looks at one switch alone, but it should count all of them.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.eye(n), -torch.arange(float(n)), second[None], wanted[:1].clone()
## changes_backwards: Your changes of slope are taken backwards, old minus new.
+ slopes = wanted.diff()
+ weights = torch.cat([slopes[:1], slopes[:-1] - slopes[1:]])
+ return torch.ones(n, n), -torch.arange(float(n)), weights[None], wanted[:1].clone()
## whole_numbers: Your b_1 holds whole numbers; a network's parameters are floating-point numbers.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(n), second[None], wanted[:1].clone()
## three_tensors: You return three of the four tensors: the output has a bias as well.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second[None]
## bias_from_the_other_end: Your output bias is what is wanted with every switch up; the bias works alone when all are
down.
+ second = wanted.diff().diff(prepend=torch.zeros(1))
+ return torch.ones(n, n), -torch.arange(float(n)), second[None], wanted[-1:].clone()
## matrix_of_whole_numbers: Your W_1 holds whole numbers; a network's parameters are floating-point numbers.
- return torch.ones(n, n), -1.0 * torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
+ return torch.ones(n, n, dtype=torch.int64), -1.0 * torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
## all_whole_numbers: Your W_1 and b_1 hold whole numbers; a network's parameters are floating-point numbers.
+ return torch.ones(n, n, dtype=torch.int64), -torch.arange(n), weights.reshape(1, n), wanted[:1] * 1.0
""")
