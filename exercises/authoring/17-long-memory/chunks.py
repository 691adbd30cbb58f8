"""Exercise 17, question chunks: Stretch: linear attention that forgets, in chunks."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes

from .result_parts import parts_slip


def chunks_reference(q, k, v, g, size):
    """Pair by pair, with the product of the gates in between."""
    N, V = v.shape
    numerator, inside, denominator = np.zeros((N, V)), np.zeros((N, V)), np.zeros(N)
    state = np.zeros((V, k.shape[1]))
    for n in range(N):
        state = g[n] * state + np.outer(v[n], k[n])
        for s in range(n + 1):
            weight = np.prod(g[s + 1 : n + 1]) * sum(k[s] * q[n])
            numerator[n] += weight * v[s]
            denominator[n] += weight
            if s // size == n // size:
                inside[n] += weight * v[s]
    return numerator / denominator[:, None], inside, state


def draw_chunks(rng, size, n_tokens=None, gates=(0.4, 1.0), forget=(), factor=1.0, KV=None):
    N, K, V = draw_sizes(rng, 3)
    N = n_tokens or N
    K, V = KV or draw_sizes(rng, 2, [s for s in (5, 7, 9, 11, 13, 17) if s != N])
    g = rng.uniform(*gates, size=N)
    g[list(forget)] = 0.0
    q, k = rng.uniform(0.1, 2, size=(2, N, K))
    return q, k, factor * rng.normal(size=(N, V)), g, size


def several_chunks(rng):
    return [draw_chunks(rng, 4, 13), draw_chunks(rng, 3, 11, KV=(7, 7)), draw_chunks(rng, 5, 13, factor=1e4)]


def chunks_of_any_length(rng):
    """One chunk, chunks of one token, a chunk that is longer than the text, one token."""
    return [draw_chunks(rng, 11, 11), draw_chunks(rng, 1, 7), draw_chunks(rng, 20, 9), draw_chunks(rng, 2, 1)]


def strong_gates(rng):
    """Gates of 0, and gates so small that a product of all of them is 0 in float64."""
    cases = [draw_chunks(rng, 4, 13, forget=(2, 6)), draw_chunks(rng, 5, 11, forget=(0, 5))]
    last = draw_chunks(rng, 4, 13, forget=(12,))
    last[2][:-1] *= 1e12
    return [*cases, draw_chunks(rng, 13, 13, gates=(1e-60, 1e-40)), last]


def chunks_shapes(q, k, v, g, size):
    return v.shape, v.shape, (v.shape[1], k.shape[1])


def the_cut_does_not_matter(ask, rng):
    q, k, v, g, _ = draw_chunks(rng, 4, 13)
    whole = ask(q, k, v, g, 13)
    if slip := parts_slip(whole, *chunks_shapes(q, k, v, g, 13)):
        return slip
    for size in (1, 3, 6):
        came = ask(q, k, v, g, size)
        if slip := parts_slip(came, *chunks_shapes(q, k, v, g, size)):
            return slip
        if not close(came[0], whole[0]):
            return f"In chunks of {size} your outputs are not those of one chunk of all tokens."
        if not close(came[2], whole[2]):
            return f"In chunks of {size} your last state is not that of one chunk of all tokens."
        later = v.copy()
        later[-1] += 1.0
        if not close(ask(q, k, later, g, size)[0][:-1], came[0][:-1]):
            return "The last value was changed, and earlier outputs of yours change with it."
    return None


QUESTION = Question(
    id="chunks",
    title="Stretch: linear attention that forgets, in chunks",
    name="chunked_attention",
    minutes=23,
    difficulty=3,
    checks=with_battery(
        equals("several chunks", 6, several_chunks, chunks_reference),
        equals("chunks of any length", 4, chunks_of_any_length, chunks_reference),
        equals("gates that forget everything", 4, strong_gates, chunks_reference),
        equals("inside alone", 3, several_chunks, chunks_reference, parts=(1,)),
        holds("the cut does not matter", 3, the_cut_does_not_matter),
    ),
    hints=(
        "Write down what one pair of tokens s ≤ n contributes to the numerator of n: which gates stand "
        "between them? Then ask for which pairs both are in the same chunk.",
        "Inside a chunk you need a table of products of gates. What came before the chunk reaches token n "
        "through one state, which all gates of the chunk up to n have weakened.",
        "A quotient of two running products fails as soon as a gate is 0. A product can also be built up row "
        "by row: the row of the next token is the row before, times one gate, and a 1 on the diagonal.",
    ),
    section="a-state-instead-of-a-cache-linear-attention",
    inputs=Inputs(axes("NK", "NK", "NV", "N"), alike=("several chunks", "inside alone")),
)

right, wrong = answers_to(QUESTION)


@right
def two_loops(q, k, v, g, size):
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    own = np.zeros(S.shape)
    y, inside = np.zeros(v.shape), np.zeros(v.shape)
    for n in range(len(g)):
        own = own * (g[n] if n % size else 0) + np.outer(v[n], k[n])
        S, z = g[n] * S + np.outer(v[n], k[n]), g[n] * z + k[n]
        y[n], inside[n] = S @ q[n] / (z @ q[n]), own @ q[n]
    return y, inside, S


@right
def one_table(q, k, v, g, size):
    N = len(g)
    alive = np.array([[np.prod(g[s + 1 : n + 1]) if s <= n else 0.0 for s in range(N)] for n in range(N)])
    weights = alive * (q @ k.T)
    chunk = np.arange(N) // size
    near = np.where(chunk[:, None] == chunk, weights, 0)
    return weights @ v / weights.sum(axis=1, keepdims=True), near @ v, (v * alive[-1][:, None]).T @ k


@right
def chunk_by_chunk(q, k, v, g, size):
    v1 = np.hstack([v, np.ones((len(v), 1))])
    state = np.zeros((v1.shape[1], k.shape[1]))
    rows, inside = [], []
    for i in range(0, len(g), size):
        qs, ks, vs, gs = (t[i : i + size] for t in (q, k, v1, g))
        gaps = [[gs[s + 1 : n + 1].prod() * (s <= n) for s in range(len(gs))] for n in range(len(gs))]
        gaps = np.array(gaps, dtype=float)
        here = (gaps * (qs @ ks.T)) @ vs
        before = gs.cumprod()[:, None] * (qs @ state.T)
        inside.append(here[:, :-1])
        rows.append((here + before)[:, :-1] / (here + before)[:, -1:])
        state = gs.prod() * state + (vs * gaps[-1][:, None]).T @ ks
    return np.concatenate(rows), np.concatenate(inside), state[:-1]


@right
def as_often_written(q, k, v, g, size):
    N, V, K = len(q), v.shape[1], k.shape[1]
    y, inside = np.zeros((N, V)), np.zeros((N, V))
    S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
    for n in range(N):
        if n % size == 0:
            own = np.zeros((V, K))
        S = g[n] * S + np.outer(v[n], k[n])
        z = g[n] * z + k[n]
        own = g[n] * own + np.outer(v[n], k[n])
        inside[n] = own @ q[n]
        y[n] = S @ q[n] / (z @ q[n])
    return y, inside, S


@right
def as_often_written_too(q, k, v, g, size):
    N = len(q)
    inside, y = np.zeros(v.shape), np.zeros(v.shape)
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    for start in range(0, N, size):
        stop = min(start + size, N)
        for n in range(start, stop):
            alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
            weights = alive * (k[start : n + 1] @ q[n])
            old = np.prod(g[start : n + 1])
            inside[n] = weights @ v[start : n + 1]
            y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
        chunk = slice(start, stop)
        S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
        z = np.prod(g[chunk]) * z + alive @ k[chunk]
    return y, inside, S


wrong.edits("""
# as_often_written
## gate_one_late: You use the gate of the token before: each gate weakens the past at its own token.
  N, V, K = len(q), v.shape[1], k.shape[1]
