"""Exercise 14, question rolling: repair the rolling cache."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes
from clearformer.reference import attention

from .shared import LIMIT, shapes_slip


def rolling_step(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    held = min(length + 1, W)
    y, _ = attention.attend(q[:, None], keys[:, :held], values[:, :held])
    return y[:, 0], keys, values


def draw_step(rng, length_of, scale=1.0, room=None):
    """A cache after some tokens; what stands in columns that were never used is anything."""
    width, V, W = draw_sizes(rng, 3)
    W = room or W
    k, q, v = scale * rng.normal(size=width), rng.normal(size=width), rng.normal(size=V)
    return k, v, q, scale * rng.normal(size=(width, W)), rng.normal(size=(V, W)), int(length_of(W))


def room_left(rng):
    return [
        draw_step(rng, lambda W: 0),
        draw_step(rng, lambda W: W - 2),
        draw_step(rng, lambda W: rng.integers(1, W - 2)),
        draw_step(rng, lambda W: W - 1),
    ]


def after_a_round(rng):
    return [
        draw_step(rng, lambda W: W),
        draw_step(rng, lambda W: 2 * W - 1),
        draw_step(rng, lambda W: 5 * W + rng.integers(1, W - 1)),
        draw_step(rng, lambda W: 7, room=1),
        draw_step(rng, lambda W: 1000 * W + rng.integers(1, W - 1)),
    ]


def strong_scores(rng):
    cases = [
        draw_step(rng, lambda W, rounds=rounds: rounds * W + 2, scale) for scale in (60.0, 1e4) for rounds in (0, 3)
    ]
    for rounds in (3, 0):  # scores far below 0, and far above it in columns that were never used
        k, v, q, keys, values, length = draw_step(rng, lambda W, rounds=rounds: rounds * W + 2, 1e5)
        keys = np.abs(keys) * np.where(np.arange(keys.shape[1]) <= length, -1, 1)
        cases.append((-np.abs(k), v, np.abs(q), keys, values, length))
    return cases


def a_whole_text(ask, rng):
    width, V, W = draw_sizes(rng, 3, (4, 5, 7))
    N = 3 * W + 2
    Q, K, values_in = rng.normal(size=(width, N)), rng.normal(size=(width, N)), rng.normal(size=(V, N))
    places = np.arange(N)
    seen = (places[:, None] <= places) & (places[:, None] > places - W)
    Y, _ = attention.attend(Q, K, values_in, seen)
    keys, values = 9 + rng.normal(size=(width, W)), 9 + rng.normal(size=(V, W))
    for n in range(N):
        found = ask(K[:, n], values_in[:, n], Q[:, n], keys, values, n)
        if slip := shapes_slip(found, ((V,), (width, W), (V, W))):
            return slip
        if not close(found[0], Y[:, n], LIMIT):
            before = "; those before it are" if n else ""
            return f"With a window of {W}, your output of token {n} is not that of attention with a window{before}."
        keys, values = found[1], found[2]
    return None


QUESTION = Question(
    id="rolling",
    title="Repair the rolling cache",
    name="rolling_step",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("room left", 3, room_left, rolling_step),
        equals("after a round", 4, after_a_round, rolling_step),
        equals("strong scores", 2, strong_scores, rolling_step),
        holds("a whole text", 3, a_whole_text),
        new_result=True,
    ),
    hints=(
        "The table of the experiment says at which token it goes wrong for the first time. Something is wrong "
        "from the first token on, something else only later.",
        "In which column does token number `length` belong, when the first token has number 0? And how many "
        "columns hold a token once it is stored?",
        "A column that was never used holds a number all the same, and a softmax gives weight to every score "
        "it is shown. Cut keys and values before you compute scores. And by what is a score divided?",
    ),
    section="a-cache-that-rolls",
    inputs=Inputs(axes("K", "V", "K", "KW", "VW"), lambda k, v, q, keys, *rest: q @ keys / np.sqrt(len(q))),
)

right, wrong = answers_to(QUESTION)


@right
def first_columns(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    held = slice(min(length + 1, W))
    scores = keys[:, held].T @ q / np.sqrt(len(k))
    e = np.exp(scores - scores.max())
    return values[:, held] @ (e / e.sum()), keys, values


@right
def hidden_columns(k, v, q, keys, values, length):
    W = keys.shape[1]
    here = np.arange(W) == length - length // W * W
    keys = keys * ~here + np.outer(k, here)
    values = values * ~here + np.outer(v, here)
    scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, -np.inf)
    e = np.exp(scores - scores.max())
    return (values * e).sum(axis=1) / e.sum(), keys, values


@right
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


@right
def as_often_written(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("The new token does not see itself: it has to be stored before it looks.")
def looks_before_it_stores(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    if length == 0:
        keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, max(min(length, W), 1))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    y = values[:, seen] @ e / e.sum()
    keys[:, length % W], values[:, length % W] = k, v
    return y, keys, values


wrong.edits("""
# first_columns
## empty_columns_zero: You set columns that were never used to 0 and let them take part; a score of 0 has a weight.
- held = slice(min(length + 1, W))
- scores = keys[:, held].T @ q / np.sqrt(len(k))
+ keys[:, length + 1 :], values[:, length + 1 :] = 0, 0
+ scores = q @ keys / np.sqrt(len(q))
- return values[:, held] @ (e / e.sum()), keys, values
+ return values @ e / e.sum(), keys, values
## newest_hidden: You hide the column of the newest token with the empty ones, and the first token sees nothing at all.
- held = slice(min(length + 1, W))
- scores = keys[:, held].T @ q / np.sqrt(len(k))
+ scores = q @ keys / np.sqrt(len(q))
+ scores[length:] = -np.inf
- return values[:, held] @ (e / e.sum()), keys, values
+ return values @ e / e.sum(), keys, values
# hidden_columns
## hidden_by_zero: You give columns that were never used the score 0; that has a weight, and −∞ has none.
- scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, -np.inf)
+ scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, 0.0)
## ten_thousand_for_infinity: Your columns that were never used get the score −10 000, and a real one can be lower.
+ scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, -1e4)
## hidden_after_the_softmax: You hide columns after the softmax, and the weights of the others no longer sum to 1.
- scores = np.where(np.arange(W) <= length, q @ keys / len(q) ** 0.5, -np.inf)
+ scores = q @ keys / len(q) ** 0.5
- return (values * e).sum(axis=1) / e.sum(), keys, values
+ return (values * e * (np.arange(W) <= length)).sum(axis=1) / e.sum(), keys, values
# as_often_written
## as_in_the_museum: The museum piece is unchanged.
- keys[:, length % W], values[:, length % W] = k, v
- seen = slice(0, min(length + 1, W))
- scores = q @ keys[:, seen] / np.sqrt(len(q))
+ keys[:, min(length, W - 1)], values[:, min(length, W - 1)] = k, v
+ seen = slice(0, W)
+ scores = q @ keys[:, seen] / len(q)
## never_all_columns: You never look at all W columns: once the cache is full, one is left out.
- seen = slice(0, min(length + 1, W))
+ seen = slice(0, min(length + 1, W - 1))
- e = np.exp(scores - scores.max())
+ e = np.exp(scores - max(scores))
## hidden_when_full: The token that takes the last free column hides itself; all W columns are in use then.
- seen = slice(0, min(length + 1, W))
+ seen = slice(0, min(length + 1, W) - (length == W - 1))
## pushed_along: You move all columns one place to the left and store in the last; a token stays in the column n mod W.
- keys[:, length % W], values[:, length % W] = k, v
+ if length >= W:
+     keys, values = np.roll(keys, -1, axis=1), np.roll(values, -1, axis=1)
+ keys[:, min(length, W - 1)], values[:, min(length, W - 1)] = k, v
## last_column_again: Once all columns are used, yours goes on replacing the last one; the oldest token lies elsewhere.
+ keys[:, min(length, W - 1)], values[:, min(length, W - 1)] = k, v
## empty_columns_count: Columns that were never used take part in your softmax.
- seen = slice(0, min(length + 1, W))
+ seen = slice(0, W)
## divided_by_k: Your scores are divided by K instead of its root.
- scores = q @ keys[:, seen] / np.sqrt(len(q))
+ scores = q @ keys[:, seen] / len(q)
## not_divided: Your scores are not divided by the root of K.
+ scores = q @ keys[:, seen]
## one_column_late: You count the tokens from 1; the first one should go into column 0.
- keys[:, length % W], values[:, length % W] = k, v
+ keys[:, (length + 1) % W], values[:, (length + 1) % W] = k, v
## one_column_short: You shut the newest token out: length + 1 columns are in use once it is stored.
- seen = slice(0, min(length + 1, W))
+ seen = slice(0, max(min(length, W), 1))
## up_to_the_new_column: You look at the columns up to the new one only; after a round the older tokens lie behind it.
- W = keys.shape[1]
+ column = length % keys.shape[1]
- keys[:, length % W], values[:, length % W] = k, v
- seen = slice(0, min(length + 1, W))
+ keys[:, column], values[:, column] = k, v
+ seen = slice(0, column + 1)
## only_the_new_one: You attend over the key of the new token alone.
- W = keys.shape[1]
+ column = length % keys.shape[1]
- keys[:, length % W], values[:, length % W] = k, v
- seen = slice(0, min(length + 1, W))
+ keys[:, column], values[:, column] = k, v
+ seen = slice(column, column + 1)
## value_not_stored: You store the key and forget the value.
- keys[:, length % W], values[:, length % W] = k, v
+ keys[:, length % W], values[:, length % W] = k, values[:, length % W]
## query_stored: You store the query in the place of the key.
+ keys[:, length % W], values[:, length % W] = q, v
## key_asks: You use the key of the new token to ask; the query does that.
- scores = q @ keys[:, seen] / np.sqrt(len(q))
+ scores = k @ keys[:, seen] / np.sqrt(len(k))
## no_largest_score [one-pass-is-enough-the-online-softmax]: Your exponentials overflow for large scores: subtract the
largest before you take them.
- e = np.exp(scores - scores.max())
+ e = np.exp(scores)
## in_place: You write into the arrays that you were given; the caller still needs them.
- keys, values = keys.copy(), values.copy()
## modulo_one_less: There are W columns, and token n goes into column n mod W; you count one column too few.
- keys[:, length % W], values[:, length % W] = k, v
+ keys[:, length % max(W - 1, 1)], values[:, length % max(W - 1, 1)] = k, v
## a_column_less_after_a_round: After a round all W columns are in use; you leave the last one out.
- seen = slice(0, min(length + 1, W))
+ seen = slice(0, length + 1 if length < W else max(W - 1, 1))
## divided_by_the_values: Your scores are divided by the root of the width of the values; it is that of the keys.
- scores = q @ keys[:, seen] / np.sqrt(len(q))
+ scores = q @ keys[:, seen] / np.sqrt(len(v))
## largest_score_from_zero [one-pass-is-enough-the-online-softmax]: Your largest score is never below 0; where all
scores are, every exponential vanishes.
- e = np.exp(scores - scores.max())
+ e = np.exp(scores - max(scores.max(), 0))
## largest_of_all_columns: The largest score that you subtract may stand in a column that was never used.
+ e = np.exp(scores - (q @ keys).max() / np.sqrt(len(q)))
## one_more_than_the_window: You look at the old columns and the new token beside them: W + 1 tokens after a round.
- keys, values = keys.copy(), values.copy()
+ before, keys, values = (keys, values), keys.copy(), values.copy()
- scores = q @ keys[:, seen] / np.sqrt(len(q))
+ scores = q @ np.column_stack([before[0][:, :length], k]) / np.sqrt(len(q))
- return values[:, seen] @ e / e.sum(), keys, values
+ return np.column_stack([before[1][:, :length], v]) @ e / e.sum(), keys, values
""")
