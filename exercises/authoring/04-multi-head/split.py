"""Exercise 04, question split: cut tokens into heads."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import shape_slip, varied

from .shared import IN_FLOAT32, heads_of_a_batch, tokens_to_split

ordinary_tokens = varied(tokens_to_split, {}, {}, {"B": 1}, dict.fromkeys("BHNK", 5))


small_tokens = varied(tokens_to_split, {"N": 1}, {"H": 1}, {"K": 1})


def pieces_of_tokens(q, n_heads):
    return torch.stack(q.chunk(n_heads, dim=-1), dim=1)


def one_token_in_every_head(ask, rng):
    B, H, N, K = heads_of_a_batch(rng)
    q = rng.normal(size=(B, N, H * K))
    heads = ask(q, H)
    if slip := shape_slip(heads, (B, H, N, K)):
        return slip
    b, n = int(rng.integers(B)), int(rng.integers(1, N))
    edited = q.copy()
    edited[b, n] += 1.0
    changed = ~np.isclose(ask(edited, H), heads, rtol=0, atol=IN_FLOAT32)
    tokens = np.flatnonzero(changed[b].any(axis=(0, 2)))
    if changed[[other for other in range(B) if other != b]].any():
        return f"After an edit of one sequence of the batch (number {b}) your heads of another sequence change."
    if list(tokens) != [n] or not changed[b, :, n].all():
        return f"After an edit of token {n} every head should change, and for that token only; yours do not."
    return None


def split_tokens(q, n_heads):
    return {"B": q.shape[0], "N": q.shape[1], "H": n_heads, "K": q.shape[2] // n_heads}


QUESTION = Question(
    id="split",
    title="Cut tokens into heads",
    name="split_heads",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 6, ordinary_tokens, pieces_of_tokens),
        equals("one token, one head, width one", 2, small_tokens, pieces_of_tokens),
        holds("a token is in every head", 2, one_token_in_every_head),
    ),
    hints=(
        "Write down which features of a token belong to head 0, which to head 1, for D = 6 and 3 heads.",
        "Two steps: one gives every token an inner table of heads, and moves no number in memory; the other "
        "changes the order of the axes.",
        "After the first step the axes are batch, token, head, feature of the head. Compare with the order "
        "that is asked for: which two have to change places?",
    ),
    section="the-reshape-trick",
    inputs=Inputs(split_tokens, alike=("values",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def reshape_then_transpose(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, n_heads, D // n_heads).transpose(1, 2)


@right
def cut_and_stack(q, n_heads):
    return torch.stack(q.split(q.shape[2] // n_heads, dim=2), dim=1)


@right
def entry_by_entry(q, n_heads):
    B, N, D = q.shape
    K = D // n_heads
    heads = torch.zeros(B, n_heads, N, K)
    for h in range(n_heads):
        heads[:, h] = q[:, :, h * K : (h + 1) * K]
    return heads


@wrong("You copy into a table of half precision and lose digits.")
def half_precision(q, n_heads):
    B, N, D = q.shape
    heads = torch.empty(B, n_heads, N, D // n_heads, dtype=torch.bfloat16)
    for h, part in enumerate(q.chunk(n_heads, dim=-1)):
        heads[:, h] = part
    return heads.float()


wrong.edits("""
# reshape_then_transpose
## poured_into_shape [the-mistake-that-keeps-every-shape]: You pour the numbers into the new shape in the order of
memory: a head gets whole pieces of other tokens.
- return q.reshape(B, N, n_heads, D // n_heads).transpose(1, 2)
+ return q.reshape(B, n_heads, N, D // n_heads)
## tokens_before_heads: Tokens still come before heads: one of the two steps is missing.
+ return q.reshape(B, N, n_heads, D // n_heads)
## every_h_th_feature: Your heads take every H-th feature of a token; give each K neighbouring ones.
+ return q.reshape(B, N, D // n_heads, n_heads).permute(0, 3, 1, 2)
## number_for_width: You take the number of heads for the width of a head.
+ return q.reshape(B, N, D // n_heads, n_heads).transpose(1, 2)
## tokens_in_columns: Within each head your tokens lie in columns; here a token is a row.
+ return q.reshape(B, N, n_heads, D // n_heads).permute(0, 2, 3, 1)
## all_axes_reversed: You turn round all four axes; only two of them have to change places.
+ return q.reshape(B, N, n_heads, D // n_heads).permute(3, 2, 1, 0)
## exchanged_before_cutting [the-mistake-that-keeps-every-shape]: You exchange axes before you cut: after that,
neighbours in memory are different tokens.
+ return q.transpose(1, 2).reshape(B, n_heads, N, D // n_heads)
## batch_poured [the-mistake-that-keeps-every-shape]: You mix the sequences of the batch: a reshape pours one into the
next.
+ return q.reshape(n_heads, B, N, D // n_heads).transpose(0, 1)

# cut_and_stack
## through_numpy: Your way leads through NumPy, and no gradient comes back: move the axes of the tensor itself.
- return torch.stack(q.split(q.shape[2] // n_heads, dim=2), dim=1)
+ array = q.detach().numpy()
+ return torch.from_numpy(np.stack(np.split(array, n_heads, axis=-1), axis=1))
## all_features_to_every_head [several-heads-at-once]: Every head gets all features of a token; it should get its own
part of them.
- return torch.stack(q.split(q.shape[2] // n_heads, dim=2), dim=1)
+ return q[:, None].repeat(1, n_heads, 1, 1)
## batch_folded_in: You fold batch and heads into one axis; keep them apart.
+ B, N, _ = q.shape
+ return q.reshape(B, N, n_heads, -1).transpose(1, 2).flatten(0, 1)
## heads_before_batch: You put the heads before the batch.
+ B, N, _ = q.shape
+ return q.reshape(B, N, n_heads, -1).permute(2, 0, 1, 3)
## cuts_the_sequence [the-mistake-that-keeps-every-shape]: You cut the sequence into stretches; each head should see
every token.
+ return torch.stack(q.tensor_split(n_heads, dim=1), dim=1)
""")
