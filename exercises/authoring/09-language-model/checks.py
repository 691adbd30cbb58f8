"""Checks of exercise 09: tables of probabilities that forgive no slip of an index, sure models, ties, whole texts."""

import itertools
from fractions import Fraction

import numpy as np
from clearcheck import Exercise, Question, equals, holds
from clearformer.reference import functions

SIZES = (4, 5, 7, 9, 11, 13)  # no one divides another
CLOSE = 1e-9


def draw_sizes(rng, how_many, among=SIZES):
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def close(value, expected, limit=CLOSE):
    """Equal in shape and entries; whatever is no array of that shape is not close."""
    if not isinstance(value, np.ndarray) or value.shape != np.shape(expected):
        return False
    return bool(np.allclose(value, expected, rtol=0, atol=limit))


def shape_slip(value, shape):
    """A sentence when the value is no array of this shape, else None."""
    if isinstance(value, np.ndarray) and value.shape == shape:
        return None
    came = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    return f"The result should be an array of shape {shape}; yours is {came}."


def pair_slip(came):
    """A sentence when the result is no pair whose first entry is a number, else None."""
    if isinstance(came, tuple | list) and len(came) == 2 and np.ndim(came[0]) == 0:
        return None
    return "A pair is expected."


# surprise


def surprise_reference(P, text):
    """The factors of the product, one by one."""
    mark = len(P) - 1
    known, surprises = [mark, mark, *map(int, text)], []
    for place, after in enumerate([*known[2:], mark]):
        p = P[known[place], known[place + 1], after]
        surprises.append(-np.log2(p) if p > 0 else np.inf)
    return np.array(surprises)


def draw_table(rng, n_vocab):
    return rng.dirichlet(np.full(n_vocab, 0.8), size=(n_vocab, n_vocab))


def text_and_table(rng, length):
    V = int(rng.choice([5, 7, 11]))
    return draw_table(rng, V), rng.integers(V - 1, size=length)


def ordinary_texts(rng):
    return [text_and_table(rng, length) for length in (9, 13, 6)]


def short_texts(rng):
    return [text_and_table(rng, length) for length in (0, 1, 2, 0)]


def certain_and_impossible(rng):
    cases = []
    for _ in range(2):
        P, text = text_and_table(rng, 13)
        V, known = len(P), [len(P) - 1, len(P) - 1, *text]
        P = P * (rng.random(P.shape) < 0.6)
        P[:, :, 0] += P.sum(axis=2) == 0
        P[known[5], known[6]] = np.eye(V)[text[5]]
        P[known[9], known[10], text[9]] = 0.0
        P[known[9], known[10], (text[9] + 1) % V] += 0.1
        cases.append((P / P.sum(axis=2, keepdims=True), text))
    return cases


def all_texts(ask, rng):
    """The probabilities of all texts of up to four letters, against what walking through the table leaves."""
    P = draw_table(rng, 3)
    state, ended, total = np.zeros((3, 3)), 0.0, 0.0
    state[2, 2] = 1.0
    for length in range(5):
        ended += float((state * P[:, :, 2]).sum())
        state = np.einsum("uv,uvw->vw", state, P)
        state[:, 2] = 0.0
        for letters in itertools.product(range(2), repeat=length):
            came = ask(P, np.array(letters, dtype=np.int64))
            if slip := shape_slip(came, (length + 1,)):
                return slip
            total += float(2.0 ** -came.sum())
        if abs(total - ended) > CLOSE:
            return (
                f"By the table, a text has at most {length} letters with the probability {ended:.4f}; "
                f"the probabilities that follow from your surprises sum to {total:.4f}."
            )
    return None


# bits

PIECES = ("der", " ", " Zug", "fährt", "nach", "Köln", "ab", "Straße", "ß", "→", "über", ".", "heute", "naïve", "x")


def bits_reference(means, counts, pieces):
    nats = sum(float(mean) * int(count) for mean, count in zip(means, counts, strict=True))
    characters = sum(max(1, len(piece)) for piece in pieces)
    return nats / np.log(2) / characters, float(np.exp(nats / len(pieces)))


