"""Exercise 03, question scaling: scaled dot-product attention, divided and not."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, scaled, shape_slip, varied
from clearcheck.author.torch_checks import equal_in_float32
from clearcheck.grading.replies import CLOSE_IN_FLOAT32
from clearcheck.worker.forbidden_names import ATTENTION
from torch.nn import functional as F

from .shared import LARGE


def by_torch(q, k, v, divided=True):
    """PyTorch's own attention, in double precision, so that rounding is counted once."""
    q, k, v = (given.double() for given in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, scale=None if divided else 1.0).float()


def queries_keys_values(rng, n_targets=None, n_sources=None, width=None, sizes=None):
    B, N, S, K, V = sizes or draw_sizes(rng, 5)
    K, N, S = width or K, n_targets or N, n_sources or S
    return rng.normal(size=(B, N, K)), rng.normal(size=(B, S, K)), rng.normal(size=(B, S, V))


ordinary_heads = varied(
    queries_keys_values, {}, {}, {"n_targets": 1}, {"n_sources": 1}, {"width": 1}, {"sizes": (5, 5, 5, 5, 5)}
)


def undivided(rng):
    """Queries so short that the scores are ordinary ones without a division."""
    heads = [queries_keys_values(rng), queries_keys_values(rng, sizes=(1, 4, 7, 9, 6)), queries_keys_values(rng)]
    return [(q / np.sqrt(q.shape[-1]), k, v, False) for q, k, v in heads]


def large_heads(rng):
    cases = scaled(queries_keys_values, 30.0, 1e4)(rng)
    q, k, v = queries_keys_values(rng)
    q[..., 0], k[..., 0] = 1e4 * np.where(np.arange(q.shape[1]) % 2, 1.0, -1.0), 2.0
    return [*cases, (q, k, v, True), (*scaled(queries_keys_values, 30.0)(rng)[0], False)]


def averages_of_values(ask, rng):
    q, k, v = queries_keys_values(rng)
    y = ask(q, k, v)
    if slip := shape_slip(y, (*q.shape[:2], v.shape[2])):
        return slip
    order = rng.permutation(k.shape[1])
    if not equal_in_float32(ask(q, k[:, order], v[:, order]), y):
        return "Keys and values shuffled alike are the same set of pairs, but your outputs change."
    alike = np.repeat(k[:, :1], k.shape[1], axis=1)
    if not equal_in_float32(ask(q, alike, v), np.repeat(v.mean(axis=1, keepdims=True), q.shape[1], axis=1)):
        return "When all keys are equal every output is the plain mean of the values; yours is not."
    above, below = y - v.max(axis=1, keepdims=True), v.min(axis=1, keepdims=True) - y
    outside = np.maximum(above, below) > CLOSE_IN_FLOAT32
    if outside.any():
        b, n, i = np.argwhere(outside)[0]
        return f"An average stays between its terms, but your y[{b}, {n}, {i}] is outside the range of v[{b}, :, {i}]."
    if equal_in_float32(ask(2 * q, k, v), y):
        return "Other queries must get other averages, but your outputs do not depend on q."
    return None


def heads(q, k, v, divided=True):
    return {"B": q.shape[0], "N": q.shape[1], "S": k.shape[1], "K": q.shape[2], "V": v.shape[2]}


def scores_of_heads(q, k, v, divided=True):
    return q @ k.swapaxes(1, 2) / (np.sqrt(q.shape[2]) if divided else 1.0)


QUESTION = Question(
    id="scaling",
    title="Scaled dot-product attention",
    name="attend",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("equal to PyTorch's", 5, ordinary_heads, by_torch),
        equals("not divided", 3, undivided, by_torch),
        equals("large scores", 3, large_heads, by_torch, atol=LARGE),
        holds("averages of the values", 3, averages_of_values),
    ),
    hints=(
        "Three steps: scores, weights, averages. Write the shape of each table beside its line, the batch in front.",
        "The scale undoes the growth of one sum. How many products does one score add up?",
        "Check three places: which size is under the root, on which side of the softmax the scale acts, and which axis "
        "the softmax runs along when a target has a row.",
    ),
    section="why-divide-by-the-square-root-of-k",
    inputs=Inputs(heads, scores_of_heads, alike=("equal to PyTorch's",)),
    how="tensors",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
def three_steps(q, k, v, divided=True):
    products = q @ k.mT
    if divided:
        products = products / k.shape[-1] ** 0.5
    A = torch.softmax(products, dim=-1)
    return A @ v


@right
def queries_scaled_first(q, k, v, divided=True):
    scale = q.shape[-1] ** -0.5 if divided else 1.0
    products = torch.einsum("bnk,bsk->bns", q * scale, k)
    powers = torch.exp(products - products.amax(dim=2, keepdim=True))
    return torch.einsum("bns,bsv->bnv", powers, v) / powers.sum(dim=2, keepdim=True)


@right
def query_by_query(q, k, v, divided=True):
    found = []
    for b, queries in enumerate(q):
        width = queries.shape[1] if divided else 1
        rows = [torch.softmax(k[b] @ query / width**0.5, dim=0) @ v[b] for query in queries]
        found.append(torch.stack(rows))
    return torch.stack(found)


