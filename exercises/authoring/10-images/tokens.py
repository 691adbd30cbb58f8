"""Exercise 10, question tokens: repair the museum piece: tokens of an image."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, draw_sizes, shape_slip
from clearformer.reference import tokens

from .shared import close


def tokens_reference(images, s, W, b, c, P):
    def one(image):
        patches = W @ tokens.patches(image, s) + b[:, None]
        return np.concatenate([c[:, None], patches], axis=1).T + P

    return np.stack([one(image) for image in images])


def picture_sizes(rng):
    """Side of a patch, and batch, channels, rows and columns of patches, width; none divides another."""
    s = int(rng.choice([2, 3]))
    return s, *draw_sizes(rng, 1, (11, 17)), *draw_sizes(rng, 3, (3 if s == 2 else 2, 5, 7)), 13


def tokens_arguments(rng, n_images=None, one_patch=False, scale=1.0, sizes=None):
    s, B, C, down, across, D = sizes or picture_sizes(rng)
    B, down, across = n_images or B, 1 if one_patch else down, 1 if one_patch else across
    images = scale * rng.normal(size=(B, C, down * s, across * s))
    W = rng.normal(size=(D, C * s * s)) / np.sqrt(C * s * s)
    return images, s, W, rng.normal(size=D), rng.normal(size=D), rng.normal(size=(down * across + 1, D))


def ordinary_pictures(rng):
    return [tokens_arguments(rng), tokens_arguments(rng), tokens_arguments(rng, scale=1e4)]


def special_pictures(rng):
    """One image, one patch, as many images as tokens, and patches of one pixel in images that are 3 in all respects."""
    smallest = tokens_arguments(rng, n_images=1), tokens_arguments(rng, one_patch=True)
    return [*smallest, *(tokens_arguments(rng, sizes=sizes) for sizes in ((2, 5, 2, 2, 2, 8), (1, 3, 3, 3, 3, 3)))]


def painted_square(ask, rng):
    images, s, *rest = tokens_arguments(rng)
    before = ask(images, s, *rest)
    if slip := shape_slip(before, (len(images), len(rest[-1]), len(rest[0]))):
        return slip
    across = images.shape[3] // s
    row, column, image = 1, 1, 3
    painted = images.copy()
    painted[image, :, row * s : (row + 1) * s, column * s : (column + 1) * s] += 1.0
    moved = (np.abs(ask(painted, s, *rest) - before) > CLOSE).any(axis=2)
    if moved[np.arange(len(images)) != image].any():
        return "One square of one image was painted, and tokens of another image change."
    if moved[image].sum() != 1:
        return f"One square was painted, which is one patch; {int(moved[image].sum())} of your tokens change."
    if not moved[image, 1 + row * across + column]:
        return (
            f"The square in row {row} and column {column} was painted, counted from 0; your token "
            f"{int(np.flatnonzero(moved[image])[0])} changes, and patches are numbered row by row, from 1."
        )
    return None


def what_the_places_add(ask, rng):
    images, s, W, b, c, P = tokens_arguments(rng)
    came, still = ask(images, s, W, b, c, P), ask(images, s, W, b, c, 0 * P)
    if slip := shape_slip(came, (len(images), len(P), len(W))):
        return slip
    if not close(came - still, np.broadcast_to(P, came.shape)):
        return "With all positions at 0 every token should be less by exactly its own row of P; yours is not."
    if not close(came[:, 0], np.broadcast_to(c + P[0], came[:, 0].shape)):
        return "Token 0 should be the class token and its position, in every image; yours is something else."
    return None


def image_and_positions(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    return {"B": B, "C": C, "s": s, "down": rows // s, "across": columns // s, "D": len(W)}


QUESTION = Question(
    id="tokens",
    title="Repair the museum piece: tokens of an image",
    name="image_tokens",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("values", 6, ordinary_pictures, tokens_reference),
        equals("one image, one patch, equal sizes", 2, special_pictures, tokens_reference),
        holds("a painted square", 4, painted_square),
        holds("what the positions add", 4, what_the_places_add),
    ),
    hints=(
        "The four experiments are about three lines. For each line that changes axes, write down which axis "
        "varies slowest and which fastest, before and after.",
        "After the first reshape the axes are: image, channel, patch row, pixel row, patch column, pixel "
        "column. Which of them choose the patch, and which a number within it?",
        "A position belongs to an index in the sequence, and is the same for every image. P has N + 1 rows; "
        "which axis of your tokens has N + 1 entries, and who stands first?",
    ),
    section="from-patches-to-an-answer",
    inputs=Inputs(image_and_positions, alike=("one image, one patch, equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def transposed_cells(images, s, W, b, c, P):
    B, C, height, width = images.shape
    down, across = height // s, width // s
    squares = np.moveaxis(images.reshape(B, C, down, s, across, s), 4, 3)  # B C down across s s
    patches = np.moveaxis(squares, 1, 3).reshape(B, down * across, -1)
    return np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1) + P


@right
def square_by_square(images, s, W, b, c, P):
    made = [np.tile(c + P[0], (len(images), 1))]
    for top in range(0, images.shape[2], s):
        for left in range(0, images.shape[3], s):
            square = images[:, :, top : top + s, left : left + s].reshape(len(images), -1)
            made.append(square @ W.T + b + P[len(made)])
    return np.stack(made, axis=1)


@right
def as_a_convolution(images, s, W, b, c, P):
    kernels = W.reshape(len(W), images.shape[1], s, s)
    x = np.empty((len(images), *P.shape))
    x[:, 0] = c
    across = images.shape[3] // s
    for n in range(1, len(P)):
        i, j = divmod(n - 1, across)
        square = images[:, :, i * s : i * s + s, j * s : j * s + s]
        x[:, n] = np.einsum("bcyx,dcyx->bd", square, kernels) + b
    return x + P


@right
def as_often_written(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


wrong.edits("""
# as_often_written
## museum_as_it_was: This is the museum piece as it was: patches that are no squares, the class token at the end, one
position for a whole image.
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
- return x + P
+ patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
+ x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
+ return x + P[:B, None]
## strips_left: Two of three are repaired; your patches are still no squares: the pixel row has changed places with the
patch column.
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
+ patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
## class_token_left_behind: Two of three are repaired; your class token still stands behind the patches, and gets the
position of the last one.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
+ x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
## places_by_image: Two of three are repaired; every token of an image still gets the same position, chosen by the
number of the image.
- return x + P
+ return x + P[:B, None]
## only_the_cut_repaired: One of three is repaired: the patches are squares; look at who stands first, and at which axis
of the tokens P belongs to.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
- return x + P
+ x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
+ return x + P[:B, None]
## only_the_class_token_repaired: One of three is repaired: the class token stands first; look at the cut, and at which
axis of the tokens P belongs to.
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
+ patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
- return x + P
+ return x + P[:B, None]
## only_the_places_repaired: One of three is repaired: every token has its own position; look at the cut, and at who
stands first.
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
+ patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
+ x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
## bare_reshape [common-mistakes]: A bare reshape cuts each image into runs of its numbers as they are stored, not into
squares.
- B, C, rows, columns = images.shape
- cells = images.reshape(B, C, rows // s, s, columns // s, s)
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
+ B, C = images.shape[:2]
+ patches = images.reshape(B, -1, C * s * s)
## batch_mixed [common-mistakes]: Your reshape puts the patches before the images and so mixes the images of the batch.
+ B, C = images.shape[:2]
+ patches = images.reshape(-1, B, C * s * s).swapaxes(0, 1)
## channels_fastest: In your patches the channels of a pixel stand together; the channel has to vary slowest.
- patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
+ patches = cells.transpose(0, 2, 4, 3, 5, 1).reshape(B, -1, C * s * s)
## numbered_downwards: You number the patches downwards; they are counted row by row, as one reads.
+ patches = cells.transpose(0, 4, 2, 1, 3, 5).reshape(B, -1, C * s * s)
## pixels_downwards: You write the pixels of a patch column by column; they are written row by row.
+ patches = cells.transpose(0, 2, 4, 1, 5, 3).reshape(B, -1, C * s * s)
## class_token_without_place: The class token has a position, too, the first row of P; yours has none.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
- return x + P
+ x = patches @ W.T + b + P[1:]
+ return np.concatenate([np.tile(c, (B, 1, 1)), x], axis=1)
## places_one_too_early: Your patches get the positions from the first row on, but that one belongs to the class token.
+ x = patches @ W.T + b + P[:-1]
+ return np.concatenate([np.tile(c + P[-1], (B, 1, 1)), x], axis=1)
## bias_on_the_class_token: The bias b belongs to the map of the patches; you add it to the class token as well.
+ x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T], axis=1)
+ return x + b + P
## bias_left_out: The bias b is missing in the tokens of the patches.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
+ x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T], axis=1)
## class_token_is_a_mean: You put the mean of the patches first; the class token is c, the same for every image.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
- return x + P
+ x = patches @ W.T + b
+ return np.concatenate([x.mean(axis=1, keepdims=True), x], axis=1) + P
## class_token_added: You add the class token to the patches instead of putting it before them.
+ x = patches @ W.T + b + c
+ return np.concatenate([np.zeros((B, 1, len(c))), x], axis=1) + P
## channels_guessed: You take an axis of 1 or 3 for the channels; they are axis 1, however many rows and columns an
image has.
  def as_often_written(images, s, W, b, c, P):
+     if images.shape[-1] in (1, 3):
+         images = images.transpose(0, 3, 1, 2)
## map_not_turned: Where W is square you do not transpose it; it is D×(C·s²) there, too.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
+ turned = W if len(W) == patches.shape[2] else W.T
+ x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ turned + b], axis=1)
## as_many_places_as_images: You take the first B positions, as the museum does, without its axis: B rows do not fit the
N + 1 tokens, each of which has a position of its own.
- return x + P
+ return x + P[:B]
## places_backwards: You add the positions in reverse order: the first row of P belongs to the class token, the last to
the last patch.
+ return x + P[::-1]
## no_places [a-bag-of-patches]: No position is added, so the tokens are a bag of patches.
- x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
- return x + P
+ return np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
""")
