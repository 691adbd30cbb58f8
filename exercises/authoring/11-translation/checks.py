"""Checks of exercise 11: plain loops over sentences, properties of a translator, and searches by brute force."""

from collections import Counter
from copy import deepcopy
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from math import exp, log
from pathlib import Path

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearcheck.authoring import CLOSE, draw_sizes, shape_slip, varied
from clearformer.reference import attention

_spec = spec_from_file_location("clearcheck_parts_11", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)


def near(value, expected):
    """Equal up to rounding in units of the largest expected entry."""
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    return value.shape == np.shape(expected) and bool(np.allclose(value, expected, rtol=0, atol=CLOSE * scale))


def tuple_slip(value, kinds):
    """A sentence when the result is no tuple with as many parts."""
    if isinstance(value, tuple | list) and len(value) == len(kinds):
        return None
    return f"The result should be a tuple of {len(kinds)} parts: {', '.join(kinds)}."


# batch

MARKERS = ("source", "read", "wanted")


def batch_reference(sources, targets, start, end, padding):
    """Row by row into arrays that hold nothing but padding at first."""
    S, N = (1 + max(map(len, side)) for side in (sources, targets))
    source, read, wanted = (np.full((len(sources), width), padding) for width in (S, N, N))
    for b, (words, others) in enumerate(zip(sources, targets, strict=True)):
        source[b, : len(words)], source[b, len(words)] = words, end
        read[b, 0], read[b, 1 : 1 + len(others)] = start, others
        wanted[b, : len(others)], wanted[b, len(others)] = others, end
    return source, read, wanted


def draw_markers(rng):
    """Start, end and padding, now before the words and now after them, in any order; and the words."""
    first_word, start_of_markers = (3, 0) if rng.random() < 0.5 else (0, 17)
    return [int(m) + start_of_markers for m in rng.permutation(3)], first_word


def sentences(rng, lengths, first_word):
    return [rng.integers(first_word, first_word + 17, size=n).tolist() for n in lengths]


def draw_batch(rng, least=1):
    """Lists of sentences; the longest source and the longest target stand in different rows."""
    B, S, N = draw_sizes(rng, 3)
    markers, first_word = draw_markers(rng)
    lengths = [rng.integers(least, longest, size=B) for longest in (S - 1, N - 1)]
    for place, (row, longest) in enumerate(zip(rng.permutation(B)[:2], (S, N), strict=True)):
        lengths[place][row] = longest
    return (*(sentences(rng, found, first_word) for found in lengths), *markers)


def batches(rng):
    return [draw_batch(rng) for _ in range(3)]


def few_words(rng):
    """One sentence alone; sentences without words among others; no words anywhere."""
    one, (markers, first_word) = draw_batch(rng), draw_markers(rng)
    alone = [one[0][:1], one[1][:1], *one[2:]]
    sources, targets, *rest = draw_batch(rng, least=2)
    sources[1], targets[2] = [], []
    return [tuple(alone), (sources, targets, *rest), ([[], []], sentences(rng, (0, 0), first_word), *markers)]


def one_place_late(ask, rng):
    sources, targets, start, end, padding = draw_batch(rng)
    came = ask(sources, targets, start, end, padding)
    if slip := tuple_slip(came, MARKERS):
        return slip
    longest = max(map(len, targets))
    for array, name in zip(came[1:], MARKERS[1:], strict=True):
        if slip := shape_slip(array, (len(targets), longest + 1), f"`{name}`"):
            return slip
    _, read, wanted = came
    for b, words in enumerate(targets):
        if (read[b, 1 : 1 + len(words)] != wanted[b, : len(words)]).any():
            return f"In row {b} of your batch a word that is wanted at one place is not the one read at the next."
        if (read[b] != padding).sum() != (wanted[b] != padding).sum():
            return f"In row {b} of your batch not as many words are read as are wanted."
    return None


# masks


