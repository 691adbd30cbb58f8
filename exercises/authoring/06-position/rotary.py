"""Exercise 06, question rotary: rotary positions."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip

from .shared import LENGTHS, WIDTHS, draw, draw_positions, rotate

ROUNDED = 2e-4  # angles in float32 are off by so little
ROUNDED_FAR = 5e-3  # and by so much at positions in the thousands
SLOW = 500_000.0


def positions_with_gaps(rng):
    cases = []
    for leading in ((), (3,), (2, 3)):
        N, K = draw(rng, LENGTHS, WIDTHS)
        cases.append((rng.normal(size=(*leading, N, K)), draw_positions(rng, N)))
    x, positions = cases[0]
    cases.append((x, np.roll(positions, int(rng.integers(1, len(positions))))))  # the smallest not in front
    N, K = draw(rng, LENGTHS, WIDTHS)
    as_many_heads_as_tokens = rng.normal(size=(2, 3, N, N, K)), draw_positions(rng, N)
    padding = rng.normal(size=(N, K)), draw_positions(rng, N, -40, -2)
    return [*cases, as_many_heads_as_tokens, padding]


def far_and_single(rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    return [
        (rng.normal(size=(3, N, K)), draw_positions(rng, N, 4_000, 9_000)),
        (rng.normal(size=(2, 3, 1, K)), draw_positions(rng, 1)),
        (rng.normal(size=(N, 2)), draw_positions(rng, N, 90_000, 250_000)),  # one pair, whose angle is no rounded one
    ]


def another_base(rng):
    cases = []
    for leading in ((), (2, 3)):
        N, K = draw(rng, LENGTHS, WIDTHS)
        cases.append((rng.normal(size=(*leading, N, K)), draw_positions(rng, N), SLOW))
    return cases


def products_by_distance(ask, rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    q, k = rng.normal(size=(2, N, K))
    positions, shift = draw_positions(rng, N), int(rng.integers(20, 80))
    found = [ask(x, at) for at in (positions, positions + shift) for x in (q, k)]
    for value in found:
        if slip := shape_slip(value, (N, K)):
            return slip
    here, later = found[1] @ found[0].T, found[3] @ found[2].T
    if not close(np.linalg.norm(found[0], axis=1), np.linalg.norm(q, axis=1), ROUNDED):
        return "Turning keeps the length of a vector, but your vectors come out longer or shorter."
    if not close(here, later, K * ROUNDED):
        return f"With all positions {shift} later the products of queries and keys must stay the same; yours change."
    if close(here, k @ q.T, K * ROUNDED):
        return "The products of queries and keys at different positions must change, but yours are as without turning."
    return None


def turned_before_the_cache(ask, rng):
    """A text that is read in one go, and keys that are turned one by one and kept, each by its own position."""
    N, K = draw(rng, LENGTHS, WIDTHS)
    k, positions = rng.normal(size=(2, N, K)), draw_positions(rng, N)
    turned = ask(k, positions)
    if slip := shape_slip(turned, k.shape):
        return slip
    begun = ask(k[:, :-2].copy(), positions[:-2])
    cache = [begun, *(ask(k[:, n : n + 1].copy(), positions[n : n + 1]) for n in (N - 2, N - 1))]
    if any(slip := shape_slip(piece, (2, size, K)) for piece, size in zip(cache, (N - 2, 1, 1), strict=True)):
        return slip
    if not close(np.concatenate(cache, axis=1), turned, ROUNDED):
        return (
            f"A text of {N - 2} tokens was read, and two keys came one at a time, each with its own position, as into "
            f"a cache: they come out differently than among all {N} at once. The given position decides, not the row."
        )
    if not close(ask(k, 0 * positions), k, ROUNDED):
        return "At position 0 nothing is turned, but your vectors change there."
    if close(turned, k, ROUNDED):
        return "Your function leaves the vectors as they are."
    return None


QUESTION = Question(
    id="rotary",
    title="Rotary positions",
    name="rotate",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("positions with gaps", 5, positions_with_gaps, rotate, atol=ROUNDED),
        equals("far away and alone", 2, far_and_single, rotate, atol=ROUNDED_FAR),
        equals("another base", 1, another_base, rotate, atol=ROUNDED),
        holds("products by distance", 3, products_by_distance),
        holds("turned before the cache", 3, turned_before_the_cache),
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
    inputs=Inputs(lambda x, positions, base=None: {"N": x.shape[-2], "D": x.shape[-1]}),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def two_halves(x, positions, base=10_000.0):
    half = x.shape[-1] // 2
    angles = torch.outer(positions, base ** (-torch.arange(half) / half))
    cos, sin = torch.cos(angles), torch.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


@right
def complex_pairs(x, positions, base=10_000.0):
    half = x.shape[-1] // 2
    angles = positions.unsqueeze(1) * base ** (-2 * torch.arange(half) / x.shape[-1])
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([z.real, z.imag], dim=-1)


@right
def a_matrix_for_each_position(x, positions, base=10_000.0):
    K, rows = x.shape[-1], []
    for n, position in enumerate(positions.tolist()):
        R = torch.zeros(K, K)
        for i in range(K // 2):
            angle = torch.tensor(position / base ** (2 * i / K))
            R[i, i] = R[i + K // 2, i + K // 2] = angle.cos()
            R[i, i + K // 2], R[i + K // 2, i] = -angle.sin(), angle.sin()
        rows.append(x[..., n, :] @ R.T)
    return torch.stack(rows, dim=-2)


@right
def swapped_halves(x, positions, base=10_000.0):
    half = x.shape[-1] // 2
    angles = positions[:, None] / base ** (torch.arange(half) / half)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin


@right
def as_often_written(x, positions, base=10_000.0):
    a, b = torch.chunk(x, 2, dim=-1)
    angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


wrong.edits("""
# two_halves
## sinusoids_added: You add waves to the vectors; rotary positions turn them.
- cos, sin = torch.cos(angles), torch.sin(angles)
- a, b = x[..., :half], x[..., half:]
- return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
+ return x + torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)
## cosines_only: Half of the rotation is missing: you multiply by cosines and leave the partner of each feature out.
+ return x * torch.cos(angles).repeat(1, 2)
## written_into_x_too_soon: You write into x while its old numbers are still needed, and they are the caller's numbers,
too.
- a, b = x[..., :half], x[..., half:]
- return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
+ x[..., :half] = x[..., :half] * cos - x[..., half:] * sin
+ x[..., half:] = x[..., half:] * cos + x[..., :half] * sin
+ return x

