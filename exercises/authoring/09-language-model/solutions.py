"""Right solutions of exercise 09, written in different ways; the first of each is near the notebook's own."""

import math
from fractions import Fraction

import numpy as np
from clearcheck import Solutions

right = Solutions()
SOLUTIONS = right


# surprise


@right("surprise")
def three_neighbours(P, text):
    mark = P.shape[0] - 1
    padded = np.array([mark, mark, *text, mark], dtype=int)
    older, newer, coming = padded[:-2], padded[1:-1], padded[2:]
    return -np.log2(P[older, newer, coming])


@right("surprise")
def step_by_step(P, text):
    u = v = len(P) - 1
    surprises = []
    for w in [int(token) for token in text] + [len(P) - 1]:
        surprises.append(-math.log(P[u, v, w], 2) if P[u, v, w] > 0 else math.inf)
        u, v = v, w
    return np.array(surprises)


@right("surprise")
def nats_into_bits(P, text):
    mark = np.full(2, len(P) - 1)
    before = np.append(mark, text).astype(int)
    after = np.append(text, mark[0]).astype(int)
    rows = P[before[:-1], before[1:]]
    return -np.log(np.take_along_axis(rows, after[:, None], axis=1).ravel()) / np.log(2)


# bits


@right("bits")
def one_sum_two_divisions(means, counts, pieces):
    bits = np.sum(means * counts) / np.log(2)
    characters = sum(1 if piece == "" else len(piece) for piece in pieces)
    return bits / characters, 2.0 ** (bits / len(pieces))


@right("bits")
def weighted_average(means, counts, pieces):
    nats_per_token = np.average(means, weights=counts)
    characters = len("".join(pieces)) + pieces.count("")
    return nats_per_token * len(pieces) / characters / math.log(2), math.exp(nats_per_token)


@right("bits")
def token_after_token(means, counts, pieces):
    each = np.repeat(means, counts)
    lengths = np.array([len(piece.replace("", "")) for piece in pieces])
    lengths[lengths == 0] = 1
    return (each / np.log(2)).sum() / lengths.sum(), np.exp(each.mean())


# discount


@right("discount")
def tables_at_once(ids, n_vocab, d):
    count = np.bincount(ids, minlength=n_vocab)
    p = (np.clip(count - d, 0, None) + d * (count > 0).sum() / n_vocab) / count.sum()
    C = np.zeros((n_vocab, n_vocab))
    for v, w in np.stack([ids[:-1], ids[1:]], axis=1):
        C[v, w] += 1
    c, t = C.sum(axis=1)[:, None], (C > 0).sum(axis=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.clip(C - d, 0, None) / c + d * t / c * p
    table[c[:, 0] == 0] = p
    return table


@right("discount")
def row_after_row(ids, n_vocab, d):
    text, V = ids.tolist(), n_vocab
    p = np.array([max(text.count(w) - d, 0) + d * len(set(text)) / V for w in range(V)]) / len(text)
    rows = []
    for v in range(V):
        followers = [text[i + 1] for i in range(len(text) - 1) if text[i] == v]
        row = p
        if followers:
            kept = np.array([max(followers.count(w) - d, 0) for w in range(V)])
            row = (kept + d * len(set(followers)) * p) / len(followers)
        rows.append(row)
    return np.stack(rows)


@right("discount")
def what_is_left_is_shared(ids, n_vocab, d):
    def discounted(counts, shorter):
        if counts.sum() == 0:
            return shorter
        kept = np.where(counts > 0, counts - d, 0) / counts.sum()
        return kept + (1 - kept.sum()) * shorter

    places = np.arange(n_vocab)
    p = discounted((ids == places[:, None]).sum(axis=1), np.full(n_vocab, 1 / n_vocab))
    table = np.zeros((n_vocab, n_vocab))
    for v in places:
        after = ids[1:][ids[:-1] == v]
        table[v] = discounted((after == places[:, None]).sum(axis=1), p)
    return table


# loss


@right("loss")
def shifted_and_counted(logits, ids, lengths):
    B, T, V = logits.shape
    top = logits.max(axis=2, keepdims=True)
    total = np.exp(logits - top).sum(axis=2, keepdims=True)
    log_p = logits - top - np.log(total)
    targets = np.concatenate([ids[:, 1:], ids[:, :1]], axis=1)
    asked = np.arange(1, T + 1) < np.asarray(lengths)[:, None]
    came = np.arange(V) == targets[:, :, None]
    n_asked = asked.sum()
    loss = -log_p[came].reshape(B, T)[asked].sum() / n_asked
    return loss, (np.exp(log_p) - came) * asked[:, :, None] / n_asked


@right("loss")
def text_by_text(logits, ids, lengths):
    gradient, loss, n_asked = 0 * logits, 0.0, sum(int(length) - 1 for length in lengths)
    for b in range(len(ids)):
        for n in range(lengths[b] - 1):
            row, w = logits[b, n], ids[b, n + 1]
            powers = np.exp(row - row.max())
            loss += np.log(powers.sum()) + row.max() - row[w]
            gradient[b, n] = powers / powers.sum()
            gradient[b, n, w] -= 1
    return loss / n_asked, gradient / n_asked


@right("loss")
def only_what_is_asked(logits, ids, lengths):
    b, n = np.nonzero(np.arange(ids.shape[1] - 1) < lengths[:, None] - 1)
    rows, targets = logits[b, n], ids[b, n + 1]
    rows = rows - rows.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(rows).sum(axis=1))
    everyone = np.arange(len(rows))
    push = np.exp(rows - log_sum[:, None])
    push[everyone, targets] -= 1
    gradient = np.zeros(logits.shape)
    gradient[b, n] = push / len(rows)
    return (log_sum - rows[everyone, targets]).mean(), gradient


