"""Right solutions of exercise 16, written in different ways; the first of each is near the notebook's own."""

import numpy as np
from clearcheck import Solutions

right = Solutions()
SOLUTIONS = right


# graph


@right("graph")
def table_of_edges(q, k, v, edges, loops):
    N, K = q.shape
    heard = np.zeros((N, N))
    heard[edges[:, 1], edges[:, 0]] = 1
    if loops:
        heard[np.arange(N), np.arange(N)] = 1
    scores = q @ k.T / K**0.5
    lowest = scores.min() - 1
    largest = np.where(heard > 0, scores, lowest).max(axis=1, keepdims=True)
    powers = heard * np.exp(np.minimum(scores - largest, 0))
    total = powers.sum(axis=1, keepdims=True)
    return np.divide(powers @ v, total, out=np.zeros(v.shape), where=total > 0)


@right("graph")
def node_by_node(q, k, v, edges, loops):
    result = np.zeros(v.shape)
    for node in range(len(q)):
        speakers = set(edges[edges[:, 1] == node, 0].tolist())
        if loops:
            speakers.add(node)
        if speakers:
            speakers = list(speakers)
            score = k[speakers] @ q[node] / np.sqrt(len(q[node]))
            share = np.exp(score - score.max())
            result[node] = share / share.sum() @ v[speakers]
    return result


@right("graph")
def edge_by_edge(q, k, v, edges, loops):
    pairs = {(int(s), int(n)) for s, n in edges}
    if loops:
        pairs |= {(n, n) for n in range(len(q))}
    score = {(s, n): float(q[n] @ k[s]) / np.sqrt(q.shape[1]) for s, n in pairs}
    top = {n: max(value for (_, m), value in score.items() if m == n) for _, n in pairs}
    above, below = np.zeros(v.shape), np.zeros(len(q))
    for (s, n), value in score.items():
        above[n] += np.exp(value - top[n]) * v[s]
        below[n] += np.exp(value - top[n])
    below[below == 0] = 1.0
    return above / below[:, None]


# gated


@right("gated")
def three_products(x, gamma, W_gate, W_in, W_out, eps):
    size = np.sqrt(np.mean(x * x, axis=1) + eps)
    n = x / size[:, None] * gamma
    before = n @ W_gate.T
    silu = before * 0.5 * (1 + np.tanh(before / 2))
    F, D = W_in.shape
    return x + silu * (n @ W_in.T) @ W_out.T, (3 * F * D) // (2 * D)


@right("gated")
def one_token_at_a_time(x, gamma, W_gate, W_in, W_out, eps):
    made = []
    for token in x:
        n = gamma * token / np.sqrt(token @ token / len(token) + eps)
        u = W_gate @ n
        opened = np.exp(-np.logaddexp(0, -u)) * u
        made.append(token + W_out @ (opened * (W_in @ n)))
    width = 0
    while 2 * (width + 1) * len(gamma) <= 3 * W_out.size:
        width += 1
    return np.array(made), width


@right("gated")
def columns_inside(x, gamma, W_gate, W_in, W_out, eps):
    X = x.T
    normed = gamma[:, None] * (X * (np.square(X).mean(axis=0) + eps) ** -0.5)
    u = np.clip(W_gate @ normed, -700, None)
    hidden = u * (1 + np.exp(-u)) ** -1.0 * (W_in @ normed)
    Y = X + W_out @ hidden
    total = W_gate.size + W_in.size + W_out.size
    return Y.T.copy(), int(np.floor(total / (2 * X.shape[0])))


# experts


@right("experts")
def mask_of_choices(logits, outputs, k, renormalise):
    N, E = logits.shape
    stable = np.exp(logits - logits.max(axis=1)[:, None])
    prob = stable / stable.sum(axis=1)[:, None]
    rank = np.argsort(np.argsort(-logits, axis=1), axis=1)
    mask = rank < k
    gate = np.where(mask, prob, 0.0)
    if renormalise:
        gate /= gate.sum(axis=1)[:, None]
    shares = mask.sum(axis=0) / (N * k)
    return (gate[:, :, None] * outputs).sum(axis=1), E * np.sum(shares * prob.mean(axis=0))


@right("experts")
def token_by_token(logits, outputs, k, renormalise):
    N, E = logits.shape
    y, counts, total = [], np.zeros(E), np.zeros(E)
    for scores, says in zip(logits, outputs, strict=True):
        prob = np.exp(scores - np.logaddexp.reduce(scores))
        best = np.argsort(scores)[::-1][:k]
        factor = prob[best] / prob[best].sum() if renormalise else prob[best]
        y.append(factor @ says[best])
        counts[best] += 1
        total += prob
    return np.array(y), float(E * counts @ total / (k * N * N))


