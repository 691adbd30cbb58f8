"""Exercise 03, question equivariance: Stretch: repair the museum piece."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, scaled, shape_slip, varied
from clearformer.reference import attention

from .shared import far_apart, rows_and_maps


def outputs_in_columns(X, U_q, U_k, U_v):
    return attention.attend(U_q @ X, U_k @ X, U_v @ X)[0]


def columns_and_maps(rng, draw=rows_and_maps, **given):
    X_rows, *maps = draw(rng, **given)
    return X_rows.T.copy(), *maps


ordinary_columns = varied(columns_and_maps, {}, {}, {"n_tokens": 1}, {"sizes": (7, 4, 1, 9)}, {"sizes": (5, 5, 5, 5)})


def large_columns(rng):
    return [*scaled(columns_and_maps, 5.0, 100.0)(rng), columns_and_maps(rng, far_apart)]


def no_exchange(ask, X, *maps):
    """A sentence when tokens do not look at each other: such a function has every property below for free."""
    Y = ask(X, *maps)
    if slip := shape_slip(Y, (len(maps[2]), X.shape[1])):
        return slip
    edited = X.copy()
    edited[-1, 0] += 1.0
    if close(ask(edited, *maps)[:, 1:], Y[:, 1:]):
        return "An edit of token 0 must reach the other tokens' outputs, but yours stay as they were."
    if close(Y, np.repeat(Y[:, :1], Y.shape[1], axis=1)):
        return "Different tokens ask different questions, but all your outputs are the same."
    return None


def follows_the_order(ask, rng):
    X, *maps = columns_and_maps(rng)
    if slip := no_exchange(ask, X, *maps):
        return slip
    order = np.roll(np.arange(X.shape[1]), int(rng.integers(1, X.shape[1])))
    Y = ask(X, *maps)
    if not close(ask(X[:, order], *maps), Y[:, order]):
        return "With the columns of X in another order your outputs are not the same ones in that order."
    return None


def averages_ones_to_one(ask, rng):
    X, U_q, U_k, U_v = columns_and_maps(rng)
    X[0], U_v[0] = 1.0, np.eye(len(X))[0]
    if slip := no_exchange(ask, X, U_q, U_k, U_v):
        return slip
    Y = ask(X, U_q, U_k, U_v)
    if not close(Y[0], np.ones(X.shape[1])):
        worst = Y[0][np.argmax(np.abs(Y[0] - 1))]
        return f"Every token has a 1 in feature 0, so every average has one too; yours gives {worst:.4g}."
    return None


def ignores_copies(ask, rng):
    X, *maps = columns_and_maps(rng)
    if slip := no_exchange(ask, X, *maps):
        return slip
    Y = ask(X, *maps)
    twice = ask(np.concatenate([X, X], axis=1), *maps)
    if not close(twice, np.concatenate([Y, Y], axis=1)):
        return "With every token in the sequence twice, each average stays what it was; your outputs change."
    return None


QUESTION = Question(
    id="equivariance",
    title="Stretch: repair the museum piece",
    name="repaired_attention",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        equals("values", 6, ordinary_columns, outputs_in_columns),
        equals("large scores", 2, large_columns, outputs_in_columns),
        holds("another order", 4, follows_the_order),
        holds("average of ones", 3, averages_ones_to_one),
        holds("every token twice", 3, ignores_copies),
    ),
    hints=(
        "Each of the three experiments is upset by something else. Go through the lines one by one "
        "and ask: "
        "does this line know which number belongs to which token?",
        "A right shape is no proof: print keys and what the museum makes of it for a 2 × 3 table "
        "of the "
        "numbers 0 to 5. Does token 0 still have its own numbers?",
        "Then two questions are left. Do the weights of one query sum to 1? Does any factor depend "
        "on how "
        "many tokens there are, and should it?",
    ),
    section="permutation-equivariance",
    inputs=Inputs(
        axes("DN", "KD", "KD", "VD"),
        lambda X, U_q, U_k, U_v: X.T @ U_k.T @ U_q @ X / np.sqrt(len(U_q)),
        alike=("values",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def three_repairs(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, _ = keys.shape
    scores = keys.T @ queries / np.sqrt(height)
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    weights = powers / powers.sum(axis=0, keepdims=True)
    return values @ weights


@right
def written_anew(X, U_q, U_k, U_v):
    scores = np.einsum("ds,kd,ke,en->sn", X, U_k, U_q, X, optimize=True) * len(U_k) ** -0.5
    A = np.exp(scores - scores.max(axis=0))
    return U_v @ (X @ (A / A.sum(axis=0)))


@right
def token_by_token(X, U_q, U_k, U_v):
    outputs = []
    for x in X.T:
        scores = (U_k @ X).T @ (U_q @ x) / np.sqrt(U_q.shape[0])
        shares = np.exp(scores - max(scores))
        outputs.append(U_v @ X @ shares / shares.sum())
    return np.array(outputs).T


@right
def as_often_written(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height = len(keys)
    scores = keys.T @ queries / np.sqrt(height)
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return values @ (powers / powers.sum(axis=0, keepdims=True))


@wrong("This is the museum piece as it stood: all three experiments still go wrong.")
def as_exhibited(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(tokens)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong("The scale is repaired; the tokens are still mixed up, and the softmax still has the wrong axis.")
def only_scale_repaired(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    height, tokens = keys.shape
    scores = keys.reshape(tokens, height) @ queries / np.sqrt(height)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "The tokens keep their numbers now; the softmax has the wrong axis, and the sharpness depends on the length.",
    section="where-the-softmax-goes",
)
def only_transpose_repaired(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries / np.sqrt(keys.shape[1])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong(
    "One slip is left: the weights of one query do not sum to 1, so outputs are not averages.",
    section="where-the-softmax-goes",
)
def softmax_still_wrong(X, U_q, U_k, U_v):
    queries, keys, values = U_q @ X, U_k @ X, U_v @ X
    scores = keys.T @ queries / np.sqrt(len(keys))
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return values @ (powers / powers.sum(axis=1, keepdims=True))


@wrong("You sort the tokens first: now the order of the input is lost instead of followed.")
def sorted_tokens(X, U_q, U_k, U_v):
    X = X[:, np.argsort(X[0])]
    scores = (U_k @ X).T @ (U_q @ X) / np.sqrt(len(U_k))
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return U_v @ X @ (powers / powers.sum(axis=0, keepdims=True))


wrong.edits("""
# written_anew
## plain_mean [values]: Your outputs are all alike: a plain mean follows every order, but is not attention.
- scores = np.einsum("ds,kd,ke,en->sn", X, U_k, U_q, X, optimize=True) * len(U_k) ** -0.5
- A = np.exp(scores - scores.max(axis=0))
- return U_v @ (X @ (A / A.sum(axis=0)))
+ values = U_v @ X
+ return np.repeat(values.mean(axis=1, keepdims=True), X.shape[1], axis=1)
## own_value [values]: Every token gets its own value back: that follows every order, but no token looks at another.
+ return U_v @ X

