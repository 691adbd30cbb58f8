"""Exercise 06, question sinusoids: sinusoids from any position."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip
from clearformer.positions import sinusoidal

from .shared import LENGTHS, WIDTHS, draw

ROUNDED = 1e-4  # angles in float32 are off by so little
ROUNDED_FAR = 1e-2  # and by so much where positions are above 10 000


def table_of_waves(n_positions, d_model, start=0):
    return sinusoidal(n_positions, d_model, start=start)


def from_the_beginning(rng):
    N, D = draw(rng, LENGTHS, WIDTHS)
    M, E = draw(rng, LENGTHS, WIDTHS)
    return [(N, D), (M, E), (N, 2), (1, D), (D, D)]


def from_any_position(rng):
    cases = []
    for _ in range(2):
        N, D = draw(rng, LENGTHS, WIDTHS)
        cases.append((N, D, int(rng.integers(3, 40))))
    return [*cases, (1, cases[0][1], int(rng.integers(3, 40))), (11, cases[0][1], 4)]


def far_away(rng):
    cases = []
    for low, high in ((5_500, 8_000), (11_000, 14_000)):
        N, D = draw(rng, LENGTHS, WIDTHS)
        cases.append((N, D, int(rng.integers(low, high))))
    return cases


def a_step_is_a_step(ask, rng):
    """Inner products by distance alone: what the pairs of waves are for, in whatever order they come."""
    N, D = draw(rng, LENGTHS, WIDTHS)
    kernels = []
    for start in (0, int(rng.integers(3, 40))):
        P = ask(N, D, start)
        if slip := shape_slip(P, (N, D)):
            return slip
        kernels.append(P @ P.T)
    if not close(kernels[0].diagonal(), np.full(N, D / 2), ROUNDED):
        return "Each pair holds a point on a circle of radius 1, so every row has the same length; yours do not."
    if not close(kernels[0][1:, 1:], kernels[0][:-1, :-1], D * ROUNDED):
        return "The inner product of two rows should depend on their distance alone; yours depends on the position."
    if not close(kernels[0], kernels[1], D * ROUNDED):
        return "The inner products of your rows change when the table starts at a later position."
    if close(kernels[0], np.full((N, N), kernels[0][0, 0]), ROUNDED):
        return "Different positions need different rows, but all of yours are the same."
    waves = ask(1, D, 1)
    if close(ask(1, D, 2), waves, ROUNDED):
        return "The positions 1 and 2 get the same row."
    return None


QUESTION = Question(
    id="sinusoids",
    title="Sinusoids from any position",
    name="sinusoids",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("from the beginning", 5, from_the_beginning, table_of_waves, atol=ROUNDED),
        equals("from any position", 2, from_any_position, table_of_waves, atol=ROUNDED),
        equals("far away", 1, far_away, table_of_waves, atol=ROUNDED_FAR),
        holds("a step is a step", 4, a_step_is_a_step),
    ),
    hints=(
        "Write down the row of position 1 for D = 4 by hand, with the frequency of each of its two pairs.",
        "A table of angles first: one row for each position, one column for each pair. With which shapes does a "
        "product of two lists become a table? Count the pairs from 0, and the positions from start.",
        "Sine and cosine of the same angle stand in neighbouring columns. `torch.stack` puts two tables side by side "
        "on an axis of their own, and that axis can be joined with the one before it.",
    ),
    section="sinusoids",
    inputs=Inputs(
        lambda N, D, start=0: {"N": N, "D": D}, alike=("from the beginning",), only_distinct="d_model is even"
    ),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def waves_side_by_side(n_positions, d_model, start=0):
    i = torch.arange(d_model // 2)
    angles = torch.arange(start, start + n_positions)[:, None] / 10000 ** (2 * i / d_model)
    P = torch.zeros(n_positions, d_model)
    P[:, ::2] = torch.sin(angles)
    P[:, 1::2] = torch.cos(angles)
    return P


@right
def position_by_position(n_positions, d_model, start=0):
    rows = []
    for n in range(start, start + n_positions):
        row = []
        for i in range(d_model // 2):
            angle = torch.tensor(n * 10000 ** (-2 * i / d_model))
            row += [angle.sin(), angle.cos()]
        rows.append(torch.stack(row))
    return torch.stack(rows)


@right
def cosine_as_a_late_sine(n_positions, d_model, start=0):
    column = torch.arange(d_model)
    rate = 1e4 ** (-(column - column % 2) / d_model)
    return torch.sin(torch.outer(start + torch.arange(n_positions), rate) + (column % 2) * torch.pi / 2)


@right
def points_on_a_circle(n_positions, d_model, start=0):
    rates = torch.exp(-torch.log(torch.tensor(10000.0)) * torch.arange(0, d_model, 2) / d_model)
    angles = (start + torch.arange(n_positions))[:, None] * rates
    points = torch.polar(torch.ones_like(angles), angles)
    return torch.stack((points.imag, points.real), dim=2).reshape(n_positions, -1)


@right
def as_often_written(n_positions, d_model, start=0):
    rates = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
    angles = torch.arange(start, start + n_positions)[:, None] * rates
    return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n_positions, d_model)


wrong.edits("""
# cosine_as_a_late_sine
## cosine_with_its_own_exponent: Your cosines have exponents of their own; the two waves of a pair must share theirs.
- column = torch.arange(d_model)
- rate = 1e4 ** (-(column - column % 2) / d_model)
- return torch.sin(torch.outer(start + torch.arange(n_positions), rate) + (column % 2) * torch.pi / 2)
+ column = torch.arange(d_model)
+ angles = torch.arange(start, start + n_positions)[:, None] / 10000.0 ** (column / d_model)
+ return torch.where(column % 2 == 0, torch.sin(angles), torch.cos(angles))
## column_for_pair [common-mistakes]: The number of the column itself stands where the number of the pair belongs, so
exponents are too large and sine and cosine do not share theirs.
+ column = torch.arange(d_model)
+ angles = torch.arange(start, start + n_positions)[:, None] / 10000.0 ** (2 * column / d_model)
+ return torch.where(column % 2 == 0, torch.sin(angles), torch.cos(angles))
## alternating_by_position: Sine and cosine alternate from row to row in your table; they should alternate from column
to column.
+ n, column = torch.arange(start, start + n_positions)[:, None], torch.arange(d_model)
+ angles = n / 10000.0 ** (2 * (column // 2) / d_model)
+ return torch.where(n % 2 == 0, torch.sin(angles), torch.cos(angles))
## only_sines [a-shift-is-a-rotation]: There are only sines in your table, and from a sine alone nobody can tell whether
the wave rises or falls.
+ rates = 10000.0 ** (-2 * (torch.arange(d_model) // 2) / d_model)
+ return torch.sin(torch.arange(start, start + n_positions)[:, None] * rates)

# as_often_written
## rates_of_one_width: Each of your waves is a hundred times slower than the one before, as at a width of 4; the step
between them depends on the width.
- rates = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
+ rates = 100.0 ** -torch.arange(d_model // 2)
## half_the_exponent [common-mistakes]: Your exponents grow only half as fast as they should, so your slowest wave is
far too fast.
- rates = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
+ rates = 10000.0 ** (-torch.arange(d_model // 2) / d_model)
## pairs_from_one: Your exponents count the pairs from 1: the fastest wave is lost.
+ rates = 10000.0 ** (-2 * torch.arange(1, d_model // 2 + 1) / d_model)
## even_column_for_pair [common-mistakes]: The number of the even column stands where that of the pair belongs, so your
exponents are doubled.
+ rates = 10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)
## slowest_on_the_left: Your waves are in the opposite order; the fastest belongs on the left.
+ rates = 10000.0 ** (-2 * torch.arange(d_model // 2).flip(0) / d_model)
## multiplied [common-mistakes]: You multiply the position by the power of 10000, which makes every further pair wilder
instead of slower.
+ rates = 10000.0 ** (2 * torch.arange(d_model // 2) / d_model)
## sines_before_cosines: All your sines stand before all your cosines; here the two of a pair are neighbours.
- return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n_positions, d_model)
+ return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
## cosine_first: In each of your pairs the cosine stands before the sine.
+ return torch.stack([torch.cos(angles), torch.sin(angles)], dim=2).reshape(n_positions, d_model)
## positions_in_columns: Your positions lie in columns; in this table every position is a row.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
- return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n_positions, d_model)
+ angles = rates[:, None] * torch.arange(start, start + n_positions)
+ return torch.stack([torch.sin(angles), torch.cos(angles)], dim=1).reshape(d_model, n_positions)
## reshaped_not_transposed: Your reshape fills the table of rows with numbers that lie in columns, and mixes positions
with waves.
+ angles = rates[:, None] * torch.arange(start, start + n_positions)
+ return torch.stack([torch.sin(angles), torch.cos(angles)], dim=1).reshape(n_positions, d_model)
## positions_from_one: You count positions from 1; the first one is 0.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
+ angles = torch.arange(start + 1, start + n_positions + 1)[:, None] * rates
## start_forgotten [common-mistakes]: Your table begins at position 0 whatever `start` says, as in a program that
forgets its cache.
+ angles = torch.arange(n_positions)[:, None] * rates
## range_ends_too_soon: Your table ends where position `n_positions` would begin; that is how many rows are wanted, not
the last position.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
- return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n_positions, d_model)
+ angles = torch.arange(min(start, n_positions), n_positions)[:, None] * rates
+ return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).flatten(1)
## start_added_to_angles [a-shift-is-a-rotation]: You add `start` to the angles, so that slow and fast waves move on
alike; it belongs to the position.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
+ angles = torch.arange(n_positions)[:, None] * rates + start
## one_pair_fewer: You divide by the number of pairs less one, so your slowest wave is slower than it should be.
- rates = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
+ rates = 10000.0 ** (-torch.arange(d_model // 2) / max(d_model // 2 - 1, 1))
## division_without_remainder: Your integer division makes all exponents 0, so all waves are the same.
+ rates = 10000.0 ** -(2 * torch.arange(d_model // 2) // d_model)
## base_of_a_thousand: Your waves are too short from the second pair on: a digit of the base is missing.
+ rates = 1000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
## brackets_forgotten: Your power stands alone: without brackets, only the 2 is the exponent, and the rest of the line
multiplies.
- rates = 10000.0 ** (-2 * torch.arange(d_model // 2) / d_model)
- angles = torch.arange(start, start + n_positions)[:, None] * rates
+ i = torch.arange(d_model // 2)
+ angles = torch.arange(start, start + n_positions)[:, None] / 10000**2 * i / d_model
## table_too_short: You cut your rows out of a table of 5000 positions, but positions go on beyond it.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
- return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(n_positions, d_model)
+ angles = torch.arange(5000)[:, None] * rates
+ return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).flatten(1)[start : start + n_positions]
## positions_start_over: Your positions begin again after 10 000; that number only sets the slowest wave.
- angles = torch.arange(start, start + n_positions)[:, None] * rates
+ angles = (torch.arange(start, start + n_positions) % 10000)[:, None] * rates
""")
