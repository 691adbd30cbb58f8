"""Right solutions of exercise 04, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# split


@right("split")
def reshape_then_transpose(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, n_heads, D // n_heads).transpose(0, 2, 1, 3)


@right("split")
def cut_and_stack(q, n_heads):
    return np.stack(np.split(q, n_heads, axis=2), axis=1)


@right("split")
def entry_by_entry(q, n_heads):
    B, N, D = q.shape
    K = D // n_heads
    heads = np.zeros((B, n_heads, N, K))
    for h in range(n_heads):
        heads[:, h] = q[:, :, h * K : (h + 1) * K]
    return heads


# join


@right("join")
def transpose_then_reshape(y):
    B, H, N, K = y.shape
    return y.transpose(0, 2, 1, 3).reshape(B, N, H * K)


@right("join")
def heads_side_by_side(y):
    return np.concatenate([y[:, h] for h in range(y.shape[1])], axis=-1)


@right("join")
def into_an_empty_table(y):
    B, H, N, K = y.shape
    tokens = np.empty((B, N, H * K))
    for index in np.ndindex(B, H, N, K):
        b, h, n, k = index
        tokens[b, n, h * K + k] = y[index]
    return tokens


# concatenate


@right("concatenate")
def stacked_outputs(X, U_q, U_k, U_v, U_o):
    outputs = []
    for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_k))
        powers = np.exp(scores - scores.max(axis=0))
        outputs.append(u_v @ X @ (powers / powers.sum(axis=0)))
    return np.hstack(list(U_o)) @ np.vstack(outputs)


@right("concatenate")
def added_heads(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for h in range(len(U_q)):
        scores = X.T @ U_k[h].T @ U_q[h] @ X / U_q.shape[1] ** 0.5
        A = np.exp(scores - scores.max(axis=0, keepdims=True))
        Y += U_o[h] @ U_v[h] @ X @ A / A.sum(axis=0)
    return Y


@right("concatenate")
def all_heads_at_once(X, U_q, U_k, U_v, U_o):
    scores = np.einsum("hks,hkn->hsn", U_k @ X, U_q @ X) / np.sqrt(U_q.shape[1])
    A = np.exp(scores - scores.max(axis=1, keepdims=True))
    A /= A.sum(axis=1, keepdims=True)
    return np.einsum("hdv,hvs,hsn->dn", U_o, U_v @ X, A, optimize=True)


# values


@right("values")
def cut_by_slices(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    W_v = qkv[2 * out.shape[1] :]
    matrices = []
    for h in range(n_heads):
        mine = slice(h * width, (h + 1) * width)
        matrices.append(out[:, mine] @ W_v[mine])
    return np.array(matrices)


@right("values")
def by_reshaping(qkv, out, n_heads):
    D = qkv.shape[1]
    U_v = qkv.reshape(3, n_heads, -1, D)[2]
    return out.reshape(D, n_heads, -1).swapaxes(0, 1) @ U_v


@right("values")
def by_split(qkv, out, n_heads):
    U_v = np.split(np.split(qkv, 3)[2], n_heads)
    U_o = np.split(out, n_heads, axis=1)
    return np.stack([a @ b for a, b in zip(U_o, U_v, strict=True)])


# counts


@right("counts")
def term_by_term(what, D, N, H, K, G):
    if what == "parameters":
        return D * H * K + 2 * D * G * K + H * K * D + H * K + 2 * G * K + D
    if what == "flops":
        projections = 2 * H * K * D * N + 4 * G * K * D * N + 2 * D * H * K * N
        return projections + 2 * H * K * N**2 + 2 * H * K * N**2
    if what == "scores":
        return H * N**2
    return 2 * G * K


@right("counts")
def with_collected_terms(what, D, N, H, K, G):
    return {
        "parameters": 2 * (H + G) * K * D + (H + 2 * G) * K + D,
        "flops": 4 * N * K * (D * (H + G) + H * N),
        "scores": N * N * H,
        "cached": K * (G + G),
    }[what]


@right("counts")
def measured_on_tables(what, D, N, H, K, G):
    maps = [np.zeros((H * K, D)), np.zeros((G * K, D)), np.zeros((G * K, D)), np.zeros((D, H * K))]
    if what == "parameters":
        return sum(W.size + len(W) for W in maps)
    if what == "scores":
        return np.zeros((H, N, N)).size
    if what == "cached":
        return sum(len(W) for W in maps[1:3])
    heads = sum(2 * (N * K * N) + 2 * (K * N * N) for _ in range(H))
    return sum(2 * W.size * N for W in maps) + heads


# groups


@right("groups")
def repeated_for_the_group(q, k, v):
    copies = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, copies, axis=1), np.repeat(v, copies, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ v


@right("groups")
def an_axis_for_the_groups(q, k, v):
    B, H, N, K = q.shape
    G = k.shape[1]
    by_group = q.reshape(B, G, H // G, N, K)
    scores = np.einsum("bgmnk,bgsk->bgmns", by_group, k) * K**-0.5
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)
    return np.einsum("bgmns,bgsv->bgmnv", A, v).reshape(B, H, N, -1)


@right("groups")
def head_by_head(q, k, v):
    B, H, N, K = q.shape
    y = np.zeros((B, H, N, v.shape[-1]))
    for b in range(B):
        for h in range(H):
            g = h * k.shape[1] // H
            scores = q[b, h] @ k[b, g].T / K**0.5
            weights = np.exp(scores - scores.max(axis=1)[:, None])
            y[b, h] = (weights / weights.sum(axis=1)[:, None]) @ v[b, g]
    return y


# museum


@right("museum")
def three_repairs(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N) > 0, scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@right("museum")
def one_head_after_another(x, W_q, W_k, W_v, W_o, n_heads, causal):
    N, K = x.shape[1], len(W_o) // n_heads
    y = np.zeros((*x.shape[:2], W_o.shape[1]))
    for h in range(n_heads):
        own = slice(h * K, h * K + K)
        scores = np.einsum("bnk,bsk->bns", x @ W_q[:, own], x @ W_k[:, own]) / np.sqrt(K)
        if causal:
            scores[:, np.triu(np.ones((N, N), dtype=bool), 1)] = -np.inf
        A = np.exp(scores - scores.max(axis=2, keepdims=True))
        y += (A / A.sum(axis=2, keepdims=True)) @ (x @ W_v[:, own]) @ W_o[own]
    return y


@right("museum")
def with_letters(x, W_q, W_k, W_v, W_o, n_heads, causal):
    D = x.shape[2]
    U_q, U_k, U_v = (W.reshape(D, n_heads, -1) for W in (W_q, W_k, W_v))
    q, k, v = (np.einsum("bnd,dhk->bhnk", x, U) for U in (U_q, U_k, U_v))
    scores = np.einsum("bhnk,bhsk->bhns", q, k) * U_q.shape[2] ** -0.5
    if causal:
        scores = scores + np.where(np.tri(x.shape[1], dtype=bool), 0, -np.inf)
    A = np.exp(scores - scores.max(axis=3)[..., None])
    A = A / A.sum(axis=3)[..., None]
    return np.einsum("bhns,bhsk,hkd->bnd", A, v, W_o.reshape(n_heads, -1, W_o.shape[1]), optimize=True)


SOLUTIONS = right