def masks_reference(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    encoder, decoder, across = (np.zeros((B, *shape), dtype=bool) for shape in ((S, S), (N, N), (N, S)))
    for b in range(B):
        for s in np.flatnonzero(source[b] != padding):
            encoder[b, :, s] = across[b, :, s] = True
        for n in np.flatnonzero(read[b] != padding):
            decoder[b, n:, n] = True
    return encoder, decoder, across


def padded_ids(rng, B, n_tokens, padding, behind=True):
    """Ids of which one row is whole; the others have padding behind their words, or anywhere."""
    found = rng.integers(20, size=(B, n_tokens))
    found += found >= padding
    for b in range(1, B):
        hidden = np.arange(n_tokens) >= rng.integers(1, n_tokens + 1) if behind else rng.random(n_tokens) < 0.4
        found[b, hidden] = padding
    return found


def draw_ids(rng, behind=True, n_sources=None, n_targets=None):
    B, S, N = draw_sizes(rng, 3)
    padding = int(rng.integers(21))
    S, N = n_sources or S, n_targets or N
    return padded_ids(rng, B, S, padding, behind), padded_ids(rng, B, N, padding, behind), padding


def padding_anywhere(rng):
    source, read, padding = draw_ids(rng, behind=False)
    source[1, 0] = read[1, 0] = padding
    read[2, :] = padding
    return [(source, read, padding), draw_ids(rng, n_sources=1), draw_ids(rng, n_targets=1)]


TABLES = ("the encoder's", "the decoder's", "the one across")


def tables_slip(came, source, read):
    """A sentence when the result is not three arrays of truth values of the right shapes."""
    if slip := tuple_slip(came, TABLES):
        return slip
    (B, S), N = source.shape, read.shape[1]
    for table, name, shape in zip(came, TABLES, ((B, S, S), (B, N, N), (B, N, S)), strict=True):
        if slip := shape_slip(table, shape, f"Of your tables, {name}"):
            return slip
        if table.dtype != bool:
            return f"Truth values are expected in every table; in {name} your numbers have the dtype {table.dtype}."
    return None


def more_padding(ask, rng):
    source, read, padding = draw_ids(rng)
    before = ask(source, read, padding)
    if slip := tables_slip(before, source, read):
        return slip
    wider = [np.pad(rows, ((0, 0), (0, 2)), constant_values=padding) for rows in (source, read)]
    after = ask(*wider, padding)
    if slip := tables_slip(after, *wider):
        return slip
    for small, large, name in zip(before, after, TABLES, strict=True):
        rows, columns = small.shape[1:]
        if (large[:, :rows, :columns] != small).any():
            return f"With two columns of padding more the tables must stay; in yours, {name}, something changes."
        if large[:, :, columns:].any():
            return f"Two columns of padding were added, and in a table of yours, {name}, somebody may look at them."
    return None


def what_is_written_later(ask, rng):
    source, read, padding = draw_ids(rng)
    read[0] = (padding + 1 + np.arange(read.shape[1])) % 21
    came = ask(source, read, padding)
    if slip := tables_slip(came, source, read):
        return slip
    decoder, N = came[1][0], read.shape[1]
    for n in range(N):
        if not decoder[n, n]:
            return f"In the decoder a place sees itself, but place {n} of yours does not."
        if decoder[n, n + 1 :].any():
            return f"In the decoder nobody sees what stands behind; place {n} of yours does."
        if not decoder[n, :n].all():
            return f"In the decoder a place sees all words before it; place {n} of yours does not."
    return None


# loss


def loss_reference(logits, wanted, padding, smoothing):
    """Word by word: the surprise at each share of t, and p − t, over the number of real words."""
    B, N, V = logits.shape
    total, gradient, n_real = 0.0, np.zeros((B, N, V)), 0
    for b, n in product(range(B), range(N)):
        if wanted[b, n] == padding:
            continue
        row = logits[b, n] - logits[b, n].max()
        log_p = row - log(sum(exp(x) for x in row))
        t = np.array([smoothing / V + (1 - smoothing) * (w == wanted[b, n]) for w in range(V)])
        total -= float(t @ log_p)
        gradient[b, n] = np.exp(log_p) - t
        n_real += 1
    return total / n_real, gradient / n_real


def draw_loss(rng, smoothing=0.0, scale=1.0, n_targets=None):
    B, N, V = draw_sizes(rng, 3)
    N, padding = n_targets or N, int(rng.integers(V))
    wanted = rng.integers(V - 1, size=(B, N))
    wanted += wanted >= padding
    for b in range(1, B):  # sentences of different lengths, so that a mean of means is another number
        wanted[b, int(rng.integers(0 if n_targets else 1, N + 1)) :] = padding
    if N > 2:
        wanted[1, 1:], wanted[2, 2:] = padding, padding
    return scale * rng.normal(size=(B, N, V)), wanted, padding, smoothing


def central_differences(ask, rng):
    logits, wanted, padding, smoothing = draw_loss(rng, smoothing=0.3)
    came = ask(logits, wanted, padding, smoothing)
    if slip := tuple_slip(came, ("the loss", "its gradient")) or shape_slip(came[1], logits.shape, "The gradient"):
        return slip
    direction, h = rng.normal(size=logits.shape), 1e-5
    losses = [ask(logits + sign * h * direction, wanted, padding, smoothing)[0] for sign in (1, -1)]
    if not all(isinstance(loss, float | np.floating) or getattr(loss, "shape", None) == () for loss in losses):
        return "The loss should be one number."
    slope, told = (losses[0] - losses[1]) / (2 * h), float((came[1] * direction).sum())
    if abs(slope - told) > 1e-6 * max(1.0, abs(slope)):
        return f"Along a random direction your loss changes by {slope:.6f} a unit, and your gradient says {told:.6f}."
    return None


def padding_counts_nothing(ask, rng):
    logits, wanted, padding, smoothing = draw_loss(rng, smoothing=0.2)
    came = ask(logits, wanted, padding, smoothing)
    if slip := tuple_slip(came, ("the loss", "its gradient")) or shape_slip(came[1], logits.shape, "The gradient"):
        return slip
    hidden = wanted == padding
    if np.abs(came[1][hidden]).max() > CLOSE:
        return "Where padding is wanted the scores must have no influence, but your gradient is not 0 there."
    other = np.where(hidden[:, :, None], logits + rng.normal(size=logits.shape), logits)
    if abs(ask(other, wanted, padding, smoothing)[0] - came[0]) > CLOSE:
        return "When scores change at places where padding is wanted, your loss changes."
    wider = np.pad(logits, ((0, 0), (0, 3), (0, 0))), np.pad(wanted, ((0, 0), (0, 3)), constant_values=padding)
    if abs(ask(*wider, padding, smoothing)[0] - came[0]) > CLOSE:
        return "With three columns of padding more the loss must stay as it is; yours changes."
    return None


# museum


def scores_reference(p, source, read, padding):
    """One sentence at a time, with the attention of the book's library, tokens in columns."""

    def looked(x, z, maps, mask):
        Q, K, V = ((rows @ W).T for rows, W in zip((x, z, z), maps, strict=False))
        return attention.attend(Q, K, V, mask.T)[0].T @ maps[3]

    rows = []
    for z_ids, x_ids in zip(source, read, strict=True):
        z = p["E"][z_ids] + p["places"][: len(z_ids)]
        x = p["E"][x_ids] + p["places"][: len(x_ids)]
        n, m = np.indices((len(x_ids), len(x_ids)))
        x = x + looked(x, x, p["self"], (m <= n) & (x_ids != padding)[None])
        x = x + looked(x, z, p["cross"], np.repeat((z_ids != padding)[None], len(x_ids), axis=0))
        rows.append(x @ p["head"])
    return np.stack(rows)


def translator(rng, D, V, L=17, sharp=1.0):
    def maps():
        W_q, W_k, W_v, W_o = (rng.normal(size=(D, D)) / np.sqrt(D) for _ in range(4))
        return sharp * W_q, W_k, W_v, W_o

    p = {"E": rng.normal(size=(V, D)), "places": rng.normal(size=(L, D)), "head": rng.normal(size=(D, V)) / np.sqrt(D)}
    return p | {"self": maps(), "cross": maps()}


def draw_translator(rng, sharp=1.0, n_targets=None, n_sources=None):
    B, S, N, D = draw_sizes(rng, 4)
    V, padding = 22, int(rng.integers(21))
    S, N = n_sources or S, n_targets or N
    p = translator(rng, D, V, sharp=sharp)
    return p, padded_ids(rng, B, S, padding), padded_ids(rng, B, N, padding), padding


def scores_slip(came, p, read):
    return shape_slip(came, (*read.shape, p["head"].shape[1]))


def another_word(rng, ids, padding, V=22):
    """The same array with a different word, no padding, in the last real place of row 0."""
    edited = ids.copy()
    choices = [w for w in range(V) if w not in (padding, int(ids[0, -1]))]
    edited[0, -1] = int(rng.choice(choices))
    return edited


def blind_to_the_future(ask, rng):
    p, source, read, padding = draw_translator(rng)
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    after = ask(p, source, another_word(rng, read, padding), padding)
    moved = np.abs(after - before).max(axis=(0, 2)) > CLOSE
    if moved[:-1].any():
        n = int(np.flatnonzero(moved)[0])
        return f"After an edit of the last word that is read, your scores at place {n} change, which stands before it."
    if not moved[-1]:
        return "After an edit of the last word that is read, the scores at its place should change; yours do not."
    return None


def reads_the_source(ask, rng):
    p, source, read, padding = draw_translator(rng)
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    moved = np.abs(ask(p, another_word(rng, source, padding), read, padding) - before).max(axis=2) > CLOSE
    if not moved[0].all():
        n = int(np.flatnonzero(~moved[0])[0])
        return f"After an edit of a source word every score of its sentence should change; yours at place {n} do not."
    if moved[1:].any():
        return "After an edit of one source, scores of another sentence of the batch change."
    return None


def alone_and_in_company(ask, rng):
    p, source, read, padding = draw_translator(rng)
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    wider = [np.pad(rows, ((0, 0), (0, 2)), constant_values=padding) for rows in (source, read)]
    if not near(ask(p, *wider, padding)[:, : read.shape[1]], before):
        return "With two columns of padding more the old scores must stay as they are; yours change."
    for b in range(3):
        z, w = source[b : b + 1, source[b] != padding], read[b : b + 1, read[b] != padding]
        if not near(ask(p, z, w, padding), before[b : b + 1, : w.shape[1]]):
            return f"Sentence {b} alone, without padding, must get the scores that it gets in its batch; yours differ."
    return None


# bleu


def bleu_reference(written, wanted, longest):
    exact = sum(map(lambda a, b: list(a) == list(b), written, wanted)) / len(wanted)
    product_of_precisions = 1.0
    for n in range(1, longest + 1):
        hits, total = 0, 0
        for ours, theirs in zip(written, wanted, strict=True):
            a, b = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (ours, theirs))
            hits, total = hits + (a & b).total(), total + a.total()
        product_of_precisions *= hits / total if total else 0.0
    c, r = (sum(map(len, texts)) for texts in (written, wanted))
    if product_of_precisions == 0:
        return exact, 0.0
    return exact, product_of_precisions ** (1 / longest) * min(1.0, exp(1 - r / c))


