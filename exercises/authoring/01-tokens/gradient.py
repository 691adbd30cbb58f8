"""Exercise 01, question gradient: what comes back to the table, in PyTorch."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes


def draw(rng, sizes=None, scale=1.0):
    """ids (B × N), slopes (B × N × D) and V; some tokens come several times, some never, the last one among them."""
    B, N, D, V = sizes or draw_sizes(rng, 4)
    ids = rng.integers(0, max(2, V - 2), size=(B, N))
    ids[-1, -1] = ids[0, 0]
    return ids, scale * rng.normal(size=(B, N, D)), V


def batches(rng):
    return [draw(rng), draw(rng), draw(rng, sizes=(3, 3, 3, 3)), draw(rng, scale=1e4)]


def small_batches(rng):
    ids, slopes, V = draw(rng)
    many_unseen = ids, slopes, V + 12  # at the end of the vocabulary
    return [many_unseen, draw(rng, sizes=(5, 1, 4, 7)), draw(rng, sizes=(1, 11, 4, 6)), draw(rng, sizes=(1, 1, 1, 9))]


def table_gradient(ids, slopes, n_vocab):
    ids, slopes = torch.as_tensor(ids), torch.as_tensor(slopes)
    weight = torch.zeros(n_vocab, slopes.shape[-1], dtype=slopes.dtype, requires_grad=True)
    torch.nn.functional.embedding(ids, weight).backward(slopes)
    return weight.grad


def two_places_add_up(ask, rng):
    ids, slopes, V = draw(rng)
    first, second = slopes.copy(), slopes.copy()
    second[:, ::2], first[:, 1::2] = 0.0, 0.0
    parts, whole = [ask(ids, part, V) for part in (first, second)], ask(ids, slopes, V)
    if any(not isinstance(part, np.ndarray) or part.shape != (V, slopes.shape[-1]) for part in (*parts, whole)):
        return f"The result should have the shape {(V, slopes.shape[-1])}, a row for each id of the vocabulary."
    if not np.allclose(parts[0] + parts[1], whole, rtol=0, atol=1e-4):
        return "The slopes of half the positions and those of the other half should add up to the gradient of all."
    unseen = np.setdiff1d(np.arange(V), ids)
    return None if not whole[unseen].any() else "The row of a token that does not occur must be 0."


QUESTION = Question(
    id="gradient",
    title="What comes back to the table",
    name="table_gradient",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("values", 8, batches, table_gradient),
        equals("few tokens", 3, small_batches, table_gradient),
        holds("places add up", 3, two_places_add_up),
    ),
    hints=(
        "Which rows of the table did the text look up? What does the loss know of the others?",
        "Start from zeros, one row for each id, and walk through the text token by token. What happens at a "
        "token that you have met before?",
        "Without a loop: one of PyTorch's functions adds rows at given indices and minds repeated ones, and the "
        "product with one-hot rows does the same. Indexing with an addition does not.",
    ),
    section="only-what-was-seen-learns",
    inputs=Inputs(
        lambda ids, slopes, n_vocab: dict(zip("BND", slopes.shape, strict=True)) | {"V": n_vocab},
        alike=("values",),
        no_softmax="slopes come back to a table",
    ),
    how="tensors",
    forbids=("torch.Tensor.backward", "torch.autograd.grad"),
)

right, wrong = answers_to(QUESTION)


@right
def place_by_place(ids, slopes, n_vocab):
    grad = torch.zeros(n_vocab, slopes.shape[2])
    for row, sheet in zip(ids, slopes, strict=True):
        for i, slope in zip(row.tolist(), sheet, strict=True):
            grad[i] += slope
    return grad


@right
def product_with_one_hot_rows(ids, slopes, n_vocab):
    onehot = torch.nn.functional.one_hot(ids.flatten(), n_vocab).to(slopes.dtype)
    return onehot.T @ slopes.flatten(0, 1)


@right
def as_often_written(ids, slopes, n_vocab):
    flat, rows = ids.flatten(), slopes.flatten(0, 1)
    grad = torch.zeros(n_vocab, rows.shape[1])
    grad.index_add_(0, flat, rows)
    return grad


wrong.edits("""
# place_by_place
## later_text_overwrites: A later text of the batch overwrites what an earlier one has added for the same id.
- for i, slope in zip(row.tolist(), sheet, strict=True):
+ grad[row.unique()] = 0.0
+ for i, slope in zip(row.tolist(), sheet, strict=True):
## downhill: You return the step against the gradient, not the gradient.
- grad[i] += slope
+ grad[i] -= slope
## places_counted: You count each token's positions and leave the slopes unused; that is right only where all are 1.
+ grad[i] += 1.0
## first_sequence_only: You read the first sequence of the batch and leave out the others.
- for row, sheet in zip(ids, slopes, strict=True):
+ for row, sheet in zip(ids[:1], slopes[:1], strict=True):
## counted_from_one: You count the ids from 1, so every slope goes to the row of a neighbour.
- grad[i] += slope
+ grad[i - 1] += slope
## slopes_changed: You write into the slopes that came in.
- for row, sheet in zip(ids, slopes, strict=True):
+ slopes *= 1.5
+ for row, sheet in zip(ids, slopes / 1.5, strict=True):

## counted_once_a_text: An id that comes twice in a text is counted once there: an addition at an index does not add
repeats up.
- for i, slope in zip(row.tolist(), sheet, strict=True):
-     grad[i] += slope
+ grad[row] += sheet

# product_with_one_hot_rows
## in_columns [columns-or-rows]: Your result has a column for each token; the table of PyTorch has a row.
- return onehot.T @ slopes.flatten(0, 1)
+ return (onehot.T @ slopes.flatten(0, 1)).T
## at_the_places: You return a row for each position; return one for each id of the vocabulary.
+ return onehot @ (onehot.T @ slopes.flatten(0, 1))
## only_seen_rows: You return rows only for tokens that occur; the gradient is as large as the table.
+ return (onehot.T @ slopes.flatten(0, 1))[ids.unique()]

# as_often_written
## repeats_lost: You keep one position of a token that comes twice; an addition at an index does not add repeats up.
- grad.index_add_(0, flat, rows)
+ grad[flat] += rows
## mean_of_the_places: You take the mean over the positions of a token; add their slopes up.
- return grad
+ return grad / torch.bincount(flat, minlength=n_vocab).clamp(min=1)[:, None]
## mean_of_the_batch: You divide by the number of sequences; a mean in the loss is in its slopes already.
+ return grad / len(ids)
## table_too_short: Your table ends at the largest id of the text; the vocabulary is larger.
- grad = torch.zeros(n_vocab, rows.shape[1])
+ grad = torch.zeros(int(ids.max()) + 1, rows.shape[1])
## unseen_rows_move: Your rows of unseen tokens are not 0, though the loss does not depend on them.
- return grad
+ return grad + rows.mean(0)
""")
