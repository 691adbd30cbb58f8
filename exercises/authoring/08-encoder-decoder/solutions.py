"""Right solutions of exercise 08, written in different ways; the first of each is near the notebook's own."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import Solutions
from clearcheck.tape import value_and_gradients

_spec = spec_from_file_location("clearcheck_parts_08", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

# In a notebook these names are the learner's own functions.
embed, split_heads, merge_heads, mlp = parts.embed, parts.split_heads, parts.merge_heads, parts.mlp
sinusoidal, layer_norm = parts.sinusoidal, parts.layer_norm
masked_attend, attention_part = parts.masked_attend, parts.attention_part
encoder, decoder = parts.encoder, parts.decoder

right = Solutions()
SOLUTIONS = right


# mask


@right("mask")
def hidden_and_guarded(q, k, v, may_look):
    C = np.einsum("bhnk,bhsk->bhns", q, k) / np.sqrt(k.shape[-1])
    lowest = C.min()
    E = np.exp(C - np.where(may_look, C, lowest).max(axis=-1, keepdims=True), where=may_look, out=np.zeros_like(C))
    share = E.sum(axis=-1, keepdims=True)
    share = share + (share == 0)
    return E / share @ v


@right("mask")
def minus_infinity(q, k, v, may_look):
    scores = np.where(may_look, q @ np.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    sums = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(sums == 0, 1, sums) @ v


@right("mask")
def one_target_at_a_time(q, k, v, may_look):
    outputs = []
    for n, seen in enumerate(may_look):
        if not seen.any():
            outputs.append(0 * q[:, :, n, :1] * v[:, :, 0])
            continue
        kept = np.flatnonzero(seen)
        line = (k[:, :, kept] @ q[:, :, n, :, None])[..., 0] / np.sqrt(q.shape[-1])
        line = np.exp(line - line.max(axis=-1, keepdims=True))
        line = line / line.sum(axis=-1, keepdims=True)
        outputs.append((line[:, :, None] @ v[:, :, kept])[:, :, 0])
    return np.stack(outputs, axis=2)


# cross


@right("cross")
def one_wide_table(x, z, norm, maps, n_heads, causal):
    B, N, D = x.shape
    wide = layer_norm(np.moveaxis(x, 2, 0).reshape(D, B * N), *norm)
    asking = np.moveaxis(wide.reshape(D, B, N), 0, 2)
    seen = asking if z is None else z
    cut = [split_heads(side @ W, n_heads) for side, W in zip((asking, seen, seen), maps, strict=False)]
    allowed = np.tri(N, dtype=bool) if causal else np.full((N, seen.shape[1]), True)
    return merge_heads(masked_attend(*cut, allowed)) @ maps[3] + x


@right("cross")
def sequence_by_sequence(x, z, norm, maps, n_heads, causal):
    results = []
    for b in range(len(x)):
        own = layer_norm(x[b].T, *norm).T
        other = own if z is None else z[b]
        Q, K, V = own @ maps[0], other @ maps[1], other @ maps[2]
        seen = np.ones((len(own), len(other)), dtype=bool)
        seen = np.tril(seen) if causal else seen
        heads = masked_attend(*(split_heads(T[None], n_heads) for T in (Q, K, V)), seen)
        results.append(x[b] + merge_heads(heads)[0] @ maps[3])
    return np.stack(results)


@right("cross")
def own_norm_in_rows(x, z, norm, maps, n_heads, causal):
    middle = x - x.mean(axis=-1, keepdims=True)
    asking = norm[0] * middle / np.sqrt((middle * middle).mean(axis=-1, keepdims=True) + 1e-5) + norm[1]
    memory = z if z is not None else asking
    n, s = np.indices((x.shape[1], memory.shape[1]))
    queries, keys, values = asking @ maps[0], memory @ maps[1], memory @ maps[2]
    width = x.shape[2] // n_heads
    total = x
    for h in range(n_heads):
        own = slice(h * width, h * width + width)
        head = masked_attend(
            queries[:, None, :, own], keys[:, None, :, own], values[:, None, :, own], (s <= n) | (not causal)
        )
        total = total + head[:, 0] @ maps[3][own]
    return total


# encoder


@right("encoder")
def stations(p, ids, n_heads, positions=True):
    B, N = ids.shape
    D = len(p["E"])
    x = embed(p["E"], ids.reshape(-1)).reshape(D, B, N).transpose(1, 2, 0)
    if positions:
        x = x + np.transpose(sinusoidal(N, D))
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        tokens = x.reshape(B * N, D).T
        tokens = tokens + mlp(layer_norm(tokens, *block["norm_2"]), *block["mlp"])
        x = tokens.T.reshape(B, N, D)
    return layer_norm(x.reshape(B * N, D).T, *p["norm"]).T.reshape(B, N, D)


@right("encoder")
def each_sequence_alone(p, ids, n_heads, positions=True):
    memory = []
    for sequence in ids:
        X = embed(p["E"], sequence)
        if positions:
            X = X + sinusoidal(X.shape[1], X.shape[0])
        for block in p["blocks"]:
            X = attention_part(X.T[None], None, block["norm_1"], block["self"], n_heads, False)[0].T
            X = X + mlp(layer_norm(X, *block["norm_2"]), *block["mlp"])
        memory.append(layer_norm(X, *p["norm"]).T)
    return np.stack(memory)


@right("encoder")
def with_inner_helpers(p, ids, n_heads, positions=True):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    x = np.stack([embed(p["E"], row).T for row in ids])
    x = x + positions * sinusoidal(ids.shape[1], x.shape[2]).T
    for block in p["blocks"]:
        y = attention_part(x, None, block["norm_1"], block["self"], n_heads, False)
        x = y + alone(mlp, alone(layer_norm, y, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"])


# decoder


@right("decoder")
def three_parts(p, ids, memory, n_heads):
    B, N = ids.shape
    D = len(p["E"])
    x = embed(p["E"], ids.reshape(-1)).reshape(D, B, N).transpose(1, 2, 0)
    x = x + np.transpose(sinusoidal(N, D))
    for block in p["blocks"]:
        x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        tokens = x.reshape(B * N, D).T
        tokens = tokens + mlp(layer_norm(tokens, *block["norm_2"]), *block["mlp"])
        x = tokens.T.reshape(B, N, D)
    return layer_norm(x.reshape(B * N, D).T, *p["norm"]).T.reshape(B, N, D) @ p["head"]


@right("decoder")
def a_target_at_a_time(p, ids, memory, n_heads):
    scores = []
    for sequence, z in zip(ids, memory, strict=True):
        X = embed(p["E"], sequence) + sinusoidal(len(sequence), len(p["E"]))
        for block in p["blocks"]:
            X = attention_part(X.T[None], None, block["norm_1"], block["self"], n_heads, True)
            X = attention_part(X, z[None], block["norm_cross"], block["cross"], n_heads, False)[0].T
            X = X + mlp(layer_norm(X, *block["norm_2"]), *block["mlp"])
        scores.append((p["head"].T @ layer_norm(X, *p["norm"])).T)
    return np.stack(scores)


@right("decoder")
def prefix_by_prefix(p, ids, memory, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    last = []
    for n in range(1, ids.shape[1] + 1):
        x = np.stack([embed(p["E"], row[:n]).T for row in ids]) + sinusoidal(n, len(p["E"])).T
        for block in p["blocks"]:
            x = attention_part(x, None, block["norm_1"], block["self"], n_heads, True)
            x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
            x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
        last.append(alone(layer_norm, x, p["norm"])[:, -1] @ p["head"])
    return np.stack(last, axis=1)


# count


@right("count")
def key_by_key(V_source, V_target, D, H, F, M, tied):
    attention, norm, network = 4 * D * D, 2 * D, 2 * D * F + F + D
    reader = D * V_source + M * (attention + 2 * norm + network) + norm
    writer = D * (V_target + 1) + M * (2 * attention + 3 * norm + network) + norm
    return reader + writer + (0 if tied else D * V_target)


@right("count")
def head_by_head(V_source, V_target, D, H, F, M, tied):
    width = D // H
    one_attention = H * (3 * D * width + width * D)
    one_network = F * (D + 1) + D * (F + 1)
    blocks = M * (3 * one_attention + 2 * one_network + 5 * (D + D))
    tables = D * (V_source + V_target + 1) + (not tied) * D * V_target
    return blocks + tables + 4 * D


@right("count")
def powers_of_the_width(V_source, V_target, D, H, F, M, tied):
    words = V_source + 1 + (1 if tied else 2) * V_target
    return 12 * M * D**2 + (words + 4 * M * F + 12 * M + 4) * D + 2 * M * F


# learn


@right("learn")
def log_softmax_by_hand(p, sources, targets, n_heads):
    n_words = p["decoder"]["head"].shape[1]
    read = np.insert(targets[:, :-1], 0, n_words, axis=1)

    def loss(p):
        scores = decoder(p["decoder"], read, encoder(p["encoder"], sources, n_heads), n_heads)
        scores = scores - scores.max(axis=2, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
        batch, place = np.indices(targets.shape)
        return -logs[batch, place, targets].mean()

    return value_and_gradients(loss, p)


@right("learn")
def with_one_hot_targets(p, sources, targets, n_heads):
    def loss(p, sources, targets):
        n_words = p["decoder"]["head"].shape[1]
        start = np.full((len(targets), 1), n_words)
        memory = encoder(p["encoder"], sources, n_heads)
        y = decoder(p["decoder"], np.hstack([start, targets])[:, :-1], memory, n_heads)
        wanted = np.eye(n_words)[targets]
        top = y.max(axis=-1)
        return np.mean(np.log(np.sum(np.exp(y - top[:, :, None]), axis=-1)) + top - np.sum(wanted * y, axis=-1))

    return value_and_gradients(loss, p, sources, targets)


@right("learn")
def place_after_place(p, sources, targets, n_heads):
    V, everyone = p["decoder"]["head"].shape[1], np.arange(len(targets))
    seen = np.stack([np.append([V], target[:-1]) for target in targets])

    def loss(p):
        y, total = decoder(p["decoder"], seen, encoder(p["encoder"], sources, n_heads), n_heads), 0.0
        for n in range(targets.shape[1]):
            line = y[:, n] - y[:, n].max(axis=1, keepdims=True)
            total = total + np.log(np.exp(line).sum(axis=1)).sum() - line[everyone, targets[:, n]].sum()
        return total / targets.size

    return value_and_gradients(loss, p)


# cache


@right("cache")
def old_before_new(p, ids, memory, cache, n_heads):
    B, N = ids.shape
    D, old = len(p["E"]), cache[0][0].shape[2] if cache else 0
    x = np.stack([embed(p["E"], row).T for row in ids]) + sinusoidal(N, D, start=old).T
    longer = []
    for number, block in enumerate(p["blocks"]):
        normed = layer_norm(x.reshape(B * N, D).T, *block["norm_1"]).T.reshape(B, N, D)
        q, k, v = (split_heads(normed @ W, n_heads) for W in block["self"][:3])
        if old:
            k = np.concatenate([cache[number][0], k], axis=2)
            v = np.concatenate([cache[number][1], v], axis=2)
        longer.append((k, v))
        n, s = np.indices((N, old + N))
        x = x + merge_heads(masked_attend(q, k, v, s <= n + old)) @ block["self"][3]
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        tokens = x.reshape(B * N, D).T
        x = (tokens + mlp(layer_norm(tokens, *block["norm_2"]), *block["mlp"])).T.reshape(B, N, D)
    return layer_norm(x.reshape(B * N, D).T, *p["norm"]).T.reshape(B, N, D) @ p["head"], longer


@right("cache")
def token_after_token(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    kept, logits = [list(pair) for pair in cache], []
    for n in range(ids.shape[1]):
        place = kept[0][0].shape[2] if kept else 0
        x = embed(p["E"], ids[:, n]).T[:, None] + sinusoidal(1, len(p["E"]), place)[:, 0]
        for m, block in enumerate(p["blocks"]):
            q, k, v = (split_heads(alone(layer_norm, x, block["norm_1"]) @ W, n_heads) for W in block["self"][:3])
            if len(kept) == m:
                kept.append([k, v])
            else:
                kept[m] = [np.append(kept[m][0], k, axis=2), np.append(kept[m][1], v, axis=2)]
            everything = np.ones((1, place + 1), dtype=bool)
            x = x + merge_heads(masked_attend(q, *kept[m], everything)) @ block["self"][3]
            x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
            x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
        logits.append(alone(layer_norm, x, p["norm"]) @ p["head"])
    return np.concatenate(logits, axis=1), [tuple(pair) for pair in kept]


@right("cache")
def empty_pairs_first(p, ids, memory, cache, n_heads):
    def alone(function, x, arrays):
        return np.stack([function(sequence.T, *arrays).T for sequence in x])

    (B, N), D = ids.shape, len(p["E"])
    nothing = np.zeros((B, n_heads, 0, D // n_heads))
    before = cache or [(nothing, nothing)] * len(p["blocks"])
    past = before[0][0].shape[2]
    places = sinusoidal(past + N, D)[:, past:]
    x, after = np.stack([embed(p["E"], row).T for row in ids]) + places.T, []
    for block, (keys, values) in zip(p["blocks"], before, strict=True):
        W_q, W_k, W_v, W_o = block["self"]
        y = alone(layer_norm, x, block["norm_1"])
        keys = np.concatenate([keys, split_heads(y @ W_k, n_heads)], axis=2)
        values = np.concatenate([values, split_heads(y @ W_v, n_heads)], axis=2)
        after.append((keys, values))
        triangle = np.tri(past + N, dtype=bool)[past:]
        x = x + merge_heads(masked_attend(split_heads(y @ W_q, n_heads), keys, values, triangle)) @ W_o
        x = attention_part(x, memory, block["norm_cross"], block["cross"], n_heads, False)
        x = x + alone(mlp, alone(layer_norm, x, block["norm_2"]), block["mlp"])
    return alone(layer_norm, x, p["norm"]) @ p["head"], after