def garbled(rng, words, V, change, drop, double):
    """A translation with mistakes: other words, words left out, words said twice."""
    text = [int(rng.integers(V)) if rng.random() < change else word for word in words]
    return [word for word in text if rng.random() >= drop for _ in range(1 + (rng.random() < double))]


def draw_texts(rng, longest=None, drop=0.1, double=0.1, change=0.15):
    """Sentences of few different words, so that n-grams occur several times; some are exactly right."""
    B, V = int(rng.integers(5, 7)), 4
    wanted = [rng.integers(V, size=n).tolist() for n in rng.integers(4, 9, size=B)]
    written = [garbled(rng, words, V, change, drop, double) for words in wanted]
    written[0], written[1] = list(wanted[0]), list(wanted[1])
    return written, wanted, longest or int(rng.integers(2, 5))


def short_texts(rng):
    """Fewer words than are wanted, so that the penalty counts; one text has none at all."""
    cases = []
    for longest in (1, 3, 4):
        written, wanted, _ = draw_texts(rng, drop=0.3, double=0.0)
        written[2], written[3] = [], written[3][:1]
        cases.append((written, wanted, longest))
    return cases


def long_texts(rng):
    """More words than are wanted: the penalty is 1, and repeated words are no hits."""
    return [draw_texts(rng, longest, drop=0.0, double=0.5) for longest in (1, 2, 4)]


