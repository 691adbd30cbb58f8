"""Exercise 06, question rotary: rotary positions."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip

from .shared import LENGTHS, WIDTHS, draw, draw_positions, rotate


def positions_with_gaps(rng):
    cases = []
    for leading in ((), (3,), (2, 3)):
        N, K = draw(rng, LENGTHS, WIDTHS)
        cases.append((rng.normal(size=(*leading, N, K)), draw_positions(rng, N)))
    x, positions = cases[0]
    cases.append((x, np.roll(positions, int(rng.integers(1, len(positions))))))  # the smallest not in front
    N, K = draw(rng, LENGTHS, WIDTHS)
    return [*cases, (rng.normal(size=(2, 3, N, N, K)), draw_positions(rng, N))]  # as many heads as tokens


def far_and_single(rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    return [
        (rng.normal(size=(3, N, K)), draw_positions(rng, N, 90_000, 250_000)),
        (rng.normal(size=(2, 3, 1, K)), draw_positions(rng, 1)),
        (rng.normal(size=(N, 2)), draw_positions(rng, N)),
        (rng.normal(size=(N, K)), draw_positions(rng, N, -40, -2)),  # padding, with positions below 0
    ]


def products_by_distance(ask, rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    q, k = rng.normal(size=(2, N, K))
    positions, shift = draw_positions(rng, N), int(rng.integers(20, 80))
    found = [ask(x, at) for at in (positions, positions + shift) for x in (q, k)]
    for value in found:
        if slip := shape_slip(value, (N, K)):
            return slip
    here, later = found[1] @ found[0].T, found[3] @ found[2].T
    if not close(np.linalg.norm(found[0], axis=1), np.linalg.norm(q, axis=1), 1e-6):
        return "Turning keeps the length of a vector, but your vectors come out longer or shorter."
    if not close(here, later, 1e-8):
        return f"With all positions {shift} later the products of queries and keys must stay the same; yours change."
    if close(here, k @ q.T, 1e-6):
        return "The products of queries and keys at different positions must change, but yours are as without turning."
    return None


def each_at_its_own_position(ask, rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    x, positions = rng.normal(size=(2, N, K)), draw_positions(rng, N)
    y = ask(x, positions)
    if slip := shape_slip(y, x.shape):
        return slip
    pieces = [ask(x[:, :2].copy(), positions[:2]), ask(x[:, 2:].copy(), positions[2:])]
    if not close(np.concatenate(pieces, axis=1), y):
        return "Turned in two pieces, each with its own positions, the tokens come out differently than all at once."
    if not close(ask(x, 0 * positions), x, 1e-6):
        return "At position 0 nothing is turned, but your vectors change there."
    if close(y, x, 1e-6):
        return "Your function leaves the vectors as they are."
    return None


QUESTION = Question(
    id="rotary",
    title="Rotary positions",
    name="rotary",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("positions with gaps", 5, positions_with_gaps, rotate),
        equals("far away and alone", 3, far_and_single, rotate),
        holds("products by distance", 4, products_by_distance),
        holds("each at its own position", 2, each_at_its_own_position),
    ),
    hints=(
        "Make the table of angles first: one row for each token, one column for each pair. What is its shape, "
        "and what must it be multiplied with?",
        "Cut the features in two halves and write the two lines of the 2 × 2 rotation, each as a sum of two "
        "products. Both lines need the old numbers.",
        "Axes in front of the last two take care of themselves when you write `x[..., :half]`. Test at "
        "positions with gaps: on 0, 1, 2, … several mistakes look right.",
    ),
    section="rotary-positions",
    inputs=Inputs(lambda x, positions: {"N": x.shape[-2], "D": x.shape[-1]}),
)

right, wrong = answers_to(QUESTION)


@right
def two_halves(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


@right
def complex_pairs(x, positions):
    half = x.shape[-1] // 2
    turn = np.exp(1j * np.outer(positions, 1e4 ** (-2 * np.arange(half) / x.shape[-1])))
    z = (x[..., :half] + 1j * x[..., half:]) * turn
    return np.concatenate([z.real, z.imag], axis=-1)


@right
def a_matrix_for_each_position(x, positions):
    K = x.shape[-1]
    y = np.empty_like(x)
    for n, position in enumerate(positions):
        R = np.zeros((K, K))
        for i in range(K // 2):
            angle = position / 10000 ** (2 * i / K)
            R[i, i] = R[i + K // 2, i + K // 2] = np.cos(angle)
            R[i, i + K // 2], R[i + K // 2, i] = -np.sin(angle), np.sin(angle)
        y[..., n, :] = x[..., n, :] @ R.T
    return y


@right
def swapped_halves(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] / 10000 ** (np.arange(half) / half)
    cos, sin = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


@right
def as_often_written(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


wrong.edits("""
# two_halves
## sinusoids_added: You add waves to the vectors; rotary positions turn them.
- cos, sin = np.cos(angles), np.sin(angles)
- a, b = x[..., :half], x[..., half:]
- return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)
+ return x + np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
## cosines_only: Half of the rotation is missing: you multiply by cosines and leave the partner of each feature out.
+ return x * np.tile(np.cos(angles), 2)
## written_into_x_too_soon: You write into x while its old numbers are still needed, and they are the caller's numbers,
too.
- a, b = x[..., :half], x[..., half:]
- return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)
+ x[..., :half] = x[..., :half] * cos - x[..., half:] * sin
+ x[..., half:] = x[..., half:] * cos + x[..., :half] * sin
+ return x

