"""Exercise 03, question matrix-form: from columns to rows."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import scaled, varied
from clearformer.reference import attention

from .shared import far_apart, rows_and_maps


def outputs_in_rows(X_rows, U_q, U_k, U_v):
    X = X_rows.T
    return attention.attend(U_q @ X, U_k @ X, U_v @ X)[0].T


ordinary_rows = varied(rows_and_maps, {}, {}, {"n_tokens": 1}, {"sizes": (7, 4, 1, 9)})


lecture_sizes = varied(rows_and_maps, {"square": True}, {"sizes": (5, 5, 5, 5)})


def large_rows(rng):
    return [*scaled(rows_and_maps, 5.0, 100.0)(rng), far_apart(rng)]


QUESTION = Question(
    id="matrix-form",
    title="From columns to rows",
    name="self_attention_rows",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("values", 7, ordinary_rows, outputs_in_rows),
        equals("square maps", 4, lecture_sizes, outputs_in_rows),
        equals("large scores", 3, large_rows, outputs_in_rows),
    ),
    hints=(
        "Transpose the equation q = U_q x of one token: what stands to the right of the row xᵀ?",
        "In rows, A[n, s] belongs to query n. So the tokens that compete for query n stand side by side.",
        "Test yourself without the grader: put X = X_rows.T through your column functions of the "
        "questions "
        "above, transpose the result and compare, also when all three maps are square.",
    ),
    section="with-a-token-in-a-row",
    inputs=Inputs(
        axes("ND", "KD", "KD", "VD"),
        lambda X, U_q, U_k, U_v: X @ U_k.T @ U_q @ X.T / np.sqrt(len(U_q)),
        alike=("square maps",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def maps_transposed(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ V


@right
def columns_and_back(X_rows, U_q, U_k, U_v):
    X = X_rows.T
    scores = (U_k @ X).T @ (U_q @ X) / np.sqrt(len(U_q))
    A = np.exp(scores - scores.max(axis=0))
    return ((U_v @ X) @ (A / A.sum(axis=0))).T


@right
def by_einsum(X_rows, U_q, U_k, U_v):
    scores = np.einsum("nd,kd,ke,se->ns", X_rows, U_q, U_k, X_rows, optimize=True) / np.sqrt(U_k.shape[0])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)
    return np.einsum("ns,sd,vd->nv", A, X_rows, U_v, optimize=True)


@right
def row_by_row(X_rows, U_q, U_k, U_v):
    output = np.zeros((len(X_rows), len(U_v)))
    for n, x in enumerate(X_rows):
        scores = np.array([(U_q @ x) @ (U_k @ y) for y in X_rows]) / len(U_q) ** 0.5
        shares = np.exp(scores - scores.max())
        for share, y in zip(shares / shares.sum(), X_rows, strict=True):
            output[n] += share * (U_v @ y)
    return output


@right
def as_often_written(X_rows, U_q, U_k, U_v):
    Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V


wrong.edits("""
# as_often_written
## maps_as_they_are: You multiply the rows by the maps as they are, but they were made to stand to the left of a column.
- Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
+ Q, K, V = X_rows @ U_q, X_rows @ U_k, X_rows @ U_v
## turned_when_it_must: You turn a map round only when its shape forces you to; a square map fits both ways and means
two things.
+ D = X_rows.shape[1]
+ Q, K, V = (X_rows @ (U if U.shape[0] == D else U.T) for U in (U_q, U_k, U_v))
## softmax_down_the_columns [query-on-the-column-or-on-the-row]: The softmax runs down the columns, but in rows the
tokens of one query stand side by side.
- weights = np.exp(scores - scores.max(axis=1, keepdims=True))
- return weights / weights.sum(axis=1, keepdims=True) @ V
+ weights = np.exp(scores - scores.max(axis=0))
+ return weights / weights.sum(axis=0) @ V
## keys_on_the_rows [query-on-the-column-or-on-the-row]: Queries and keys have swapped places: row n of your weights
belongs to key n.
- scores = Q @ K.T / np.sqrt(Q.shape[1])
+ scores = K @ Q.T / np.sqrt(Q.shape[1])
## column_weights_in_rows [query-on-the-column-or-on-the-row]: You make the weights for columns and use them for rows;
transpose them in between.
- scores = Q @ K.T / np.sqrt(Q.shape[1])
- weights = np.exp(scores - scores.max(axis=1, keepdims=True))
- return weights / weights.sum(axis=1, keepdims=True) @ V
+ scores = K @ Q.T / np.sqrt(Q.shape[1])
+ weights = np.exp(scores - scores.max(axis=0))
+ return weights / weights.sum(axis=0) @ V
## root_of_token_width [why-divide-by-the-square-root-of-k]: You take the root of the tokens' width; a score sums over
the width of a query.
- scores = Q @ K.T / np.sqrt(Q.shape[1])
+ scores = Q @ K.T / np.sqrt(X_rows.shape[1])
## root_of_row_count [why-divide-by-the-square-root-of-k]: You take the root of the number of tokens: the axes changed
places and your scale did not follow.
+ scores = Q @ K.T / np.sqrt(len(Q))
## unscaled_as_on_the_slide [why-divide-by-the-square-root-of-k]: The scores are not scaled; this question asks for the
scaled form.
+ scores = Q @ K.T
## unscaled_and_down_the_columns [query-on-the-column-or-on-the-row]: Two slips at once: the softmax runs down the
columns, and the scores are not scaled.
- scores = Q @ K.T / np.sqrt(Q.shape[1])
- weights = np.exp(scores - scores.max(axis=1, keepdims=True))
- return weights / weights.sum(axis=1, keepdims=True) @ V
+ scores = Q @ K.T
+ weights = np.exp(scores - scores.max(axis=0))
+ return weights / weights.sum(axis=0) @ V
## outputs_as_columns: Your outputs lie in columns; this question asks for one row per token.
- return weights / weights.sum(axis=1, keepdims=True) @ V
+ return (weights / weights.sum(axis=1, keepdims=True) @ V).T
## tokens_as_values [values]: You average the tokens themselves and leave U_v out.
+ return weights / weights.sum(axis=1, keepdims=True) @ X_rows
## one_map_for_both [the-ladder-of-scores]: Queries and keys come from the same map, so your scores are symmetric.
- Q, K, V = X_rows @ U_q.T, X_rows @ U_k.T, X_rows @ U_v.T
+ Q, K, V = X_rows @ U_q.T, X_rows @ U_q.T, X_rows @ U_v.T
## overflowing_rows [where-the-softmax-goes]: Your exponentials overflow: subtract the largest score first.
- scores = Q @ K.T / np.sqrt(Q.shape[1])
- weights = np.exp(scores - scores.max(axis=1, keepdims=True))
+ weights = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
""")