def draw_log(rng, n_batches, small=False):
    counts = rng.permutation(np.array([5, 7, 11, 13]))[:n_batches] if not small else np.array([1])
    pieces = [str(piece) for piece in rng.choice(PIECES, counts.sum())]
    pieces[-1] = ""
    for place in range(4, len(pieces), 6):
        pieces[place] = ""
    return rng.uniform(1.0, 6.0, size=len(counts)), counts, pieces


def ordinary_logs(rng):
    return [draw_log(rng, 3), draw_log(rng, 4), draw_log(rng, 2)]


def short_logs(rng):
    means, counts, pieces = draw_log(rng, 1)
    alone = draw_log(rng, 1, small=True)
    return [(means, counts, pieces), alone, (alone[0] + 2.0, alone[1], ["überaus"])]


def cut_differently(ask, rng):
    """The same surprises, summed over other batches and over longer tokens."""
    nats, pieces = rng.uniform(0.5, 5.0, size=12), [str(piece) for piece in rng.choice(PIECES, 12)]
    before = None
    for cuts in ([12], [5, 7], [1, 8, 3]):
        ends = np.cumsum(cuts)
        means = np.array([nats[end - cut : end].mean() for cut, end in zip(cuts, ends, strict=True)])
        came = ask(means, np.array(cuts), pieces)
        if slip := pair_slip(came):
            return slip
        if before is not None and not np.allclose(came, before, rtol=0, atol=1e-9):
            return "The same tokens with the same losses, in other batches, must give the same pair; yours changes."
        before = came
    joined = ["".join(pieces[i : i + 2]) for i in range(0, 12, 2)]
    longer = ask(np.array([2 * nats.mean()]), np.array([6]), joined)
    if abs(longer[0] - before[0]) > CLOSE:
        return (
            "Two and two tokens were joined to one, with the sum of their losses: the bits per character must stay as "
            "they were, but yours change."
        )
    if abs(longer[1] - before[1] ** 2) > 1e-6:
        return "Two and two tokens were joined to one: the perplexity per token must become its square; yours does not."
    return None


# discount


def discount_reference(ids, n_vocab, d):
    """By dictionaries of what followed what."""
    ids, text = [int(i) for i in ids], len(ids)
    kinds = len(set(ids))
    shorter = [max(ids.count(w) - d, 0) / text + d * kinds / text / n_vocab for w in range(n_vocab)]
    table = np.empty((n_vocab, n_vocab))
    for v in range(n_vocab):
        after = [w for u, w in itertools.pairwise(ids) if u == v]
        for w in range(n_vocab):
            if after:
                rest = d * len(set(after)) / len(after)
                table[v, w] = max(after.count(w) - d, 0) / len(after) + rest * shorter[w]
            else:
                table[v, w] = shorter[w]
    return table


def skewed(rng, n_vocab, length, used=None):
    """Ids of which some are frequent, in pairs of which some are more frequent still."""
    used = n_vocab if used is None else used
    ids = [int(rng.integers(used))]
    while len(ids) < length:
        likely = (2 * ids[-1] + 1) % used
        ids.append(likely if rng.random() < 0.4 else int(used * rng.random() ** 1.7))
    return np.array(ids)


def ordinary_counts(rng):
    cases = []
    for V, length, d in ((5, 31, 0.75), (7, 37, 0.5), (4, 23, 0.9)):
        ids = skewed(rng, V, length)
        ids[-1] = ids[3]  # the last token has followers elsewhere, and is none itself
        cases.append((ids, V, d))
    return cases


def never_counted(rng):
    """Tokens that never come, and one that only ends the text."""
    cases = []
    for V, length, d in ((9, 29, 0.75), (7, 19, 0.4)):
        ids = skewed(rng, V, length, used=V - 3)
        ids[-1] = V - 2
        cases.append((ids, V, d))
    return cases


def short_counts(rng):
    V = int(rng.choice([5, 7]))
    return [(rng.integers(V, size=1), V, 0.5), (np.full(3, int(rng.integers(V))), V, 0.25)]