def nothing_right(rng):
    """Orders without a hit or without any n-gram."""
    wanted = [rng.integers(5, size=n).tolist() for n in (6, 4, 7)]
    strangers = [[word + 5 for word in words] for words in wanted]
    single = [words[:1] for words in wanted]
    backwards = [[0, 1], [2, 3]], [[1, 0], [3, 2]], 2
    return [(strangers, wanted, 2), (single, wanted, 2), ([[], [], []], wanted, 1), backwards]


# align


def align_reference(maps, links, n_choose):
    def mean_on_links(h, some):
        return np.mean([maps[m][h, n, s] for m in some for n, s in links[m]])

    first, rest = range(n_choose), range(n_choose, len(maps))
    head = max(range(maps[0].shape[0]), key=lambda h: mean_on_links(h, first))
    shares = []
    for m in rest:
        most = [int(np.argmax(row)) for row in maps[m][head]]
        pairs = [(i, j) for j in range(len(most)) for i in range(j)]
        shares.append(sum(most[i] > most[j] for i, j in pairs) / len(pairs) if pairs else 0.0)
    return head, float(mean_on_links(head, rest)), float(np.mean(shares))


def draw_sentence(rng, H, good, lengths=None, pull=3.0):
    """Maps of one sentence: head `good` leans towards the links, the others follow places of their own."""
    N, S = lengths or draw_sizes(rng, 2)
    n_links = int(rng.integers(1, min(N, S) + 1))
    words, sources = (rng.permutation(size)[:n_links] for size in (N, S))
    scores = rng.normal(size=(H, N, S))
    scores[good, words, sources] += pull
    weights = np.exp(scores)
    return weights / weights.sum(axis=2, keepdims=True), np.stack([words, sources], axis=1)