+ g = np.append(1.0, g[:-1])
## state_dropped: You begin every chunk with an empty state: nothing is handed on.
- own = np.zeros((V, K))
+ own, S, z = np.zeros((V, K)), np.zeros((V, K)), np.zeros(K)
## norm_dropped: You begin every chunk with an empty sum for the denominator; it is handed on like the state.
+ own, z = np.zeros((V, K)), np.zeros(K)
## norm_never_fades: Your denominator does not fade with the gates.
- z = g[n] * z + k[n]
+ z = z + k[n]
## never_fades_in_chunks: Your sums do not fade: the gates play no part.
- S = g[n] * S + np.outer(v[n], k[n])
- z = g[n] * z + k[n]
- own = g[n] * own + np.outer(v[n], k[n])
+ S = S + np.outer(v[n], k[n])
+ z = z + k[n]
+ own = own + np.outer(v[n], k[n])
## fades_outside_only: Within a chunk nothing fades in your `inside`; the gates between the two tokens belong there.
- own = g[n] * own + np.outer(v[n], k[n])
+ own = own + np.outer(v[n], k[n])
## gate_of_its_own: You weaken a token by its own gate as well; a gate weakens what came before it.
- S = g[n] * S + np.outer(v[n], k[n])
- z = g[n] * z + k[n]
- own = g[n] * own + np.outer(v[n], k[n])
+ S = g[n] * (S + np.outer(v[n], k[n]))
+ z = g[n] * (z + k[n])
+ own = g[n] * (own + np.outer(v[n], k[n]))
## the_other_way_round: You weaken what comes in by 1 − g; g is only the share of the state that lives on, and a token
enters whole.
+ S = g[n] * S + (1 - g[n]) * np.outer(v[n], k[n])
+ z = g[n] * z + (1 - g[n]) * k[n]
+ own = g[n] * own + (1 - g[n]) * np.outer(v[n], k[n])
## features_of_features: You apply the feature map to q and k; here they are features already.
  S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