# as_often_written
## only_softmax_repaired: The softmax is repaired; the tokens are still mixed up, and the sharpness still depends on the
length.
- height = len(keys)
- scores = keys.T @ queries / np.sqrt(height)
+ height, tokens = keys.shape
+ scores = keys.reshape(tokens, height) @ queries / np.sqrt(tokens)
## tokens_still_mixed: One slip is left: a line changes which number belongs to which token and keeps the shape right.
+ height, tokens = keys.shape
+ scores = keys.reshape(tokens, height) @ queries / np.sqrt(height)
## scale_still_wrong [why-divide-by-the-square-root-of-k]: One slip is left: the weights get flatter when the sequence
gets longer.
+ scores = keys.T @ queries / np.sqrt(keys.shape[1])
## root_of_token_width [why-divide-by-the-square-root-of-k]: You take the root of the tokens' width; a score sums over
the width of a query.
+ scores = keys.T @ queries / np.sqrt(len(X))
## maximum_of_the_rows [where-the-softmax-goes]: The softmax runs over the sources now, but the maximum you subtract
still runs over the queries: competitors lose different amounts.
- powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ powers = np.exp(scores - scores.max(axis=1, keepdims=True))
## scale_removed [why-divide-by-the-square-root-of-k]: The scale is gone: nothing depends on the length any more, but
the scores grow with their width.
- height = len(keys)
- scores = keys.T @ queries / np.sqrt(height)
+ scores = keys.T @ queries
## queries_and_keys_swapped [query-on-the-column-or-on-the-row]: Queries and keys have swapped places; no permutation
shows it, but comparing values does.
+ scores = queries.T @ keys / np.sqrt(len(keys))
## no_maximum: Your exponentials overflow: subtract the largest score of each query first.
- powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ powers = np.exp(scores)
""")
