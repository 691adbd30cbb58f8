"""Exercise 10, question occlusion: what an answer depends on."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import close


def log_share(image, y, W, b):
    scores = W @ image.reshape(-1) + b
    return scores[y] - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def occlusion_reference(images, y, s, grey, W, b):
    """Picture by picture, square by square."""
    B, rows, columns = images.shape
    costs = np.empty((B, rows // s * (columns // s)))
    for i, image in enumerate(images):
        whole = log_share(image, y[i], W, b)
        for n in range(costs.shape[1]):
            top, left = s * (n // (columns // s)), s * (n % (columns // s))
            covered = image.copy()
            covered[top : top + s, left : left + s] = grey
            costs[i, n] = whole - log_share(covered, y[i], W, b)
    return costs


def pictures(rng, sizes=None, scale=1.0, grey=None):
    s, B, down, across, labels = sizes or (int(rng.choice([2, 3])), 11, *draw_sizes(rng, 2, (5, 7)), 13)
    images = rng.normal(size=(B, s * down, s * across))
    images[:, ::2, ::2] = 0.0  # paper without ink is covered, too
    images[0, :s, :s] = 1.5  # and so is a patch of one colour
    W = scale * rng.normal(size=(labels, s * s * down * across))
    grey = rng.normal() if grey is None else grey
    return images, rng.integers(labels, size=B), s, float(grey), W, scale * rng.normal(size=labels)


def ordinary_pictures(rng):
    return [pictures(rng), pictures(rng, grey=0.0), pictures(rng, scale=30.0)]


def special_pictures(rng):
    """One picture, one patch, patches of one pixel, two labels, scores of magnitude 1e4, and equal sizes."""
    sizes = (2, 1, 2, 3, 5), (3, 5, 1, 1, 4), (1, 5, 3, 2, 4), (2, 5, 1, 3, 2), (2, 3, 3, 3, 3)
    return [*(pictures(rng, one) for one in sizes), pictures(rng, scale=1e4)]


def what_is_covered(ask, rng):
    images, y, s, grey, W, b = pictures(rng, (2, 5, 2, 3, 4))
    came = ask(images, y, s, grey, W, b)
    if slip := shape_slip(came, (5, 6)):
        return slip
    even = np.full_like(images, grey)
    if not close(ask(even, y, s, grey, W, b), np.zeros((5, 6))):
        return "In a picture that is grey all over, covering with that grey changes nothing; all costs should be 0."
    blind = W.copy().reshape(4, 4, 6)
    blind[:, :2, 4:] = 0.0
    costs = ask(images, y, s, grey, blind.reshape(4, -1), b)
    if not close(costs[:, 2], np.zeros(5)):
        return "A model that gives no weight to patch 2, the last of the first row, loses nothing there; yours does."
    return None


QUESTION = Question(
    id="occlusion",
    title="What an answer depends on",
    name="occlusion",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("values", 4, ordinary_pictures, occlusion_reference),
        equals("small, large and equal sizes", 2, special_pictures, occlusion_reference),
        holds("what is covered", 2, what_is_covered),
    ),
    hints=(
        "First a function for one batch: the log-probability of the right label, B numbers.",
        "Cover one patch in a copy of all pictures, ask again, subtract; once for each patch.",
        "Patch n stands in row n // across and column n % across of the grid, each s pixels wide. Subtract the "
        "largest score before np.exp, or the large cases overflow.",
    ),
    section="what-the-class-token-looks-at",
    inputs=Inputs(
        lambda images, y, s, grey, W, b: {
            "B": len(images),
            "s": s,
            "down": images.shape[1] // s,
            "across": images.shape[2] // s,
            "labels": len(W),
        },
        alike=("small, large and equal sizes",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def patch_by_patch(images, y, s, grey, W, b):
    rows = np.arange(len(images))

    def right_label(pictures):
        scores = pictures.reshape(len(pictures), -1) @ W.T + b
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))

    costs = []
    for top in range(0, images.shape[1], s):
        for left in range(0, images.shape[2], s):
            covered = images.copy()
            covered[:, top : top + s, left : left + s] = grey
            costs.append(right_label(images) - right_label(covered))
    return np.stack(costs, axis=1)


@right
def by_masks(images, y, s, grey, W, b):
    B, height, width = images.shape
    number = np.arange(height)[:, None] // s * (width // s) + np.arange(width) // s
    hidden = np.arange(number.max() + 1)[:, None, None] == number
    scores = np.where(hidden, grey, images[:, None]).reshape(B, len(hidden), -1) @ W.T + b
    whole = images.reshape(B, -1) @ W.T + b

    def log_probability(z, picked):
        z = z - z.max(axis=-1, keepdims=True)
        return np.take_along_axis(z, picked, axis=-1)[..., 0] - np.log(np.exp(z).sum(axis=-1))

    each = np.broadcast_to(y[:, None, None], (B, len(hidden), 1))
    return log_probability(whole, y[:, None])[:, None] - log_probability(scores, each)


@right
def by_differences(images, y, s, grey, W, b):
    B, height, width = images.shape
    maps, found = W.reshape(len(W), height, width), []
    before = np.einsum("brc,lrc->bl", images, maps) + b
    loss = np.logaddexp.reduce(before, axis=1) - before[np.arange(B), y]
    for n in range(height // s * (width // s)):
        i, j = (s * k for k in divmod(n, width // s))
        square = (slice(None), slice(i, i + s), slice(j, j + s))
        after = before + np.einsum("brc,lrc->bl", grey - images[square], maps[square])
        found.append(np.logaddexp.reduce(after, axis=1) - after[np.arange(B), y] - loss)
    return np.array(found).T


wrong.edits("""
# patch_by_patch
## sign_turned: Your differences have the wrong sign: what is lost is the whole less the covered.
- costs.append(right_label(images) - right_label(covered))
+ costs.append(right_label(covered) - right_label(images))
## probabilities: You subtract probabilities; their logarithms are asked for.
- return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))
+ return np.exp(scores[rows, y]) / np.exp(scores).sum(axis=1)
## scores_alone: You subtract scores; without the softmax a score that rises for all labels looks like a gain.
- scores = scores - scores.max(axis=1, keepdims=True)
- return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))
+ return scores[rows, y]
## best_label: You follow the label with the largest score; the right one is asked for.
- return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))
+ return -np.log(np.exp(scores).sum(axis=1))
## stays_covered: A patch stays covered when the next one is: at the end all of them are.
- covered = images.copy()
+ covered = covered if costs else images.copy()
## covered_with_zero: You cover with 0; the grey is an argument.
- covered[:, top : top + s, left : left + s] = grey
+ covered[:, top : top + s, left : left + s] = 0.0
## grey_added: You add the grey to the patch; let it replace what was there.
+ covered[:, top : top + s, left : left + s] += grey
## all_but_the_patch: You cover everything but the patch.
- covered = images.copy()
- covered[:, top : top + s, left : left + s] = grey
+ covered = np.full_like(images, grey)
+ covered[:, top : top + s, left : left + s] = images[:, top : top + s, left : left + s]
## patches_downwards: You number the patches downwards; they are counted row by row, as one reads.
- for top in range(0, images.shape[1], s):
-     for left in range(0, images.shape[2], s):
+ for left in range(0, images.shape[2], s):
+     for top in range(0, images.shape[1], s):
## one_pixel: You cover one pixel of each patch, its corner.
- covered[:, top : top + s, left : left + s] = grey
+ covered[:, top, left] = grey
## whole_rows: You cover whole rows of the picture; a patch is s pixels wide.
+ covered[:, top : top + s] = grey
## given_pictures_changed: You cover the pictures that you were given; they should stay as they are.
- covered = images.copy()
+ covered = images
## never_uncovered: You cover the pictures that you were given, and each patch stays covered: cover a new copy
each time.
- costs = []
+ costs, whole = [], right_label(images)
...
- covered = images.copy()
+ covered = images
...
- costs.append(right_label(images) - right_label(covered))
+ costs.append(whole - right_label(covered))
## share_of_zero: You take the logarithm of a share, which is rounded to 0 where its score is far below the largest;
take the score less the logarithm of the sum.
- return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))
+ return np.log((np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))[rows, y])
## small_number_added: You add a small number to the share before its logarithm: then no logarithm falls below that of
the small number. Take the score less the logarithm of the sum.
+ p = np.exp(scores)
+ return np.log((p / p.sum(axis=1, keepdims=True))[rows, y] + 1e-12)
## share_of_overflow: Your exponentials overflow: subtract the largest score first, and take no logarithm of a share.
- scores = scores - scores.max(axis=1, keepdims=True)
- return scores[rows, y] - np.log(np.exp(scores).sum(axis=1))
+ return np.log((np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))[rows, y])
## bias_left_out: The bias b is missing in the scores.
- scores = pictures.reshape(len(pictures), -1) @ W.T + b
+ scores = pictures.reshape(len(pictures), -1) @ W.T
## patches_in_rows: Your result is N×B, not B×N.
- return np.stack(costs, axis=1)
+ return np.stack(costs, axis=0)
## mean_grey_of_the_picture: You cover with the mean of each picture; the grey is an argument.
- covered[:, top : top + s, left : left + s] = grey
+ covered[:, top : top + s, left : left + s] = images.mean(axis=(1, 2))[:, None, None]
## ink_alone: You cover what is inked; pixels that are 0 belong to the patch, too.
+ square = covered[:, top : top + s, left : left + s]
+ square[square != 0] = grey
## one_colour_free: A patch of one colour costs nothing in yours; it does where the grey is another colour.
- covered[:, top : top + s, left : left + s] = grey
+ square = covered[:, top : top + s, left : left + s]
+ square[np.ptp(square, axis=(1, 2)) > (-1 if s == 1 else 0)] = grey
## overflow: Your exponentials overflow: subtract the largest score of each picture first.
- scores = scores - scores.max(axis=1, keepdims=True)
""")
