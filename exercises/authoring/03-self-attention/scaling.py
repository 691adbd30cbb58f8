"""Exercise 03, question scaling: scaled dot-product attention."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, close, draw_sizes, scaled, shape_slip, varied
from clearformer.reference import attention


def outputs(Q, K, V):
    return attention.attend(Q, K, V)[0]


def queries_keys_values(rng, n_targets=None, n_sources=None, width=None, sizes=None):
    K, V, N, S = sizes or draw_sizes(rng, 4)
    K, N, S = width or K, n_targets or N, n_sources or S
    return rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(V, S))


ordinary_heads = varied(
    queries_keys_values, {}, {}, {"n_targets": 1}, {"n_sources": 1}, {"width": 1}, {"sizes": (5, 5, 5, 5)}
)


def large_heads(rng):
    cases = scaled(queries_keys_values, 30.0, 1e4)(rng)
    Q, K, V = queries_keys_values(rng)
    Q[0], K[0] = 1e4 * np.where(np.arange(Q.shape[1]) % 2, 1.0, -1.0), 2.0
    return [*cases, (Q, K, V)]


def averages_of_values(ask, rng):
    Q, K, V = queries_keys_values(rng)
    Y = ask(Q, K, V)
    if slip := shape_slip(Y, (len(V), Q.shape[1])):
        return slip
    order = rng.permutation(K.shape[1])
    if not close(ask(Q, K[:, order], V[:, order]), Y):
        return "Keys and values shuffled alike are the same set of pairs, but your outputs change."
    alike = np.repeat(K[:, :1], K.shape[1], axis=1)
    if not close(ask(Q, alike, V), np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)):
        return "When all keys are equal every output is the plain mean of the values; yours is not."
    above, below = Y - V.max(axis=1, keepdims=True), V.min(axis=1, keepdims=True) - Y
    outside = np.maximum(above, below) > CLOSE
    if outside.any():
        d, n = np.argwhere(outside)[0]
        return f"An average stays between its terms, but your Y[{d}, {n}] is outside the range of row {d} of V."
    if close(ask(2 * Q, K, V), Y):
        return "Other queries must get other averages, but your outputs do not depend on Q."
    return None


QUESTION = Question(
    id="scaling",
    title="Scaled dot-product attention",
    name="attend",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("values", 8, ordinary_heads, outputs),
        equals("large scores", 3, large_heads, outputs),
        holds("averages of the values", 3, averages_of_values),
    ),
    hints=(
        "Three steps: scores, weights, averages. Write the shape of each table beside its line.",
        "The scale undoes the growth of one sum. How many products does one score add up?",
        "Check three places: which size is under the root, on which side of the softmax the scale "
        "acts, and "
        "which axis the softmax runs along when one column is one query.",
    ),
    section="why-divide-by-the-square-root-of-k",
    inputs=Inputs(axes("KN", "KS", "VS"), lambda Q, K, V: K.T @ Q / np.sqrt(len(K)), alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def three_steps(Q, K, V):
    scores = K.T @ Q / np.sqrt(K.shape[0])
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


@right
def queries_scaled_first(Q, K, V):
    scores = np.einsum("ks,kn->sn", K, Q * len(Q) ** -0.5)
    weights = np.exp(scores - scores.max(axis=0, keepdims=True))
    return np.einsum("vs,sn->vn", V, weights) / np.einsum("sn->n", weights)


@right
def query_by_query(Q, K, V):
    columns = []
    for query in Q.T:
        scores = np.array([key @ query for key in K.T]) / np.sqrt(query.size)
        shares = np.exp(scores - scores.max())
        columns.append(sum(share * value for share, value in zip(shares / shares.sum(), V.T, strict=True)))
    return np.stack(columns, axis=1)


@right
def in_rows_and_back(Q, K, V):
    scores = Q.T @ K / np.sqrt(Q.shape[0])
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    return (weights / weights.sum(axis=1, keepdims=True) @ V.T).T


@right
def as_often_written(Q, K, V):
    scores = K.T @ Q / np.sqrt(len(Q))
    weights = np.exp(scores - scores.max(axis=0))
    return V @ (weights / weights.sum(axis=0))


wrong.edits("""
# three_steps
## no_scale: The scores are not scaled at all.
- scores = K.T @ Q / np.sqrt(K.shape[0])
+ scores = K.T @ Q
## scaled_twice: You scale twice, or leave out the root: that takes more away than the sum has added.
+ scores = K.T @ Q / len(Q)
## whole_root: The root is rounded down to a whole number: for a width of 7 that is 2 in place of 2.65.
+ scores = K.T @ Q / int(np.sqrt(len(Q)))
## multiplied_by_root: You multiply by the root, so wide queries saturate the softmax even more.
+ scores = K.T @ Q * np.sqrt(len(Q))
## root_of_value_width: The size under the root is the width of the values, which no score has ever summed over.
+ scores = K.T @ Q / np.sqrt(len(V))
## root_of_number_of_keys: The size under the root is the number of keys, so a longer sequence would flatten its own
weights.
+ scores = K.T @ Q / np.sqrt(K.shape[1])
## root_of_number_of_queries: Under the root is the number of queries, which have nothing to do with each other.
+ scores = K.T @ Q / np.sqrt(Q.shape[1])
## scaled_after_softmax: You scale after the softmax: the weights no longer sum to 1 and their saturation stays.
- scores = K.T @ Q / np.sqrt(K.shape[0])
+ scores = K.T @ Q
- return V @ (weights / weights.sum(axis=0))
+ return V @ (weights / weights.sum(axis=0)) / np.sqrt(len(Q))
## no_softmax [where-the-softmax-goes]: There is no softmax: you add up values with raw scores.
- scores = K.T @ Q / np.sqrt(K.shape[0])
- weights = np.exp(scores - scores.max(axis=0))
- return V @ (weights / weights.sum(axis=0))
+ return V @ (K.T @ Q) / np.sqrt(len(Q))
## roles_swapped [query-on-the-column-or-on-the-row]: Queries and keys have swapped places: your weights have one column
per key, and the values do not fit.
- scores = K.T @ Q / np.sqrt(K.shape[0])
+ scores = Q.T @ K / np.sqrt(len(Q))
## formula_for_rows [query-on-the-column-or-on-the-row]: This is the formula for tokens in rows, typed for tokens in
columns: its tables do not fit together.
- scores = K.T @ Q / np.sqrt(K.shape[0])
- weights = np.exp(scores - scores.max(axis=0))
- return V @ (weights / weights.sum(axis=0))
+ scores = Q @ K.T / np.sqrt(len(Q))
+ weights = np.exp(scores - scores.max(axis=1, keepdims=True))
+ return weights / weights.sum(axis=1, keepdims=True) @ V
## overflowing [where-the-softmax-goes]: Your exponentials overflow: subtract the largest score first.
- scores = K.T @ Q / np.sqrt(K.shape[0])
- weights = np.exp(scores - scores.max(axis=0))
+ weights = np.exp(K.T @ Q / np.sqrt(len(Q)))
## competing_queries_unscaled [where-the-softmax-goes]: Two slips at once: the softmax runs over the queries, and the
scores are not scaled.
- scores = K.T @ Q / np.sqrt(K.shape[0])
- weights = np.exp(scores - scores.max(axis=0))
- return V @ (weights / weights.sum(axis=0))
+ scores = K.T @ Q
+ weights = np.exp(scores - scores.max(axis=1, keepdims=True))
+ return V @ (weights / weights.sum(axis=1, keepdims=True))

