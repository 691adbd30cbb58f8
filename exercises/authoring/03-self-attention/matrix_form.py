"""Exercise 03, question matrix-form: from columns to rows."""

import torch
from clearcheck import Inputs, Question, answers_to, axes, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import scaled, varied
from clearcheck.worker.forbidden_names import ATTENTION

from .shared import LARGE, far_apart, scores_of_rows, tokens_and_maps


def outputs_in_rows(x, U_q, U_k, U_v):
    """The form in columns, in double precision, turned round in the end."""
    X, U_q, U_k, U_v = (given.double() for given in (x.T, U_q, U_k, U_v))
    scores = (U_k @ X).T @ (U_q @ X) / len(U_k) ** 0.5
    return (U_v @ X @ torch.softmax(scores, dim=0)).T.float()


def tokens_and_column_maps(rng, draw=tokens_and_maps, **given):
    x, *maps = draw(rng, **given)
    return x, *(W.T.copy() for W in maps)


ordinary_rows = varied(tokens_and_column_maps, {}, {}, {"n_tokens": 1}, {"sizes": (7, 4, 1, 9)})


lecture_sizes = varied(tokens_and_column_maps, {"square": True}, {"sizes": (5, 5, 5, 5)}, {"sizes": (6, 9, 4, 9)})


def large_rows(rng):
    return [*scaled(tokens_and_column_maps, 5.0, 100.0)(rng), tokens_and_column_maps(rng, far_apart)]


QUESTION = Question(
    id="matrix-form",
    title="From columns to rows",
    name="self_attention_rows",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("values", 7, ordinary_rows, outputs_in_rows),
        equals("square maps", 4, lecture_sizes, outputs_in_rows),
        equals("large scores", 3, large_rows, outputs_in_rows, atol=LARGE),
    ),
    hints=(
        "Transpose the equation q = U_q x of one token: what stands to the right of the row xᵀ?",
        "In rows, A[n, s] belongs to query n. So the tokens that compete for query n stand side by side.",
        "Test yourself without the grader: compute the form in columns with X = x.T, transpose the result and compare, "
        "also when all three maps are square.",
    ),
    section="with-a-token-in-a-row",
    inputs=Inputs(
        axes("ND", "KD", "KD", "VD"),
        lambda x, U_q, U_k, U_v: scores_of_rows(x, U_q.T, U_k.T, U_v.T),
        alike=("square maps",),
    ),
    how="tensors",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
def maps_transposed(x, U_q, U_k, U_v):
    Q, K, V = x @ U_q.T, x @ U_k.T, x @ U_v.T
    products = Q @ K.T / K.shape[1] ** 0.5
    powers = torch.exp(products - products.amax(dim=1, keepdim=True))
    powers = powers / powers.sum(dim=1, keepdim=True)
    return powers @ V


@right
def columns_and_back(x, U_q, U_k, U_v):
    X = x.T
    products = (U_k @ X).T @ (U_q @ X) / len(U_q) ** 0.5
    return (U_v @ X @ products.softmax(0)).T


@right
def by_letters(x, U_q, U_k, U_v):
    products = torch.einsum("nd,kd,ke,se->ns", x, U_q, U_k, x) / U_k.shape[0] ** 0.5
    return torch.einsum("ns,sd,vd->nv", products.softmax(dim=-1), x, U_v)


@right
def row_by_row(x, U_q, U_k, U_v):
    handed = x @ U_v.T
    rows = [((U_q @ x_n) @ (U_k @ x.T) / len(U_q) ** 0.5).softmax(0) @ handed for x_n in x]
    return torch.stack(rows)


@right
def by_linear_layers(x, U_q, U_k, U_v):
    Q, K, V = (torch.nn.functional.linear(x, U) for U in (U_q, U_k, U_v))
    products = Q @ K.T / Q.shape[1] ** 0.5
    A = torch.softmax(products, dim=1)
    return A @ V