def a_distribution_in_every_row(ask, rng):
    V = 5
    ids = skewed(rng, V, 29, used=V - 1)
    for d in (0.3, 0.8, 1.0):
        table = ask(ids, V, d)
        if slip := shape_slip(table, (V, V)):
            return slip
        sums = table.sum(axis=1)
        if not np.allclose(sums, 1, rtol=0, atol=1e-9):
            v = int(np.abs(sums - 1).argmax())
            return f"With d = {d} row {v} of your table sums to {sums[v]:.4f}; what follows has to be shared out to 1."
        if (table <= 0).any():
            return f"With d = {d} every token gets some probability after every other; yours has entries of 0 or below."
    plain = ask(ids, V, 0.0)
    seen = np.unique(ids[:-1])
    counts = np.zeros((V, V))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    if not close(plain[seen], counts[seen] / counts[seen].sum(axis=1, keepdims=True)):
        return "With d = 0 nothing is taken off, and the rows of the tokens that were followed are the plain shares."
    return None


# loss


def loss_reference(logits, ids, lengths):
    """One text after another, without what fills it up."""
    losses, gradient = [], np.zeros_like(logits)
    asked = int(np.sum(lengths) - len(lengths))
    for b, length in enumerate(lengths):
        rows, targets = logits[b, : length - 1], ids[b, 1:length]
        top = rows.max(axis=1)
        normaliser = top + np.log(np.exp(rows - top[:, None]).sum(axis=1))
        losses.append(normaliser - rows[np.arange(length - 1), targets])
        gradient[b, : length - 1] = functions.softmax(rows, axis=1) - np.eye(logits.shape[2])[targets]
    return float(np.concatenate(losses).sum() / asked), gradient / asked


def draw_texts(rng, B, T, V, lengths):
    ids = rng.integers(V - 1, size=(B, T))
    ids[:, 0] = V - 1
    for row, length in zip(ids, lengths, strict=True):
        row[length - 1 :] = V - 1
    return ids


def batch(rng, scale=1.0, B=None, lengths=None):
    T, V = draw_sizes(rng, 2, (7, 9, 11, 13))
    B = B or int(rng.choice([4, 5]))
    if lengths is None:
        lengths = rng.permutation(np.array([T, 2, 3, T - 1, T - 2])[:B])
    return scale * rng.normal(size=(B, T, V)), draw_texts(rng, B, T, V, lengths), np.array(lengths)


def ordinary_batches(rng):
    return [batch(rng), batch(rng), batch(rng, B=1, lengths=[5])]


def sure_models(rng):
    return [batch(rng, 40.0), batch(rng, 1e4)]


def what_counts(ask, rng):
    """Which logits move the loss: those that predict a token of a text, its end included, and no others."""
    logits, ids, lengths = batch(rng)
    came = ask(logits, ids, lengths)
    if slip := loss_slip(came, logits):
        return slip
    b = int(np.argmin(lengths))
    for place, counts, what in (
        (lengths[b] - 2, True, "the end of a text"),
        (0, True, "the first token of a text"),
        (lengths[b] - 1, False, "what comes after the end of a text"),
        (logits.shape[1] - 1, False, "what comes after the last place"),
    ):
        edited = logits.copy()
        edited[b, place] += rng.normal(size=logits.shape[2])
        moved = abs(float(ask(edited, ids, lengths)[0]) - float(came[0])) > CLOSE
        if moved != counts:
            more = "should move the loss, and does not" if counts else "should not move the loss, and does"
            return f"An edit of the logits that predict {what} {more}."
        if bool(np.abs(came[1][b, place]).max() > CLOSE) != counts:
            return f"The gradient by the logits that predict {what} should {'not ' if counts else ''}be 0."
    other = ids.copy()
    other[b, lengths[b] :] = 0
    if abs(float(ask(logits, other, lengths)[0]) - float(came[0])) > CLOSE:
        return "Another id was used to fill up a short text: the loss should stay as it was, but yours changes."
    return None