# as_often_written
## competing_queries [where-the-softmax-goes]: The softmax runs over the queries: tokens compete for a key instead of
for a query.
- weights = np.exp(scores - scores.max(axis=0))
- return V @ (weights / weights.sum(axis=0))
+ weights = np.exp(scores - scores.max(axis=1, keepdims=True))
+ return V @ (weights / weights.sum(axis=1, keepdims=True))
## competing_pairs [where-the-softmax-goes]: The softmax runs over all pairs at once, so the queries share one single
weight of 1.
+ weights = np.exp(scores - scores.max())
+ return V @ (weights / weights.sum())
## keys_as_values [values]: You average the keys: what a token offers and what it is found by are two things.
- return V @ (weights / weights.sum(axis=0))
+ return K @ (weights / weights.sum(axis=0))
## weights_only [values]: You return the weights and never use the values.
+ return weights / weights.sum(axis=0)
## outputs_as_rows [query-on-the-column-or-on-the-row]: Your outputs lie in rows; here every token is a column.
+ return (V @ (weights / weights.sum(axis=0))).T
## one_maximum_for_all_queries [where-the-softmax-goes]: You subtract one maximum of the whole table: for a query whose
scores all lie far below it every exponential becomes 0.
- weights = np.exp(scores - scores.max(axis=0))
+ weights = np.exp(scores - scores.max())
## outputs_and_weights [values]: You return the outputs and the weights; this question asks for the outputs alone.
- return V @ (weights / weights.sum(axis=0))
+ weights = weights / weights.sum(axis=0)
+ return V @ weights, weights
## causal: You hide the sources after the target; no mask is asked for, and every query should see all keys.
- scores = K.T @ Q / np.sqrt(len(Q))
+ scores = np.where(np.tri(Q.shape[1], K.shape[1], dtype=bool).T, K.T @ Q / np.sqrt(len(Q)), -np.inf)
## causal_when_square: You hide the sources after the target where there are as many queries as keys; nobody has asked
for a mask here.
+ hidden = np.tri(Q.shape[1], k=-1, dtype=bool) if Q.shape == K.shape else False
+ scores = np.where(hidden, -np.inf, K.T @ Q / np.sqrt(len(Q)))
""")