+ q, k = q + 1, k + 1
## one_minus_gate: You keep 1 − g of the state; g is the share that lives on.
- S = g[n] * S + np.outer(v[n], k[n])
- z = g[n] * z + k[n]
- own = g[n] * own + np.outer(v[n], k[n])
+ S = (1 - g[n]) * S + np.outer(v[n], k[n])
+ z = (1 - g[n]) * z + k[n]
+ own = (1 - g[n]) * own + np.outer(v[n], k[n])
## first_gate_of_chunk_skipped: The gate of a chunk's first token weakens nothing in yours; let it weaken the old state.
- S = g[n] * S + np.outer(v[n], k[n])
- z = g[n] * z + k[n]
+ live = g[n] if n % size else 1.0
+ S = live * S + np.outer(v[n], k[n])
+ z = live * z + k[n]
## gates_floored: You keep gates away from 0, for the sake of a logarithm or a quotient; a gate of 0 forgets everything.
  S, z, own = np.zeros((V, K)), np.zeros(K), np.zeros((V, K))
+ g = np.maximum(g, 0.01)
## inside_divided: Your `inside` is divided by the denominator; it is a part of the numerator.
- inside[n] = own @ q[n]
+ inside[n] = own @ q[n] / (z @ q[n])
## inside_is_all: Your `inside` is the whole numerator; only tokens of the same chunk belong to it.
+ inside[n] = S @ q[n]
## outside_for_inside: Your `inside` holds what came from earlier chunks, the other part of the numerator.
+ inside[n] = (S - own) @ q[n]
## inside_without_itself: Your `inside` leaves the token itself out.
+ inside[n] = (own - np.outer(v[n], k[n])) @ q[n]
## window_for_chunk: Your `inside` is a sliding window of the last tokens; a chunk has a fixed start.
+ inside[n] = 0.0
+ for s in range(max(0, n - size + 1), n + 1):
+     inside[n] += np.prod(g[s + 1 : n + 1]) * (k[s] @ q[n]) * v[s]
## not_divided_in_chunks: Your outputs are not divided by the denominator.
- y[n] = S @ q[n] / (z @ q[n])
+ y[n] = S @ q[n]
## tail_left_out: Your function leaves out a last chunk that is shorter than the others.
- for n in range(N):
+ for n in range(N - N % size):
## state_transposed: Your state is K×V; make it V×K.
- return y, inside, S
+ return y, inside, S.T
## state_of_last_chunk: The state that you return knows only the last chunk.
+ return y, inside, own

