"""Right solutions of exercise 14, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# exponent


@right("exponent")
def with_polyfit(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)


@right("exponent")
def with_sums(lengths, costs):
    points = [(np.log(length), np.log(cost)) for length, cost in zip(lengths, costs, strict=True)]
    size = len(points)
    sum_n, sum_t = sum(n for n, _ in points), sum(t for _, t in points)
    mixed, squares = sum(n * t for n, t in points), sum(n * n for n, _ in points)
    slope = (size * mixed - sum_n * sum_t) / (size * squares - sum_n**2)
    steps = range(1, size)
    between = [(points[i][1] - points[i - 1][1]) / (points[i][0] - points[i - 1][0]) for i in steps]
    return slope, np.array(between)


@right("exponent")
def with_least_squares(lengths, costs):
    n, t = np.log2(lengths), np.log2(costs)
    table = np.stack([n, np.ones(len(n))], axis=1)
    fit, *_ = np.linalg.lstsq(table, t, rcond=None)
    return fit[0], (t[1:] - t[:-1]) / (n[1:] - n[:-1])


@right("exponent")
def with_covariance(lengths, costs):
    table = np.cov(np.log10(lengths), np.log10(costs))
    steps = [np.log(costs[i + 1] / costs[i]) / np.log(lengths[i + 1] / lengths[i]) for i in range(len(costs) - 1)]
    return table[0, 1] / table[0, 0], np.array(steps)


# block


@right("block")
def by_the_formulas(N, D, H, F, W):
    pairs = N * W - W * (W - 1) // 2 if N >= W else N * (N + 1) // 2
    return {
        "projections": 8 * D**2 * N,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * D * F * N,
        "overtakes": 2 * D + F + 1,
    }


@right("block")
def head_by_head(N, D, H, F, W):
    K, pairs = D // H, sum(1 for n in range(N) for s in range(n + 1) if n - s < W)
    scores, averages = H * 2 * K * pairs, H * 2 * K * pairs
    maps, joined = 3 * H * 2 * K * D * N, 2 * D * H * K * N
    longer = 1
    while 4 * D * longer**2 <= 8 * D * D * longer + 4 * D * F * longer:
        longer += 1
    return {
        "projections": maps + joined,
        "pairs": pairs,
        "scores and averages": scores + averages,
        "feed-forward": 2 * F * D * N + 2 * D * F * N,
        "overtakes": longer,
    }


@right("block")
def with_a_mask(N, D, H, F, W):
    n, s = np.indices((N, N))
    seen = int(((s <= n) & (s > n - W)).sum())
    rest = 8 * D**2 + 4 * D * F  # for one token
    return {
        "projections": N * 8 * D**2,
        "pairs": seen,
        "scores and averages": 4 * D * seen,
        "feed-forward": N * 4 * D * F,
        "overtakes": rest // (4 * D) + 1,
    }


# cache


@right("cache")
def token_by_token(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    longest = budget // token
    return token * min(N, W), longest if longest < W else 0


@right("cache")
def window_first(M, D, H, G, W, b, B, N, budget):
    numbers = M * 2 * G * D // H
    full_window = b * B * numbers * W
    kept = N if N < W else W
    if budget >= full_window:
        return kept * b * B * numbers, 0
    return kept * b * B * numbers, int(budget / (b * B * numbers))


@right("cache")
def with_an_array(M, D, H, G, W, b, B, N, budget):
    layer = np.empty((2, G, D // H), dtype=np.int8)
    each = layer.size * M * B * b
    longest = 0
    if budget < each * W:
        longest, _ = divmod(budget, each)
    return int(np.minimum(N, W)) * each, longest


# merge


@right("merge")
def with_a_finite_level(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    level = np.where(np.isneginf(m), 0, m)
    return m, *(np.exp(m_1 - level) * one + np.exp(m_2 - level) * two for one, two in ((l_1, l_2), (O_1, O_2)))


@right("merge")
def warnings_and_all(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    s_1, s_2 = np.nan_to_num(np.exp(m_1 - m)), np.nan_to_num(np.exp(m_2 - m))
    return m, s_1 * l_1 + s_2 * l_2, O_1 * s_1[None, :] + O_2 * s_2[None, :]


@right("merge")
def target_by_target(m_1, l_1, O_1, m_2, l_2, O_2):
    m, sums, products = m_1.copy(), l_1.copy(), O_1.copy()
    for n in range(len(m)):
        if m_2[n] > m[n]:
            shrink = np.exp(m[n] - m_2[n])
            m[n], sums[n], products[:, n] = m_2[n], shrink * sums[n] + l_2[n], shrink * products[:, n] + O_2[:, n]
        elif m_2[n] > -np.inf:
            shrink = np.exp(m_2[n] - m[n])
            sums[n] += shrink * l_2[n]
            products[:, n] += shrink * O_2[:, n]
    return m, sums, products


@right("merge")
def by_the_difference(m_1, l_1, O_1, m_2, l_2, O_2):
    apart = np.where(np.isneginf(m_1) & np.isneginf(m_2), 0.0, m_1 - m_2)
    s_1, s_2 = np.exp(np.minimum(apart, 0)), np.exp(-np.maximum(apart, 0))
    return np.maximum(m_1, m_2), s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


# blocks


@right("blocks")
def all_at_once(Q, blocks, causal):
    K = np.hstack([keys for keys, _ in blocks])
    V = np.hstack([values for _, values in blocks])
    C = K.T @ Q / np.sqrt(len(Q))
    if causal:
        C[np.tril(np.ones(C.shape, dtype=bool), -1 - (C.shape[0] - C.shape[1]))] = -np.inf
    top = C.max(axis=0)
    E = np.exp(C - top)
    return V @ (E / E.sum(axis=0)), top + np.log(E.sum(axis=0))


@right("blocks")
def online(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    last_seen = np.arange(S - N, S) if causal else np.full(N, S)
    m, sums, products, first = np.full(N, -1e300), np.zeros(N), 0.0, 0
    for keys, values in blocks:
        for key, value in zip(keys.T, values.T, strict=True):
            c = np.where(first <= last_seen, key @ Q / np.sqrt(len(Q)), -np.inf)
            higher = np.maximum(m, c)
            weight, shrink = np.exp(c - higher), np.exp(m - higher)
            m, sums = higher, sums * shrink + weight
            products = products * shrink + np.outer(value, weight)
            first += 1
    return products / sums, m + np.log(sums)


@right("blocks")
def softmax_of_the_parts(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    outputs, logs, first = [], [], 0
    for keys, values in blocks:
        C = keys.T @ Q / np.sqrt(len(Q))
        if causal:
            late = (first + np.arange(len(C)))[:, None] > np.arange(N) + S - N
            C = np.where(late, -np.inf, C)
        level = np.maximum(C.max(axis=0), -1e300)
        sums = np.exp(C - level).sum(axis=0)
        seen = sums > 0
        outputs.append(values @ np.exp(C - level) / np.where(seen, sums, 1))
        logs.append(np.where(seen, level + np.log(np.where(seen, sums, 1)), -np.inf))
        first += len(C)
    L = np.logaddexp.reduce(logs)
    return sum(np.exp(part - L) * Y for part, Y in zip(logs, outputs, strict=True)), L


# rolling


@right("rolling")
def first_columns(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    held = slice(min(length + 1, W))
    scores = keys[:, held].T @ q / np.sqrt(len(k))
    e = np.exp(scores - scores.max())
    return values[:, held] @ (e / e.sum()), keys, values


@right("rolling")
def hidden_columns(k, v, q, keys, values, length):
    W = keys.shape[1]
    here = np.arange(W) == length - length // W * W
    keys = keys * ~here + np.outer(k, here)
    values = values * ~here + np.outer(v, here)
    scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, -np.inf)
    e = np.exp(scores - scores.max())
    return (values * e).sum(axis=1) / e.sum(), keys, values


@right("rolling")
def in_the_order_of_the_text(k, v, q, keys, values, length):
    W = keys.shape[1]
    new_keys, new_values = np.array(keys), np.array(values)
    new_keys[:, length % W] = k
    new_values[:, length % W] = v
    columns = [token % W for token in range(max(0, length - W + 1), length + 1)]
    scores = np.array([new_keys[:, c] @ q for c in columns]) / np.sqrt(len(q))
    weights = np.exp(scores - np.max(scores))
    y = sum(w * new_values[:, c] for w, c in zip(weights, columns, strict=True)) / weights.sum()
    return y, new_keys, new_values


# paged


@right("paged")
def pages_side_by_side(Q, pool_K, pool_V, tables, lengths):
    B, H, width = Q.shape
    outputs = []
    for i in range(B):
        K = np.concatenate([pool_K[page] for page in tables[i]], axis=2)[:, :, : lengths[i]]
        V = np.concatenate([pool_V[page] for page in tables[i]], axis=2)[:, :, : lengths[i]]
        K, V = K.repeat(H // len(K), axis=0), V.repeat(H // len(V), axis=0)
        C = np.einsum("hks,hk->hs", K, Q[i]) / np.sqrt(width)
        E = np.exp(C - C.max(axis=1, keepdims=True))
        outputs.append(np.einsum("hvs,hs->hv", V, E / E.sum(axis=1, keepdims=True)))
    return np.stack(outputs)


@right("paged")
def page_after_page(Q, pool_K, pool_V, tables, lengths):
    (B, H, width), (_, G, V, R) = Q.shape, pool_V.shape
    result = np.empty((B, H, V))
    for i in range(B):
        for h in range(H):
            g = h * G // H
            m, total, product = -np.inf, 0.0, np.zeros(V)
            for place, page in enumerate(tables[i]):
                used = min(R, lengths[i] - place * R)
                c = Q[i, h] @ pool_K[page, g, :, :used] / np.sqrt(width)
                higher = max(m, c.max())
                e, shrink = np.exp(c - higher), np.exp(m - higher)
                product = shrink * product + pool_V[page, g, :, :used] @ e
                m, total = higher, shrink * total + e.sum()
            result[i, h] = product / total
    return result


@right("paged")
def token_by_token_in_pages(Q, pool_K, pool_V, tables, lengths):
    R, share = pool_K.shape[-1], Q.shape[1] // pool_K.shape[1]
    result = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, (table, length) in enumerate(zip(tables, lengths, strict=True)):
        where = [(table[s // R], s % R) for s in range(length)]
        for h in range(Q.shape[1]):
            scores = [Q[i, h] @ pool_K[page, h // share, :, r] / Q.shape[2] ** 0.5 for page, r in where]
            weights = np.exp(np.array(scores) - max(scores))
            for w, (page, r) in zip(weights / weights.sum(), where, strict=True):
                result[i, h] += w * pool_V[page, h // share, :, r]
    return result


SOLUTIONS = right
