"""Checks of exercise 06: places that start late, have gaps and come unsorted, since 0, 1, 2, … hides most slips."""

from itertools import combinations

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import positions as reference
from clearformer.reference.attention import attention_weights

LENGTHS = (4, 5, 7, 9, 11, 13)
WIDTHS = (6, 8, 10, 14, 18, 22)  # even, for pairs of features
CLOSE = 1e-9
ROUGH = 1e-4  # single precision has its own message, in the comparison
LONGEST = 10_000.0


def draw(rng, *kinds):
    """One size of each kind, of which no one divides another."""
    while True:
        sizes = [int(rng.choice(kind)) for kind in kinds]
        if all(max(pair) % min(pair) for pair in combinations(sizes, 2)):
            return sizes


def draw_places(rng, how_many, low=3, high=60):
    """Places in order, with gaps, not from 0."""
    return np.sort(rng.choice(np.arange(low, high), how_many, replace=False))


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit))


def shape_slip(value, shape):
    """A sentence when the value is no array of this shape, else None."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return None
    came = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"The result should be an array of shape {shape}; yours is {came}."


# sinusoids


def table_of_waves(n_tokens, d_model, start=0):
    return reference.sinusoidal(start + n_tokens, d_model)[:, start:]


def from_the_beginning(rng):
    N, D = draw(rng, LENGTHS, WIDTHS)
    M, E = draw(rng, LENGTHS, WIDTHS)
    return [(N, D), (M, E), (N, 2), (1, D)]


def from_any_place(rng):
    cases = []
    for low, high in ((3, 40), (3, 40), (900, 2000)):
        N, D = draw(rng, LENGTHS, WIDTHS)
        cases.append((N, D, int(rng.integers(low, high))))
    return [*cases, (1, cases[0][1], int(rng.integers(3, 40)))]


def a_step_is_a_step(ask, rng):
    """Inner products by distance alone: what the pairs of waves are for, in whatever order they come."""
    N, D = draw(rng, LENGTHS, WIDTHS)
    kernels = []
    for start in (0, int(rng.integers(3, 40))):
        P = ask(N, D, start)
        if slip := shape_slip(P, (D, N)):
            return slip
        kernels.append(P.T @ P)
    if not close(kernels[0].diagonal(), np.full(N, D / 2), ROUGH):
        return "Each pair holds a point on a circle of radius 1, so every column has the same length; yours do not."
    if not close(kernels[0][1:, 1:], kernels[0][:-1, :-1], ROUGH):
        return "The inner product of two columns should depend on their distance alone; yours depends on the place."
    if not close(kernels[0], kernels[1], ROUGH):
        return "The inner products of your columns change when the table starts at a later place."
    if close(kernels[0], np.full((N, N), kernels[0][0, 0]), ROUGH):
        return "Different places need different columns, but all of yours are the same."
    waves = ask(1, D, 1)
    if close(ask(1, D, 2), waves):
        return "The places 1 and 2 get the same column."
    return None


# slip


def similarity(d_model, distance, first_pair):
    P = reference.sinusoidal(distance + 1, d_model, first_pair=first_pair)
    return float(P[:, 0] @ P[:, distance] / (d_model / 2))


def printed_and_original(d_model, distance):
    """The two tables differ in one wave only, so the cost is a difference of two cosines over D/2."""
    pairs = np.arange(d_model // 2)
    printed, original = (2 * np.pi * LONGEST ** (2 * (pairs + first) / d_model) for first in (1, 0))
    bound = 2 * abs(np.cos(distance / LONGEST) - np.cos(distance))
    return {
        "printed wavelengths": printed,
        "original wavelengths": original,
        "printed similarity": similarity(d_model, distance, 1),
        "original similarity": similarity(d_model, distance, 0),
        "enough": 2 * int(np.floor(bound / 0.01 / 2)) + 2,
    }


def widths_and_distances(rng):
    widths = rng.choice((4, 6, 10, 14, 22), 3, replace=False)
    distances = rng.choice(np.arange(2, 20), 3, replace=False)
    return [(int(D), int(distance)) for D, distance in zip(widths, distances, strict=True)]


def edges_of_the_slip(rng):
    """A single pair, the same place, neighbours, and the distance of a whole turn, at which the fast wave agrees."""
    D = int(rng.choice((6, 10, 14)))
    return [(2, int(rng.integers(2, 9))), (D, 0), (D + 2, 1), (D, 4), (D, 44), (D, int(rng.integers(23, 42)))]


def entries_right(*names):
    """A check of some entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for args in widths_and_distances(rng):
            found, expected = ask(*args), printed_and_original(*args)
            if not isinstance(found, dict) or found.keys() != expected.keys():
                return f"The result should be a dict with the keys {', '.join(map(repr, expected))}."
            for name in names:
                came, shape = found[name], np.shape(expected[name])
                if np.shape(came) != shape or not isinstance(came, np.ndarray | np.number | int | float):
                    return f"Under {name!r} {'an array of shape ' + str(shape) if shape else 'one number'} is expected."
                if not np.allclose(came, expected[name], rtol=1e-9, atol=1e-9):
                    return f"For d_model={args[0]} and distance={args[1]} your entry {name!r} is not right."
        return None

    return test


