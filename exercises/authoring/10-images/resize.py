"""Exercise 10, question resize: Stretch: a larger picture."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import close


def places_between(few, many):
    """For each of the many positions the two old neighbours and the share of the second."""
    found = []
    for i in range(many):
        at = min(max((i + 0.5) * few / many - 0.5, 0.0), few - 1.0)
        below = min(int(at), few - 1)
        found.append((below, min(below + 1, few - 1), at - below))
    return found


def resize_reference(P, old, new):
    grid, made = P[1:].reshape(*old, -1), [P[0]]
    for top, bottom, down in places_between(old[0], new[0]):
        for left, right, across in places_between(old[1], new[1]):
            upper = (1 - across) * grid[top, left] + across * grid[top, right]
            lower = (1 - across) * grid[bottom, left] + across * grid[bottom, right]
            made.append((1 - down) * upper + down * lower)
    return np.stack(made)


def grid_arguments(rng, old, new):
    D = draw_sizes(rng, 1, (11, 13))[0]
    return rng.normal(size=(1 + old[0] * old[1], D)) + 1, old, new


def larger_grids(rng):
    a, b, c, d = draw_sizes(rng, 4, (3, 4, 5, 7))
    big, bigger = draw_sizes(rng, 2, (9, 10, 13))
    return [grid_arguments(rng, (a, b), (big, bigger)), grid_arguments(rng, (c, d), (2 * c, 3 * d))]


def other_grids(rng):
    """Along one axis only, smaller in one of them, from one patch or row, to as many patches; and with D = 1."""
    a, b = draw_sizes(rng, 2, (5, 7, 9))
    cases = [
        ((a, b), (a, 11)),
        ((a, b), (13, b)),
        ((a, b), (4, 11)),
        ((1, 1), (3, 4)),
        ((1, b), (1, 11)),
        ((a, 1), (13, 4)),
        ((9, 5), (3, 7)),
        ((2, 6), (3, 4)),
    ]
    P, *grids = grid_arguments(rng, (3, 2), (4, 5))
    return [*(grid_arguments(rng, *case) for case in cases), (P[:, :1], *grids)]


def what_stays(ask, rng):
    a, b = draw_sizes(rng, 2, (5, 7, 9))
    P, old, new = grid_arguments(rng, (a, b), (13, 11))
    came = ask(P, old, new)
    if slip := shape_slip(came, (1 + 13 * 11, P.shape[1])):
        return slip
    if not close(came[0], P[0]):
        return "The class token keeps its position; yours is changed."
    if not close(ask(P, old, old), P):
        return "The same grid should give the same positions; yours change."
    even = np.concatenate([P[:1], np.repeat(P[1:2], a * b, axis=0)])
    if not close(ask(even, old, new)[1:], np.repeat(P[1:2], 13 * 11, axis=0)):
        return "Where all old positions are the same vector, all new ones should be that vector; yours are not."
    turned = np.concatenate([P[:1], P[:0:-1]])
    if not close(ask(turned, old, new)[1:], came[:0:-1]):
        return "Turn the picture upside down: the new positions should be turned, too, and yours are not."
    return None


QUESTION = Question(
    id="resize",
    title="Stretch: a larger picture",
    name="resize_positions",
    minutes=35,
    difficulty=3,
    checks=with_battery(
        equals("larger grids", 5, larger_grids, resize_reference),
        equals("other grids", 4, other_grids, resize_reference),
        holds("what stays", 3, what_stays),
    ),
    hints=(
        "Do it for one row of patches first: for each new patch the number of the old neighbour before it, "
        "that of the one after it, and the two shares, which sum to 1.",
        "What is to the left of the first middle or to the right of the last one takes their value: bring the "
        "position into the range from 0 to r − 1 before you look for neighbours.",
        "Rows and columns can be done one after the other, and each is a matrix of shares, new × old, applied "
        "along one axis of the grid. Take the class token away before, and put it back after.",
    ),
    section="a-larger-picture",
    inputs=Inputs(no_sizes="both grids are given as pairs, and once they agree in an axis"),
)

right, wrong = answers_to(QUESTION)


@right
def tents(P, old, new):
    def shares(few, many):
        place = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
        return np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0)

    grid = P[1:].reshape(*old, -1)
    down, across = shares(old[0], new[0]), shares(old[1], new[1])
    larger = np.einsum("Rr,rcd,Cc->RCd", down, grid, across)
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@right
def with_interp(P, old, new):
    def stretched(line, many):
        places = (np.arange(many) + 0.5) * len(line) / many - 0.5
        return np.interp(places, np.arange(len(line)), line)

    grid = P[1:].reshape(old[0], old[1], P.shape[1])
    for axis in (0, 1):
        grid = np.apply_along_axis(stretched, axis, grid, new[axis])
    return np.vstack([P[:1], grid.reshape(-1, P.shape[1])])


@right
def neighbours_and_shares(P, old, new):
    grid = P[1:].reshape(*old, -1)
    for axis in range(2):
        place = (2 * np.arange(new[axis]) + 1) * old[axis] / (2 * new[axis]) - 0.5
        place = np.minimum(np.maximum(place, 0), old[axis] - 1)
        before = place.astype(int)
        after = np.minimum(before + 1, old[axis] - 1)
        share = np.expand_dims(place - before, (1, 2) if axis == 0 else (0, 2))
        grid = np.take(grid, before, axis) * (1 - share) + np.take(grid, after, axis) * share
    return np.concatenate((P[0][None], grid.reshape(new[0] * new[1], -1)))


@right
def as_often_written(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong("You take the nearest old vector; between two of them the weighted average is asked for.")
def nearest_neighbour(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(
            (
                np.abs(place[:, None] - np.arange(few))
                == np.abs(place[:, None] - np.arange(few)).min(axis=1, keepdims=True)
            )
            / (
                np.abs(place[:, None] - np.arange(few))
                == np.abs(place[:, None] - np.arange(few)).min(axis=1, keepdims=True)
            ).sum(axis=1, keepdims=True)
        )
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong("You give the larger share to the neighbour that is farther away.")
def shares_exchanged(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(
            np.where(np.floor(place)[:, None] == np.arange(few), place[:, None] - np.floor(place)[:, None], 0)
            + np.where(
                np.minimum(np.floor(place) + 1, few - 1)[:, None] == np.arange(few),
                1 - place[:, None] + np.floor(place)[:, None],
                0,
            )
        )
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong("You scale the new vectors to the mean length of the old ones; leave them as the interpolation gives them.")
def kept_the_norm(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate(
        [
            P[:1],
            larger.reshape(-1, P.shape[1])
            * np.linalg.norm(P[1:], axis=1).mean()
            / np.linalg.norm(larger.reshape(-1, P.shape[1]), axis=1).mean(),
        ]
    )


@wrong("Outside the first and the last middle you draw the straight line on; keep the vectors of the border there.")
def drawn_out(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        before = np.clip(np.floor(place), 0, max(few - 2, 0)).astype(int)
        share = (place - before) * (few > 1)
        table = np.zeros((many, few))
        table[np.arange(many), before] += 1 - share
        table[np.arange(many), np.minimum(before + 1, few - 1)] += share
        shares.append(table)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], P[1:].reshape(*old, -1), shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong("You interpolate along the numbers of the patches, as if they all stood in one row; the grid has two axes.")
def one_long_row(P, old, new):
    few, many = old[0] * old[1], new[0] * new[1]
    places = (np.arange(many) + 0.5) * few / many - 0.5
    columns = [np.interp(places, np.arange(few), feature) for feature in P[1:].T]
    return np.concatenate([P[:1], np.stack(columns, axis=1)])


@wrong("You interpolate along the rows and repeat along the columns; interpolate both axes.")
def rows_only(P, old, new):
    few, many = old[0], new[0]
    place = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
    shares = np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0)
    grid = P[1:].reshape(*old, -1)[:, np.arange(new[1]) * old[1] // new[1]]
    return np.concatenate([P[:1], np.einsum("Rr,rcd->Rcd", shares, grid).reshape(-1, P.shape[1])])


@wrong("You repeat the old positions until the new grid is full, so that two distant patches look the same.")
def tiled(P, old, new):
    rows, columns = np.arange(new[0]) % old[0], np.arange(new[1]) % old[1]
    grid = P[1:].reshape(*old, -1)[rows][:, columns]
    return np.concatenate([P[:1], grid.reshape(-1, P.shape[1])])


@wrong("You keep the old positions in a corner and fill the rest with zeros.")
def cut_or_filled(P, old, new):
    grid = np.zeros((*new, P.shape[1]))
    rows, columns = min(old[0], new[0]), min(old[1], new[1])
    grid[:rows, :columns] = P[1:].reshape(*old, -1)[:rows, :columns]
    return np.concatenate([P[:1], grid.reshape(-1, P.shape[1])])


@wrong("You read the sizes of the grids as columns and rows; the rows come first.")
def columns_before_rows(P, old, new):
    shares = []
    for r, R in zip(old[::-1], new[::-1], strict=True):
        places = np.clip((np.arange(R) + 0.5) * r / R - 0.5, 0, r - 1)
        shares.append(np.maximum(0, 1 - np.abs(places[:, None] - np.arange(r))))
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], P[1:].reshape(*old[::-1], -1), shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong("You keep places from going beyond the last old vector, and not from falling before the first.")
def clipped_above_alone(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = np.minimum((np.arange(many) + 0.5) * few / many - 0.5, few - 1)
        first = place.astype(int)
        after = np.minimum(first + 1, few - 1)
        far = (place - first)[:, None]
        shares.append((1 - far) * np.eye(few)[first] + far * np.eye(few)[after])
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


wrong.edits("""
# as_often_written
## corners_on_corners: You lay the first middle on the first and the last on the last; the grids share their borders, so
the middles of larger grids lie further out.
- place = (np.arange(many) + 0.5) * few / many - 0.5
+ place = np.arange(many) * (few - 1) / max(many - 1, 1)
## no_half_steps: You leave out the halves: position i of the new grid is not i · r / R, for vectors stand in the middle
of their squares.
+ place = np.arange(many) * few / many
## half_step_once: You go to the middle of the new square, but do not come back by half a square of the old grid.
+ place = (np.arange(many) + 0.5) * few / many
## ratio_upside_down: Your ratio is upside down: the positions lie among the r old rows, so i is multiplied by r / R.
+ place = (np.arange(many) + 0.5) * many / few - 0.5
## always_the_one_before: You always take the old neighbour before the position; between two of them the weighted
average is asked for.
- shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
+ shares.append((np.floor(place)[:, None] == np.arange(few)).astype(float))
## not_held_at_the_border: Outside the first and the last middle your vectors fade towards 0; keep the value of the
border.
- place = np.clip(place, 0, few - 1)
+ place = place
## rows_and_columns_exchanged: You read the old grid with its rows and columns exchanged.
- grid = P[1:].reshape(*old, -1)
+ grid = P[1:].reshape(old[1], old[0], -1).swapaxes(0, 1)
## written_downwards: Your new positions are numbered downwards; patches are numbered row by row.
- return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])
+ return np.concatenate([P[:1], larger.swapaxes(0, 1).reshape(-1, P.shape[1])])
## class_token_lost: The position of the class token is missing in your result.
+ return larger.reshape(-1, P.shape[1])
## class_token_at_the_end: You put the class token last; it comes first.
+ return np.concatenate([larger.reshape(-1, P.shape[1]), P[:1]])
## class_token_a_mean: You give the class token the mean of the new positions; keep its own.
+ return np.concatenate([larger.mean(axis=(0, 1))[None], larger.reshape(-1, P.shape[1])])
## last_for_the_class_token: You take the last row of P for the class token; it is the first.
- grid = P[1:].reshape(*old, -1)
+ grid = P[:-1].reshape(*old, -1)
- return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])
+ return np.concatenate([P[-1:], larger.reshape(-1, P.shape[1])])
## features_interpolated: Your reshape puts the features first and so mixes them with the positions.
- grid = P[1:].reshape(*old, -1)
+ grid = P[1:].reshape(-1, *old).transpose(1, 2, 0)
""")