def draw_maps(rng, n_choose=None, lengths=None):
    """Sentences of different lengths; in the reporting ones another head may be the better."""
    (H,), (M,) = draw_sizes(rng, 1, (4, 5, 6)), draw_sizes(rng, 1, (7, 8))
    good, better_later = rng.permutation(H)[:2]
    n_choose = n_choose or int(rng.integers(2, M - 1))
    found = [draw_sentence(rng, H, good if m < n_choose else better_later, (lengths or {}).get(m)) for m in range(M)]
    maps, links = map(list, zip(*found, strict=True))
    return maps, links, n_choose


def short_sentences(rng):
    return [draw_maps(rng, 3, lengths={4: (1, 4), 3: (4, 1)}), draw_maps(rng, n_choose=1)]


REPORT = ("the head", "the score", "the crossing")


def report_slip(came):
    if slip := tuple_slip(came, REPORT):
        return slip
    head, score, crossing = came
    if isinstance(head, bool) or not isinstance(head, int | np.integer):
        return "The head should be a whole number."
    return (
        None
        if all(isinstance(x, float | np.floating) for x in (score, crossing))
        else "Score and crossing should be numbers."
    )


def heads_in_another_order(ask, rng):
    maps, links, n_choose = draw_maps(rng)
    before = ask(maps, links, n_choose)
    if slip := report_slip(before):
        return slip
    order = np.roll(np.arange(len(maps[0])), 2)
    after = ask([A[order] for A in maps], links, n_choose)
    if slip := report_slip(after):
        return slip
    if not 0 <= after[0] < len(order) or order[after[0]] != before[0]:
        return "When the heads come in another order, the same head must be found in its new place; yours is another."
    if not near(np.array(after[1:]), np.array(before[1:])):
        return "When the heads come in another order, score and crossing must stay as they are; yours change."
    return None


def choosing_and_reporting(ask, rng):
    maps, links, n_choose = draw_maps(rng)
    before = ask(maps, links, n_choose)
    if slip := report_slip(before):
        return slip
    mirrored = [A if m < n_choose else A[::-1].copy() for m, A in enumerate(maps)]
    after = ask(mirrored, links, n_choose)
    if slip := report_slip(after):
        return slip
    if after[0] != before[0]:
        return "The reporting sentences were changed, and with them the head that you choose."
    order = [*range(n_choose)][::-1] + [*range(n_choose, len(maps))][::-1]
    turned = ask([maps[m] for m in order], [links[m] for m in order], n_choose)
    if slip := report_slip(turned):
        return slip
    if turned[0] != before[0] or not near(np.array(turned[1:]), np.array(before[1:])):
        return "The order of the sentences within each group must not matter, but with another one your results change."
    return None


# beam


def log_probabilities(p, text):
    row = parts.next_scores(p, np.array([text]))[0]
    row = row - row.max()
    return row - np.log(np.exp(row).sum())


def beam_reference(p, start, end, n_tokens, n_beams, alpha, slip="", log_p_of=None):
    """As the task says it, a candidate at a time; a slip is a way to go wrong, for cases on which it matters."""
    log_p_of = log_p_of or partial(log_probabilities, p)
    totals = {(start,): 0.0}

    def score(text):
        return totals[text] / max(1, len(text) - 1) ** alpha

    beams, set_aside = [(start,)], []
    for _ in range(n_tokens):
        kept = {text: totals[text] for text in beams if text[-1] == end}
        for text in [text for text in beams if text[-1] != end]:
            log_p = log_p_of(text)
            alone = slip == "some of every beam" and len(beams) > 1
            for word in [int(log_p.argmax())] if alone else range(len(log_p)):
                kept[*text, word] = totals[text] + float(log_p[word])
        totals |= kept
        beams = sorted(kept, key=kept.get if "divided at the end only" in slip else score)[::-1]
        if "ended ones set aside" in slip:
            set_aside += [text for text in beams[:n_beams] if text[-1] == end]
            beams = [text for text in beams if text[-1] != end]
        beams = beams[:n_beams]
        if all(text[-1] == end for text in beams[: 1 if slip == "best ended" else None]):
            break
    if slip == "ended ones preferred":
        beams = [text for text in beams if text[-1] == end] or beams
    best = max(set_aside + beams, key=totals.get if slip == "likeliest at the end" else score)
    return np.array(best[1:]), score(best)


