"""Exercise 06, question museum: Stretch: rotary attention that generates."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import Mask, in_cases_of, with_battery
from clearcheck.author.cases import close, shape_slip
from clearformer.reference.attention import attention_weights

from .shared import WIDTHS, draw, draw_positions, rotate


def attend_at_positions(q, k, v, q_positions, k_positions):
    q, k = rotate(q, q_positions), rotate(k, k_positions)
    visible = k_positions[:, None] <= q_positions  # S × N
    Y = np.empty((*q.shape[:-1], v.shape[-1]))
    for head in np.ndindex(q.shape[:-2]):
        scores = k[head] @ q[head].T / np.sqrt(q.shape[-1])
        Y[head] = attention_weights(scores, visible).T @ v[head]
    return Y


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
        draw_heads(rng, 101 * fresh, 101 * k_positions),
    ]


def large_products(rng):
    k_positions = draw_positions(rng, 9)
    q, k, *rest = draw_heads(rng, k_positions, k_positions)
    q[0] = -1e6 * k[0]  # the only key that it sees, and its score is far below 0
    lower = q.copy()
    lower[0] *= 1e6
    return [
        draw_heads(rng, k_positions[-4:], k_positions, (3,), 30.0),
        draw_heads(rng, k_positions, k_positions, (), 1e4),
        (q, k, *rest),
        (lower, k, *rest),
    ]


def everything_later(ask, rng):
    k_positions, shift = draw_positions(rng, 9), int(rng.integers(20, 80))
    q, k, v, q_positions, k_positions = draw_heads(rng, k_positions[-4:], k_positions)
    Y = ask(q, k, v, q_positions, k_positions)
    if slip := shape_slip(Y, (4, v.shape[1])):
        return slip
    if not close(ask(q, k, v, q_positions + shift, k_positions + shift), Y, 1e-8):
        return f"With all positions {shift} later the outputs must stay as they were; yours change."
    moved = k_positions.copy()
    moved[0] -= 2
    if close(ask(q, k, v, q_positions, moved), Y, 1e-6):
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
    if not close(Y, np.ones_like(Y)):
        worst = Y.ravel()[np.argmax(np.abs(Y - 1))]
        return f"All values are 1, so every average of values is 1; yours gives {worst:.4g}."
    future = v.copy()
    future[7:] += 1.0  # the two latest keys, which the first two queries do not see
    before, after = ask(q, k, v, q_positions, k_positions), ask(q, k, future, q_positions, k_positions)
    if not close(before[:2], after[:2]):
        return "A value at a later position must not reach a query, but an edit there changes your outputs."
    if close(before[2:], after[2:]):
        return "A value at an earlier or the same position must reach a query, but an edit there changes nothing."
    return None


def scores_of_rotary(q, k, v, *positions):
    """Before the turns, which change no score's size."""
    return q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])


QUESTION = Question(
    id="museum",
    title="Stretch: rotary attention that generates",
    name="rotary_attention",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        equals("whole sentences", 4, same_positions, attend_at_positions),
        equals("with a cache", 5, with_a_cache, attend_at_positions),
        equals("large scores", 3, large_products, attend_at_positions),
        holds("everything later", 3, everything_later),
        holds("ones stay ones", 3, ones_stay_ones),
        mask=Mask("with a cache", draw_far_scores, last_value_changed),
        more={"boundary": in_cases_of("whole sentences")},
        off={"ids": "positions may be below 0 and are subtracted, for which unsigned numbers are no good"},
    ),
    hints=(
        "Does question 4 pass? Then: some experiments are upset by two slips, others by a single one. Begin "
        "with one of these, repair its slip, and run all four again.",
        "Write down what a weight may depend on, and what an output may depend on besides the weights. Which "
        "of the three tables q, k and v have to know where they stand?",
        "Ask of every line: does it use a position, or the number of a row? The two agree in training, when the "
        "whole sentence comes at once.",
    ),
    section="start-anywhere-leave-gaps",
    inputs=Inputs(
        lambda q, k, v, *positions: {"N": q.shape[-2], "K": q.shape[-1], "V": v.shape[-1]},
        scores_of_rotary,
        only_distinct="the width of a head is even",
    ),
)

right, wrong = answers_to(QUESTION)


@right
def head_by_head(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        half = x.shape[-1] // 2
        angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)

    scores = turn(q, q_positions) @ np.swapaxes(turn(k, k_positions), -1, -2) / np.sqrt(q.shape[-1])
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = np.where(hidden, -1e30, scores)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * ~hidden
    return powers @ v / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)


@right
def query_by_query(q, k, v, q_positions, k_positions):
    half = q.shape[-1] // 2
    rates = 10000.0 ** (-np.arange(half) / half)

    def complex_at(x, positions):
        return (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * np.outer(positions, rates))

    asked, offered = complex_at(q, q_positions), complex_at(k, k_positions)
    Y = np.zeros((*q.shape[:-1], v.shape[-1]))
    for head in np.ndindex(q.shape[:-2]):
        for n, place in enumerate(q_positions):
            seen = np.flatnonzero(k_positions <= place)
            if len(seen):
                scores = (asked[head][n] * offered[head][seen].conj()).sum(axis=-1).real / q.shape[-1] ** 0.5
                powers = np.exp(scores - scores.max())
                Y[head][n] = powers / powers.sum() @ v[head][seen]
    return Y


