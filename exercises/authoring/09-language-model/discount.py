"""Exercise 09, question discount: two slips in a print: counting with a discount."""

import itertools

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import close, shape_slip


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


QUESTION = Question(
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
    inputs=Inputs(lambda ids, V, d: {"N": len(ids), "V": V}),
)

right, wrong = answers_to(QUESTION)


@right
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


@right
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


@right
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


@right
def as_often_written(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong("You repair the rows by dividing by their sums; then they sum to 1, and the slips are still there.")
def made_to_sum_to_one(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
    table = np.where(c > 0, table, p)
    return table / table.sum(axis=1, keepdims=True)


@wrong("This is the way of Witten and Bell out of the chapter; here d is taken off every count that is not 0.")
def witten_and_bell(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    kinds = (singles > 0).sum()
    p = (singles + kinds / n_vocab) / (len(ids) + kinds)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    return np.where(c > 0, (pairs + t * p) / np.maximum(c + t, 1), p)


wrong.edits("""
# as_often_written
## as_printed: This is the print with both its slips.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
## first_slip_left: The first slip is still there: how much a row has to give away depends on what followed v, and not
on w.
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
## second_slip_left: The second slip is still there: the discount was taken off once for every different token of the
text.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
## last_token_counts: c(v) counts the last token of the text, too, which nothing follows.
- c = pairs.sum(axis=1, keepdims=True)
+ c = np.bincount(ids, minlength=n_vocab)[:, None]
## below_zero: The discount is also taken off counts of 0, which become negative.
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = ((pairs - d) + d * t * p) / np.maximum(c, 1)
## below_zero_in_both: In both formulas the discount is also taken off counts of 0.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = ((singles - d) + d * (singles > 0).sum() / n_vocab) / len(ids)
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = ((pairs - d) + d * t * p) / np.maximum(c, 1)
## what_came_before: Your t counts what came before a token; asked is what followed v.
- t = (pairs > 0).sum(axis=1, keepdims=True)
+ t = (pairs > 0).sum(axis=0)[:, None]
## unseen_rows_uniform: After a token that was never followed you give all tokens the same; the shorter context knows
more, p(w).
- return np.where(c > 0, table, p)
+ return np.where(c > 0, table, 1 / n_vocab)
## unseen_rows_nan: After a token that was never followed you divide 0 by 0.
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
- return np.where(c > 0, table, p)
+ return (np.maximum(pairs - d, 0) + d * t * p) / c
## unseen_rows_zero: After a token that was never followed your row is 0, and what can come then is p(w).
- return np.where(c > 0, table, p)
+ return table
## lies_on_its_side: Your table lies on its side: row v should hold what follows v.
- return np.where(c > 0, table, p)
+ return np.where(c > 0, table, p).T
## shorter_without_discount: p(w) is the plain share: the discount is missing in the second formula.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = singles / len(ids)
## only_where_nothing_was_counted: You add p(w) only where nothing was counted; every w gets its part of what was taken
off.
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = np.where(pairs > 0, pairs - d, d * t * p) / np.maximum(c, 1)
## a_share_of_every_count: You take the share d of every count; the discount is the same for all that were seen.
- t = (pairs > 0).sum(axis=1, keepdims=True)
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = ((1 - d) * pairs + d * c * p) / np.maximum(c, 1)
## given_back_once: You give d back once in a row; it was taken off once for every different token that followed.
- t = (pairs > 0).sum(axis=1, keepdims=True)
- table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
+ table = (np.maximum(pairs - d, 0) + d * p) / np.maximum(c, 1)
## a_circle: You let the first token follow the last one, as if the text were a circle.
- np.add.at(pairs, (ids[:-1], ids[1:]), 1)
+ np.add.at(pairs, (ids, np.roll(ids, -1)), 1)
## first_token_not_counted: In p(w) the first token of the text is not counted: it follows nothing, and it does occur.
- singles = np.bincount(ids, minlength=n_vocab)
+ singles = np.bincount(ids[1:], minlength=n_vocab)
## vocabulary_of_the_text: At the bottom you share among as many tokens as occur; 1/V is for the whole vocabulary.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = (np.maximum(singles - d, 0) + d) / len(ids)
## last_token_not_counted: In p(w) your t leaves out the last token; it counts the different tokens of the whole text.
- p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
+ p = (np.maximum(singles - d, 0) + d * len(set(ids[:-1].tolist())) / n_vocab) / len(ids)
## pairs_for_tokens: In p(w) you give back d for every different pair; it was taken off once for every different token.
  np.add.at(pairs, (ids[:-1], ids[1:]), 1)
+ p = (np.maximum(singles - d, 0) + d * (pairs > 0).sum() / n_vocab) / len(ids)
## pairs_counted_once: You count a pair only once, however often it occurs.
- np.add.at(pairs, (ids[:-1], ids[1:]), 1)
+ pairs[ids[:-1], ids[1:]] += 1
""")