def draw_writer(rng, n_beams, alpha, n_tokens=6, scale=1.0, end_bonus=0.0, V=None):
    """A model of V words that does not end at once; `end_bonus` makes the end likelier after some words."""
    V = V or int(rng.choice([5, 6]))
    start, end = (int(i) for i in rng.permutation(V)[:2])
    last, earlier = 1.2 * rng.normal(size=(V, V)), 0.8 * rng.normal(size=(V, V))
    last[:, end] += end_bonus
    last[start, end] -= 3.0
    return {"last": scale * last, "earlier": scale * earlier}, start, end, n_tokens, n_beams, alpha


@cache
def telling_from(number, slips, settings):
    rng = np.random.default_rng(number)
    for _ in range(20_000):  # a few hundred are enough
        arguments = draw_writer(rng, **dict(settings))
        log_p_of = cache(partial(log_probabilities, arguments[0]))  # right and slips meet the same texts
        found = [tuple(beam_reference(*arguments, log_p_of=log_p_of)[0].tolist())]
        if (found[0][-1] == arguments[2]) == ("ended ones preferred" in slips):
            continue
        for slip in slips:
            text = tuple(beam_reference(*arguments, slip, log_p_of)[0].tolist())
            if text in found:
                break
            found.append(text)
        else:
            return arguments
    raise ValueError(f"no model was found that tells {slips} apart")


def telling(rng, *, slips, **settings):
    """A model on which right and each of the slips lead to different texts, the right one with an end."""
    return deepcopy(telling_from(int(rng.integers(2**32)), slips, tuple(settings.items())))


greedy_cases = varied(
    draw_writer,
    {"n_beams": 1, "alpha": 0.0, "end_bonus": 1.0},
    {"n_beams": 1, "alpha": 1.0, "end_bonus": 1.0},
    {"n_beams": 1, "alpha": 0.5, "n_tokens": 4, "end_bonus": -4.0},
    {"n_beams": 1, "alpha": 0.0, "n_tokens": 1},
)
sums_of_logs = varied(
    draw_writer,
    {"n_beams": 3, "alpha": 0.0},
    {"n_beams": 4, "alpha": 0.0, "end_bonus": 1.0},
    {"n_beams": 2, "alpha": 0.0, "n_tokens": 5, "end_bonus": -4.0},
    {"n_beams": 5, "alpha": 0.0, "end_bonus": 0.5},
)
normalised = varied(
    telling,
    {"slips": ("divided at the end only", "some of every beam"), "n_beams": 3, "alpha": 1.0, "end_bonus": 1.0},
    {"slips": ("best ended",), "n_beams": 4, "alpha": 0.6, "end_bonus": 1.0},
    {"slips": ("ended ones set aside",), "n_beams": 2, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("ended ones set aside, divided at the end only",), "n_beams": 3, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("likeliest at the end", "best ended"), "n_beams": 4, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("ended ones preferred", "ended ones set aside"), "n_beams": 3, "alpha": 0.7, "n_tokens": 4},
)


sure_writers = varied(
    draw_writer,
    {"n_beams": 3, "alpha": 0.0, "scale": 30.0},
    {"n_beams": 3, "alpha": 1.0, "scale": 1e4},
)


def text_slip(came):
    if slip := tuple_slip(came, ("the text", "its score")):
        return slip
    if not isinstance(came[0], np.ndarray) or came[0].ndim != 1:
        return "The text should be an array with one axis."
    return None if isinstance(came[1], float | np.floating) else "The score should be one number."


def every_text(p, start, end, n_tokens):
    """All texts of at most n_tokens words that have ended or are as long as that, with their log-probabilities."""
    found, going = {}, {(start,): 0.0}
    for n in range(n_tokens):
        longer = {
            (*t, w): total + float(more) for t, total in going.items() for w, more in enumerate(log_probabilities(p, t))
        }
        found |= {t: total for t, total in longer.items() if t[-1] == end or n == n_tokens - 1}
        going = {t: total for t, total in longer.items() if t[-1] != end}
    return found


def beams_enough(ask, rng):
    """With as many beams as there are texts, nothing is lost; and the more, the likelier is what is found."""
    p, start, end, n_tokens, _, _ = draw_writer(rng, 1, 0.0, n_tokens=3, V=4, end_bonus=1.0)
    texts = every_text(p, start, end, n_tokens)
    best = max(texts, key=texts.get)
    came = ask(p, start, end, n_tokens, 4**3, 0.0)
    if slip := text_slip(came):
        return slip
    if came[0].tolist() != list(best[1:]):
        return "With more beams than there are texts the likeliest of all must be found; you found another."
    if abs(came[1] - texts[best]) > 1e-9 * max(1, abs(texts[best])):
        return "With α = 0 the score is the log-probability of the text; yours is not."
    return None