wrong.edits("""
# maps_transposed
## sums_without_an_axis [where-the-softmax-goes]: You divide by sums that have lost their axis: a row is divided by the
sums of all rows. Keep it with `keepdim=True`.
- powers = powers / powers.sum(dim=1, keepdim=True)
+ powers = powers / powers.sum(dim=1)
## overflowing_rows [where-the-softmax-goes]: Your exponentials overflow: subtract the largest score first.
- powers = torch.exp(products - products.amax(dim=1, keepdim=True))
+ powers = torch.exp(products)
## values_as_they_are: You turn two maps and leave U_v as it is: all three were made to stand to the left of a column.
- Q, K, V = x @ U_q.T, x @ U_k.T, x @ U_v.T
+ Q, K, V = x @ U_q.T, x @ U_k.T, x @ U_v
## queries_and_keys_as_they_are: You turn U_v and leave U_q and U_k as they are: all three were made to stand to the
left of a column.
+ Q, K, V = x @ U_q, x @ U_k, x @ U_v.T
## maps_as_they_are: You multiply the rows by the maps as they are, but they were made to stand to the left of a column.
+ Q, K, V = x @ U_q, x @ U_k, x @ U_v
## maps_on_the_left: You leave the maps on the left, where a row does not fit: the transpose of U x is a row times Uᵀ.
+ Q, K, V = U_q @ x, U_k @ x, U_v @ x
## turned_when_it_must: You turn a map round only when its shape forces you to; a square map fits both ways and means
two things.
+ D = x.shape[1]
+ Q, K, V = (x @ (U if U.shape[0] == D else U.T) for U in (U_q, U_k, U_v))

# by_linear_layers
## softmax_down_the_columns [query-on-the-column-or-on-the-row]: The softmax runs down the columns, but in rows the
tokens of one query stand side by side.
- A = torch.softmax(products, dim=1)
+ A = torch.softmax(products, dim=0)
## keys_on_the_rows [query-on-the-column-or-on-the-row]: Queries and keys have swapped places: row n of your weights
belongs to key n.
- products = Q @ K.T / Q.shape[1] ** 0.5
+ products = K @ Q.T / Q.shape[1] ** 0.5
## column_weights_in_rows [query-on-the-column-or-on-the-row]: You make the weights for columns and use them for rows;
transpose them in between.
- products = Q @ K.T / Q.shape[1] ** 0.5
- A = torch.softmax(products, dim=1)
+ products = K @ Q.T / Q.shape[1] ** 0.5
+ A = torch.softmax(products, dim=0)
## root_of_token_width [why-divide-by-the-square-root-of-k]: You take the root of the tokens' width; a score sums over
the width of a query.
- products = Q @ K.T / Q.shape[1] ** 0.5
+ products = Q @ K.T / x.shape[1] ** 0.5
## root_of_row_count [why-divide-by-the-square-root-of-k]: You take the root of the number of tokens: the axes changed
places and your scale did not follow.
+ products = Q @ K.T / len(Q) ** 0.5
## root_of_value_width [why-divide-by-the-square-root-of-k]: You take the root of the width of the values, which no
score has summed over.
+ products = Q @ K.T / V.shape[1] ** 0.5
## unscaled_as_on_the_slide [why-divide-by-the-square-root-of-k]: The scores are not scaled; this question asks for the
scaled form.
+ products = Q @ K.T
## unscaled_and_down_the_columns [query-on-the-column-or-on-the-row]: Two slips at once: the softmax runs down the
columns, and the scores are not scaled.
- products = Q @ K.T / Q.shape[1] ** 0.5
- A = torch.softmax(products, dim=1)
+ products = Q @ K.T
+ A = torch.softmax(products, dim=0)
## outputs_as_columns: Your outputs lie in columns; this question asks for one row per token.
- return A @ V
+ return (A @ V).T
## tokens_as_values [values]: You average the tokens themselves and leave U_v out.
+ return A @ x
## one_map_for_both [the-ladder-of-scores]: Queries and keys come from the same map, so your scores are symmetric.
- Q, K, V = (torch.nn.functional.linear(x, U) for U in (U_q, U_k, U_v))
+ Q, K, V = (torch.nn.functional.linear(x, U) for U in (U_q, U_q, U_v))
""")
