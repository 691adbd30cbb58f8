"""Exercise 04, question low-rank: a head as two matrices, made of stored weights."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shapes_slip
from clearcheck.author.torch_checks import equal_in_float32


def two_matrices(query, key, value, out, n_heads):
    q, k, v, o = (given.double().chunk(n_heads) for given in (query, key, value, out.T))
    where = [one.T @ other for one, other in zip(q, k, strict=True)]
    what = [one.T @ other for one, other in zip(o, v, strict=True)]
    return torch.stack(where).float(), torch.stack(what).float()


def stored_weights(rng, D=None, H=None, K=None):
    """Three maps from D to H·K, and one back, as nn.Linear keeps them; as wide as the tokens where no D is given."""
    drawn = draw_sizes(rng, 3)
    K, H = K or drawn[0], H or drawn[1]
    D = D or H * K
    maps = [rng.normal(size=(H * K, D)) / np.sqrt(D) for _ in range(3)]
    return *maps, rng.normal(size=(D, H * K)) / np.sqrt(K), H


def usual_width(rng):
    return [stored_weights(rng) for _ in range(2)]


def other_width(rng):
    drawn = stored_weights(rng, D=draw_sizes(rng, 1, (8, 14, 15))[0])
    narrow = [stored_weights(rng, D=7, H=H, K=6 // H) for H in (2, 1, 6)]
    return [drawn, *narrow, stored_weights(rng, D=5, H=5, K=5)]


def thin_and_together(ask, rng):
    *maps, out, H = stored_weights(rng)
    D, K = len(out), len(out) // H
    came = ask(*maps, out, H)
    if slip := shapes_slip(came, [(H, D, D), (H, D, D)]):
        return slip
    where, what = came
    for matrices, does in ((where, "says where a head looks"), (what, "says what it takes along")):
        ranks = [int(np.linalg.matrix_rank(one, tol=1e-3)) for one in matrices]
        if max(ranks) > K:
            return (
                f"What {does} goes through {K} numbers of a token, so its rank is {K} at most; one of yours has "
                f"{max(ranks)}."
            )
    query, key, value = maps
    x, y = rng.normal(size=(2, D))
    if not equal_in_float32(x @ where.sum(axis=0) @ y, (query @ x) @ (key @ y)):
        return "The scores of all heads together are the product of the whole query and the whole key; yours are not."
    if not equal_in_float32(what.sum(axis=0) @ x, out @ (value @ x)):
        return (
            "When all heads look at one and the same token, together they give what the stored weights make of it in "
            "one go; the sum of your matrices does not."
        )
    return None


def stored_maps(query, key, value, out, n_heads):
    K = out.shape[1] // n_heads
    return {"H": n_heads, "K": K} | ({} if len(out) == n_heads * K else {"D": len(out)})


QUESTION = Question(
    id="low-rank",
    title="A head is two matrices",
    name="two_matrices",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("heads as wide as the token", 3, usual_width, two_matrices),
        equals("where a head looks", 3, other_width, two_matrices, parts=(0,)),
        equals("what it takes along", 3, other_width, two_matrices, parts=(1,)),
        holds("thin, and together the whole", 3, thin_and_together),
    ),
    hints=(
        "Begin with one head: which rows of `query`, `key` and `value` make its numbers, and which part of `out` "
        "multiplies them?",
        "Write the score of two tokens with the K × D matrices of that head, and multiply out. Which two matrices meet "
        "in the middle, and which of them is transposed?",
        "Read the second product from right to left, as a token meets it: first D numbers become K, then K become D.",
    ),
    section="a-head-is-two-matrices-of-low-rank",
    inputs=Inputs(stored_maps, alike=("where a head looks", "what it takes along")),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def cut_by_slices(query, key, value, out, n_heads):
    width = out.shape[1] // n_heads
    where, what = [], []
    for h in range(n_heads):
        mine = slice(h * width, (h + 1) * width)
        where.append(query[mine].T @ key[mine])
        what.append(out[:, mine] @ value[mine])
    return torch.stack(where), torch.stack(what)


@right
def by_letters(query, key, value, out, n_heads):
    q, k, v = (W.unflatten(0, (n_heads, -1)) for W in (query, key, value))
    where = torch.einsum("hkd,hke->hde", q, k)
    return where, torch.einsum("dhk,hke->hde", out.unflatten(1, (n_heads, -1)), v)


@right
def by_chunks(query, key, value, out, n_heads):
    Q, K, V = (torch.stack(W.chunk(n_heads)) for W in (query, key, value))
    O = torch.stack(out.chunk(n_heads, dim=1))  # noqa: E741
    where = Q.mT @ K
    what = O @ V
    return where, what


wrong.edits("""
# cut_by_slices
## scores_turned: Your first matrices lie on their sides: the token that asks stands to
the left, so its query comes first.
- where.append(query[mine].T @ key[mine])
+ where.append(key[mine].T @ query[mine])
## divided_by_the_root: You divide by the root of K; the scores of this question are not divided.
+ where.append(query[mine].T @ key[mine] / width**0.5)
## queries_alone: You multiply the queries with themselves; a score compares them with keys.
+ where.append(query[mine].T @ query[mine])
## queries_with_values: You multiply queries with values; a score compares them with keys.
+ where.append(query[mine].T @ value[mine])
## small_scores: Your first matrices are K × K: the width of a head is what the product sums away.
+ where.append(query[mine] @ key[mine].T)
## what_is_turned [concatenate-then-project]: Your second matrices lie on their sides: like V_h in the formulas they
stand to the left of a column.
- what.append(out[:, mine] @ value[mine])
+ what.append((out[:, mine] @ value[mine]).T)
## small_values: Your second matrices are K × K: the product is the wrong way round.
+ what.append(value[mine] @ out[:, mine])
## keys_taken_along: A head takes its values along, not its keys.
+ what.append(out[:, mine] @ key[mine])
## output_cut_by_rows [concatenate-then-project]: You cut the output matrix by rows; a head's K numbers meet its
columns.
+ what.append(out[mine].T @ value[mine])
## exchanged: You return the two in the other order: where a head looks comes first.
- return torch.stack(where), torch.stack(what)
+ return torch.stack(what), torch.stack(where)
## values_alone: You return what the heads take along, and not where they look.
+ return torch.stack(what)
## lists: You return two lists; make a tensor of each.
+ return where, what
## width_from_the_token [what-heads-cost]: You find the width of a head by dividing that of a token; here the heads
together may be wider or narrower.
- width = out.shape[1] // n_heads
+ width = len(out) // n_heads

# by_chunks
## whole_product_for_each: Every head gets the whole product; that is what all heads have together.
- where = Q.mT @ K
- what = O @ V
+ where = torch.stack([query.mT @ key] * n_heads)
+ what = torch.stack([out @ value] * n_heads)
## one_matrix_for_all: You return one matrix for all heads; return one for each.
+ where = query.mT @ key
+ what = out @ value
## output_poured [the-mistake-that-keeps-every-shape]: You pour the output matrix into the shape of the heads: a reshape
cannot move the axis of heads to the front.
- O = torch.stack(out.chunk(n_heads, dim=1))  # noqa: E741
+ O = out.reshape(n_heads, len(out), -1)  # noqa: E741
## every_h_th_row [the-reshape-trick]: Your heads own every H-th row; they should own K neighbours.
- Q, K, V = (torch.stack(W.chunk(n_heads)) for W in (query, key, value))
+ Q, K, V = (torch.stack([W[h::n_heads] for h in range(n_heads)]) for W in (query, key, value))
""")