def gradient_check(ask, rng):
    logits, ids, lengths = batch(rng)
    came, direction = ask(logits, ids, lengths), rng.normal(size=logits.shape)
    if slip := loss_slip(came, logits):
        return slip
    up, down = (float(ask(logits + step * direction, ids, lengths)[0]) for step in (1e-5, -1e-5))
    measured, predicted = (up - down) / 2e-5, float((came[1] * direction).sum())
    if abs(measured - predicted) > 1e-6 * max(1.0, abs(measured)):
        return (
            f"A small step in all logits changes your loss by {measured:.4g} per unit; your gradient predicts "
            f"{predicted:.4g}."
        )
    return None


def loss_slip(came, logits):
    return pair_slip(came) or shape_slip(came[1], logits.shape)


# filter


def filter_reference(logits, temperature, top_k, top_p):
    """One row at a time, by a list of tokens in the order in which they are kept."""
    rows = []
    for row in logits:
        order = sorted(range(len(row)), key=lambda w: (-row[w], w))
        if temperature == 0:
            rows.append(np.eye(len(row))[order[0]])
            continue
        kept = order[: len(row) if top_k is None else top_k]
        shares = functions.softmax((row[kept] / temperature)[:, None], axis=0)[:, 0]
        if top_p is not None and top_p < 1:
            count = next(j for j in range(1, len(kept) + 1) if shares[:j].sum() >= top_p - 1e-14)
            kept, shares = kept[:count], shares[:count]
        p = np.zeros(len(row))
        p[kept] = shares / shares.sum()
        rows.append(p)
    return np.stack(rows)


def draw_rows(rng, scale=1.0, B=None):
    B_drawn, V = draw_sizes(rng, 2)
    return scale * rng.normal(size=(B or B_drawn, V))


def temperatures(rng):
    return [(draw_rows(rng), 0.7, None, None), (draw_rows(rng), 1.8, None, None), (draw_rows(rng), 1.0, None, None)]


def only_top_k(rng):
    return [(draw_rows(rng), 1.0, k, None) for k in (1, 2, 3)]


def only_top_p(rng):
    """Of a table drawn again where a sum comes too close to p to be told from it."""
    return [(clear_of(rng, p), 1.0, None, p) for p in (0.85, 0.5, 0.05)]


def clear_of(rng, p, temperature=1.0, top_k=None, V=None):
    while True:
        rows = rng.normal(size=(5, V)) if V else draw_rows(rng)
        shares = -np.sort(-functions.softmax(rows / temperature, axis=1), axis=1)[:, :top_k]
        sums = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        if np.abs(sums - p).min() > 1e-6:
            return rows


def all_at_once(rng):
    return [(clear_of(rng, p, t, k, 13), t, k, p) for t, k, p in ((0.5, 4, 0.9), (1.6, 6, 0.75), (1.3, 3, 0.6))]


def equal_logits(rng):
    """Ties in what is kept and at its border, sums that meet top_p exactly, and rows that an unstable sort mixes."""
    level, wide = np.full((3, 8), float(rng.integers(2, 9))), np.round(rng.normal(size=(4, 61)))
    return [(level, 1.0, None, 0.75), (level, 0.5, 4, 0.5), (tied_rows(rng), 0.8, 3, None), (wide, 1.0, 9, None)]


def tied_rows(rng):
    """Two likeliest in every row."""
    rows = np.round(1.5 * draw_rows(rng))
    rows[:, 2] = rows[:, 1] = rows.max(axis=1) + 1.0
    return rows


def at_the_limits(rng):
    """Greedy, more than there is to keep, and logits of 1e4."""
    return [
        (tied_rows(rng), 0, None, None),
        (draw_rows(rng), 0, 3, 0.9),
        (draw_rows(rng), 1.0, 50, 1.0),
        (draw_rows(rng, 30.0), 1.0, 3, None),
        (draw_rows(rng, 1e4), 0.5, None, None),
        (draw_rows(rng, B=1), 0.9, 1, None),
    ]


# induction


def induction_reference(A, ids):
    """Over all pairs of a token and an earlier one, by hand."""
    H, N = A.shape[0], len(ids)
    totals, chance, targets = np.zeros(H), 0.0, 0
    for n in range(N):
        followers = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if followers:
            targets += 1
            chance += len(followers) / (n + 1)
            for s in followers:
                totals += A[:, s, n]
    if targets == 0:
        return totals, 0.0
    return totals / targets, chance / targets