# complex_pairs
## two_layouts_mixed: You lay the angles out for neighbours, each frequency twice in a row, but pair the halves: that
mixes two layouts.
- turn = np.exp(1j * np.outer(positions, 1e4 ** (-2 * np.arange(half) / x.shape[-1])))
- z = (x[..., :half] + 1j * x[..., half:]) * turn
- return np.concatenate([z.real, z.imag], axis=-1)
+ angles = np.repeat(np.outer(positions, 10000.0 ** (-np.arange(half) / half)), 2, axis=-1)
+ swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
+ return x * np.cos(angles) + swapped * np.sin(angles)
## angles_of_its_own: The second half of your features gets slower angles of its own; let the two of a pair share one.
+ angles = np.outer(positions, 10000.0 ** (-np.arange(2 * half) / half))
+ swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
+ return x * np.cos(angles) + swapped * np.sin(angles)
## angles_over_the_whole_width: You give every feature an angle of its own, spread over the whole width; let a pair
share one.
+ angles = np.outer(positions, 10000.0 ** (-np.arange(2 * half) / (2 * half)))
+ swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
+ return x * np.cos(angles) + swapped * np.sin(angles)

# as_often_written
## neighbours_paired: Your pairs are neighbours, 0 with 1 and 2 with 3, as in the paper; here the two halves make pairs.
- a, b = np.split(x, 2, axis=-1)
+ a, b = x[..., ::2], x[..., 1::2]
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)
## positions_forgotten [start-anywhere-leave-gaps]: You count from 0 and never look at the given positions.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(np.arange(x.shape[-2]), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## counted_from_the_first [start-anywhere-leave-gaps]: You take every position less the first one, so that each call
starts at 0 again.
+ angles = np.outer(positions - positions[0], 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## gaps_filled [start-anywhere-leave-gaps]: Your range starts at the first position and counts on: it fills the gaps.
+ positions = positions[0] + np.arange(len(positions))
+ angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## turned_backwards: Your rotation turns backwards, as if every position had the opposite sign.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.concatenate([a * cos + b * sin, b * cos - a * sin], axis=-1)
## no_minus: Neither of your two lines has a minus, and without one it is no rotation.
+ return np.concatenate([a * cos + b * sin, b * cos + a * sin], axis=-1)
## two_minuses: Both of your lines have a minus, and with two it is no rotation.
+ return np.concatenate([a * cos - b * sin, b * cos - a * sin], axis=-1)
## slow_pairs_too_fast: Your exponents grow only half as fast as they should: i over the whole width instead of over
half of it.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / x.shape[-1]))
## twice_the_exponent: Your exponents are doubled: a factor 2 has come in although you divide by half of the width.
+ angles = np.outer(positions, 10000.0 ** (-2 * np.arange(a.shape[-1]) / a.shape[-1]))
## fastest_pair_lost [sinusoids]: You count the pairs from 1, so the fastest of them is lost.
+ angles = np.outer(positions, 10000.0 ** (-np.arange(1, a.shape[-1] + 1) / a.shape[-1]))
## one_speed: All your pairs turn at one speed.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
- cos, sin = np.cos(angles), np.sin(angles)
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ angles = positions[:, None] * 1.0
+ return np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)
## faster_and_faster [common-mistakes]: Your pairs turn faster and faster: divide by the power of 10000 instead.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(positions, 10000.0 ** (np.arange(a.shape[-1]) / a.shape[-1]))
## new_numbers_used: The second half of your pairs is turned with the new numbers of the first; both lines need the old
ones.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ a = a * cos - b * sin
+ return np.concatenate([a, b * cos + a * sin], axis=-1)
## halves_exchanged: The two halves of your result have changed places.
+ return np.concatenate([b * cos + a * sin, a * cos - b * sin], axis=-1)
## pairs_leave_as_neighbours: Your pairs are right, but they leave as neighbours; every feature stays where it was.
+ return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)
## angles_in_single_precision: Your angles are in single precision, which is too coarse at far positions.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ rates = (10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1])).astype(np.float32)
+ angles = np.outer(positions.astype(np.float32), rates)
## one_place_for_all: You turn all tokens by the position of the first one.
+ angles = positions[0] * 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1])
## positions_from_one_in_rotary: Off by one: you add 1 to the given positions.
+ angles = np.outer(positions + 1, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## neighbours_leave_as_halves: You pair neighbours and write the pairs out as halves, so features leave at other places
than they came.
- a, b = np.split(x, 2, axis=-1)
+ a, b = x[..., ::2], x[..., 1::2]
## sine_for_cosine: Sine and cosine have changed places in your rotation: at position 0 it should do nothing.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.concatenate([a * sin - b * cos, b * sin + a * cos], axis=-1)
## rotary_base_of_a_thousand: Your base is not 10000: a digit is missing.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(positions, 1000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## pairs_left_apart: Your result keeps each pair on an axis of its own; the features belong back in one row.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1)
## counted_from_the_smallest [start-anywhere-leave-gaps]: You take the smallest position away from all of them, so that
each call starts at 0 again.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(positions - np.min(positions), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
## positions_without_sign [learned-positions]: You drop the sign of positions; one below 0, as in padding, must turn the
other way.
+ angles = np.outer(np.abs(positions), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
""")
