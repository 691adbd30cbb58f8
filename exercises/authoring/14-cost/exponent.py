"""Exercise 14, question exponent: exponents from measurements."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import close, draw_sizes, shape_slip

from .shared import LIMIT


def exponents(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)


def draw_lengths(rng, how_many):
    """Growing lengths whose ratios differ, so that no step is a doubling."""
    return np.cumprod(rng.uniform(1.3, 3.5, size=how_many)) * rng.uniform(5, 40)


def one_power(rng):
    cases = []
    for how_many in (*draw_sizes(rng, 2), 2):
        N = draw_lengths(rng, how_many)
        noise = np.exp(rng.normal(size=how_many) / 5)
        cases.append((N, rng.uniform(1e-4, 1e3) * N ** rng.uniform(0.4, 2.6) * noise))
    return cases


def sums_of_powers(rng):
    cases = []
    for how_many in draw_sizes(rng, 2):
        N = draw_lengths(rng, how_many)
        cases.append((N, rng.uniform(1, 9) * 1e3 + rng.uniform(1, 9) * N + rng.uniform(0.01, 1) * N**2))
    return cases


def units_do_not_matter(ask, rng):
    how_many = draw_sizes(rng, 1)[0]
    N = draw_lengths(rng, how_many)
    T = N**1.5 * np.exp(rng.normal(size=how_many) / 5)
    plain = ask(N, T)
    if not isinstance(plain, tuple | list) or len(plain) != 2 or np.ndim(plain[0]) != 0:
        return "The result should be a tuple of one number and one array."
    if slip := shape_slip(plain[1], (how_many - 1,), "The second result"):
        return slip
    for other, what in (((N, 1000 * T), "in milliseconds instead of seconds"), ((12 * N, T), "in other units")):
        found = ask(*other)
        moved = abs(found[0] - plain[0]) > LIMIT or not close(found[1], plain[1], LIMIT)
        if moved:
            return f"With {'costs' if what.startswith('in m') else 'lengths'} {what} your exponents are others."
    return None


QUESTION = Question(
    id="exponent",
    title="Exponents from measurements",
    name="exponents",
    minutes=10,
    difficulty=1,
    checks=(
        equals("one power", 4, one_power, exponents),
        equals("sums of powers", 3, sums_of_powers, exponents),
        holds("units do not matter", 3, units_do_not_matter),
    ),
    hints=(
        "A power law is a straight line once you have taken the logarithm. Of which of the two?",
        "Both results are slopes of the same picture: one of the line that fits all points best, one for each "
        "pair of neighbours. A slope is a rise divided by a run.",
        "`np.polyfit(x, y, 1)` gives slope and intercept, in this order. For the neighbours divide the "
        "differences of one list by those of the other; the lengths need not double.",
    ),
    section="what-grows-and-how-fast",
    inputs=Inputs(axes("I", "I")),
)

right, wrong = answers_to(QUESTION)


@right
def with_polyfit(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)


@right
def with_sums(lengths, costs):
    points = [(np.log(length), np.log(cost)) for length, cost in zip(lengths, costs, strict=True)]
    size = len(points)
    sum_n, sum_t = sum(n for n, _ in points), sum(t for _, t in points)
    mixed, squares = sum(n * t for n, t in points), sum(n * n for n, _ in points)
    slope = (size * mixed - sum_n * sum_t) / (size * squares - sum_n**2)
    steps = range(1, size)
    between = [(points[i][1] - points[i - 1][1]) / (points[i][0] - points[i - 1][0]) for i in steps]
    return slope, np.array(between)


@right
def with_least_squares(lengths, costs):
    n, t = np.log2(lengths), np.log2(costs)
    table = np.stack([n, np.ones(len(n))], axis=1)
    fit, *_ = np.linalg.lstsq(table, t, rcond=None)
    return fit[0], (t[1:] - t[:-1]) / (n[1:] - n[:-1])


@right
def with_covariance(lengths, costs):
    table = np.cov(np.log10(lengths), np.log10(costs))
    steps = [np.log(costs[i + 1] / costs[i]) / np.log(lengths[i + 1] / lengths[i]) for i in range(len(costs) - 1)]
    return table[0, 1] / table[0, 0], np.array(steps)


@wrong("You fit the power to the costs themselves, where the largest decides; fit a line to the logarithms.")
def power_fitted_to_the_costs(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    p, height = np.polyfit(n, t, 1)
    for _ in range(100):
        fit = np.exp(height + p * n)
        step, *_ = np.linalg.lstsq(np.stack([n * fit, fit], axis=1), costs - fit, rcond=None)
        p, height = p + step[0], height + step[1]
    return p, np.diff(t) / np.diff(n)


wrong.edits("""
# with_polyfit
## no_logarithms: Your slopes are those of the numbers themselves; an exponent is a slope between logarithms.
- n, t = np.log(lengths), np.log(costs)
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(lengths, costs, 1)[0], np.diff(costs) / np.diff(lengths)
## only_costs_logarithmic: You take the logarithm of the costs and not of the lengths.
- n, t = np.log(lengths), np.log(costs)
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(lengths, np.log(costs), 1)[0], np.diff(np.log(costs)) / np.diff(lengths)
## only_lengths_logarithmic: You take the logarithm of the lengths and not of the costs.
- n, t = np.log(lengths), np.log(costs)
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(np.log(lengths), costs, 1)[0], np.diff(costs) / np.diff(np.log(lengths))
## axes_exchanged: You have fitted the lengths by the costs, which turns the picture on its side.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(t, n, 1)[0], np.diff(n) / np.diff(t)
## intercept_for_slope: The first of your results is the height of the line at length 1, not its slope.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 1)[1], np.diff(t) / np.diff(n)
## through_the_origin: You force the line through the origin: subtract the means before you multiply.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return n @ t / (n @ n), np.diff(t) / np.diff(n)
## mean_of_the_neighbours: The mean of the exponents between neighbours is not the line that fits all points best.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return (np.diff(t) / np.diff(n)).mean(), np.diff(t) / np.diff(n)
## ends_only: Your first result joins the first point to the last and does not look at the others.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return (t[-1] - t[0]) / (n[-1] - n[0]), np.diff(t) / np.diff(n)
## rise_without_run: Between neighbours you give the rise without dividing by the run.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 1)[0], np.diff(t)
## as_if_doubled [counted]: Between neighbours you take the logarithm to base 2 of the costs as if every length doubled.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 1)[0], np.diff(np.log2(costs))
## ratio_of_ratios: Between neighbours you divide the factor of the costs by the factor of the lengths; take logarithms
of both.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 1)[0], costs[1:] / costs[:-1] / (lengths[1:] / lengths[:-1])
## mixed_bases: The two logarithms have different bases.
- n, t = np.log(lengths), np.log(costs)
+ n, t = np.log2(lengths), np.log(costs)
## correlation: Your first result is a correlation, which says how straight the line is and not how steep.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.corrcoef(n, t)[0, 1], np.diff(t) / np.diff(n)
## plain_neighbours: You give the slope of the plain numbers between neighbours, though your fit uses logarithms.
- n, t = np.log(lengths), np.log(costs)
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(np.log(lengths), np.log(costs), 1)[0], np.diff(costs) / np.diff(lengths)
## parabola: You have fitted a parabola; the exponent is the slope of a straight line.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 2)[0], np.diff(t) / np.diff(n)
## slope_of_a_parabola: Your first result is a coefficient of a parabola; fit a straight line.
- return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)
+ return np.polyfit(n, t, 2)[1], np.diff(t) / np.diff(n)
""")
