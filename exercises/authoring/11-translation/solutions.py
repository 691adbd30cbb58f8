"""Right solutions of exercise 11, written in different ways; the first of each is near the notebook's own."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import Solutions

_spec = spec_from_file_location("clearcheck_parts_11", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

next_scores = parts.next_scores  # in a notebook a given function

right = Solutions()
SOLUTIONS = right


# batch


@right("batch")
def widths_first(sources, targets, start, end, padding):
    S = max(map(len, sources)) + 1
    N = max(map(len, targets)) + 1
    source, read, wanted = [], [], []
    for z, w in zip(sources, targets, strict=True):
        source.append([*z, end, *[padding] * (S - len(z) - 1)])
        read.append([start, *w, *[padding] * (N - len(w) - 1)])
        wanted.append([*w, end, *[padding] * (N - len(w) - 1)])
    return np.array(source), np.array(read), np.array(wanted)


@right("batch")
def one_array_and_its_shift(sources, targets, start, end, padding):
    """The target with both markers, cut once behind and once in front; an end that would be read becomes padding."""
    B = len(targets)
    whole = np.full((B, max(len(w) for w in targets) + 2), padding)
    source = np.full((B, max(len(z) for z in sources) + 1), padding)
    for b in range(B):
        whole[b, : len(targets[b]) + 2] = [start, *targets[b], end]
        source[b, : len(sources[b]) + 1] = [*sources[b], end]
    read = whole[:, :-1].copy()
    for b in range(B):
        read[b, len(targets[b]) + 1 :] = padding
    return source, read, whole[:, 1:]


@right("batch")
def by_truth_values(sources, targets, start, end, padding):
    def table(rows):
        lengths = np.array([len(row) for row in rows])
        filled = np.full((len(rows), lengths.max()), padding)
        filled[np.arange(lengths.max()) < lengths[:, None]] = np.concatenate(rows)
        return filled

    return (
        table([np.append(np.array(z, dtype=int), end) for z in sources]),
        table([np.insert(np.array(w, dtype=int), 0, start) for w in targets]),
        table([np.append(np.array(w, dtype=int), end) for w in targets]),
    )


# masks


@right("masks")
def visible_columns(source, read, padding):
    rows = np.ones((*read.shape, 1), dtype=bool)
    hidden_sources = (source == padding)[:, None]
    encoder = np.repeat(~hidden_sources, source.shape[1], axis=1)
    triangle = np.tril(np.ones((read.shape[1], read.shape[1]), dtype=bool))
    return encoder, triangle & (read != padding)[:, None], rows & ~hidden_sources


@right("masks")
def sentence_by_sentence(source, read, padding):
    S, N = source.shape[1], read.shape[1]
    n, m = np.indices((N, N))
    tables = [], [], []
    for z, w in zip(source, read, strict=True):
        tables[0].append(np.tile(z != padding, (S, 1)))
        tables[1].append((m <= n) & (w != padding))
        tables[2].append(np.tile(z != padding, (N, 1)))
    return tuple(np.stack(table) for table in tables)


@right("masks")
def with_einsum(source, read, padding):
    z, w = (source != padding).astype(int), (read != padding).astype(int)
    everyone, writers = np.ones_like(z), np.ones_like(w)
    encoder, decoder, across = (
        np.einsum("bi,bj->bij", rows, columns) > 0 for rows, columns in ((everyone, z), (writers, w), (writers, z))
    )
    return encoder, np.tril(decoder), across


# loss


@right("loss")
def logs_of_the_softmax(logits, wanted, padding, smoothing):
    V = logits.shape[-1]
    real = (wanted != padding).astype(float)
    top = logits.max(axis=-1, keepdims=True)
    powers = np.exp(logits - top)
    sums = powers.sum(axis=-1, keepdims=True)
    log_p = logits - top - np.log(sums)
    t = np.full(logits.shape, smoothing / V)
    np.put_along_axis(t, wanted[..., None], smoothing / V + 1 - smoothing, axis=-1)
    surprise = -np.sum(t * log_p, axis=-1)
    n_real = real.sum()
    return np.sum(surprise * real) / n_real, (powers / sums - t) * real[..., None] / n_real


@right("loss")
def only_the_real_places(logits, wanted, padding, smoothing):
    b, n = np.nonzero(wanted != padding)
    scores, words = logits[b, n], wanted[b, n]
    lines = np.arange(len(words))
    scores = scores - scores.max(axis=1)[:, None]
    log_sums = np.log(np.exp(scores).sum(axis=1))
    at_word = (log_sums - scores[lines, words]).mean()
    at_all = (log_sums - scores.mean(axis=1)).mean()
    slope = np.exp(scores - log_sums[:, None]) - smoothing / logits.shape[2]
    slope[lines, words] -= 1 - smoothing
    gradient = np.zeros_like(logits)
    gradient[b, n] = slope / len(words)
    return (1 - smoothing) * at_word + smoothing * at_all, gradient


@right("loss")
def place_after_place(logits, wanted, padding, smoothing):
    gradient, losses = np.zeros(logits.shape), []
    for b, sentence in enumerate(wanted):
        for n, word in enumerate(sentence):
            if word != padding:
                z = logits[b, n] - logits[b, n].max()
                log_p = z - np.log(np.exp(z).sum())
                t = np.full(len(z), smoothing / len(z))
                t[word] += 1 - smoothing
                losses.append(-log_p @ t)
                gradient[b, n] = np.exp(log_p) - t
    return np.asarray(sum(losses) / len(losses)), gradient / len(losses)  # an array without axes is one number too


# museum


@right("museum")
def three_repairs(p, source, read, padding):
    def look(x, z, maps, seen):
        C = np.einsum("bnd,bsd->bns", x @ maps[0], z @ maps[1]) / np.sqrt(x.shape[2])
        C = np.where(seen, C, -1e300)
        A = np.exp(C - C.max(axis=-1, keepdims=True))
        return (A / A.sum(axis=-1, keepdims=True)) @ (z @ maps[2]) @ maps[3]

    z = p["places"][: source.shape[1]] + p["E"][source]
    x = p["places"][: read.shape[1]] + p["E"][read]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + look(x, x, p["self"], past & (read != padding)[:, None])
    return (x + look(x, z, p["cross"], (source != padding)[:, None])) @ p["head"]


@right("museum")
def a_sentence_at_a_time(p, source, read, padding):
    def look(x, z, maps, seen):
        scores = (x @ maps[0]) @ (z @ maps[1]).T / len(maps[0]) ** 0.5
        scores = np.where(seen, scores, -np.inf)
        scores = scores - scores.max(axis=1)[:, None]
        weights = np.exp(scores)
        return weights / weights.sum(axis=1)[:, None] @ (z @ maps[2]) @ maps[3]

    texts = []
    for z_ids, x_ids in zip(source, read, strict=True):
        kept = z_ids[z_ids != padding]  # padding is behind, so the places stay
        z, x = p["E"][kept] + p["places"][: len(kept)], p["E"][x_ids] + p["places"][: len(x_ids)]
        x = x + look(x, x, p["self"], np.tril(np.ones((len(x), len(x)))) * (x_ids != padding) > 0)
        x = x + look(x, z, p["cross"], True)
        texts.append(x @ p["head"])
    return np.stack(texts)


@right("museum")
def both_attentions_in_a_loop(p, source, read, padding):
    n, m = np.indices((read.shape[1], read.shape[1]))
    own, other = (m <= n) & (read[:, None] != padding), source[:, None] != padding
    places = p["places"]
    memory, stream = (p["E"][ids] + places[: ids.shape[1]][None] for ids in (source, read))
    for name, keys, seen in (("self", None, own), ("cross", memory, other)):
        W_q, W_k, W_v, W_o = p[name]
        keys = stream if keys is None else keys
        scores = stream @ W_q @ np.moveaxis(keys @ W_k, 1, 2) * W_q.shape[1] ** -0.5
        scores = scores + np.where(seen, 0.0, -np.inf)
        powers = np.exp(scores - scores.max(axis=2)[:, :, None])
        stream = stream + powers @ (keys @ W_v) / powers.sum(axis=2)[:, :, None] @ W_o
    return stream @ p["head"]


# bleu


@right("bleu")
def counted_by_numpy(written, wanted, longest):
    exact = np.mean([list(ours) == list(theirs) for ours, theirs in zip(written, wanted, strict=True)])
    lengths = sum(len(text) for text in written), sum(len(text) for text in wanted)
    precisions = []
    for n in range(1, longest + 1):
        hits, total = 0, 0
        for ours, theirs in zip(written, wanted, strict=True):
            places = range(max(len(ours) - n + 1, 0))
            grams, found = np.unique([repr(ours[i : i + n]) for i in places], return_counts=True)
            pieces = [repr(theirs[i : i + n]) for i in range(len(theirs) - n + 1)]
            hits += sum(min(k, pieces.count(gram)) for gram, k in zip(grams, found, strict=True))
            total += len(places)
        precisions.append(hits / total if total else 0.0)
    if min(precisions) == 0:
        return float(exact), 0.0
    penalty = 1.0 if lengths[0] >= lengths[1] else np.exp(1 - lengths[1] / lengths[0])
    return float(exact), float(penalty * np.exp(np.mean(np.log(precisions))))


@right("bleu")
def crossing_out(written, wanted, longest):
    hits, total = np.zeros(longest), np.zeros(longest)
    right_ones = c = r = 0
    for ours, theirs in zip(written, wanted, strict=True):
        right_ones += ours == theirs
        c, r = c + len(ours), r + len(theirs)
        for n in range(1, longest + 1):
            left = [theirs[i : i + n] for i in range(len(theirs) - n + 1)]
            for i in range(len(ours) - n + 1):
                total[n - 1] += 1
                if ours[i : i + n] in left:
                    left.remove(ours[i : i + n])
                    hits[n - 1] += 1
    score = 0.0
    if hits.all():
        score = np.prod(hits / total) ** (1 / longest) * np.exp(min(0, 1 - r / c))
    return right_ones / len(written), score


@right("bleu")
def grams_as_text(written, wanted, longest):
    def grams(text, n):
        words = [str(word) for word in text]
        return [" ".join(words[i : i + n]) for i in range(max(0, len(words) - n + 1))]

    mean_log = 0.0
    exact = sum(str(a) == str(b) for a, b in zip(written, wanted, strict=True)) / len(written)
    for n in range(1, longest + 1):
        ours, theirs = [grams(a, n) for a in written], [grams(b, n) for b in wanted]
        hits = sum(min(a.count(gram), b.count(gram)) for a, b in zip(ours, theirs, strict=True) for gram in set(a))
        if hits == 0:
            return exact, 0.0
        mean_log += np.log(hits / sum(len(a) for a in ours)) / longest
    c, r = (len([word for text in texts for word in text]) for texts in (written, wanted))
    return exact, np.exp(mean_log + (0 if c > r else 1 - r / c))


# align


@right("align")
def gathered(maps, links, n_choose):
    weights = [[A[:, n, s] for n, s in link] for A, link in zip(maps, links, strict=True)]
    choosing = np.array([line for found in weights[:n_choose] for line in found])
    reporting = np.array([line for found in weights[n_choose:] for line in found])
    head = int(np.argmax(choosing.mean(axis=0)))
    shares = []
    for A in maps[n_choose:]:
        a = np.argmax(A[head], axis=-1)
        i, j = np.triu_indices(len(a), 1)
        shares.append((a[i] > a[j]).mean() if len(a) > 1 else 0.0)
    return head, float(reporting[:, head].mean()), float(np.mean(shares))


@right("align")
def sums_and_counts(maps, links, n_choose):
    H = len(maps[0])
    sums, counts, crossed = np.zeros((2, H)), np.zeros(2), []
    for m, (A, link) in enumerate(zip(maps, links, strict=True)):
        group = int(m >= n_choose)
        for n, s in link:
            sums[group] += A[:, n, s]
            counts[group] += 1
    head = int(sums[0].argmax())
    for A in maps[n_choose:]:
        a = [int(row.argmax()) for row in A[head]]
        found = [earlier > later for j, later in enumerate(a) for earlier in a[:j]]
        crossed.append(sum(found) / len(found) if found else 0.0)
    return head, float(sums[1, head] / counts[1]), sum(crossed) / len(crossed)


@right("align")
def by_tables(maps, links, n_choose):
    def share(A):
        a = A.argmax(axis=1)
        N = len(a)
        above = np.triu(a[:, None] > a[None, :], k=1)
        return above.sum() / max(1, N * (N - 1) / 2)

    def means(some):
        table = np.hstack([maps[m][:, links[m][:, 0], links[m][:, 1]] for m in some])
        return table.mean(axis=1)

    groups = range(n_choose), range(n_choose, len(maps))
    head = int(means(groups[0]).argmax())
    return head, float(means(groups[1])[head]), float(np.mean([share(maps[m][head]) for m in groups[1]]))


# beam


@right("beam")
def tuples_of_three(p, start, end, n_tokens, n_beams, alpha):
    beams = [(0.0, 0.0, [start])]  # score, log-probability, text
    for _ in range(n_tokens):
        candidates = []
        for score, total, text in beams:
            if text[-1] == end:
                candidates.append((score, total, text))
                continue
            z = next_scores(p, np.array([text]))[0]
            z = z - z.max()
            for word, log_p in enumerate(z - np.log(np.exp(z).sum())):
                candidates.append(((total + log_p) / len(text) ** alpha, total + log_p, [*text, word]))
        beams = sorted(candidates, key=lambda beam: -beam[0])[:n_beams]
        if all(text[-1] == end for _, _, text in beams):
            break
    return np.array(beams[0][2][1:]), float(beams[0][0])


@right("beam")
def arrays_of_beams(p, start, end, n_tokens, n_beams, alpha):
    texts, totals, lengths = np.array([[start]]), np.zeros(1), np.zeros(1)
    for _ in range(n_tokens):
        ended = texts[:, -1] == end
        if np.all(texts[:, -1] == end):
            break
        z = next_scores(p, np.where(texts < 0, 0, texts))
        z = z - z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        log_p[ended] = np.where(np.arange(log_p.shape[1]) == end, 0.0, -np.inf)
        sums = totals[:, None] + log_p
        longer = np.where(ended, lengths, lengths + 1)
        ranked = np.argsort(-(sums / longer[:, None] ** alpha), axis=None)[:n_beams]
        ranked = ranked[np.isfinite(sums.ravel()[ranked])]
        beam, word = np.unravel_index(ranked, sums.shape)
        texts = np.column_stack([texts[beam], word])
        totals, lengths = sums[beam, word], longer[beam]
    scores = totals / lengths**alpha
    best = scores.argmax()
    return texts[best, 1 : int(lengths[best]) + 1], float(scores[best])


@right("beam")
def going_and_ended(p, start, end, n_tokens, n_beams, alpha):
    def rank(entry):
        return entry[1] / (len(entry[0]) - 1) ** alpha

    going, ended = [((start,), 0.0)], []
    for _ in range(n_tokens):
        if not going:
            break
        scores = next_scores(p, [list(text) for text, _ in going])
        largest = scores.max(axis=1)
        log_sums = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
        longer = [
            ((*text, word), total + scores[i, word] - log_sums[i])
            for i, (text, total) in enumerate(going)
            for word in range(scores.shape[1])
        ]
        kept = sorted(ended + longer, key=rank)[::-1][:n_beams]
        ended = [entry for entry in kept if entry[0][-1] == end]
        going = [entry for entry in kept if entry[0][-1] != end]
    text, total = max(ended + going, key=rank)
    return np.array(text[1:]), float(total / (len(text) - 1) ** alpha)
