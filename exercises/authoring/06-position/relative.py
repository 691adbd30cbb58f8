"""Exercise 06, question relative: a bias for every distance."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, shape_slip

from .shared import LENGTHS, draw


def bias_of(q, r, n_sources):
    N, K = q.shape[-2:]
    m = len(r) // 2
    targets = np.arange(n_sources - N, n_sources)[:, None]
    steps = np.clip(np.arange(n_sources) - targets, -m, m) + m
    return np.einsum("...nk,nsk->...ns", q, r[steps]) / np.sqrt(K)


def draw_relative(rng, leading=(), n_targets=None, n_sources=None, m=None):
    N, K, S = draw(rng, LENGTHS, (3, 6, 8, 10), (17, 19))
    N, m = n_targets or N, int(rng.choice((1, 2, 3))) if m is None else m
    S = {"same": N, "more": S}.get(n_sources, n_sources)
    return rng.normal(size=(*leading, N, K)), rng.normal(size=(2 * m + 1, K)), int(S)


def one_number_each(q, r, n_sources):
    return q[..., :1].copy(), r[:, :1].copy(), n_sources


def whole_sequences(rng):
    return [
        draw_relative(rng, n_sources="same"),
        draw_relative(rng, (3,), n_sources="same"),
        draw_relative(rng, (2, 3), n_sources="same", m=20),
    ]


def last_of_many(rng):
    return [
        draw_relative(rng, n_sources="more"),
        draw_relative(rng, (2, 3), n_sources="more"),
        draw_relative(rng, (3,), n_targets=1, n_sources="more"),
        draw_relative(rng, n_targets=1, n_sources=1),
        draw_relative(rng, n_sources="more", m=0),
        draw_relative(rng, (3, 1, 2), n_sources="more"),
        one_number_each(*draw_relative(rng, n_sources="more")),
    ]


def distances_only(ask, rng):
    """Equal queries: diagonals are constant, and far away everything is alike."""
    q, r, S = draw_relative(rng, n_sources=12, n_targets=7, m=2)
    q[:] = q[0]
    bias = ask(q, r, S)
    if slip := shape_slip(bias, (7, 12)):
        return slip
    if not close(bias[1:, 1:], bias[:-1, :-1]):
        return "With equal queries the bias should be constant along each diagonal; yours is not."
    if close(bias, np.full((7, 12), bias[0, 0])):
        return "Different distances have different vectors, but all your biases are the same."
    if not close(bias[-1, :10], np.full(10, bias[-1, 0])):
        return "All tokens two or more positions to the left count alike when m = 2; for your last query they do not."
    if close(ask(q, r[::-1].copy(), S), bias):
        return "With the rows of r in reverse left and right change places, but your biases stay the same."
    if not close(ask(3 * q, r, S), 3 * bias):
        return "Three times the query should give three times the bias; yours does not."
    return None


QUESTION = Question(
    id="relative",
    title="A bias for every distance",
    name="relative_bias",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("whole sequences", 5, whole_sequences, bias_of),
        equals("the last of many", 4, last_of_many, bias_of),
        holds("distances only", 3, distances_only),
        more={"boundary": in_cases_of("whole sequences")},
    ),
    hints=(
        "Write the table of distances for 4 tokens on paper: what stands on its diagonal, what on the left of "
        "it? Then clip, then turn a distance into a row of r.",
        "At which positions are the queries when there are N of them and S tokens in all? Test with N = 1.",
        "You can compare every query with all rows of r first, in one product, and then pick; or pick a "
        "vector for every pair first, and then compare. Work along the last two axes only.",
    ),
    section="relative-positions",
    inputs=Inputs(lambda q, r, n_sources: {"N": q.shape[-2], "K": q.shape[-1]}),
)

right, wrong = answers_to(QUESTION)


@right
def compare_then_pick(q, r, n_sources):
    N, K = q.shape[-2:]
    m = len(r) // 2
    positions = np.arange(n_sources - N, n_sources)
    index = np.clip(np.arange(n_sources) - positions[:, None], -m, m) + m
    by_distance = q @ r.T / np.sqrt(K)
    return np.take_along_axis(by_distance, np.broadcast_to(index, (*q.shape[:-1], n_sources)), axis=-1)


@right
def pick_then_compare(q, r, n_sources):
    N, K = q.shape[-2:]
    m = (len(r) - 1) // 2
    vectors = np.empty((N, n_sources, K))
    for n in range(N):
        for s in range(n_sources):
            j = s - (n_sources - N + n)
            vectors[n, s] = r[max(-m, min(j, m)) + m]
    return (vectors @ q[..., None])[..., 0] / K**0.5


@right
def one_diagonal_after_another(q, r, n_sources):
    N, K = q.shape[-2:]
    m, bias = len(r) // 2, np.zeros((*q.shape[:-1], n_sources))
    distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
    for j in range(-m, m + 1):
        here = distance == j
        if j == -m:
            here = distance <= j
        if j == m:
            here = here | (distance >= j)
        bias = bias + here * (q @ r[j + m])[..., None] / np.sqrt(K)
    return bias


@right
def as_often_written(q, r, n_sources):
    N, m = q.shape[-2], len(r) // 2
    positions = np.arange(n_sources - N, n_sources)[:, None]
    index = np.clip(np.arange(n_sources) - positions, -m, m) + m
    return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])


@wrong("You read r as a table of positions, not of distances.")
def a_table_of_positions(q, r, n_sources):
    index = np.minimum(np.arange(n_sources), len(r) - 1)
    return (q @ r.T)[..., index] / np.sqrt(q.shape[-1])


wrong.edits("""
# as_often_written
## clipped_above_alone: You clip the distances above and not below: a token far to the left reads another row of the
table.
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = (np.minimum(np.arange(n_sources) - positions, m) + m) % len(r)
## left_and_right_exchanged: Your distances have the opposite sign: left and right have changed places.
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = np.clip(positions - np.arange(n_sources), -m, m) + m
## not_scaled: The scale is missing: the bias is added to scores that are divided by a root, and has to be divided too.
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ return (q @ r.T)[..., np.arange(N)[:, None], index]
## divided_by_k: You divide by the width itself and not by its root.
+ return (q @ r.T)[..., np.arange(N)[:, None], index] / q.shape[-1]
## scaled_by_the_table: The root that you divide by is that of the number of distances; it should come from the width of
a query.
+ return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(len(r))
## queries_at_the_beginning [common-mistakes]: Your queries stand at the first positions; with more sources than queries
they are the last ones.
- positions = np.arange(n_sources - N, n_sources)[:, None]
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = np.clip(np.arange(n_sources) - np.arange(N)[:, None], -m, m) + m
## middle_not_added: The middle row of r belongs to the distance 0; you look a distance up as it is, and a negative one
is taken from the end.
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = np.clip(np.arange(n_sources) - positions, -m, m)
## nothing_beyond: Beyond m you give no bias at all; count whatever is farther away as m.
- positions = np.arange(n_sources - N, n_sources)[:, None]
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
+ bias = (q @ r.T)[..., np.arange(N)[:, None], np.clip(distance, -m, m) + m] / np.sqrt(q.shape[-1])
+ return np.where(np.abs(distance) <= m, bias, 0.0)
## distance_without_sign: You take distances without their sign, so that left and right count alike.
- positions = np.arange(n_sources - N, n_sources)[:, None]
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ distance = np.abs(np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None])
+ index = np.minimum(distance, m) + m
## wrapped_round: Far distances begin anew at the other end of your table instead of counting as m.
+ distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
+ index = (distance + m) % len(r)
## sources_in_rows: Your result has a row for every source; a query is a row here.
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ return np.swapaxes((q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1]), -1, -2)
## without_the_query: Your bias does not ask the query: it is the same for whatever stands there.
+ return np.zeros((*q.shape[:-1], n_sources)) + r.sum(axis=1)[index] / np.sqrt(q.shape[-1])
## right_side_hidden: You give sources on the right no bias; hiding them is the mask's work.
- positions = np.arange(n_sources - N, n_sources)[:, None]
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ distance = np.arange(n_sources) - np.arange(n_sources - N, n_sources)[:, None]
+ bias = (q @ r.T)[..., np.arange(N)[:, None], np.clip(distance, -m, m) + m] / np.sqrt(q.shape[-1])
+ return np.where(distance <= 0, bias, 0.0)
## clipped_at_the_table_length: You clip the distances to row numbers without adding m: the token itself and all to its
left get row 0.
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = np.clip(np.arange(n_sources) - positions, 0, 2 * m)
## softmax_taken: You return weights: the softmax comes later, when bias and products have been added.
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ E = np.exp((q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1]))
+ return E / E.sum(axis=-1, keepdims=True)
## queries_one_place_late: Your last query stands behind the last token: its position is too large by one.
- positions = np.arange(n_sources - N, n_sources)[:, None]
+ positions = np.arange(n_sources - N, n_sources)[:, None] + 1
## scaled_by_the_length: The root that you divide by is that of the number of queries; it should come from the width of
one.
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(N)
## one_place_for_all_queries: All your queries stand at the position of the first of them.
- positions = np.arange(n_sources - N, n_sources)[:, None]
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
- return (q @ r.T)[..., np.arange(N)[:, None], index] / np.sqrt(q.shape[-1])
+ index = np.clip(np.arange(n_sources) - (n_sources - N), -m, m) + m
+ return (q @ r.T)[..., index] / np.sqrt(q.shape[-1])
## last_row_never_used: On the right you clip one step too early: the last row of r is never used.
- index = np.clip(np.arange(n_sources) - positions, -m, m) + m
+ index = np.maximum(np.minimum(np.arange(n_sources) - positions, m - 1), -m) + m
""")