# placing


def placed(x, P, starts):
    places = np.maximum(starts[:, None] + np.arange(x.shape[1]), 0)
    return x + P[places]


def draw_batch(rng, starts, n_tokens=None, width=None):
    """Sentences with the given starts, and a table that is long enough."""
    B = len(starts)
    while True:
        N, D = draw(rng, LENGTHS, WIDTHS)
        N = n_tokens or N
        L = int(rng.choice((61, 67, 71)))
        if all(max(pair) % min(pair) for pair in combinations([size for size in (B, N, D) if size > 1], 2)):
            return rng.normal(size=(B, N, D)), rng.normal(size=(L, D)), np.array(starts, dtype=np.int64)


def continued_sentences(rng):
    cases = []
    for B in (3, 3):
        starts = rng.choice(np.arange(1, 30), B, replace=False)
        cases.append(draw_batch(rng, starts))
    return [*cases, draw_batch(rng, rng.choice(np.arange(1, 30), 3, replace=False), n_tokens=1)]


def padded_sentences(rng):
    """Padding on the left, also longer than the sentence; as many sentences as tokens, where a lost axis fits."""
    mixed = [-int(rng.integers(1, 4)), int(rng.integers(2, 9)), 0]
    all_padding = [int(rng.integers(1, 20)), -int(rng.integers(15, 25)), -int(rng.integers(1, 4))]
    N = int(rng.choice((4, 5)))
    square = rng.choice(np.arange(-3, 9), N, replace=False)
    x, P, starts = draw_batch(rng, square, n_tokens=1)
    x = rng.normal(size=(N, N, x.shape[2]))
    return [draw_batch(rng, mixed), draw_batch(rng, all_padding), (x, P, starts)]


def whose_order_matters(ask, rng):
    x, P, starts = draw_batch(rng, rng.choice(np.arange(1, 30), 3, replace=False))
    Y = ask(x, P, starts)
    if slip := shape_slip(Y, x.shape):
        return slip
    order = np.roll(np.arange(3), int(rng.integers(1, 3)))
    if not close(ask(x[order], P, starts[order]), Y[order]):
        return "Sentences in another order should give the same results in that order; yours depend on the slot."
    words = np.roll(np.arange(x.shape[1]), 1)
    if close(ask(x[:, words], P, starts), Y[:, words]):
        return "Words in another order should give more than reordered results, but yours do not see the order."
    alone = ask(x[:1], P, starts[:1])
    if not close(alone, Y[:1]):
        return "A sentence should get the same vectors alone as in a batch; yours depend on the other sentences."
    cut = 2
    pieces = [ask(x[:, :cut].copy(), P, starts), ask(x[:, cut:].copy(), P, starts + cut)]
    if not close(np.concatenate(pieces, axis=1), Y):
        return "Read in two pieces, the second with later starts, a sentence gets other vectors than read at once."
    return None


# relative


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
        return "All tokens two or more places to the left count alike when m = 2; for your last query they do not."
    if close(ask(q, r[::-1].copy(), S), bias):
        return "With the rows of r in reverse left and right change places, but your biases stay the same."
    if not close(ask(3 * q, r, S), 3 * bias):
        return "Three times the query should give three times the bias; yours does not."
    return None


# rotary


def turned(x, positions):
    half = x.shape[-1] // 2
    angles = np.multiply.outer(positions, LONGEST ** (-2 * np.arange(half) / x.shape[-1]))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)


def places_with_gaps(rng):
    cases = []
    for leading in ((), (3,), (2, 3)):
        N, K = draw(rng, LENGTHS, WIDTHS)
        cases.append((rng.normal(size=(*leading, N, K)), draw_places(rng, N)))
    x, places = cases[0]
    return [*cases, (x, np.roll(places, int(rng.integers(1, len(places)))))]  # the smallest not in front


