"""Exercise 03, question equivariance: Stretch: repair the museum piece."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import scaled, shape_slip, varied
from clearcheck.author.torch_checks import equal_in_float32
from clearcheck.worker.forbidden_names import ATTENTION

from .shared import LARGE, far_apart, scores_of_rows, tokens_and_maps


def repaired_attention(x, W_q, W_k, W_v):
    x, W_q, W_k, W_v = (given.double() for given in (x, W_q, W_k, W_v))
    scores = x @ W_q @ (x @ W_k).T / W_q.shape[1] ** 0.5
    return (torch.softmax(scores, dim=-1) @ x @ W_v).float()


ordinary_rows = varied(tokens_and_maps, {}, {}, {"n_tokens": 1}, {"sizes": (7, 4, 1, 9)}, {"sizes": (5, 5, 5, 5)})


def large_rows(rng):
    return [*scaled(tokens_and_maps, 5.0, 100.0)(rng), far_apart(rng)]


def no_exchange(ask, x, *maps):
    """A sentence when tokens do not look at each other: such a function has every property below for free."""
    y = ask(x, *maps)
    if slip := shape_slip(y, (len(x), maps[2].shape[1])):
        return slip
    edited = x.copy()
    edited[0, -1] += 1.0
    if equal_in_float32(ask(edited, *maps)[1:], y[1:]):
        return "An edit of token 0 must reach the other tokens' outputs, but yours stay as they were."
    if equal_in_float32(y, np.repeat(y[:1], len(x), axis=0)):
        return "Different tokens ask different questions, but all your outputs are the same."
    return None


def follows_the_order(ask, rng):
    x, *maps = tokens_and_maps(rng)
    if slip := no_exchange(ask, x, *maps):
        return slip
    order = np.roll(np.arange(len(x)), int(rng.integers(1, len(x))))
    if not equal_in_float32(ask(x[order], *maps), ask(x, *maps)[order]):
        return "With the rows of x in another order your outputs are not the same ones in that order."
    return None


def averages_ones_to_one(ask, rng):
    x, W_q, W_k, W_v = tokens_and_maps(rng)
    x[:, 0], W_v[:, 0] = 1.0, np.eye(len(W_v))[0]
    if slip := no_exchange(ask, x, W_q, W_k, W_v):
        return slip
    ones = ask(x, W_q, W_k, W_v)[:, 0]
    if not equal_in_float32(ones, np.ones(len(x))):
        worst = ones[np.argmax(np.abs(ones - 1))]
        return f"Every token has a 1 in feature 0, so every average has one too; yours gives {worst:.4g}."
    return None


def ignores_copies(ask, rng):
    x, *maps = tokens_and_maps(rng)
    if slip := no_exchange(ask, x, *maps):
        return slip
    y = ask(x, *maps)
    twice = ask(np.concatenate([x, x]), *maps)
    if not equal_in_float32(twice, np.concatenate([y, y])):
        return "With every token in the sequence twice, each average stays what it was; your outputs change."
    return None


QUESTION = Question(
    id="equivariance",
    title="Stretch: repair the museum piece",
    name="repaired_attention",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        equals("values", 6, ordinary_rows, repaired_attention),
        equals("large scores", 2, large_rows, repaired_attention, atol=LARGE),
        holds("another order", 4, follows_the_order),
        holds("average of ones", 3, averages_ones_to_one),
        holds("every token twice", 3, ignores_copies),
    ),
    hints=(
        "Each of the three experiments is upset by something else. Go through the lines one by one and ask: does this "
        "line know which number belongs to which token?",
        "A right shape is no proof: print keys and what the museum makes of it for a 3 × 2 table of the numbers 0 to "
        "5. Does token 0 still have its own numbers?",
        "Then two questions are left. Do the weights of one target sum to 1? Does any factor depend on how many tokens "
        "there are, and should it?",
    ),
    section="permutation-equivariance",
    inputs=Inputs(axes("ND", "DK", "DK", "DV"), scores_of_rows, alike=("values",)),
    how="tensors",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
def three_repairs(x, W_q, W_k, W_v):
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    width = keys.shape[1]
    table = queries @ keys.mT / width**0.5
    A = torch.softmax(table, dim=-1)
    return A @ values


@right
def written_anew(x, W_q, W_k, W_v):
    table = torch.einsum("nd,dk,ek,se->ns", x, W_q, W_k, x) * W_k.shape[1] ** -0.5
    return table.softmax(1) @ x @ W_v


@right
def token_by_token(x, W_q, W_k, W_v):
    outputs = []
    for asking in x:
        row = (x @ W_k) @ (asking @ W_q) / W_q.shape[1] ** 0.5
        powers = torch.exp(row - row.max())
        outputs.append(powers @ (x @ W_v) / powers.sum())
    return torch.stack(outputs)


@wrong("This is the museum piece as it stood: all three experiments still go wrong.")
def as_exhibited(x, W_q, W_k, W_v):
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    tokens, width = keys.shape
    table = queries @ keys.reshape(width, tokens) / tokens**0.5
    return torch.softmax(table, dim=0) @ values


@wrong("The scale is repaired; the tokens are still mixed up, and the softmax still has the wrong axis.")
def only_scale_repaired(x, W_q, W_k, W_v):
    queries, keys, values = x @ W_q, x @ W_k, x @ W_v
    tokens, width = keys.shape
    table = queries @ keys.reshape(width, tokens) / width**0.5
    return torch.softmax(table, dim=0) @ values


wrong.edits("""
# three_repairs
## only_transpose_repaired [where-the-softmax-goes]: The tokens keep their numbers now; the softmax has the wrong axis,
and the sharpness depends on the length.
- width = keys.shape[1]
- table = queries @ keys.mT / width**0.5
- A = torch.softmax(table, dim=-1)
+ table = queries @ keys.mT / len(keys) ** 0.5
+ A = torch.softmax(table, dim=0)
## sorted_tokens: You sort the tokens first: now the order of the input is lost instead of followed.
- queries, keys, values = x @ W_q, x @ W_k, x @ W_v
+ x = x[x[:, 0].argsort()]
+ queries, keys, values = x @ W_q, x @ W_k, x @ W_v
## softmax_still_wrong [where-the-softmax-goes]: One slip is left: the weights of one target do not sum to 1, so outputs
are not averages.
- A = torch.softmax(table, dim=-1)
+ A = torch.softmax(table, dim=0)
## softmax_over_everything [where-the-softmax-goes]: The softmax runs over the whole table, so that all targets share
one weight of 1.
+ A = torch.softmax(table.flatten(), dim=0).reshape(table.shape)
## no_maximum [where-the-softmax-goes]: Your exponentials overflow: subtract the largest score of each target first, or
call `softmax`.
+ A = torch.exp(table) / torch.exp(table).sum(dim=-1, keepdim=True)
## only_softmax_repaired: The softmax is repaired; the tokens are still mixed up, and the sharpness still depends on the
length.
- width = keys.shape[1]
- table = queries @ keys.mT / width**0.5
+ tokens, width = keys.shape
+ table = queries @ keys.reshape(width, tokens) / tokens**0.5
## tokens_still_mixed: One slip is left: a line changes which number belongs to which token and keeps the shape right.
+ tokens, width = keys.shape
+ table = queries @ keys.reshape(width, tokens) / width**0.5
## scale_still_wrong [why-divide-by-the-square-root-of-k]: One slip is left: the weights get flatter when the sequence
gets longer.
+ table = queries @ keys.mT / len(keys) ** 0.5
## root_of_token_width [why-divide-by-the-square-root-of-k]: You take the root of the tokens' width; a score sums over
the width of a query.
+ table = queries @ keys.mT / x.shape[1] ** 0.5
## scale_removed [why-divide-by-the-square-root-of-k]: The scale is gone: nothing depends on the length any more, but
the scores grow with their width.
+ table = queries @ keys.mT
## queries_and_keys_swapped [query-on-the-column-or-on-the-row]: Queries and keys have swapped places; no permutation
shows it, but comparing values does.
+ table = keys @ queries.mT / keys.shape[1] ** 0.5
## causal [the-causal-mask]: You hide later tokens, which then depends on the order; no mask is asked for.
- A = torch.softmax(table, dim=-1)
+ hidden = torch.ones(table.shape).triu(1).bool()
+ A = torch.softmax(table.masked_fill(hidden, -torch.inf), dim=-1)
## plain_mean [values]: Your outputs are all alike: a plain mean follows every order, but is not attention.
- return A @ values
+ return values.mean(dim=0, keepdim=True).repeat(len(x), 1)
## own_value [values]: Every token gets its own value back: that follows every order, but no token looks at another.
+ return values
""")
