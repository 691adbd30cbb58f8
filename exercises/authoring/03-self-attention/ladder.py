"""Exercise 03, question ladder: query–key scores."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shape_slip
from clearcheck.author.torch_checks import equal_in_float32
from clearcheck.grading.replies import CLOSE_IN_FLOAT32


def query_key_scores(x, W_q, W_k):
    x, W_q, W_k = (given.double() for given in (x, W_q, W_k))
    return torch.einsum("nd,dk,ek,se->ns", x, W_q, W_k, x).float()


def tokens_and_two_maps(rng):
    cases = []
    for n_tokens, width in ((None, None), (None, None), (1, None), (5, 5), (None, 1)):
        D, N, K = (5, 5, 5) if n_tokens == 5 else draw_sizes(rng, 3)
        N, K = n_tokens or N, width or K
        W_q, W_k = (rng.normal(size=(D, K)) / np.sqrt(D * np.sqrt(K)) for _ in range(2))
        cases.append((rng.normal(size=(N, D)), W_q, W_k))
    return cases


def huge_tokens(rng):
    x, W_q, W_k = tokens_and_two_maps(rng)[0]
    return [(100 * x, W_q, W_k), (x, 1e4 * W_q, W_k)]


def who_asks(ask, rng):
    D, N, K = draw_sizes(rng, 3)
    target, source = (int(token) for token in rng.choice(N, 2, replace=False))
    x, W_q, W_k = np.zeros((N, D)), np.zeros((D, K)), np.zeros((D, K))
    x[target, 0] = x[source, 1] = W_q[0, 0] = W_k[1, 0] = 1.0
    scores = ask(x, W_q, W_k)
    if slip := shape_slip(scores, (N, N)):
        return slip
    expected = np.zeros((N, N))
    expected[target, source] = 1.0
    if equal_in_float32(scores, expected):
        return None
    found = [tuple(int(i) for i in index) for index in np.argwhere(np.abs(scores) > CLOSE_IN_FLOAT32)]
    if found == [(target, source)]:
        value = f"{scores[target, source]:.4g}"
        return f"The one score that is not 0 stands in the right place, but {value} is not the dot product there."
    shown = "nowhere" if not found else f"at {found[0]}" if len(found) == 1 else f"at {len(found)} places"
    return (
        f"Only token {target} has a query and only token {source} has a key, so exactly one score is not 0 "
        f"and it stands in the row of the token that asks; your scores are non-zero {shown}."
    )


QUESTION = Question(
    id="ladder",
    title="Query–key scores",
    name="query_key_scores",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 6, tokens_and_two_maps, query_key_scores),
        equals("large tokens", 2, huge_tokens, query_key_scores),
        holds("who asks whom", 4, who_asks),
    ),
    hints=(
        "Make the two tables first, one with all queries and one with all keys, and write down both shapes.",
        "Every entry is a dot product of one row of the first table with one row of the second. Which of the two does "
        "the row number of the result belong to?",
        "A matrix product takes rows from its left factor and columns from its right factor. One of your two tables "
        "has to turn its rows into columns.",
    ),
    section="the-ladder-of-scores",
    inputs=Inputs(axes("ND", "DK", "DK"), alike=("values",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def tables_then_product(x, W_q, W_k):
    queries, keys = x @ W_q, x @ W_k
    return queries @ keys.mT


@right
def sum_over_width(x, W_q, W_k):
    return torch.einsum("nk,sk->ns", torch.einsum("nd,dk->nk", x, W_q), torch.einsum("sd,dk->sk", x, W_k))


@right
def one_matrix_between(x, W_q, W_k):
    return x @ (W_q @ W_k.T) @ x.T


@right
def pair_by_pair(x, W_q, W_k):
    rows = []
    for asking in x:
        rows.append(torch.stack([torch.dot(asking @ W_q, looked_at @ W_k) for looked_at in x]))
    return torch.stack(rows)


wrong.edits("""
# tables_then_product
## cosine: You divide by the lengths of the vectors: a cosine forgets how long queries and keys are.
- return queries @ keys.mT
+ return queries / queries.norm(dim=1, keepdim=True) @ (keys / keys.norm(dim=1, keepdim=True)).mT
## half_precision: You compute in half precision and lose most of the digits of the tokens that came.
+ return (queries.bfloat16() @ keys.bfloat16().mT).float()
## causal [the-causal-mask]: You leave out the sources after the target; this question asks for the scores of all pairs.
+ return (queries @ keys.mT).tril()
## query_on_the_column [query-on-the-column-or-on-the-row]: The roles are swapped: your query is on the column; with
tokens in rows it belongs on the row.
+ return keys @ queries.mT
## elementwise: You multiply number by number and add up: every token is compared with itself alone.
+ return (queries * keys).sum(dim=1)
## cut_off: No gradient comes back to tokens and maps: leave `detach` and NumPy out.
+ return (queries @ keys.mT).detach()

# sum_over_width
## first_rung: You compare the tokens themselves: this is the first rung, and W_q and W_k play no part.
- return torch.einsum("nk,sk->ns", torch.einsum("nd,dk->nk", x, W_q), torch.einsum("sd,dk->sk", x, W_k))
+ return x @ x.mT
## queries_only: You use W_q for both roles: this is the second rung, so your scores are symmetric.
+ return (x @ W_q) @ (x @ W_q).mT
## keys_only: You use W_k for both roles: this is the second rung, so your scores are symmetric.
+ return (x @ W_k) @ (x @ W_k).mT
## sum_of_maps: You add the two maps into one: every token gets a single projection, so your scores are symmetric.
+ both = x @ (W_q + W_k)
+ return both @ both.mT
## both_directions: You average the scores of both directions, which makes them symmetric again.
+ one_way = (x @ W_q) @ (x @ W_k).mT
+ return (one_way + one_way.mT) / 2
## scaled_too_early [why-divide-by-the-square-root-of-k]: You divide the scores by a square root; this question asks for
plain dot products.
+ return (x @ W_q) @ (x @ W_k).mT / W_q.shape[1] ** 0.5
## softmax_included [where-the-softmax-goes]: You return weights: the softmax belongs to the next step.
+ return torch.softmax((x @ W_q) @ (x @ W_k).mT, dim=-1)
## features_against_features [query-on-the-column-or-on-the-row]: This is the product for tokens in columns; with tokens
in rows it pairs features with features.
+ return (x @ W_q).mT @ (x @ W_k)
## no_transpose: Two neighbours in your product have different inner sizes; one has to be transposed.
+ return (x @ W_q) @ (x @ W_k)
## maps_turned [with-a-token-in-a-row]: You turn the maps round; those of this question stand to the right of a row as
they are, x @ W_q.
+ return (x @ W_q.mT) @ (x @ W_k.mT).mT
## maps_on_the_left [with-a-token-in-a-row]: You multiply with the maps on the left, as for tokens in columns; here they
stand to the right of a row.
+ return (W_q @ x) @ (W_k @ x).mT
## reshaped_keys: You reshape the keys, which mixes the numbers of different tokens; transpose them instead.
+ keys = x @ W_k
+ return (x @ W_q) @ keys.reshape(keys.shape[1], keys.shape[0])
""")
