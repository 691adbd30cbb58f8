"""Exercise 04, question join: join heads into tokens."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, shape_slip, varied

from .shared import IN_FLOAT32, arrays_of_heads, heads_of_a_batch, tokens_to_split


def merge_heads(y):
    return torch.cat(y.unbind(1), dim=-1)


def heads_to_join(rng, **given):
    return (rng.normal(size=heads_of_a_batch(rng, **given)),)


ordinary_heads = varied(heads_to_join, {}, {}, {"B": 1}, dict.fromkeys("BHNK", 5))


small_heads = varied(heads_to_join, {"N": 1}, {"H": 1}, {"K": 1})


def undoes_the_split(ask, rng):
    q, H = tokens_to_split(rng)
    joined = ask(arrays_of_heads(q, H))
    if slip := shape_slip(joined, q.shape):
        return slip
    if not close(joined, q, IN_FLOAT32):
        return "Tokens that were split and then joined by your function are not the tokens they were."
    if (joined != q.astype(np.float32)).any():
        return "Tokens that were split and then joined by your function have lost their last digits."
    return None


QUESTION = Question(
    id="join",
    title="Join heads into tokens",
    name="merge_heads",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("values", 4, ordinary_heads, merge_heads),
        equals("one token, one head, width one", 2, small_heads, merge_heads),
        holds("undoes the split", 2, undoes_the_split),
    ),
    hints=(
        "You have split tokens. Which was your last step? The way back begins by undoing it.",
        "Two axes can be glued together only when they are neighbours, and in the right order.",
        "Before gluing, the numbers of one token have to lie next to one another: head after head, within each token.",
    ),
    section="the-reshape-trick",
    inputs=Inputs(axes("BHNK"), alike=("values",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def transpose_then_reshape(y):
    B, H, N, K = y.shape
    return y.transpose(1, 2).reshape(B, N, H * K)


@right
def heads_side_by_side(y):
    return torch.cat([y[:, h] for h in range(y.shape[1])], dim=-1)


@right
def into_an_empty_table(y):
    B, H, N, K = y.shape
    tokens = torch.empty(B, N, H * K)
    for h in range(H):
        tokens[:, :, h * K : (h + 1) * K] = y[:, h]
    return tokens


wrong.edits("""
# transpose_then_reshape
## glued_without_exchange [the-mistake-that-keeps-every-shape]: You glue without exchanging axes first: a token gets
pieces of other tokens, later ones among them.
- return y.transpose(1, 2).reshape(B, N, H * K)
+ return y.reshape(B, N, H * K)
## alternating_heads: Your features alternate between the heads; each head's K numbers should stay neighbours.
+ return y.permute(0, 2, 3, 1).reshape(B, N, H * K)
## along_the_sequence [concatenate-then-project]: You lay the heads end to end along the sequence; they belong side by
side along the features.
+ return y.reshape(B, H * N, K)
## folded_batch: You fold batch and tokens into one axis; keep them apart.
+ return y.transpose(1, 2).reshape(B * N, H * K)
## tokens_before_batch: You put tokens before the batch.
+ return y.permute(2, 0, 1, 3).reshape(N, B, H * K)
## batch_mixed [the-mistake-that-keeps-every-shape]: You move the tokens in front of the batch and pour them back:
sequences of the batch get mixed.
+ return y.permute(2, 0, 1, 3).reshape(B, N, H * K)
## heads_for_features: You exchange heads with features; it is heads and tokens that have to change places.
+ return y.transpose(1, 3).reshape(B, N, H * K)
## all_four_reversed: You turn round all four axes, and the batch with them.
+ return y.permute(3, 2, 1, 0).reshape(B, N, H * K)
## joined_in_columns: Your tokens lie in columns; here a token is a row.
+ return y.transpose(2, 3).reshape(B, H * K, N)

## last_digits_lost: Your way changes the last digits; joining only moves numbers.
+ return (y / 3 * 3 + 1 - 1).transpose(1, 2).reshape(B, N, H * K)

# heads_side_by_side
## through_numpy: Your way leads through NumPy, and no gradient comes back: move the axes of the tensor itself.
- return torch.cat([y[:, h] for h in range(y.shape[1])], dim=-1)
+ return torch.from_numpy(np.concatenate(list(y.detach().numpy().swapaxes(0, 1)), axis=-1))
## added_up [concatenate-then-project]: You add the heads up; they are to stand side by side, before any output matrix.
- return torch.cat([y[:, h] for h in range(y.shape[1])], dim=-1)
+ return y.sum(dim=1)
## averaged [concatenate-then-project]: You average the heads; they are to stand side by side.
+ return y.mean(dim=1)
## not_glued: The axes are in order, but the heads are not glued together yet.
+ return y.transpose(1, 2)
## first_head_only [concatenate-then-project]: Only the first head is left.
+ return y[:, 0]
""")