def far_and_single(rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    return [
        (rng.normal(size=(3, N, K)), draw_places(rng, N, 50_000, 90_000)),
        (rng.normal(size=(2, 3, 1, K)), draw_places(rng, 1)),
        (rng.normal(size=(N, 2)), draw_places(rng, N)),
    ]


def products_by_distance(ask, rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    q, k = rng.normal(size=(2, N, K))
    places, shift = draw_places(rng, N), int(rng.integers(20, 80))
    found = [ask(x, at) for at in (places, places + shift) for x in (q, k)]
    for value in found:
        if slip := shape_slip(value, (N, K)):
            return slip
    here, later = found[1] @ found[0].T, found[3] @ found[2].T
    if not close(np.linalg.norm(found[0], axis=1), np.linalg.norm(q, axis=1)):
        return "Turning keeps the length of a vector, but your vectors come out longer or shorter."
    if not close(here, later, 1e-8):
        return f"With all places {shift} later the products of queries and keys must stay as they were; yours change."
    if close(here, k @ q.T, 1e-6):
        return "The products of queries and keys at different places must change, but yours are as without turning."
    return None


def each_at_its_own_place(ask, rng):
    N, K = draw(rng, LENGTHS, WIDTHS)
    x, places = rng.normal(size=(2, N, K)), draw_places(rng, N)
    y = ask(x, places)
    if slip := shape_slip(y, x.shape):
        return slip
    pieces = [ask(x[:, :2].copy(), places[:2]), ask(x[:, 2:].copy(), places[2:])]
    if not close(np.concatenate(pieces, axis=1), y):
        return "Turned in two pieces, each with its own places, the tokens come out differently than all at once."
    if not close(ask(x, 0 * places), x):
        return "At place 0 nothing is turned, but your vectors change there."
    if close(y, x, 1e-6):
        return "Your function leaves the vectors as they are."
    return None


# mask


def outputs_that_change(n_tokens, i, j, n_blocks, causal, positions):
    first, last = min(i, j), max(i, j)
    n = np.arange(n_tokens)
    changed = (n == i) | (n == j)
    if not causal:
        return changed | positions
    between = (first < n) & (n < last)
    return changed | between | ((n > last) & (positions or n_blocks > 1))


def draw_swap(rng, n_tokens):
    """Two places inside, with something before, between and behind them; the larger one first in half the cases."""
    first = int(rng.integers(1, n_tokens - 5))
    last = int(rng.integers(first + 2, n_tokens - 2))
    return (first, last) if rng.random() < 0.5 else (last, first)


def swaps(rng, causal, settings):
    cases = []
    for n_blocks, positions in settings:
        N = int(rng.integers(8, 13))
        cases.append((N, *draw_swap(rng, N), n_blocks, causal, positions))
    return cases


def without_mask(rng):
    return swaps(rng, False, ((1, False), (12, False), (2, False), (1, True)))


def with_mask(rng):
    return swaps(rng, True, ((1, False), (1, False), (2, False), (3, False)))


def mask_and_positions(rng):
    """Positions on top of the mask; neighbours, and both ends of the sequence."""
    N = int(rng.integers(8, 13))
    return [
        *swaps(rng, True, ((1, True), (2, True), (1, True))),
        (N, 3, 4, 1, True, False),
        (N, 5, 4, 2, True, False),
        (N, 6, 2, 1, True, False),
        (N, 1, 5, 1, True, False),
        (N, 0, N - 1, 1, True, False),
        (N, N - 1, 0, 2, False, False),
        (2, 1, 0, 1, True, False),
    ]


# museum


def attended(q, k, v, q_places, k_places):
    q, k = turned(q, q_places), turned(k, k_places)
    visible = k_places[:, None] <= q_places  # S × N
    Y = np.empty((*q.shape[:-1], v.shape[-1]))
    for head in np.ndindex(q.shape[:-2]):
        scores = k[head] @ q[head].T / np.sqrt(q.shape[-1])
        Y[head] = attention_weights(scores, visible).T @ v[head]
    return Y


def draw_heads(rng, q_places, k_places, leading=(), factor=1.0):
    """Queries, keys and values at the given places; the width V of a value is even, so that it could be turned."""
    N, S = len(q_places), len(k_places)
    K, V = draw(rng, WIDTHS[:4], WIDTHS[:4])
    q, k, v = (rng.normal(size=(*leading, n, width)) for n, width in ((N, K), (S, K), (S, V)))
    return factor * q, k, v, np.asarray(q_places), np.asarray(k_places)


def same_places(rng):
    cases = []
    for leading, N in (((), 5), ((3,), 7), ((2, 3), 9)):
        places = draw_places(rng, N)
        cases.append(draw_heads(rng, places, places, leading))
    return [*cases, draw_heads(rng, places[:1], places[:1])]


def with_a_cache(rng):
    """New queries and older keys; sources unsorted; a query before all keys; a single new token."""
    S, N = 11, 4
    k_places = draw_places(rng, S)
    fresh = k_places[-N:]
    early = np.array([1, *k_places[[2, 5]], 70])
    mixed = rng.permutation(k_places)
    return [
        draw_heads(rng, fresh, k_places, (3,)),
        draw_heads(rng, k_places[-1:], k_places, (2, 3)),
        draw_heads(rng, fresh, mixed),
        draw_heads(rng, early, k_places, (3,)),
    ]


def large_products(rng):
    k_places = draw_places(rng, 9)
    return [
        draw_heads(rng, k_places[-4:], k_places, (3,), 30.0),
        draw_heads(rng, k_places, k_places, (), 1e4),
    ]


def everything_later(ask, rng):
    k_places, shift = draw_places(rng, 9), int(rng.integers(20, 80))
    q, k, v, q_places, k_places = draw_heads(rng, k_places[-4:], k_places)
    Y = ask(q, k, v, q_places, k_places)
    if slip := shape_slip(Y, (4, v.shape[1])):
        return slip
    if not close(ask(q, k, v, q_places + shift, k_places + shift), Y, 1e-8):
        return f"With all places {shift} later the outputs must stay as they were; yours change."
    moved = k_places.copy()
    moved[0] -= 2
    if close(ask(q, k, v, q_places, moved), Y, 1e-6):
        return "One key moved two places away must change the outputs; yours do not look at the places of keys."
    return None


def ones_stay_ones(ask, rng):
    k_places = draw_places(rng, 9)
    q, k, v, q_places, k_places = draw_heads(rng, k_places[[3, 6, 8, 8]], k_places)
    Y = ask(q, k, np.ones_like(v), q_places, k_places)
    if slip := shape_slip(Y, (4, v.shape[1])):
        return slip
    if not close(Y, np.ones_like(Y)):
        worst = Y.ravel()[np.argmax(np.abs(Y - 1))]
        return f"All values are 1, so every average of values is 1; yours gives {worst:.4g}."
    future = v.copy()
    future[7:] += 1.0  # the two latest keys, which the first two queries do not see
    before, after = ask(q, k, v, q_places, k_places), ask(q, k, future, q_places, k_places)
    if not close(before[:2], after[:2]):
        return "A value at a later place must not reach a query, but an edit there changes your outputs."
    if close(before[2:], after[2:]):
        return "A value at an earlier or the same place must reach a query, but an edit there changes nothing."
    return None


EXERCISE = Exercise(
    slug="06-position",
    title="Positions",
    chapter="chapters/06-position",
    questions=(
        Question(
            id="sinusoids",
            title="Sinusoids from any place",
            name="sinusoidal",
            minutes=12,
            difficulty=1,
            checks=(
                equals("from the beginning", 5, from_the_beginning, table_of_waves),
                equals("from any place", 3, from_any_place, table_of_waves),
                holds("a step is a step", 4, a_step_is_a_step),
            ),
            hints=(
                "Write down the column of place 1 for D = 4 by hand, with the frequency of each of its two pairs.",
                "A table of angles first: one row for each pair, one column for each place. Which operation makes a "
                "table of two lists? Count the pairs from 0, and the places from start.",
                "Sine and cosine of the same angle stand in neighbouring rows. Slices with a step, as in `P[::2]`, "
                "pick every other row.",
            ),
            section="sinusoids",
        ),
        Question(
            id="slip",
            title="The slip in a printed formula",
            name="printed_slip",
            minutes=15,
            difficulty=2,
            checks=(
                holds("wavelengths", 3, entries_right("printed wavelengths", "original wavelengths")),
                holds("similarities", 3, entries_right("printed similarity", "original similarity")),
                holds("enough", 3, entries_right("enough")),
                equals("all five, at the edges", 3, edges_of_the_slip, printed_and_original),
            ),
            hints=(
                "Read the first and the last exponent off the slide and off the chapter, for d = 4. How long does a "
                "wave of ω radians per token take for a full turn?",
                "In each pair the product of two places is a cosine of an angle. Which one? The length of a whole "
                "column you know as well.",
                "Write both similarities as sums of cosines, one above the other, and strike out what they have in "
                "common. How many terms are left, and do they depend on the width?",
            ),
            section="the-position-kernel",
        ),
        Question(
            id="placing",
            title="Repair the museum piece: positions in a batch",
            name="add_positions",
            minutes=12,
            difficulty=2,
            checks=(
                equals("continued sentences", 5, continued_sentences, placed),
                equals("padding on the left", 4, padded_sentences, placed),
                holds("whose order matters", 3, whose_order_matters),
            ),
            hints=(
                "Make the table of places first, one row for each sentence, before you look anything up in P.",
                "A place is made of two parts: one depends on the sentence, the other on the column. To add a list "
                "that runs down to one that runs across, one of the two needs another axis.",
                "Indexing P with a whole table of numbers gives a vector for every entry of the table. What does "
                "NumPy do with a negative number there, and what should it do here?",
            ),
            section="positions-on-the-wrong-axis",
        ),
        Question(
            id="relative",
            title="A bias for every distance",
            name="relative_bias",
            minutes=15,
            difficulty=2,
            checks=(
                equals("whole sequences", 5, whole_sequences, bias_of),
                equals("the last of many", 4, last_of_many, bias_of),
                holds("distances only", 3, distances_only),
            ),
            hints=(
                "Write the table of distances for 4 tokens on paper: what stands on its diagonal, what on the left of "
                "it? Then clip, then turn a distance into a row of r.",
                "At which places stand the queries when there are N of them and S tokens in all? Test with N = 1.",
                "You can compare every query with all rows of r first, in one product, and then pick; or pick a "
                "vector for every pair first, and then compare. Work along the last two axes only.",
            ),
            section="relative-positions",
        ),
        Question(
            id="rotary",
            title="Rotary positions",
            name="rotary",
            minutes=15,
            difficulty=2,
            checks=(
                equals("places with gaps", 5, places_with_gaps, turned),
                equals("far away and alone", 3, far_and_single, turned),
                holds("products by distance", 4, products_by_distance),
                holds("each at its own place", 2, each_at_its_own_place),
            ),
            hints=(
                "Make the table of angles first: one row for each token, one column for each pair. What is its shape, "
                "and what must it be multiplied with?",
                "Cut the features in two halves and write the two lines of the 2 × 2 rotation, each as a sum of two "
                "products. Both lines need the old numbers.",
                "Axes in front of the last two take care of themselves when you write `x[..., :half]`. Test at "
                "places with gaps: on 0, 1, 2, … several mistakes look right.",
            ),
            section="rotary-positions",
        ),
        Question(
            id="mask",
            title="What the mask gives away",
            name="changed_by_swap",
            minutes=15,
            difficulty=2,
            checks=(
                equals("without a mask", 3, without_mask, outputs_that_change, dtype="bool"),
                equals("with a mask", 5, with_mask, outputs_that_change, dtype="bool"),
                equals("positions and edges", 4, mask_and_positions, outputs_that_change, dtype="bool"),
            ),
            hints=(
                "Ask of every place: whom may it look at, and is that the same set of vectors before and after?",
                "With a mask there are four kinds of places: before both, at one of the two, between them, and "
                "behind both. Go through the four for one block, then for two.",
                "After the first block the tokens are no longer what they were: what did each of the two hear there, "
                "and does it hear the same when it stands at the other place?",
            ),
            section="one-layer-is-not-enough",
        ),
        Question(
            id="museum",
            title="Stretch: rotary attention that generates",
            name="rotary_attention",
            minutes=25,
            difficulty=3,
            checks=(
                equals("whole sentences", 4, same_places, attended),
                equals("with a cache", 5, with_a_cache, attended),
                equals("large scores", 3, large_products, attended),
                holds("everything later", 3, everything_later),
                holds("ones stay ones", 3, ones_stay_ones),
            ),
            hints=(
                "Does question 5 pass? Then: some experiments are upset by two slips, others by a single one. Begin "
                "with one of these, repair its slip, and run all four again.",
                "Write down what a weight may depend on, and what an output may depend on besides the weights. Which "
                "of the three tables q, k and v have to know where they stand?",
                "Ask of every line: does it use a place, or the number of a row? The two agree in training, when the "
                "whole sentence comes at once.",
            ),
            section="start-anywhere-leave-gaps",
        ),
    ),
)