def draw_weights(rng, H, N):
    """Columns that sum to 1, with nothing below the diagonal: a target n looks at the sources 0 to n."""
    scores = np.where(np.triu(np.ones((N, N), dtype=bool)), 1.5 * rng.normal(size=(H, N, N)), -np.inf)
    powers = np.exp(scores)
    return powers / powers.sum(axis=1, keepdims=True)


def heads_and_text(rng, n_tokens=None, n_vocab=3):
    H, N = draw_sizes(rng, 2, (5, 7, 11, 13))
    N = n_tokens or max(N, 11) if H != 11 else n_tokens or 13
    ids = rng.integers(n_vocab, size=N)
    if N > 5:
        ids[3] = ids[2]  # a token right after itself
        ids[-1] = ids[0]
    return draw_weights(rng, H, N), ids


def ordinary_heads(rng):
    return [heads_and_text(rng), heads_and_text(rng, n_vocab=4), heads_and_text(rng, n_vocab=6)]


def nothing_repeats(rng):
    A, _ = heads_and_text(rng)
    return [(A, rng.permutation(A.shape[2] + 4)[: A.shape[2]]), heads_and_text(rng, n_tokens=1)]


def twice(rng):
    """A text of different tokens, written twice and three times."""
    cases = []
    for L, times in ((7, 2), (5, 3)):
        ids = np.tile(rng.permutation(3 * L)[:L], times)
        cases.append((draw_weights(rng, 4, L * times), ids))
    return cases


def what_a_score_is(ask, rng):
    A, ids = heads_and_text(rng)
    before = ask(A, ids)
    if not isinstance(before, tuple | list) or len(before) != 2:
        return "A pair is expected."
    if slip := shape_slip(before[0], (len(A),)):
        return slip
    renamed = ask(A, rng.permutation(20)[ids])
    if not close(renamed[0], before[0]) or abs(float(renamed[1]) - float(before[1])) > CLOSE:
        return "Other ids for the same tokens, with the same tokens equal, must give the same pair; yours changes."
    order = np.roll(np.arange(len(A)), 1)
    if not close(ask(A[order], ids)[0], before[0][order]):
        return "The heads in another order must give the same scores in that order."
    N = len(ids)
    level = np.triu(np.ones((1, N, N))) / np.arange(1, N + 1)
    if not close(np.ravel(ask(level, ids)[0]), [float(before[1])]):
        return "A head that looks at all tokens up to its own equally should have exactly the score of chance."
    return None


# pack


def interval(counts, text):
    mark = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for before, w in itertools.pairwise([mark, *map(int, text), mark]):
        row = [int(count) for count in counts[before]]
        low, width = low + width * Fraction(sum(row[:w]), sum(row)), width * Fraction(row[w], sum(row))
    return low, width


