"""Exercise 10, question look: what the class token looks at."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import close


def map_reference(A, rows):
    """Patch by patch."""
    B, H, n_tokens, _ = A.shape
    maps = np.zeros((B, rows, (n_tokens - 1) // rows))
    for b, row, column in np.ndindex(maps.shape):
        maps[b, row, column] = sum(A[b, h, 0, 1 + row * maps.shape[2] + column] for h in range(H)) / H
    return maps / maps.sum(axis=(1, 2), keepdims=True)


def weights_of_heads(rng, grid=None, sharpness=1.0, batch=None):
    """Heads differ in how much of their weight goes to the class token; each other target looks at one source."""
    rows, columns, B, H = [*draw_sizes(rng, 2, (2, 3, 5)), *draw_sizes(rng, 2, (7, 11))]
    (rows, columns), (B, H) = grid or (rows, columns), batch or (B, H)
    n_tokens = rows * columns + 1
    scores = sharpness * rng.normal(size=(B, H, n_tokens))
    scores[..., 0] += 2 * rng.normal(size=(B, H)) + 1
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A = np.eye(n_tokens)[rng.integers(n_tokens, size=(B, H, n_tokens))]
    A[:, :, 0] = 0.9 * powers / powers.sum(axis=-1, keepdims=True) + 0.1 / n_tokens
    return A, rows


def ordinary_weights(rng):
    """Also one patch, a square grid, and as many images and heads as tokens."""
    grids = {"grid": (1, 1)}, {"grid": (3, 3)}, {"grid": (2, 2), "batch": (5, 5)}
    return [weights_of_heads(rng, **settings) for settings in ({}, {}, *grids)]


def nearly_alone(rng):
    """From image to image the class token gives its patches less, down to some trillionths."""
    A, rows = weights_of_heads(rng)
    A[:, :, 0, 1:] *= np.logspace(-1, -11, len(A))[:, None, None]
    A[:, :, 0, 0] = 1 - A[:, :, 0, 1:].sum(axis=2)
    return A, rows


def sharp_weights(rng):
    return [weights_of_heads(rng, sharpness=3.0), weights_of_heads(rng, sharpness=5.0), nearly_alone(rng)]


def what_a_map_depends_on(ask, rng):
    A, rows = weights_of_heads(rng)
    before = ask(A, rows)
    if slip := shape_slip(before, (len(A), rows, (A.shape[2] - 1) // rows)):
        return slip
    if not close(before.sum(axis=(1, 2)), np.ones(len(A))):
        return "The map of every image should sum to 1; yours does not."
    other_targets = A.copy()
    other_targets[:, :, 1:] = np.roll(A[:, :, 1:], 1, axis=3)
    if not close(ask(other_targets, rows), before):
        return "Only what the class token takes counts, but your map changes when other targets look elsewhere."
    if not close(ask(A[:, ::-1].copy(), rows), before):
        return "The heads in another order are the same heads, but your map changes."
    if not close(ask(A[1:2], rows), before[1:2]):
        return "An image alone must have the same map as in its batch, but yours differs."
    return None


QUESTION = Question(
    id="look",
    title="What the class token looks at",
    name="class_map",
    minutes=12,
    difficulty=2,
    checks=(
        equals("values", 6, ordinary_weights, map_reference),
        equals("sharp weights", 2, sharp_weights, map_reference),
        holds("what a map depends on", 4, what_a_map_depends_on),
    ),
    hints=(
        "Of the four axes of A, which is fixed by 'the class token', and which by 'takes from a patch'?",
        "Who asks is the target, and targets are the third axis here. Of the N + 1 sources only N are patches.",
        "There are two steps, mean and division, and their order matters: a head that gives the patches "
        "little shall also count for little. Every image is divided by its own sum.",
    ),
    section="what-the-class-token-looks-at",
    inputs=Inputs(
        lambda A, n: dict(zip("BHna", (*A.shape[:2], n, (A.shape[2] - 1) // n), strict=True)), alike=("values",)
    ),
)

right, wrong = answers_to(QUESTION)


@right
def mean_then_share(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    return (looks / looks.sum(axis=1)[:, None]).reshape(len(looks), rows, -1)


@right
def without_itself(A, rows):
    to_itself = A[:, :, 0, 0].mean(axis=1)
    looks = A[:, :, 0].mean(axis=1)[:, 1:] / (1 - to_itself)[:, None]
    looks = looks / looks.sum(axis=1, keepdims=True)  # what rounding has left over
    return np.stack([np.stack(np.split(line, rows)) for line in looks])


@right
def image_by_image(A, rows):
    maps = []
    for heads in A:
        total = sum(head[0, 1:] for head in heads)
        maps.append(np.reshape(total / np.sum(total), (rows, -1)))
    return np.array(maps)


@right
def as_often_written(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


wrong.edits("""
# as_often_written
## who_looks_at_the_class_token: You show which patches look at the class token; who asks is the third axis of A, and
the class token asks here.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, 1:, 0].mean(axis=1)
## class_token_kept: Your map sums to less than 1: it is divided by everything the class token takes, and a part of that
is its own.
- looks = A[:, :, 0, 1:].mean(axis=1)
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = A[:, :, 0].mean(axis=1)
+ looks = looks[:, 1:] / looks.sum(axis=1, keepdims=True)
## heads_divided_first: You divide each head by its own sum before you average; the mean over the heads comes first.
- looks = A[:, :, 0, 1:].mean(axis=1)
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = A[:, :, 0, 1:] / A[:, :, 0, 1:].sum(axis=2, keepdims=True)
+ looks = looks.mean(axis=1)
## one_head_only: Your map shows the first head alone; the mean over all heads is asked for.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, 0, 0, 1:]
## largest_head: You take the largest weight among the heads where their mean is asked for.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, 0, 1:].max(axis=1)
## mean_over_targets: You average over all targets; only what the class token takes counts.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, :, 1:].mean(axis=(1, 2))
## mean_over_patches_asking: You average what the patches take; the class token is target 0.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, 1:, 1:].mean(axis=(1, 2))
## batch_shares_one_sum: You divide by the sum over the whole batch; every image has its own.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / looks.sum()
## largest_becomes_one: You divide by the largest weight; the map is to sum to 1.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / looks.max(axis=1, keepdims=True)
## softmax_again: You put a softmax over weights that are weights already.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = np.exp(looks) / np.exp(looks).sum(axis=1, keepdims=True)
## stood_on_its_side: Your map lies on its side: the patches are numbered row by row.
- return looks.reshape(len(A), rows, -1)
+ return looks.reshape(len(A), -1, rows).swapaxes(1, 2)
## rows_for_columns: You take the number of rows for the number of columns.
- return looks.reshape(len(A), rows, -1)
+ return looks.reshape(len(A), -1, rows)
## last_patch_dropped: You drop the last source instead of the first; the class token is token 0.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, 0, :-1].mean(axis=1)
## last_target: You take the last target; the class token is the first.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, -1, 1:].mean(axis=1)
## heads_for_images: You average over the images of the batch and keep the heads.
- looks = A[:, :, 0, 1:].mean(axis=1)
+ looks = A[:, :, 0, 1:].mean(axis=0)
- return looks.reshape(len(A), rows, -1)
+ return looks.reshape(A.shape[1], rows, -1)
## one_minus_itself: You divide by 1 minus the weight of the class token itself; where that is nearly 1, hardly a digit
of the difference is left. Divide by the sum of what the patches get.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / (1 - A[:, :, 0, 0].mean(axis=1, keepdims=True))
## sum_with_epsilon: You add a small number to the sum; where the patches get hardly anything, it is not small any more.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / (looks.sum(axis=1, keepdims=True) + 1e-9)
## sum_kept_from_zero: You divide by a millionth at least; where the patches get less, your map does not sum to 1.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / np.maximum(looks.sum(axis=1, keepdims=True), 1e-6)
## one_minus_a_patch: You divide by 1 minus the weight of the first patch; what does not go to patches is the weight of
the class token.
- looks = looks / looks.sum(axis=1, keepdims=True)
+ looks = looks / (1 - looks[:, :1])
""")
