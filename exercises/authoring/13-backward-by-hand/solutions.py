"""Right solutions of exercise 13, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# softmax


@right("softmax")
def weighted_mean_off(A, dA):
    return A * (dA - (A * dA).sum(axis=0, keepdims=True))


@right("softmax")
def column_by_column(A, dA):
    result = np.zeros_like(A)
    for n in range(A.shape[1]):
        a, d = A[:, n], dA[:, n]
        result[:, n] = a * d - (a @ d) * a
    return result


@right("softmax")
def targets_as_rows(A, dA):
    rows, d_rows = A.T, dA.T
    product = rows * d_rows
    return (product - rows * product.sum(axis=1)[:, None]).T


@right("softmax")
def jacobians(A, dA):
    columns = [(np.diag(a) - np.outer(a, a)) @ d for a, d in zip(A.T, dA.T, strict=True)]
    return np.stack(columns, axis=1)


# attend


@right("attend")
def step_by_step(Q, K, V, dY, mask=None):
    scores = K.T @ Q / np.sqrt(Q.shape[0])
    if mask is not None:
        scores = np.where(mask, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=0))
    if mask is not None:
        weights = weights * mask
    sums = weights.sum(axis=0)
    weights = weights / np.where(sums == 0, 1, sums)
    d_weights = V.T @ dY
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=0)) / np.sqrt(Q.shape[0])
    return K @ d_scores, Q @ d_scores.T, dY @ weights.T


@right("attend")
def target_by_target(Q, K, V, dY, mask=None):
    dQ, dK, dV = (np.zeros_like(array) for array in (Q, K, V))
    scale = 1 / len(Q) ** 0.5
    for n in range(Q.shape[1]):
        seen = np.arange(K.shape[1]) if mask is None else np.flatnonzero(mask[:, n])
        if len(seen) == 0:
            continue
        c = scale * (Q[:, n] @ K[:, seen])
        a = np.exp(c - c.max())
        a /= a.sum()
        y = V[:, seen] @ a
        g = scale * a * ((V[:, seen] - y[:, None]).T @ dY[:, n])
        dQ[:, n] = K[:, seen] @ g
        dK[:, seen] += np.outer(Q[:, n], g)
        dV[:, seen] += np.outer(dY[:, n], a)
    return dQ, dK, dV


@right("attend")
def with_einsum(Q, K, V, dY, mask=None):
    c = np.einsum("ks,kn->sn", K, Q) / np.sqrt(len(K))
    allowed = np.ones_like(c, dtype=bool) if mask is None else mask
    blind = ~allowed.any(axis=0)
    c = np.where(allowed | blind, c, -np.inf)
    e = np.exp(c - c.max(axis=0))
    A = np.where(blind, 0.0, e / e.sum(axis=0))
    Y = np.einsum("vs,sn->vn", V, A)
    G = A * (np.einsum("vs,vn->sn", V, dY) - np.einsum("vn,vn->n", Y, dY))
    root = np.sqrt(len(K))
    return np.einsum("sn,ks->kn", G, K) / root, np.einsum("sn,kn->ks", G, Q) / root, np.einsum("vn,sn->vs", dY, A)


# masks


@right("masks")
def one_step_more(C, V, dY, order):
    N = len(C)
    M = np.triu(np.ones((N, N)))
    scores = np.where(M == 1, C, -np.inf) if order == "before" else C
    e = np.exp(scores - scores.max(axis=0))
    S = e / e.sum(axis=0)
    d_weights = V.T @ dY
    dS = M * d_weights
    return S * (dS - (S * dS).sum(axis=0)), dY @ (M * S).T


@right("masks")
def by_the_outputs(C, V, dY, order):
    s, n = np.indices(C.shape)
    M = (s <= n).astype(float)
    C = C + np.where(M == 1, 0.0, -np.inf) if order == "before" else C
    S = np.exp(C - C.max(axis=0))
    S /= S.sum(axis=0)
    Y = V @ (M * S)
    return S * (M * (V.T @ dY) - (Y * dY).sum(axis=0)), dY @ (M * S).T


@right("masks")
def one_target_at_a_time(C, V, dY, order):
    N = len(C)
    dC, dV = np.zeros((N, N)), np.zeros_like(V)
    for n in range(N):
        end = n + 1 if order == "before" else N
        a = np.exp(C[:end, n] - C[:end, n].max())
        a = a / a.sum()
        d = V[:, :end].T @ dY[:, n]
        d[n + 1 :] = 0
        dC[:end, n] = a * (d - a @ d)
        dV[:, : n + 1] += np.outer(dY[:, n], a[: n + 1])
    return dC, dV


# costs


@right("costs")
def by_formula(N, S, K, Kv, H):
    return {
        "forward": 2 * (K + Kv) * N * S * H,
        "backward": 4 * (K + Kv) * N * S * H,
        "recomputing": (6 * K + 4 * Kv) * N * S * H,
        "kept with weights": H * (N * S + N * Kv),
        "kept without": H * (N * Kv + N),
    }


@right("costs")
def product_by_product(N, S, K, Kv, H):
    def flops(rows, inner, columns):
        return 2 * rows * inner * columns

    forward = flops(S, K, N) + flops(Kv, S, N)
    backward = flops(S, Kv, N) + flops(Kv, N, S) + flops(K, S, N) + flops(K, N, S)
    numbers = [forward, backward, backward + flops(S, K, N), S * N + Kv * N, Kv * N + N]
    names = ["forward", "backward", "recomputing", "kept with weights", "kept without"]
    return {name: H * number for name, number in zip(names, numbers, strict=True)}


@right("costs")
def head_after_head(N, S, K, Kv, H):
    total = dict.fromkeys(("forward", "backward", "recomputing", "kept with weights", "kept without"), 0)
    for _ in range(H):
        total["forward"] += 2 * N * S * K + 2 * N * S * Kv
        total["kept with weights"] += N * S + N * Kv
        total["kept without"] += N + N * Kv
    total["backward"] = 2 * total["forward"]
    total["recomputing"] = total["backward"] + 2 * N * S * K * H
    return total


# layer


@right("layer")
def four_paths(X, U_q, U_k, U_v, U_o, dY):
    def plain_weights(q, k):
        scores = k.T @ q / np.sqrt(len(q))
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    dX = dY.copy()
    dU_o = []
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = plain_weights(q, k)
        e = u_o.T @ dY
        G = A * (v.T @ e - (v @ A * e).sum(axis=0)) / np.sqrt(len(q))
        dX = dX + u_q.T @ (k @ G) + u_k.T @ (q @ G.T) + u_v.T @ (e @ A.T)
        dU_o.append(dY @ (v @ A).T)
    return dX, np.array(dU_o)


@right("layer")
def stacked_p(X, U_q, U_k, U_v, U_o, dY):
    def plain_weights(q, k):
        scores = k.T @ q / np.sqrt(len(q))
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    H = len(U_q)
    total, outputs = np.zeros_like(X), []
    for h in range(H):
        Q, K, V = (U[h] @ X for U in (U_q, U_k, U_v))
        A = plain_weights(Q, K)
        E = U_o[h].T @ dY
        dA = V.T @ E
        G = (A * dA - A * (A * dA).sum(axis=0)) / len(Q) ** 0.5
        P = np.concatenate([K @ G, Q @ G.T, E @ A.T])
        total += np.concatenate([U_q[h], U_k[h], U_v[h]]).T @ P
        outputs.append(V @ A)
    return total + dY, np.stack([dY @ Y.T for Y in outputs])


@right("layer")
def all_heads_at_once(X, U_q, U_k, U_v, U_o, dY):
    Q, K, V = (maps @ X for maps in (U_q, U_k, U_v))
    scores = K.transpose(0, 2, 1) @ Q / np.sqrt(Q.shape[1])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = raised / raised.sum(axis=1, keepdims=True)
    E = np.einsum("hdv,dn->hvn", U_o, dY)
    dA = np.einsum("hvs,hvn->hsn", V, E)
    G = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / np.sqrt(Q.shape[1])
    dX = np.einsum("hkd,hks,hsn->dn", U_q, K, G) + np.einsum("hkd,hkn,hsn->ds", U_k, Q, G)
    dX += np.einsum("hvd,hvn,hsn->ds", U_v, E, A) + dY
    return dX, np.einsum("dn,hvs,hsn->hdv", dY, V, A)


# blocks


@right("blocks")
def slices_in_turn(Q, K, V, Y, L, dY, width):
    dQ, dK, dV = (np.zeros_like(array) for array in (Q, K, V))
    inner = (Y * dY).sum(axis=0)
    scale = 1 / np.sqrt(len(Q))
    for start in range(0, K.shape[1], width):
        block = slice(start, start + width)
        A = np.exp(scale * K[:, block].T @ Q - L)
        G = scale * A * (V[:, block].T @ dY - inner)
        dQ += K[:, block] @ G
        dK[:, block] = Q @ G.T
        dV[:, block] = dY @ A.T
    return dQ, dK, dV


@right("blocks")
def while_sources_are_left(Q, K, V, Y, L, dY, width):
    S, done = K.shape[1], 0
    dQ, dK, dV = 0 * Q, [], []
    while done < S:
        k, v = K[:, done : done + width], V[:, done : done + width]
        weights = np.exp((Q.T @ k) / np.sqrt(Q.shape[0]) - L[:, None])  # targets as rows
        d_scores = weights * (dY.T @ v - np.einsum("vn,vn->n", Y, dY)[:, None])
        dQ = dQ + (d_scores @ k.T).T / np.sqrt(Q.shape[0])
        dK.append(Q @ d_scores / np.sqrt(Q.shape[0]))
        dV.append(dY @ weights)
        done += width
    return dQ, np.hstack(dK), np.hstack(dV)


@right("blocks")
def values_less_outputs(Q, K, V, Y, L, dY, width):
    root = len(Q) ** 0.5
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for block in np.array_split(np.arange(K.shape[1]), -(-K.shape[1] // width)):
        for s in block:
            a = np.exp(K[:, s] @ Q / root - L)
            g = a * ((V[:, s][:, None] - Y) * dY).sum(axis=0) / root
            dQ += np.outer(K[:, s], g)
            dK[:, s], dV[:, s] = Q @ g, dY @ a
    return dQ, dK, dV


SOLUTIONS = right
