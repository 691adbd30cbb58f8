"""What question museum asks: queries, keys and values at positions, and what has to stay where they are moved."""

import numpy as np
import torch
from clearcheck.author.cases import close, shape_slip

from .shared import WIDTHS, draw, draw_positions, rotate

ROUNDED = 5e-4  # angles and scores in float32 are off by so little
ROUNDED_LARGE = 2e-3  # and by so much where scores are large


def attend_at_positions(q, k, v, q_positions, k_positions):
    """In double precision, so that rounding is counted once; a query that sees nothing gets zeros."""
    q, k, wide = rotate(q.double(), q_positions), rotate(k.double(), k_positions), v.double()
    seen = k_positions <= q_positions[:, None]
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -1e300)
    return ((scores.softmax(-1) * seen) @ wide).to(v.dtype)


def draw_heads(rng, q_positions, k_positions, leading=(), factor=1.0):
    """Queries, keys and values at the given positions; the width V of a value is even, so that it could be turned."""
    N, S = len(q_positions), len(k_positions)
    K, V = draw(rng, WIDTHS[:4], WIDTHS[:4])
    q, k, v = (rng.normal(size=(*leading, n, width)) for n, width in ((N, K), (S, K), (S, V)))
    return factor * q, k, v, np.asarray(q_positions), np.asarray(k_positions)


def same_positions(rng):
    cases = []
    for leading, N in (((), 5), ((3,), 7), ((2, 3), 9)):
        positions = draw_positions(rng, N)
        cases.append(draw_heads(rng, positions, positions, leading))
    return [*cases, draw_heads(rng, positions[:1], positions[:1])]


def with_a_cache(rng):
    """New queries and older keys; sources unsorted; a query before all keys; a single new token."""
    S, N = 11, 4
    k_positions = draw_positions(rng, S)
    fresh = k_positions[-N:]
    early = np.array([1, *k_positions[[2, 5]], 70])
    mixed = rng.permutation(k_positions)
    shared = k_positions[[0, 1, 1, 2, 4, 4, 5, 7, 7, 7, 9]]
    padded = k_positions - k_positions[5]  # from below 0
    return [
        draw_heads(rng, fresh, k_positions, (3,)),
        draw_heads(rng, k_positions[-1:], k_positions, (2, 3)),
        draw_heads(rng, fresh, mixed),
        draw_heads(rng, fresh[[2, 0, 3, 1]], k_positions),
        draw_heads(rng, early, k_positions, (3,)),
        draw_heads(rng, shared[[2, 5, 9]], shared),
        draw_heads(rng, np.array([padded[0] - 2, *padded[[1, 3, 8]]]), padded, (2, 1, 3)),
        draw_heads(rng, 50 * fresh, 50 * k_positions),  # where another base than 10,000 shows
    ]


def large_products(rng):
    k_positions = draw_positions(rng, 9)
    q, k, *rest = draw_heads(rng, k_positions, k_positions)
    q[0] = -1e6 * k[0]  # the only key that it sees, and its score is far below 0
    lower = q.copy()
    lower[0] *= 1e6
    return [
        draw_heads(rng, k_positions[-4:], k_positions, (3,), 30.0),
        (q, k, *rest),
        (lower, k, *rest),
        far_apart(rng, k_positions),
    ]


def far_apart(rng, positions):
    """Scores like 10 000, each of which leaves one key all the weight, so that rounding decides nothing."""
    while True:
        q, k, v, *at = draw_heads(rng, positions, positions, (), 1e4)
        asked, offered = (rotate(torch.from_numpy(x), torch.from_numpy(positions)).numpy() for x in (q, k))
        scores = np.where(np.tri(len(positions), dtype=bool), scores_of_rotary(asked, offered, v), -np.inf)
        second, first = np.sort(scores, axis=1)[1:, -2:].T
        if (first - second).min() > 50:
            return q, k, v, *at


def everything_later(ask, rng):
    k_positions, shift = draw_positions(rng, 9), int(rng.integers(20, 80))
    q, k, v, q_positions, k_positions = draw_heads(rng, k_positions[-4:], k_positions)
    Y = ask(q, k, v, q_positions, k_positions)
    if slip := shape_slip(Y, (4, v.shape[1])):
        return slip
    if not close(ask(q, k, v, q_positions + shift, k_positions + shift), Y, ROUNDED):
        return f"With all positions {shift} later the outputs must stay as they were; yours change."
    moved = k_positions.copy()
    moved[0] -= 2
    if close(ask(q, k, v, q_positions, moved), Y, ROUNDED):
        return "One key moved two positions away must change the outputs; yours do not look where keys stand."
    return None


def draw_far_scores(rng, factor):
    """The first query sees one key, whose score is below 0 for one sign of the factor."""
    k_positions = draw_positions(rng, 9)
    return draw_heads(rng, k_positions[[0, 3, 6, 8]], k_positions, factor=factor)


def last_value_changed(args):
    """The last value is another, and the outputs of the queries before it."""
    q, k, v, *positions = args
    edited = v.copy()
    edited[-1] += 1.0
    yield (q, k, edited, *positions), lambda Y: Y[:-1]


def ones_stay_ones(ask, rng):
    k_positions = draw_positions(rng, 9)
    q, k, v, q_positions, k_positions = draw_heads(rng, k_positions[[3, 6, 8, 8]], k_positions)
    Y = ask(q, k, np.ones_like(v), q_positions, k_positions)
    if slip := shape_slip(Y, (4, v.shape[1])):
        return slip
    if not close(Y, np.ones_like(Y), ROUNDED):
        worst = Y.ravel()[np.argmax(np.abs(Y - 1))]
        return f"All values are 1, so every average of values is 1; yours gives {worst:.4g}."
    future = v.copy()
    future[7:] += 1.0  # the two latest keys, which the first two queries do not see
    before, after = ask(q, k, v, q_positions, k_positions), ask(q, k, future, q_positions, k_positions)
    if not close(before[:2], after[:2], ROUNDED):
        return "A value at a later position must not reach a query, but an edit there changes your outputs."
    if close(before[2:], after[2:], ROUNDED):
        return "A value at an earlier or the same position must reach a query, but an edit there changes nothing."
    return None


def scores_of_rotary(q, k, v, *positions):
    """Before the turns, which change no score's size."""
    return q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
