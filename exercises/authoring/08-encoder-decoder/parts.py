"""The functions that a learner brings from the exercises before, and right answers to the questions that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import numpy as np


def embed(E, ids):
    return E[:, ids]


def split_heads(q, n_heads):
    by_head = q.reshape(*q.shape[:2], n_heads, -1)
    return np.moveaxis(by_head, 2, 1)


def merge_heads(y):
    by_token = np.moveaxis(y, 1, 2)
    return by_token.reshape(*by_token.shape[:2], -1)


def relu(z):
    return np.maximum(z, 0)


def mlp(X, W_1, b_1, W_2, b_2, activation=relu):
    return W_2 @ activation(W_1 @ X + b_1[:, None]) + b_2[:, None]


def sinusoidal(n_tokens, d_model, start=0):
    i = np.arange(d_model // 2)[:, None]
    angles = np.arange(start, start + n_tokens) / 10_000 ** (2 * i / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(d_model, n_tokens)


def layer_norm(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]


def by_columns(function, x, *arrays):
    columns = function(x.reshape(-1, x.shape[2]).T, *arrays)
    return columns.T.reshape(x.shape)


def masked_attend(q, k, v, may_look):
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
    scores = np.where(may_look, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True)) * may_look
    total = weights.sum(axis=3, keepdims=True)
    return weights @ v / np.where(total > 0, total, 1.0)


def attention_part(x, z, norm, maps, n_heads, causal):
    asking = by_columns(layer_norm, x, *norm)
    sources = asking if z is None else z
    W_q, W_k, W_v, W_o = maps
    q, k, v = (split_heads(t @ W, n_heads) for t, W in ((asking, W_q), (sources, W_k), (sources, W_v)))
    N, S = x.shape[1], sources.shape[1]
    may_look = np.tri(N, S, dtype=bool) if causal else np.ones((N, S), dtype=bool)
    return x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o


def tokens_of(E, ids):
    return embed(E, ids.ravel()).T.reshape(*ids.shape, -1)


def places_of(x, start=0):
    return sinusoidal(x.shape[1], x.shape[2], start).T


def feed_forward_part(x, norm, layers):
    return x + by_columns(mlp, by_columns(layer_norm, x, *norm), *layers)


def encoder(p, ids, n_heads, positions=True):
    x = tokens_of(p["E"], ids)
    x = x + places_of(x) if positions else x
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = feed_forward_part(x, block["norm_2"], block["mlp"])
    return by_columns(layer_norm, x, *p["norm"])


def decoder(p, ids, memory, n_heads):
    x = tokens_of(p["E"], ids)
    x = x + places_of(x)
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = feed_forward_part(x, block["norm_2"], block["mlp"])
    return by_columns(layer_norm, x, *p["norm"]) @ p["head"]


def continue_decoder(p, ids, memory, cache, n_heads):
    N, start = ids.shape[1], cache[0][0].shape[2] if cache else 0
    x, kept = tokens_of(p["E"], ids), []
    x = x + places_of(x, start)
    for m, block in enumerate(p["blocks"]):
        asking, (W_q, W_k, W_v, W_o) = by_columns(layer_norm, x, *block["norm_1"]), block["self"]
        q, k, v = (split_heads(asking @ W, n_heads) for W in (W_q, W_k, W_v))
        if cache:
            k, v = np.concatenate([cache[m][0], k], axis=2), np.concatenate([cache[m][1], v], axis=2)
        kept.append((k, v))
        may_look = np.tri(N, start + N, start, dtype=bool)
        x = x + merge_heads(masked_attend(q, k, v, may_look)) @ W_o
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = feed_forward_part(x, block["norm_2"], block["mlp"])
    return by_columns(layer_norm, x, *p["norm"]) @ p["head"], kept