# filter


@right("filter")
def sort_and_put_back(logits, temperature, top_k=None, top_p=None):
    B, V = logits.shape
    best_first = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        top_k, top_p, temperature = 1, None, 1
    scores = np.take_along_axis(logits, best_first, axis=1)
    scores = (scores - scores.max(axis=1, keepdims=True)) / temperature
    share = np.exp(scores) * (np.arange(V) < (top_k or V))
    share = share / share.sum(axis=1, keepdims=True)
    if top_p is not None and top_p != 1:
        before = np.hstack([np.zeros((B, 1)), np.cumsum(share, axis=1)[:, :-1]])
        share = share * (before < top_p)
        share = share / share.sum(axis=1, keepdims=True)
    back = np.argsort(best_first, axis=1, kind="stable")
    return np.take_along_axis(share, back, axis=1)


@right("filter")
def a_row_at_a_time(logits, temperature, top_k=None, top_p=None):
    result = np.zeros_like(logits)
    for row, p in zip(logits, result, strict=True):
        ranked = sorted(range(len(row)), key=lambda w: -row[w])
        if temperature == 0:
            p[ranked[0]] = 1
            continue
        ranked = ranked[:top_k]
        shares = np.array([math.exp((row[w] - row[ranked[0]]) / temperature) for w in ranked])
        shares /= shares.sum()
        if top_p is not None and top_p < 1:
            needed = 1
            while shares[:needed].sum() < top_p:
                needed += 1
            ranked, shares = ranked[:needed], shares[:needed] / shares[:needed].sum()
        p[ranked] = shares
    return result


@right("filter")
def minus_infinity_for_what_goes(logits, temperature, top_k=None, top_p=None):
    def shares(z):
        powers = np.exp(z - z.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    V = logits.shape[1]
    ids = np.arange(V)
    above = logits[:, None, :] > logits[:, :, None]
    level = (logits[:, None, :] == logits[:, :, None]) & (ids < ids[:, None])
    rank = (above | level).sum(axis=2)
    if temperature == 0:
        return (rank == 0) * 1.0
    z = logits / temperature
    if top_k is not None:
        z = np.where(rank < top_k, z, -np.inf)
    if top_p is not None and top_p < 1:
        p = shares(z)
        before = (p[:, None, :] * (above | level)).sum(axis=2)
        z = np.where(before < top_p, z, -np.inf)
    return shares(z)


# induction


@right("induction")
def table_of_followers(A, ids):
    N = len(ids)
    same = (ids[:, None] == ids[None, :]) & (np.arange(N)[:, None] < np.arange(N))
    follows = np.vstack([np.zeros((1, N), dtype=bool), same[:-1]])
    has = follows.any(axis=0)
    if has.sum() == 0:
        return np.zeros(A.shape[0]), 0.0
    scores = np.einsum("hsn,sn->h", A, follows) / has.sum()
    return scores, (follows.sum(axis=0) / (1 + np.arange(N))).sum() / has.sum()


@right("induction")
def target_after_target(A, ids):
    found, chance = [], []
    for n in range(1, len(ids)):
        places = 1 + np.flatnonzero(ids[:n] == ids[n])
        if len(places):
            found.append(A[:, places, n].sum(axis=1))
            chance.append(len(places) / (n + 1))
    if not found:
        return np.zeros(len(A)), 0.0
    return np.mean(found, axis=0), np.mean(chance)


@right("induction")
def remembers_places(A, ids):
    seen, totals, chance, n_targets = {}, np.zeros(len(A)), 0.0, 0
    for n, token in enumerate(ids.tolist()):
        places = seen.setdefault(token, [])
        if places:
            n_targets += 1
            totals = totals + sum(A[:, s, n] for s in places)
            chance += len(places) / (n + 1)
        places.append(n + 1)
    return (totals / max(n_targets, 1), chance / max(n_targets, 1))


# pack


@right("pack")
def interval_then_bits(counts, text):
    mark = len(counts) - 1
    low, width, before = Fraction(0), Fraction(1), mark
    for w in [*text, mark]:
        total = sum(counts[before])
        low = low + width * Fraction(sum(counts[before][:w]), total)
        width = width * Fraction(counts[before][w], total)
        before = w
    n_bits = 0
    while True:
        scale = 2**n_bits
        k = math.ceil(low * scale)
        if Fraction(k + 1, scale) <= low + width:
            return bin(k)[2:].zfill(n_bits) if n_bits else ""
        n_bits += 1


@right("pack")
def whole_numbers_alone(counts, text):
    last = before = len(counts) - 1
    low, wide, scale = 0, 1, 1
    for w in [*text, last]:
        row = counts[before]
        low, wide, scale = low * sum(row) + wide * sum(row[:w]), wide * row[w], scale * sum(row)
        before = w
    bits = 0
    while ((low << bits) + scale - 1) // scale * scale + scale > (low + wide) << bits:
        bits += 1
    first = ((low << bits) + scale - 1) // scale
    return "".join(str(first >> place & 1) for place in reversed(range(bits)))


@right("pack")
def begins_with_a_guess(counts, text):
    ends, before = [Fraction(0), Fraction(1)], len(counts) - 1
    for token in [*text, len(counts) - 1]:
        row, (low, high) = counts[before], ends
        ends = [low + (high - low) * sum(row[:stop]) / sum(row) for stop in (token, token + 1)]
        before = token
    low, high = ends
    m = max(0, (1 / (high - low)).__ceil__().bit_length() - 2)  # fewer bits are too wide in any case
    while True:
        step = Fraction(1, 2**m)
        k = -((-low) // step)
        if (k + 1) * step <= high:
            return format(k, "b").rjust(m, "0")[-m:] if m > 0 else ""
        m += 1