def garden_path(ask, rng):
    """A first word that is likely and leads nowhere: one beam follows it, two do not."""
    V = int(rng.choice([5, 6, 7]))
    start, end, tempting, good = (int(i) for i in rng.permutation(V)[:4])
    probabilities = np.full((V, V), 1.0)
    probabilities[:, end] = 3.0 + rng.random(V)
    probabilities[start] = 0.01
    probabilities[start, tempting], probabilities[start, good] = 0.55 + 0.05 * rng.random(), 0.4
    probabilities[good] = 0.01
    probabilities[good, end] = 1.0
    p = {"last": np.log(probabilities / probabilities.sum(axis=1, keepdims=True)), "earlier": np.zeros((V, V))}
    one, two = (ask(p, start, end, 2, n_beams, 0.0) for n_beams in (1, 2))
    if slip := text_slip(one) or text_slip(two):
        return slip
    if one[0].tolist() != [tempting, end]:
        return "One beam should take the likeliest word each time, and yours does not."
    if two[0].tolist() != [good, end]:
        return "A sentence begins with the second likeliest word and is then nearly sure: two beams should find it."
    return None


def long_text(ask, rng):
    """All words are nearly alike to this model and it never ends, so that its text has a probability below 1e-308."""
    p, start, end, *_ = draw_writer(rng, 1, 0.0, V=19)
    p = {name: 0.05 * table for name, table in p.items()}
    p["last"][:, end] = -9.0
    for n_tokens in (4, 290):
        text, total = [start], 0.0
        for _ in range(n_tokens):
            log_p = log_probabilities(p, text)
            text.append(int(log_p.argmax()))
            total += float(log_p.max())
        came = ask(p, start, end, n_tokens, 1, 0.0)
        if slip := text_slip(came):
            return slip
        if came[0].tolist() != text[1:]:
            return f"In a text of {n_tokens} words your only beam does not take the likeliest word each time."
        if not abs(came[1] - total) < 1e-6:
            return f"The score of {n_tokens} words should be a sum of {n_tokens} logarithms; yours is {came[1]:.6g}."
    return None