@right
def in_columns_and_back(q, k, v, divided=True):
    root = q.shape[2] ** 0.5 if divided else 1.0
    columns = k.bmm(q.transpose(1, 2)) / root
    return (v.transpose(1, 2) @ columns.softmax(1)).transpose(1, 2)


wrong.edits("""
# three_steps
## no_scale: The scores are not divided, whatever `divided` says.
- if divided:
-     products = products / k.shape[-1] ** 0.5
## always_divided: With divided=False the scores should stay as they are; you divide them all the same.
+ products = products / k.shape[-1] ** 0.5
## switch_turned_round: You divide where `divided` is False, and not where it is True.
- if divided:
+ if not divided:
## undivided_by_default: Where nothing is said about it the scores should be divided; yours are not.
- def three_steps(q, k, v, divided=True):
+ def three_steps(q, k, v, divided=False):
## scaled_twice: You scale twice, or leave out the root: that takes more away than the sum has added.
- products = products / k.shape[-1] ** 0.5
+ products = products / k.shape[-1]
## whole_root: The root is rounded down to a whole number: for a width of 7 that is 2 in place of 2.65.
+ products = products / int(k.shape[-1] ** 0.5)
## multiplied_by_root: You multiply by the root, so wide queries saturate the softmax even more.
+ products = products * k.shape[-1] ** 0.5
## root_of_value_width: The size under the root is the width of the values, which no score has ever summed over.
+ products = products / v.shape[-1] ** 0.5
## root_of_number_of_keys: The size under the root is the number of keys, so a longer sequence would flatten its own
weights.
+ products = products / k.shape[1] ** 0.5
## root_of_number_of_queries: Under the root is the number of queries, which have nothing to do with each other.
+ products = products / q.shape[1] ** 0.5
## scaled_after_softmax: You scale after the softmax: the weights no longer sum to 1 and their saturation stays.
- if divided:
-     products = products / k.shape[-1] ** 0.5
- A = torch.softmax(products, dim=-1)
+ A = torch.softmax(products, dim=-1)
+ if divided:
+     A = A / k.shape[-1] ** 0.5
## roles_swapped [query-on-the-column-or-on-the-row]: Queries and keys have swapped places: your weights have one row
per key, and the values do not fit.
- products = q @ k.mT
+ products = k @ q.mT
## formula_for_columns [query-on-the-column-or-on-the-row]: This is the formula for tokens in columns, typed for tokens
in rows: it pairs features with features.
+ products = k.mT @ q
## all_axes_turned [with-a-token-in-a-row]: `.T` turns round all three axes, the batch too; `.mT` exchanges the last
two.
+ products = q @ k.permute(2, 1, 0)
## reshaped_keys: You reshape the keys, which mixes the numbers of different tokens; transpose them instead.
+ products = q @ k.reshape(k.shape[0], k.shape[2], k.shape[1])
## no_softmax [where-the-softmax-goes]: There is no softmax: you add up values with raw scores.
- A = torch.softmax(products, dim=-1)
+ A = products
## competing_queries [where-the-softmax-goes]: The softmax runs over the queries: targets compete for a source instead
of sources for a target.
+ A = torch.softmax(products, dim=1)
## competing_sequences [where-the-softmax-goes]: The softmax runs over the batch: sequences compete that have nothing to
do with each other.
+ A = torch.softmax(products, dim=0)
## competing_pairs [where-the-softmax-goes]: The softmax runs over all pairs of a sequence at once, so its queries share
one single weight of 1.
+ A = torch.softmax(products.flatten(1), dim=-1).reshape(products.shape)
## overflowing [where-the-softmax-goes]: Your exponentials overflow: subtract the largest score first, or call
`softmax`.
+ A = products.exp() / products.exp().sum(dim=-1, keepdim=True)
## one_maximum_for_all_queries [where-the-softmax-goes]: You subtract one maximum of the whole table: for a query whose
scores all lie far below it every exponential becomes 0.
+ A = (products - products.max()).exp()
+ A = A / A.sum(dim=-1, keepdim=True)
## causal [the-causal-mask]: You hide the sources after the target; no mask is asked for, and every query should see all
keys.
+ A = torch.softmax(products.masked_fill(torch.ones(products.shape).triu(1).bool(), -torch.inf), dim=-1)
## cut_off: No gradient reaches queries and keys.
+ A = torch.softmax(products, dim=-1).detach()
## keys_as_values [values]: You average the keys: what a token offers and what it is found by are two things.
- return A @ v
+ return A @ k
## weights_only [values]: You return the weights and never use the values.
+ return A
## outputs_as_columns [query-on-the-column-or-on-the-row]: Your outputs lie in columns; here every token is a row.
+ return (A @ v).mT
## outputs_and_weights [values]: You return the outputs and the weights; this question asks for the outputs alone.
+ return A @ v, A
## one_output [values]: You add up the outputs of all targets; each of them is due its own.
+ return (A @ v).sum(dim=1)

# in_columns_and_back
## called_from_torch: PyTorch's own attention does the work that is asked for.
- root = q.shape[2] ** 0.5 if divided else 1.0
- columns = k.bmm(q.transpose(1, 2)) / root
- return (v.transpose(1, 2) @ columns.softmax(1)).transpose(1, 2)
+ return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=None if divided else 1.0)
""")