# swapped_halves
## two_layouts_mixed: You lay the angles out for neighbours, each frequency twice in a row, but pair the halves: that
mixes two layouts.
- cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
+ cos, sin = angles.cos().repeat_interleave(2, dim=1), angles.sin().repeat_interleave(2, dim=1)
## angles_of_its_own: The second half of your features gets slower angles of its own; let the two of a pair share one.
- angles = positions[:, None] / base ** (torch.arange(half) / half)
- cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
+ angles = positions[:, None] / base ** (torch.arange(2 * half) / half)
+ cos, sin = angles.cos(), angles.sin()
## angles_over_the_whole_width: You give every feature an angle of its own, spread over the whole width; let a pair
share one.
+ angles = positions[:, None] / base ** (torch.arange(2 * half) / (2 * half))
+ cos, sin = angles.cos(), angles.sin()

# as_often_written
## neighbours_paired: Your pairs are neighbours, 0 with 1 and 2 with 3, as in the paper; here the two halves make pairs.
- a, b = torch.chunk(x, 2, dim=-1)
+ a, b = x[..., ::2], x[..., 1::2]
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
## positions_forgotten [start-anywhere-leave-gaps]: You count from 0 and never look at the given positions.
- angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = torch.arange(x.shape[-2])[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## counted_from_the_first [start-anywhere-leave-gaps]: You take every position less the first one, so that each call
starts at 0 again.
+ angles = (positions - positions[0])[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## gaps_filled [start-anywhere-leave-gaps]: Your range starts at the first position and counts on: it fills the gaps.
+ positions = positions[0] + torch.arange(len(positions))
+ angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## turned_backwards: Your rotation turns backwards, as if every position had the opposite sign.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)
## no_minus: Neither of your two lines has a minus, and without one it is no rotation.
+ return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1)
## two_minuses: Both of your lines have a minus, and with two it is no rotation.
+ return torch.cat([a * cos - b * sin, b * cos - a * sin], dim=-1)
## slow_pairs_too_fast: Your exponents grow only half as fast as they should: i over the whole width instead of over
half of it.
- angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / x.shape[-1])
## twice_the_exponent: Your exponents are doubled: a factor 2 has come in although you divide by half of the width.
+ angles = positions[:, None] * base ** (-2 * torch.arange(a.shape[-1]) / a.shape[-1])
## fastest_pair_lost [sinusoids]: You count the pairs from 1, so the fastest of them is lost.
+ angles = positions[:, None] * base ** (-torch.arange(1, a.shape[-1] + 1) / a.shape[-1])
## exponents_to_one: You divide the exponents by K/2 − 1, so that the last one is 1; divide by K/2.
+ angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / max(a.shape[-1] - 1, 1))
## one_speed: All your pairs turn at one speed.
+ angles = positions[:, None] * torch.ones(a.shape[-1])
## faster_and_faster [common-mistakes]: Your pairs turn faster and faster: divide by the power of the base instead.
+ angles = positions[:, None] * base ** (torch.arange(a.shape[-1]) / a.shape[-1])
## new_numbers_used: The second half of your pairs is turned with the new numbers of the first; both lines need the old
ones.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ a = a * cos - b * sin
+ return torch.cat([a, b * cos + a * sin], dim=-1)
## halves_exchanged: The two halves of your result have changed places.
+ return torch.cat([b * cos + a * sin, a * cos - b * sin], dim=-1)
## pairs_leave_as_neighbours: Your pairs are right, but they leave as neighbours; every feature stays where it was.
+ return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
## one_place_for_all: You turn all tokens by the position of the first one.
- angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = positions[0] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## positions_from_one_in_rotary: Off by one: you add 1 to the given positions.
+ angles = (positions + 1)[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## neighbours_leave_as_halves: You pair neighbours and write the pairs out as halves, so features leave at other places
than they came.
- a, b = torch.chunk(x, 2, dim=-1)
+ a, b = x[..., ::2], x[..., 1::2]
## sine_for_cosine: Sine and cosine have changed places in your rotation: at position 0 it should do nothing.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.cat([a * sin - b * cos, b * sin + a * cos], dim=-1)
## rotary_base_of_a_thousand: Your base is not 10000: a digit is missing.
- angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = positions[:, None] * (base / 10) ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## base_ignored [slower-hands-rope-for-longer-texts]: Your frequencies do not use the base that is given; 10000 is its
default alone.
+ angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## pairs_left_apart: Your result keeps each pair on an axis of its own; the features belong back in one row.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)
## counted_from_the_smallest [start-anywhere-leave-gaps]: You take the smallest position away from all of them, so that
each call starts at 0 again.
- angles = positions[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = (positions - positions.min())[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## positions_without_sign [learned-positions]: You drop the sign of positions; one below 0, as in padding, must turn the
other way.
+ angles = positions.abs()[:, None] * base ** (-torch.arange(a.shape[-1]) / a.shape[-1])
## four_axes_always: Your result has four axes whatever x has: in front of the last two there may be any, also none.
- cos, sin = angles.cos(), angles.sin()
+ cos, sin = angles.cos()[None, None], angles.sin()[None, None]
## angles_in_half_precision: Your angles are in half precision, which is too coarse.
+ cos, sin = angles.half().cos().float(), angles.half().sin().float()
""")