@right("experts")
def gathered(logits, outputs, k, renormalise):
    best = np.argpartition(logits, -k, axis=1)[:, -k:]
    highest = logits.max(axis=1, keepdims=True)
    prob = np.exp(logits - highest)
    prob = prob / prob.sum(axis=1, keepdims=True)
    factor = np.take_along_axis(prob, best, axis=1)
    factor = factor / factor.sum(axis=1, keepdims=True) if renormalise else factor
    spoken = np.take_along_axis(outputs, best[:, :, None], axis=1)
    f = np.bincount(best.ravel(), minlength=logits.shape[1]) / best.size
    return np.sum(factor[:, :, None] * spoken, axis=1), len(f) * (f @ prob.mean(axis=0))


# museum


@right("museum")
def write_then_read(q, k, v):
    def positive(t):
        return np.where(t > 0, 1 + t, np.exp(np.minimum(t, 0)))

    matrix, total, result = 0.0, 0.0, []
    for asks, offers, value in zip(positive(q), positive(k), v, strict=True):
        matrix, total = matrix + value[:, None] * offers, total + offers
        result.append(matrix @ asks / (total @ asks))
    return np.array(result)


@right("museum")
def all_pairs(q, k, v):
    fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
    table = np.tril(fq @ fk.T)
    return table @ v / table.sum(axis=1)[:, None]


@right("museum")
def running_sums(q, k, v):
    fq, fk = q.copy(), k.copy()
    for table in (fq, fk):
        low = table <= 0
        table[low] = np.exp(table[low])
        table[~low] += 1
    states = np.cumsum(fk[:, :, None] * v[:, None, :], axis=0)
    sums = np.cumsum(fk, axis=0)
    return np.einsum("nk,nkv->nv", fq, states) / np.einsum("nk,nk->n", fq, sums)[:, None]


# space


@right("space")
def loop_over_tokens(x, a, b, c, h0):
    power, columns = np.ones(a.shape), []
    h, rows = h0.copy(), []
    for token in x:
        columns.append(np.sum(c * power * b, axis=1))
        power = power * a
        h = a * h + token[:, np.newaxis] * b
        rows.append(np.einsum("dr,dr->d", c, h))
    return np.array(columns).T, np.array(rows), h


@right("space")
def by_the_kernel(x, a, b, c, h0):
    N = len(x)
    powers = a[:, :, None] ** np.arange(N + 1)
    w = np.einsum("dr,dr,drn->dn", c, b, powers[:, :, :N])
    y = np.stack([np.convolve(w[d], x[:, d])[:N] for d in range(len(a))], axis=1)
    y = y + np.einsum("dr,drn,dr->nd", c, powers[:, :, 1:], h0)
    last = powers[:, :, N] * h0 + b * np.einsum("drn,nd->dr", powers[:, :, N - 1 :: -1][:, :, :N], x)
    return w, y, last


@right("space")
def with_an_impulse(x, a, b, c, h0):
    def states(tokens, start):
        found = [start]
        for token in tokens:
            found.append(found[-1] * a + (b.T * token).T)
        return np.array(found[1:])

    impulse = np.zeros(x.shape)
    impulse[0] = 1
    answer = states(impulse, np.zeros(a.shape))
    real = states(x, h0)
    return (answer * c).sum(axis=2).T, (real * c).sum(axis=2), real[-1]


# chunks


@right("chunks")
def two_loops(q, k, v, g, size):
    S, z = np.zeros((v.shape[1], k.shape[1])), np.zeros(k.shape[1])
    own = np.zeros(S.shape)
    y, inside = np.zeros(v.shape), np.zeros(v.shape)
    for n in range(len(g)):
        own = own * (g[n] if n % size else 0) + np.outer(v[n], k[n])
        S, z = g[n] * S + np.outer(v[n], k[n]), g[n] * z + k[n]
        y[n], inside[n] = S @ q[n] / (z @ q[n]), own @ q[n]
    return y, inside, S


@right("chunks")
def one_table(q, k, v, g, size):
    N = len(g)
    alive = np.array([[np.prod(g[s + 1 : n + 1]) if s <= n else 0.0 for s in range(N)] for n in range(N)])
    weights = alive * (q @ k.T)
    chunk = np.arange(N) // size
    near = np.where(chunk[:, None] == chunk, weights, 0)
    return weights @ v / weights.sum(axis=1, keepdims=True), near @ v, (v * alive[-1][:, None]).T @ k


@right("chunks")
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