# one_table
## quotients_of_products: You divide one running product of gates by another, which is 0 / 0 once a gate is 0 or the
product too small.
- alive = np.array([[np.prod(g[s + 1 : n + 1]) if s <= n else 0.0 for s in range(N)] for n in range(N)])
+ run = np.cumprod(g)
+ alive = np.tril(run[:, None] / run)

# as_often_written_too
## only_first_gate: You weaken the handed-on state by one gate only; each token of the chunk up to n has one.
- old = np.prod(g[start : n + 1])
+ old = g[start]
- S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
- z = np.prod(g[chunk]) * z + alive @ k[chunk]
+ S = g[start] * S + (v[chunk].T * alive) @ k[chunk]
+ z = g[start] * z + alive @ k[chunk]
## whole_chunk_gate: You weaken the handed-on state for every token by all gates of the chunk, later ones included.
- old = np.prod(g[start : n + 1])
+ old = np.prod(g[start:stop])
## not_causal_in_chunk: Within a chunk your tokens read the whole chunk, even what comes later.
- alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
- weights = alive * (k[start : n + 1] @ q[n])
+ alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, stop)])
+ weights = alive * (k[start:stop] @ q[n])
- inside[n] = weights @ v[start : n + 1]
+ inside[n] = weights @ v[start:stop]
## gate_of_the_earlier: Between two tokens of a chunk you take the gate of the earlier one, not of the later one.
- alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
+ alive = np.array([np.prod(g[s:n]) for s in range(start, n + 1)])
## old_state_unweakened: You let the old state reach every token of the chunk whole; the gates on the way weaken it.
- old = np.prod(g[start : n + 1])
+ old = 1.0
## own_gate_left_out: You do not weaken the handed-on state by the gate of the token that reads it.
+ old = np.prod(g[start:n])
## old_norm_unweakened: You weaken the handed-on state in the numerator, but not the handed-on sum in the denominator.
- y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + old * (z @ q[n]))
+ y[n] = (inside[n] + old * (S @ q[n])) / (weights.sum() + (z @ q[n]))
## own_chunk_only: Your outputs read their own chunk only; the state that was handed on is never read.
- old = np.prod(g[start : n + 1])
+ old = 0.0
## quotients_in_a_chunk: Within a chunk you divide one running product of gates by another, which fails at 0.
  stop = min(start + size, N)
+ run = np.cumprod(g[start:stop])
- alive = np.array([np.prod(g[s + 1 : n + 1]) for s in range(start, n + 1)])
+ alive = np.array([run[n - start] / run[s - start] for s in range(start, n + 1)])
## fresh_in_the_state: Your tokens enter the state at the end of a chunk at full strength; later gates weaken them.
- S = np.prod(g[chunk]) * S + (v[chunk].T * alive) @ k[chunk]
- z = np.prod(g[chunk]) * z + alive @ k[chunk]
+ S = np.prod(g[chunk]) * S + v[chunk].T @ k[chunk]
+ z = np.prod(g[chunk]) * z + k[chunk].sum(axis=0)
## old_state_whole: At the end of a chunk you add the old state whole; weaken it by all gates of the chunk.
+ S = S + (v[chunk].T * alive) @ k[chunk]
+ z = z + alive @ k[chunk]
## state_without_gates: At the end of a chunk you hand on the state unweakened; only the denominator has the gates.
+ S = S + (v[chunk].T * alive) @ k[chunk]
+ z = np.prod(g[chunk]) * z + alive @ k[chunk]
## one_chunk_back: At the end of a chunk your new state replaces the old one, and only the chunk before is remembered.
+ S = (v[chunk].T * alive) @ k[chunk]
+ z = alive @ k[chunk]
""")
