"""Exercise 14, question figure: read a roofline."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import drawn_once


def read_roofline(flops, moved, seconds):
    rho, beta = (flops / seconds).max(), (moved / seconds).max()
    least = np.maximum(flops / rho, moved / beta)
    bound, first = moved / beta > flops / rho, int((seconds - least).argmax())
    return {"rho": rho, "beta": beta, "memory_bound": bound, "least": least, "first": first}


TRIED = 1000  # figures drawn at once: one of 800 to 4,600 is as it should be, the fewer programs the fewer


@drawn_once
def draw_args(rng, n=None):
    """Programs of which one touches the slope and one the level part; the others take up to some times their bound.

    The one with the most seconds to gain is not the one furthest below its roof, nor the one that takes longest.
    """
    n = n or int(rng.integers(7, 10))
    while True:
        rho, beta = rng.uniform(1, 9, (TRIED, 1)) * 1e13, rng.uniform(1, 9, (TRIED, 1)) * 1e11
        above = rng.uniform(-3, 3, (TRIED, n))  # above the ridge, in logarithms of the intensity
        above[:, 0], above[:, 1] = rng.uniform(1, 3, TRIED), rng.uniform(-3, -1, TRIED)
        slower = 1 + rng.exponential(1.2, (TRIED, n))
        slower[:, :2] = 1.0
        order = rng.permuted(np.tile(np.arange(n), (TRIED, 1)), axis=1)
        above, slower = (np.take_along_axis(table, order, axis=1) for table in (above, slower))
        moved = np.exp(rng.uniform(-4, 1, (TRIED, n))) * beta * 1e-2
        flops = rho / beta * np.exp(above) * moved
        least = np.maximum(flops / rho, moved / beta)
        seconds = least * slower
        most = [table.argmax(axis=1) for table in (seconds - least, slower, seconds, -flops / seconds, least)]
        distinct = (np.diff(np.sort(most, axis=0), axis=0) > 0).all(axis=0)
        gains = np.sort(seconds - least, axis=1)
        by_middle = ((above < above.mean(axis=1, keepdims=True)) == (above < 0)).all(axis=1)
        fits = distinct & (gains[:, -1] > 1.1 * gains[:, -2]) & (np.abs(above).min(axis=1) > 0.05) & ~by_middle
        if fits.any():
            at = int(fits.argmax())
            return flops[at], moved[at], seconds[at]


def figures(rng):
    """In one a program stands at the corner, also in logarithms, and most is to be gained left of it; one is of
    a machine that does next to nothing in a second; in the last ones every program is there many times, and the first
    of those that gain most is asked for.
    """
    corner = np.array([16.0, 8, 1]), np.array([0.25, 1, 0.5]), np.array([4.0, 1, 4])
    flops, moved, seconds = draw_args(rng)
    slow = 1e-15 * flops, 1e-15 * moved, seconds
    again = [tuple(np.tile(array, 40) for array in draw_args(rng)) for _ in range(3)]
    return [draw_args(rng), draw_args(rng), draw_args(rng), corner, slow, *again]


def small_figures(rng):
    return [draw_args(rng, 6), draw_args(rng, 12)]


def seconds_or_hours(ask, rng):
    """In another unit of time the figure looks the same."""
    flops, moved, seconds = draw_args(rng)
    one, other = ask(flops, moved, seconds), ask(flops, moved, 3600 * seconds)
    if not isinstance(one, dict) or not isinstance(other, dict) or one.keys() != other.keys():
        return "The result should be a dict with the same keys for every figure."
    if one["first"] != other["first"] or not np.array_equal(one["memory_bound"], other["memory_bound"]):
        return "Measured in another unit of time, the programs stand in the same places; your answers change."
    return None


QUESTION = Question(
    id="figure",
    title="What does this figure say?",
    name="read_roofline",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("the roof", 2, figures, read_roofline, parts=("rho", "beta")),
        equals("which side", 2, figures, read_roofline, parts=("memory_bound",)),
        equals("the bounds", 2, figures, read_roofline, parts=("least",), atol=1e-12),
        equals("where to begin", 2, figures, read_roofline, parts=("first",)),
        holds("another unit", 1, seconds_or_hours),
        equals("all of it, other figures", 1, small_figures, read_roofline),
        more={"ties": in_cases_of("where to begin"), "boundary": in_cases_of("which side")},
    ),
    hints=(
        "A point of the figure stands at FLOPs / bytes and FLOPs / seconds. Which point of all touches the level part "
        "of the roof, and which the slope?",
        "On the slope the rate is β times the intensity. So β is rate / intensity of the point that touches it. "
        "What is that in bytes and seconds?",
        "A program cannot be faster than its bound. What is gained by bringing it there is a difference of seconds, "
        "and a program that is far below its roof may take hardly any time.",
    ),
    section="arithmetic-or-memory",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def from_points(flops, moved, seconds):
    ratio, rate = flops / moved, flops / seconds
    rho, beta = rate.max(), (rate / ratio).max()
    roof = np.minimum(rho, beta * ratio)
    least = flops / roof
    gain = seconds - least
    return {
        "rho": rho,
        "beta": beta,
        "memory_bound": rho / beta > ratio,
        "least": least,
        "first": int(np.argmax(gain)),
    }


@right
def from_rates(flops, moved, seconds):
    rho = float(np.max(flops / seconds))
    beta = float(np.max(moved / seconds))
    arithmetic, traffic = flops / rho, moved / beta
    slow = traffic > arithmetic
    least = np.where(slow, traffic, arithmetic)
    first = int(np.argsort(least - seconds, kind="stable")[0])
    return {"rho": rho, "beta": beta, "memory_bound": slow, "least": least, "first": first}


@right
def program_by_program(flops, moved, seconds):
    rho = beta = 0.0
    for f, z, t in zip(flops, moved, seconds, strict=True):
        rho, beta = max(rho, f / t), max(beta, z / t)
    bounds, sides, first, most = [], [], 0, -1.0
    for i, (f, z, t) in enumerate(zip(flops, moved, seconds, strict=True)):
        bounds.append(max(f / rho, z / beta))
        sides.append(bool(z / beta > f / rho))
        if t - bounds[-1] > most:
            first, most = i, t - bounds[-1]
    return dict(rho=rho, beta=beta, memory_bound=np.array(sides), least=np.array(bounds), first=first)


wrong.edits("""
# from_points
## corner_counted: You count a program at the corner as left of it.
- "memory_bound": rho / beta > ratio,
+ "memory_bound": rho / beta >= ratio,
## mean_rate: The roof lies above all points; you take the mean rate for its level.
- rho, beta = rate.max(), (rate / ratio).max()
+ rho, beta = rate.mean(), (rate / ratio).max()
## mean_bandwidth: The slope of the roof lies above all points; you take the mean.
+ rho, beta = rate.max(), (rate / ratio).mean()
## lowest_slope: You take the smallest of all slopes; the roof is over all points.
+ rho, beta = rate.max(), (rate / ratio).min()
## lowest_level: You take the rate of the slowest program for the level of the roof.
+ rho, beta = rate.min(), (rate / ratio).max()
## all_work_together: You divide all FLOPs by all seconds; the roof is what the best program reaches.
+ rho, beta = flops.sum() / seconds.sum(), (rate / ratio).max()
## most_work: You take the rate of the program with the fewest FLOPs; it need not be the one that touches the roof.
+ rho, beta = rate[flops.argmin()], (rate / ratio).max()
## leftmost_point: You read β off the point with the lowest intensity; it may lie below the slope.
+ rho, beta = rate.max(), (rate / ratio)[ratio.argmin()]
## rightmost_point: You read ρ off the point with the highest intensity; it may lie below the roof.
+ rho, beta = rate[ratio.argmax()], (rate / ratio).max()
## intensity_for_bandwidth: Your β is the highest intensity, in FLOPs per byte; a rate in bytes a second is asked for.
+ rho, beta = rate.max(), ratio.max()
## lowest_intensity: Your β is the lowest intensity, in FLOPs per byte; the slope of the roof is in bytes a second.
+ rho, beta = rate.max(), ratio.min()
## sides_turned_round: Memory-bound is what stands left of the corner of the roof; yours stands right of it.
- "memory_bound": rho / beta > ratio,
+ "memory_bound": rho / beta < ratio,
## by_the_middle: The corner of the roof parts the programs, not the middle of the figure.
+ "memory_bound": np.exp(np.log(ratio).mean()) > ratio,
## below_the_roof: You call memory-bound what lies below the level part; a program right of the corner may be slow for
other reasons.
+ "memory_bound": rate < 0.999 * rho,
## always_level: You divide by ρ in any case; left of the corner the slope is the roof.
- roof = np.minimum(rho, beta * ratio)
+ roof = np.full_like(ratio, rho)
## always_slope: You divide by the slope in any case; right of the corner the roof is level.
+ roof = beta * ratio
## roof_too_high: Your roof is the larger of the level part and the slope; no program gets there.
+ roof = np.maximum(rho, beta * ratio)
## furthest_below: You begin with the program that is slowest in proportion to its bound; it may take hardly any time.
- gain = seconds - least
+ gain = seconds / least
## slowest_program: You begin with the program that takes longest; it may be at its bound already.
+ gain = seconds
## lowest_rate: You begin with the program with the fewest FLOPs a second; its roof may be just as low.
+ gain = -rate
## largest_bound: You begin with the program whose bound is the largest; that time cannot be gained.
+ gain = least
## least_to_gain: You begin where the least is to be gained.
- "first": int(np.argmax(gain)),
+ "first": int(np.argmin(gain)),
## last_of_equals: Where several programs gain most you give the last of them, or any; the first is asked for.
+ "first": len(gain) - 1 - int(np.argmax(gain[::-1])),
## counted_from_one: You count the programs from 1.
+ "first": int(np.argmax(gain)) + 1,
## sum_of_both: Your bound adds the two times; fetching and calculating go on at once, and the larger counts.
- least = flops / roof
+ least = flops / rho + moved / beta
""")