EXERCISE = Exercise(
    slug="11-translation",
    title="Translation",
    chapter="chapters/11-translation",
    questions=(
        Question(
            id="batch",
            title="From sentences to a batch",
            name="make_batch",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 4, batches, batch_reference, dtype="int"),
                equals("few words", 3, few_words, batch_reference, dtype="int"),
                holds("one place late", 3, one_place_late),
            ),
            hints=(
                "Write the three rows of one sentence of two words on paper, with its markers, and compare their "
                "lengths.",
                "Each of the three arrays is filled up on its own: first put the markers to the words, then look for "
                "the longest row, then add padding.",
                "What is read begins with a marker and what is wanted ends with one. In the same column stands a word "
                "and, below it, the one that follows it.",
            ),
            section="a-batch",
        ),
        Question(
            id="masks",
            title="Who may look at whom",
            name="make_masks",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 4, lambda rng: [draw_ids(rng) for _ in range(3)], masks_reference, dtype="bool"),
                equals("padding anywhere", 3, padding_anywhere, masks_reference, dtype="bool"),
                holds("more padding", 3, more_padding),
                holds("what is written later", 2, what_is_written_later),
            ),
            hints=(
                "For each table: who stands in the rows, who in the columns, and which of the two may be padding "
                "without anything being forbidden?",
                "Padding is hidden by a row of truth values for each sentence, which all rows of its table share. Say "
                "on which axis it varies, and give it an axis of length 1 for the other.",
                "Only one of the three has a triangle. It is the one in which the words are not all there from the "
                "beginning; both of its rules have to hold at once.",
            ),
            section="a-batch",
        ),
        Question(
            id="loss",
            title="The loss and its gradient",
            name="loss_and_gradient",
            minutes=25,
            difficulty=2,
            checks=(
                equals("without smoothing", 4, varied(draw_loss, {}, {}, {"n_targets": 1}), loss_reference),
                equals("with smoothing", 4, varied(draw_loss, {"smoothing": 0.1}, {"smoothing": 0.4}), loss_reference),
                equals(
                    "sure models",
                    3,
                    varied(
                        draw_loss, {"scale": 30.0, "smoothing": 0.1}, {"scale": 1e4}, {"scale": 1e4, "smoothing": 0.2}
                    ),
                    loss_reference,
                ),
                holds("gradient check", 2, central_differences),
                holds("padding counts nothing", 3, padding_counts_nothing),
            ),
            hints=(
                "Write down t for three words and ε = 0.3, and see that it sums to 1. Then the derivative of the loss "
                "at one place by its scores is as short as it is without smoothing.",
                "Work with the logarithm of the softmax, not with the softmax and then its logarithm: subtract the "
                "largest score first. At one place the gradient is the difference of two distributions.",
                "Sum over all places, with 0 for padding, and divide once, by the number of real words in the whole "
                "batch. The gradient is divided by the same number.",
            ),
            section="the-loss",
        ),
        Question(
            id="museum",
            title="Repair the museum piece: its loss falls",
            name="translator_scores",
            minutes=25,
            difficulty=3,
            checks=(
                equals(
                    "values", 5, varied(draw_translator, {}, {}, {"n_targets": 1}, {"n_sources": 1}), scores_reference
                ),
                equals("large scores", 2, varied(draw_translator, {"sharp": 30.0}, {"sharp": 3e4}), scores_reference),
                holds("blind to the future", 4, blind_to_the_future),
                holds("reads the source", 3, reads_the_source),
                holds("alone and in company", 4, alone_and_in_company),
            ),
            hints=(
                "How can a model predict the next word without translating? Look for it among what it is allowed to "
                "look at.",
                "Follow the source through the code. Where does it go in, and does anything that comes out depend on "
                "it?",
                "A hidden score has to vanish from the sum of the softmax. What does the exponential make of the "
                "number that is put in its place here?",
            ),
            section="the-translator",
        ),
        Question(
            id="bleu",
            title="What papers quote: BLEU",
            name="exact_and_bleu",
            minutes=25,
            difficulty=2,
            checks=(
                equals("values", 4, lambda rng: [draw_texts(rng) for _ in range(2)], bleu_reference),
                equals("texts too short", 4, short_texts, bleu_reference),
                equals("texts too long", 3, long_texts, bleu_reference),
                equals("nothing right", 3, nothing_right, bleu_reference),
            ),
            hints=(
                "Do the example by hand first: list the n-grams that were written with how often each came, and the "
                "wanted ones in the same way.",
                "Nothing is divided inside of a sentence. Two sums run over the whole batch for each order, and so do "
                "the two lengths.",
                "A geometric mean is the exponential of the mean of logarithms. Before you take one, ask whether "
                "there was any hit; and the penalty never makes a score larger.",
            ),
            section="all-right-or-wrong",
        ),
        Question(
            id="align",
            title="Who translates whom",
            name="aligning_head",
            minutes=20,
            difficulty=2,
            checks=(
                equals("values", 5, lambda rng: [draw_maps(rng) for _ in range(2)], align_reference),
                equals("short sentences", 3, short_sentences, align_reference),
                holds("heads in another order", 3, heads_in_another_order),
                holds("choosing and reporting", 3, choosing_and_reporting),
            ),
            hints=(
                "Take one sentence, one head and one link, and say which entry of which array it means. Then let the "
                "head be all heads.",
                "The means run over links, not over sentences: gather the weights of all links of a group first.",
                "For the crossing, find for each row the source that it looks at most, and compare each row with "
                "every later one. How many such pairs are there?",
            ),
            section="who-looks-at-whom",
        ),
        Question(
            id="beam",
            title="Stretch: the best sentence",
            name="best_text",
            minutes=35,
            difficulty=3,
            checks=(
                equals("one beam", 3, greedy_cases, beam_reference),
                equals("sums of logarithms", 4, sums_of_logs, beam_reference),
                equals("divided by the length", 4, normalised, beam_reference),
                equals("sure models", 1, sure_writers, beam_reference),
                holds("beams enough", 2, beams_enough),
                holds("a garden path", 1, garden_path),
                holds("a long text", 1, long_text),
            ),
            hints=(
                "A beam is a text and its log-probability, no more. Write the step that makes all candidates of a "
                "list of beams, and look at what it gives for the example by hand.",
                "Keep what is added up and what is compared apart: log-probabilities are added and never divided, "
                "scores are made of them when candidates are compared.",
                "An ended beam is a candidate as it is: it is not extended, its length and score stay, and others may "
                "still overtake it.",
            ),
            section="greedy-or-beam",
        ),
    ),
)