def pack_reference(counts, text):
    low, width = interval(counts, text)
    m = 0
    while True:
        k = -(-low.numerator * 2**m // low.denominator)  # the smallest that is not below
        if Fraction(k + 1, 2**m) <= low + width:
            return format(k, f"0{m}b") if m else ""
        m += 1


def has_a_rival(counts, text):
    """Other bits, as short as the shortest, name larger numbers that lie in the interval, too."""
    low, width = interval(counts, text)
    bits = pack_reference(counts, text)
    return Fraction(int("0" + bits, 2) + 2, 2 ** len(bits)) <= low + width


def off_the_middle(counts, text):
    """Whoever halves towards the middle of the interval does not come upon the shortest bits."""
    low, width = interval(counts, text)
    bits = pack_reference(counts, text)
    return int("0" + bits, 2) != int((low + width / 2) * 2 ** len(bits))


def draw_counts(rng, n_vocab, most=20):
    return [[int(count) for count in row] for row in rng.integers(1, most, size=(n_vocab, n_vocab))]


def counts_and_text(rng, length, most=20):
    V = int(rng.choice([3, 4, 5, 7]))
    return draw_counts(rng, V, most), [int(w) for w in rng.integers(V - 1, size=length)]


def ordinary_packs(rng):
    cases = [counts_and_text(rng, length) for length in (3, 5, 8, 11, 4, 6)]
    return [*cases, drawn_until(has_a_rival, rng), drawn_until(off_the_middle, rng)]


def drawn_until(telling, rng):
    while True:
        counts, text = counts_and_text(rng, 3)
        if telling(counts, text):
            return counts, text


def short_packs(rng):
    """Once all counts are equal, in a vocabulary of 4: the bits fit exactly."""
    level = [[int(rng.integers(1, 9))] * 4 for _ in range(4)]
    cases = [counts_and_text(rng, length, 200) for length in (0, 1, 0, 1, 2)]
    return [*cases, (level, []), (level, [int(w) for w in rng.integers(3, size=2)])]


def long_packs(rng):
    return [counts_and_text(rng, 130), counts_and_text(rng, 80, 3000)]


def comes_out_again(ask, rng):
    for length in (0, 2, 7, 23, 40):
        counts, text = counts_and_text(rng, length, 50)
        bits = ask(counts, text)
        if not isinstance(bits, str) or set(bits) - {"0", "1"}:
            return "The result should be a text of the characters 0 and 1."
        low, width = interval(counts, text)
        surprise = float(np.log2(width.denominator / width.numerator))
        if len(bits) >= surprise + 2:
            return f"A text of {length} tokens has {surprise:.1f} bits of surprise, and you need {len(bits)}."
        for more in ("", "0" * 9, "1" * 9, "01100"):
            number = Fraction(int(f"0{bits}{more}", 2), 2 ** len(bits + more))
            if not low <= number < low + width:
                behind = f', with "{more}" behind it,' if more else ""
                return f"A text of {length} tokens{behind} is not what a reader gets out of your bits."
    return None


EXERCISE = Exercise(
    slug="09-language-model",
    title="A language model",
    chapter="chapters/09-language-model",
    questions=(
        Question(
            id="surprise",
            title="The surprise of a text",
            name="text_surprises",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 4, ordinary_texts, surprise_reference),
                equals("short texts", 2, short_texts, surprise_reference),
                equals("certain and impossible", 2, certain_and_impossible, surprise_reference),
                holds("all texts together", 2, all_texts),
            ),
            hints=(
                "Write down all factors of the product for a text of two tokens. How many are there, and which three "
                "tokens stands each of them for?",
                "Put marks around the text, so that every factor reads three neighbours of one longer list. How many "
                "marks does it need in front, and how many behind?",
                "The two tokens that came before choose the place in the table by its first two axes, the older one "
                "first; a surprise is in bits.",
            ),
            section="a-product-with-a-start-and-an-end",
        ),
        Question(
            id="bits",
            title="Out of a training log",
            name="from_log",
            minutes=10,
            difficulty=1,
            checks=(
                equals("values", 5, ordinary_logs, bits_reference),
                equals("short logs", 2, short_logs, bits_reference),
                holds("cut differently", 3, cut_differently),
            ),
            hints=(
                "A mean over few tokens must not count as much as a mean over many. What is the surprise of the whole "
                "text, in nats?",
                "From nats to bits a number becomes larger or smaller? A coin flip is one bit, and 0.69 nats.",
                "The same total is divided by two different numbers: by how many tokens there were, and by how many "
                "characters they stand for. The end of a text is a character without a letter.",
            ),
            section="bits-per-character",
        ),
        Question(
            id="discount",
            title="Two slips in a print: counting with a discount",
            name="discounted_table",
            minutes=20,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_counts, discount_reference),
                equals("never counted", 3, never_counted, discount_reference),
                equals("short texts", 2, short_counts, discount_reference),
                holds("a distribution in every row", 3, a_distribution_in_every_row),
            ),
            hints=(
                "Sum the first line over all w, assuming that p(w) sums to 1. How much did the discount take away "
                "from one row, altogether?",
                "d is taken off once for every *different* token that was seen. What is added has to give back just "
                "that, in the first line as in the second.",
                "A row of counts holds what followed v. The last token of the text is followed by nothing: count "
                "pairs, and take the sum of a row. Where it is 0, only p(w) is left.",
            ),
            section="counting-done-well",
        ),
        Question(
            id="loss",
            title="Repair the museum piece: a loss that falls",
            name="loss_and_gradient",
            minutes=25,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_batches, loss_reference),
                equals("sure models", 4, sure_models, loss_reference),
                holds("what counts", 4, what_counts),
                holds("gradient check", 4, gradient_check),
            ),
            hints=(
                "Write the ids of one short text into a line, and below them, for every place, the token that its "
                "logits have to predict. The museum's second line is not yours.",
                "The filling and the end have the same id, so an id cannot tell them apart. How many predictions does "
                "a text of a given length have?",
                "Each prediction of the whole batch has the same weight, and there are as many as the lengths say. For "
                "sure models never take the logarithm of a probability that can be 0: take that of the sum, after the "
                "largest logit is subtracted. What the loss does not ask for gets the gradient 0.",
            ),
            section="what-the-loss-tells-the-head",
        ),
        Question(
            id="filter",
            title="What may be drawn",
            name="next_probabilities",
            minutes=20,
            difficulty=2,
            checks=(
                equals("temperature", 2, temperatures, filter_reference),
                equals("top-k", 3, only_top_k, filter_reference),
                equals("top-p", 3, only_top_p, filter_reference),
                equals("all at once", 2, all_at_once, filter_reference),
                equals("equal logits", 2, equal_logits, filter_reference),
                equals("at the limits", 2, at_the_limits, filter_reference),
            ),
            hints=(
                "Put the tokens of a row in order first, the likeliest in front. Then top-k and top-p only say how "
                "many of that order stay.",
                "Top-p asks how much the tokens *before* one sum to: as long as that is less than p, the token is "
                "still needed. For the first one it is always 0.",
                "After top-k what is left sums to 1 again, and top-p looks at these new numbers. For equal logits a "
                "sort that is stable keeps the order of the ids; turning a sorted list round turns that, too.",
            ),
            section="from-probabilities-to-text",
        ),
        Question(
            id="induction",
            title="A score for any text",
            name="induction_scores",
            minutes=15,
            difficulty=2,
            checks=(
                equals("values", 6, ordinary_heads, induction_reference),
                equals("written twice", 2, twice, induction_reference),
                equals("nothing repeats", 2, nothing_repeats, induction_reference),
                holds("what a score is", 4, what_a_score_is),
            ),
            hints=(
                "For one target: at which places did its token stand before, and which places come right after these?",
                "Two tables of truth values help: which token equals which, and which one is the earlier. The places "
                "that follow are the same table, moved down by one.",
                "The mean runs over the targets that have such a place, and over no others; several places of one "
                "target are summed. What does a head give each of them that spreads its weight over n + 1 tokens?",
            ),
            section="a-head-with-a-job",
        ),
        Question(
            id="pack",
            title="Stretch: pack a text",
            name="pack",
            minutes=30,
            difficulty=3,
            checks=(
                equals("values", 6, ordinary_packs, pack_reference),
                equals("short texts", 3, short_packs, pack_reference),
                equals("long texts", 5, long_packs, pack_reference),
                holds("comes out again", 6, comes_out_again),
            ),
            hints=(
                "Do it in two steps: first the interval of the text, as two exact fractions, then the shortest bits "
                "that fit into it. The mark is cut off last, like any other token. If your second step never ends: "
                "whoever halves from 0 to 1 and always keeps the half with the lower end goes on for ever as a rule, "
                "for that half begins below it; and a middle inside the interval rules neither half out.",
                "After each token the interval is a part of the one before. Its new lower end is the old one plus the "
                "share of all tokens with smaller ids, times the old width; the width is multiplied by the token's own "
                "share.",
                "With m bits there are the numbers k / 2ᵐ. Take the smallest k that is not below the lower end, and "
                "look whether the *next* one is not above the upper end. If it is, try one bit more. In the end write "
                "k with exactly m digits.",
            ),
            section="bits-per-character",
        ),
    ),
)
