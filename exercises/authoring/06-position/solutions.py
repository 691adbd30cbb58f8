"""Right solutions of exercise 06, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# sinusoids


@right("sinusoids")
def waves_side_by_side(n_tokens, d_model, start=0):
    i = np.arange(d_model // 2)[:, None]
    angles = np.arange(start, start + n_tokens) / 10000 ** (2 * i / d_model)
    P = np.zeros((d_model, n_tokens))
    P[::2] = np.sin(angles)
    P[1::2] = np.cos(angles)
    return P


@right("sinusoids")
def place_by_place(n_tokens, d_model, start=0):
    columns = []
    for n in range(start, start + n_tokens):
        column = []
        for i in range(d_model // 2):
            angle = n * 10000 ** (-2 * i / d_model)
            column += [np.sin(angle), np.cos(angle)]
        columns.append(column)
    return np.array(columns).T


@right("sinusoids")
def cosine_as_a_late_sine(n_tokens, d_model, start=0):
    row = np.arange(d_model)
    rate = np.power(1e4, -(row - row % 2) / d_model)
    return np.sin(np.outer(rate, start + np.arange(n_tokens)) + (row % 2)[:, None] * np.pi / 2)


@right("sinusoids")
def points_on_a_circle(n_tokens, d_model, start=0):
    rates = np.exp(-np.log(10000) * np.arange(0, d_model, 2) / d_model)
    points = np.exp(1j * rates[:, None] * (start + np.arange(n_tokens)))
    return np.stack((points.imag, points.real), axis=1).reshape(-1, n_tokens)


# slip


@right("slip")
def closed_form(d_model, distance):
    pairs = np.arange(1, d_model // 2 + 1)
    printed = 2 * np.pi * 10000 ** (2 * pairs / d_model)
    original = 2 * np.pi * 10000 ** (2 * (pairs - 1) / d_model)
    gap = abs(np.cos(distance * 1e-4) - np.cos(distance))
    return {
        "printed wavelengths": printed,
        "original wavelengths": original,
        "printed similarity": np.cos(2 * np.pi * distance / printed).mean(),
        "original similarity": np.cos(2 * np.pi * distance / original).mean(),
        "enough": int(100 * gap) * 2 + 2,
    }


@right("slip")
def both_tables_and_a_search(d_model, distance):
    def vector(n, width, first):
        i = np.arange(first, first + width // 2)
        angles = n / 10000 ** (2 * i / width)
        return np.concatenate([np.sin(angles), np.cos(angles)])

    def alike(width, first):
        a, b = vector(5, width, first), vector(5 + distance, width, first)
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    width = 2
    while abs(alike(width, 0) - alike(width, 1)) >= 0.01:
        width += 2
    i = np.arange(d_model // 2)
    return {
        "printed wavelengths": 2 * np.pi * 10000 ** ((2 * i + 2) / d_model),
        "original wavelengths": 2 * np.pi * 10000 ** (2 * i / d_model),
        "printed similarity": alike(d_model, 1),
        "original similarity": alike(d_model, 0),
        "enough": width,
    }


@right("slip")
def with_loops(d_model, distance):
    def frequencies(width, first):
        return [10000 ** (-2 * (i + first) / width) for i in range(width // 2)]

    def similarity(width, first):
        rates = frequencies(width, first)
        return sum(np.cos(rate * distance) for rate in rates) / len(rates)

    widths = (w for w in range(2, 500, 2) if abs(similarity(w, 1) - similarity(w, 0)) < 0.01)
    lengths = [np.array([2 * np.pi / rate for rate in frequencies(d_model, first)]) for first in (1, 0)]
    return {
        "printed wavelengths": lengths[0],
        "original wavelengths": lengths[1],
        "printed similarity": similarity(d_model, 1),
        "original similarity": similarity(d_model, 0),
        "enough": next(widths),
    }


# placing


@right("placing")
def table_of_places(x, P, starts):
    places = starts[:, None] + np.arange(x.shape[1])[None, :]
    return x + P[np.maximum(places, 0)]


@right("placing")
def sentence_by_sentence(x, P, starts):
    y = x.copy()
    for b, start in enumerate(starts):
        for n in range(x.shape[1]):
            y[b, n] += P[max(0, start + n)]
    return y


@right("placing")
def one_hot_rows(x, P, starts):
    places = np.add.outer(starts, np.arange(x.shape[1]))
    places[places < 0] = 0
    return x + (places[..., None] == np.arange(len(P))) @ P


@right("placing")
def padded_table(x, P, starts):
    """A longer table, with the vector of place 0 once for every padded place."""
    before = max(0, -int(starts.min()))
    longer = np.concatenate([np.repeat(P[:1], before, axis=0), P])
    return np.stack([s + longer[before + a : before + a + len(s)] for s, a in zip(x, starts, strict=True)])


# relative


@right("relative")
def compare_then_pick(q, r, n_sources):
    N, K = q.shape[-2:]
    m = len(r) // 2
    places = np.arange(n_sources - N, n_sources)
    index = np.clip(np.arange(n_sources) - places[:, None], -m, m) + m
    by_distance = q @ r.T / np.sqrt(K)
    return np.take_along_axis(by_distance, np.broadcast_to(index, (*q.shape[:-1], n_sources)), axis=-1)


@right("relative")
def pick_then_compare(q, r, n_sources):
    N, K = q.shape[-2:]
    m = (len(r) - 1) // 2
    vectors = np.empty((N, n_sources, K))
    for n in range(N):
        for s in range(n_sources):
            j = s - (n_sources - N + n)
            vectors[n, s] = r[max(-m, min(j, m)) + m]
    return (vectors @ q[..., None])[..., 0] / K**0.5


@right("relative")
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


# rotary


@right("rotary")
def two_halves(x, positions):
    half = x.shape[-1] // 2
    angles = np.outer(positions, 10000.0 ** (-np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


@right("rotary")
def complex_pairs(x, positions):
    half = x.shape[-1] // 2
    turn = np.exp(1j * np.outer(positions, 1e4 ** (-2 * np.arange(half) / x.shape[-1])))
    z = (x[..., :half] + 1j * x[..., half:]) * turn
    return np.concatenate([z.real, z.imag], axis=-1)


@right("rotary")
def a_matrix_for_each_place(x, positions):
    K = x.shape[-1]
    y = np.empty_like(x)
    for n, place in enumerate(positions):
        R = np.zeros((K, K))
        for i in range(K // 2):
            angle = place / 10000 ** (2 * i / K)
            R[i, i] = R[i + K // 2, i + K // 2] = np.cos(angle)
            R[i, i + K // 2], R[i + K // 2, i] = -np.sin(angle), np.sin(angle)
        y[..., n, :] = x[..., n, :] @ R.T
    return y


@right("rotary")
def swapped_halves(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] / 10000 ** (np.arange(half) / half)
    cos, sin = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


# mask


@right("mask")
def four_kinds_of_places(n_tokens, i, j, n_blocks, causal, positions):
    first, last = sorted((i, j))
    found = []
    for n in range(n_tokens):
        if n in (first, last):
            found.append(True)
        elif not causal:
            found.append(bool(positions))
        elif n < first:
            found.append(False)
        elif n < last:
            found.append(True)
        else:
            found.append(bool(positions) or n_blocks > 1)
    return np.array(found)


@right("mask")
def by_sets(n_tokens, i, j, n_blocks, causal, positions):
    """What a token is after each block: itself, and the set of what it looked at."""

    def states(words):
        tokens = [(word, n if positions else 0) for n, word in enumerate(words)]
        for _ in range(min(n_blocks, 2)):
            tokens = [(t, frozenset(tokens[: n + 1] if causal else tokens)) for n, t in enumerate(tokens)]
        return tokens

    before = list(range(n_tokens))
    after = before.copy()
    after[i], after[j] = before[j], before[i]
    return np.array([a != b for a, b in zip(states(before), states(after), strict=True)])


@right("mask")
def measured(n_tokens, i, j, n_blocks, causal, positions):
    """Run it: blocks with fixed, irregular weights."""
    D = 6

    def weights(phase):
        return np.cos(np.arange(D * D) ** 2 * 0.7 + phase).reshape(D, D)

    def stack(X):
        if positions:
            X = X + np.sin(np.outer(np.arange(D) + 1, np.arange(n_tokens)) / 3)
        for block in range(min(n_blocks, 3)):
            scores = (weights(block) @ X).T @ (weights(block + 9) @ X) / D
            E = np.exp(scores - scores.max(axis=0)) * (np.triu(np.ones_like(scores)) if causal else 1)
            X = X + weights(block + 5) @ X @ (E / E.sum(axis=0)) / D
            X = X + np.tanh(weights(block + 7) @ X) / D
        return X

    X = np.sin(np.arange(D * n_tokens) ** 1.5).reshape(D, n_tokens)
    order = np.arange(n_tokens)
    order[[i, j]] = j, i
    return np.abs(stack(X[:, order]) - stack(X)).max(axis=0) > 1e-9


# museum


@right("museum")
def head_by_head(q, k, v, q_places, k_places):
    def turn(x, places):
        half = x.shape[-1] // 2
        angles = np.outer(places, 10000.0 ** (-np.arange(half) / half))
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)

    scores = turn(q, q_places) @ np.swapaxes(turn(k, k_places), -1, -2) / np.sqrt(q.shape[-1])
    hidden = k_places[None, :] > q_places[:, None]
    scores = np.where(hidden, -1e30, scores)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True)) * ~hidden
    return powers @ v / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300)


@right("museum")
def query_by_query(q, k, v, q_places, k_places):
    half = q.shape[-1] // 2
    rates = 10000.0 ** (-np.arange(half) / half)

    def complex_at(x, places):
        return (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * np.outer(places, rates))

    asked, offered = complex_at(q, q_places), complex_at(k, k_places)
    Y = np.zeros((*q.shape[:-1], v.shape[-1]))
    for head in np.ndindex(q.shape[:-2]):
        for n, place in enumerate(q_places):
            seen = np.flatnonzero(k_places <= place)
            if len(seen):
                scores = (asked[head][n] * offered[head][seen].conj()).sum(axis=-1).real / q.shape[-1] ** 0.5
                powers = np.exp(scores - scores.max())
                Y[head][n] = powers / powers.sum() @ v[head][seen]
    return Y


@right("museum")
def turned_by_the_difference(q, k, v, q_places, k_places):
    """Only the keys are turned, once for every pair, by the place of the key less that of the query."""
    half = q.shape[-1] // 2
    angles = (k_places - q_places[:, None])[..., None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = k[..., None, :, :half], k[..., None, :, half:]
    near = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
    scores = np.einsum("...nk,...nsk->...ns", q, near) / np.sqrt(2 * half)
    seen = k_places <= q_places[:, None]
    blind = ~seen.any(axis=-1, keepdims=True)
    scores = np.where(seen | blind, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(blind, 0.0, powers / powers.sum(axis=-1, keepdims=True)) @ v


SOLUTIONS = right