@right
def turned_by_the_difference(q, k, v, q_positions, k_positions):
    """Only the keys are turned, once for every pair, by the position of the key less that of the query."""
    half = q.shape[-1] // 2
    angles = (k_positions - q_positions[:, None])[..., None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = k[..., None, :, :half], k[..., None, :, half:]
    near = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
    scores = np.einsum("...nk,...nsk->...ns", q, near) / np.sqrt(2 * half)
    seen = k_positions <= q_positions[:, None]
    blind = ~seen.any(axis=-1, keepdims=True)
    scores = np.where(seen | blind, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(blind, 0.0, powers / powers.sum(axis=-1, keepdims=True)) @ v


@right
def as_often_written(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        a, b = np.split(x, 2, axis=-1)
        angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
        cos, sin = np.cos(angles), np.sin(angles)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_positions <= q_positions[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "Neither queries nor keys are turned: apart from the mask nothing knows where it stands.",
    section="rotary-positions",
)
def nothing_turned(q, k, v, q_positions, k_positions):
    C = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    seen = k_positions <= q_positions[:, None]
    C = np.where(seen, C, -1e30)
    E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
    return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


wrong.edits("""
# head_by_head
## waves_added [rotary-positions]: You add waves to queries and keys instead of turning them.
- a, b = x[..., :half], x[..., half:]
- return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)
+ return x + np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)

# as_often_written
## generating_as_exhibited: This is the museum piece as it stood, with all three of its slips.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
- seen = k_positions <= q_positions[:, None]
+ C = turn(q, np.arange(len(q_positions))) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ seen = np.tri(len(q_positions), len(k_positions), dtype=bool)
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ turn(v, k_positions) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
## only_values_repaired: Your values are as they should be, but two slips of the museum piece are left: both use a row
number.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
- seen = k_positions <= q_positions[:, None]
+ C = turn(q, np.arange(len(q_positions))) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ seen = np.tri(len(q_positions), len(k_positions), dtype=bool)
## only_queries_repaired: Your queries know their positions, but two slips are left: one in the mask, one in what is
averaged.
- seen = k_positions <= q_positions[:, None]
+ seen = np.tri(len(q_positions), len(k_positions), dtype=bool)
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ turn(v, k_positions) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
## only_mask_repaired: Your mask is as it should be, but two slips are left: one in what is compared, one in what is
averaged.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, np.arange(len(q_positions))) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ turn(v, k_positions) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
## values_turned [common-mistakes]: Your values are turned along with queries and keys, so the outputs depend on where
everything stands.
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ turn(v, k_positions) / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
## queries_from_0 [common-mistakes]: Your queries count from 0 in every call, which is wrong as soon as a cache holds
earlier tokens.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, np.arange(len(q_positions))) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## mask_by_rows: Your mask compares the numbers of rows and columns instead of positions.
- seen = k_positions <= q_positions[:, None]
+ seen = np.tri(len(q_positions), len(k_positions), dtype=bool)
## mask_by_last_rows: Your mask takes the queries for the last rows of the keys, as in a cache without gaps;
positions decide.
+ seen = np.tri(len(q_positions), len(k_positions), len(k_positions) - len(q_positions), dtype=bool)
## key_rows_for_positions: Your mask takes the row of a key for its position; both positions are given.
+ seen = np.arange(len(k_positions)) <= q_positions[:, None]
## keys_from_0: Your keys count from 0 although their positions are given.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions) @ turn(k, np.arange(len(k_positions))).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## both_from_0: Your queries and keys both count from 0, and the given positions decide the mask only. If that comes
from your rotation, let question 4 pass first.
- def turn(x, positions):
+ def turn(x):
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(np.arange(x.shape[-2]), 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q) @ turn(k).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## keys_not_turned [rotary-positions]: Your queries are turned and your keys are not: then scores depend on the query's
position alone.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions) @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## queries_not_turned [rotary-positions]: Your keys are turned and your queries are not: then scores depend on the key's
position alone.
+ C = q @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## opposite_directions [rotary-positions]: Queries and keys turn in opposite directions, so scores depend on the sum of
two positions.
+ C = turn(q, q_positions) @ turn(k, -k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
## overwriting_rotation_inside [rotary-positions]: The rotation inside overwrites numbers that it still needs, and the
caller's: let question 4 pass first.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ a[...] = a * cos - b * sin
+ b[...] = b * cos + a * sin
+ return x
## pairs_of_neighbours [rotary-positions]: Your pairs are neighbours; in question 4 the two halves make pairs.
- a, b = np.split(x, 2, axis=-1)
+ a, b = x[..., ::2], x[..., 1::2]
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(x.shape)
## scaled_twice [rotary-positions]: The scores are scaled twice.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / q.shape[-1]
## no_mask [the-mask-as-position-information]: There is no mask: your queries see keys at later positions.
- seen = k_positions <= q_positions[:, None]
+ seen = np.ones((len(q_positions), len(k_positions)), dtype=bool)
## own_place_hidden [the-mask-as-position-information]: Your mask hides a query's own position from it.
+ seen = k_positions < q_positions[:, None]
## future_shown [the-mask-as-position-information]: Your mask looks the wrong way: it shows later positions.
+ seen = k_positions >= q_positions[:, None]
## scores_not_scaled: The scores are not scaled by the root of the width.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2)
## scaled_by_the_values: You scale by the width of a value; the products are those of queries and keys.
+ C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(v.shape[-1])
## mask_after_softmax [the-mask-as-position-information]: Your mask comes after the softmax, and what it hides is still
in the denominator.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ E = np.exp(C - C.max(axis=-1, keepdims=True))
+ return E * seen @ v / E.sum(axis=-1, keepdims=True)
## hidden_by_zero [the-mask-as-position-information]: You multiply hidden scores by 0, which is a score like any other.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ C = C * seen
+ E = np.exp(C - C.max(axis=-1, keepdims=True))
## softmax_over_queries: Your softmax runs over the queries; the shares of one query must sum to 1.
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ E = np.exp(C - C.max(axis=-2, keepdims=True)) * seen
+ return E / np.maximum(E.sum(axis=-2, keepdims=True), 1e-300) @ v
## blind_query_averages_all: A query that sees no key gets the mean of all values in your version, and reads the future.
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ E = np.exp(C - C.max(axis=-1, keepdims=True))
## zeros_for_all: As soon as one query sees no key you give zeros to all; only that one gets zeros.
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300) * seen.any(axis=-1).all()
## blind_query_is_nan: In your version a query that sees no key divides 0 by 0.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ C = np.where(seen, C, -np.inf)
+ E = np.exp(C - C.max(axis=-1, keepdims=True))
+ return E @ v / E.sum(axis=-1, keepdims=True)
## overflow: Large scores overflow in your exponentials: take the largest of each row away first.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ E = np.exp(C) * seen
## largest_of_the_table: You take the largest score of the whole table away, and the rows far below it vanish.
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ E = np.exp(C - C.max()) * seen
## largest_of_hidden_too: You take away a largest score that may itself be hidden, and what a query sees can vanish
beside it.
- C = np.where(seen, C, -1e30)
## mask_on_its_side: Your mask lies on its side: its rows should belong to the queries.
- seen = k_positions <= q_positions[:, None]
+ seen = k_positions[:, None] <= q_positions
## scaled_by_the_pairs: You scale by the number of pairs; the products run over the whole width.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1] // 2)
## shares_do_not_sum_to_one: You never divide the weights by their sum, so outputs are not averages.
- return E @ v / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)
+ return E @ v
## penalty_added: You add a large penalty to hidden scores: a query that sees no key then looks as if none were hidden.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ C = C + np.where(seen, 0.0, -1e9)
+ E = np.exp(C - C.max(axis=-1, keepdims=True))
## slow_rotation_inside [rotary-positions]: The rotation inside has exponents half as large as they should be: let
question 4 pass first.
- angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / a.shape[-1]))
+ angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / x.shape[-1]))
## fast_rotation_inside [rotary-positions]: The rotation inside has exponents twice as large as they should be: let
question 4 pass first.
+ angles = np.outer(positions, 10000.0 ** (-np.arange(a.shape[-1]) / (a.shape[-1] / 2)))
## backwards_inside [rotary-positions]: The rotation inside turns backwards: let question 4 pass first.
- return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
+ return np.concatenate([a * cos + b * sin, b * cos - a * sin], axis=-1)
## each_from_its_own_start: Queries and keys are each counted from their own first position, so distances are lost.
- C = turn(q, q_positions) @ turn(k, k_positions).swapaxes(-1, -2) / np.sqrt(q.shape[-1])
+ C = turn(q, q_positions - np.min(q_positions)) @ turn(k, k_positions - np.min(k_positions)).swapaxes(-1, -2)
+ C = C / np.sqrt(q.shape[-1])
## hidden_not_low_enough: You give hidden scores −10 000, and large scores may lie below that.
- C = np.where(seen, C, -1e30)
- E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen
+ C = np.where(seen, C, -1e4)
+ E = np.exp(C - C.max(axis=-1, keepdims=True)) * seen.any(axis=-1, keepdims=True)
## shared_positions_in_order: Your mask compares row numbers where positions are equal; a query should see every key at
its own position.
- seen = k_positions <= q_positions[:, None]
+ seen = (k_positions < q_positions[:, None]) | (np.tri(*C.shape[-2:]) == 1) & (k_positions == q_positions[:, None])
""")
