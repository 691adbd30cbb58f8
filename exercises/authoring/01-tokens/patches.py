"""Exercise 01, question patches: repair the museum piece: patches."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import varied
from clearformer.reference import tokens


def draw_image(rng, sizes=None):
    """An image whose channels, patch side and two grid sides all differ, or are `sizes`."""
    C, size, down, across = sizes or (int(n) for n in rng.permutation([3, 4, 5, 7]))
    return rng.normal(size=(C, down * size, across * size)), size


colour_images = varied(
    draw_image,
    {},
    {},
    {},
    {"sizes": (3, 3, 2, 1)},
    {"sizes": (3, 2, 4, 4)},
    {"sizes": (3, 1, 4, 5)},
    {"sizes": (3, 4, 1, 1)},
)


def grey_images(rng):
    size = int(rng.integers(2, 6))
    whole = rng.normal(size=(1, size, size)), size
    return [draw_image(rng, sizes=(1, 4, 3, 5)), draw_image(rng, sizes=(1, 4, 5, 3)), whole]


def one_square_each(ask, rng):
    image, size = draw_image(rng)
    before = ask(image, size)
    C, rows, columns = image.shape
    down, across = rows // size, columns // size
    # Not one of the squares, such as the first, whose number is the same when the grid is counted downwards.
    squares = [(a, b) for a in range(down) for b in range(across) if a * across + b != b * down + a]
    a, b = squares[rng.integers(len(squares))]
    edited = image.copy()
    edited[:, a * size : (a + 1) * size, b * size : (b + 1) * size] += 1
    after = ask(edited, size)
    shape = C * size**2, rows * columns // size**2
    for P in (before, after):
        if not isinstance(P, np.ndarray) or P.shape != shape:
            return f"The result should be an array of shape {shape}, one column for each patch."
    touched = np.flatnonzero((before != after).any(axis=0))
    if len(touched) != 1:
        return f"Only one square of the image was painted over, but {len(touched)} columns of your result changed."
    if touched[0] != a * across + b:
        return (
            f"The square in row {a} and column {b} of the grid was painted over, and your column {touched[0]} changed."
        )
    return None


def patches_of_image(image, size):
    channels, rows, columns = image.shape
    return {"C": channels, "side": size, "down": rows // size, "across": columns // size}


QUESTION = Question(
    id="patches",
    title="Repair the museum piece: patches",
    name="patches",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 8, colour_images, tokens.patches),
        equals("grey images", 3, grey_images, tokens.patches),
        holds("one square, one column", 5, one_square_each),
    ),
    hints=(
        "Print what the museum makes of the numbers 0 to 15, shaped (1, 4, 4). Which pixels share a column, "
        "and which should?",
        "Two loops over the corners of the squares are a good answer: cut one square with all its channels, "
        "flatten it, and look at the order in which its numbers come out.",
        "Without loops: give the grid row, the pixel row, the grid column and the pixel column an axis each. "
        "Five axes then have to be put in order before two of them are joined, and three.",
    ),
    section="an-image-is-a-sequence-too",
    inputs=Inputs(patches_of_image, alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def five_axes(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)


@right
def corner_by_corner(image, size):
    found = []
    for top in range(0, image.shape[1], size):
        for left in range(0, image.shape[2], size):
            found.append(image[:, top : top + size, left : left + size].ravel())
    return np.array(found).T


@right
def number_by_number(image, size):
    C, height, width = image.shape
    G = width // size
    P = np.empty((C * size * size, height // size * G))
    for c, y, x in np.ndindex(C, height, width):
        P[(c * size + y % size) * size + x % size, (y // size) * G + x // size] = image[c, y, x]
    return P


@right
def by_einsum_of_the_axes(image, size):
    C, rows, columns = image.shape
    split = image.reshape(C, rows // size, size, columns // size, size)
    return np.einsum("caibj->cijab", split).reshape(C * size * size, rows * columns // size**2)


@wrong("Your squares overlap: each one starts a single pixel after the last.")
def overlapping_squares(image, size):
    _, rows, columns = image.shape
    found = [
        image[:, i : i + size, j : j + size].ravel() for i in range(rows - size + 1) for j in range(columns - size + 1)
    ]
    return np.stack(found, axis=1)


wrong.edits("""
# five_axes
## one_channel_for_all: Every channel of your patches is channel 0.
- cells = image.reshape(C, rows // size, size, columns // size, size)
+ cells = image[:1].repeat(C, axis=0).reshape(C, rows // size, size, columns // size, size)
## reshape_alone: Your bare reshape cuts the image into runs of pixels in reading order, not into squares.
- C, rows, columns = image.shape
- cells = image.reshape(C, rows // size, size, columns // size, size)
- return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)
+ C = len(image)
+ return image.reshape(-1, C * size * size).T
## museum_unchanged: This is the museum piece as it was: neighbours in one row of the image are spread over all columns.
+ C = len(image)
+ return image.reshape(C * size * size, -1)
## channel_fastest: In your columns the channels of a pixel stand together; the channel has to vary slowest.
- return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)
+ return cells.transpose(2, 4, 0, 1, 3).reshape(C * size * size, -1)
## pixels_by_column: You write the pixels of a patch column by column; the pixel column should vary fastest.
+ return cells.transpose(0, 4, 2, 1, 3).reshape(C * size * size, -1)
## grid_by_column: You number the patches downwards; they are counted row by row, as one reads.
+ return cells.transpose(0, 2, 4, 3, 1).reshape(C * size * size, -1)
## patches_in_rows [columns-or-rows]: Your patches stand in rows; the result has one column for each.
+ return cells.transpose(1, 3, 0, 2, 4).reshape(-1, C * size * size)
## grid_and_pixel_exchanged: The grid and the pixels have changed places: your patch collects pixels from all over the
image.
- cells = image.reshape(C, rows // size, size, columns // size, size)
- return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)
+ cells = image.reshape(C, size, rows // size, size, columns // size)
+ return cells.transpose(0, 1, 3, 2, 4).reshape(C * size * size, -1)
## sides_exchanged: You split the rows with the number of columns and the columns with the number of rows, which fits
square images only.
+ cells = image.reshape(C, columns // size, size, rows // size, size)
+ return cells.transpose(0, 2, 4, 1, 3).reshape(C * size * size, -1)
## one_channel_only: You keep the first channel and drop the others.
- return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)
+ return cells[:1].transpose(0, 2, 4, 1, 3).reshape(size * size, -1)
## channels_averaged: You average the channels, so the colours cannot be told apart any more.
+ return cells.mean(axis=0).transpose(1, 3, 0, 2).reshape(size * size, -1)
## channels_as_tokens: Every channel of a patch has become a column of its own.
+ return cells.transpose(2, 4, 0, 1, 3).reshape(size * size, -1)
## transpose_undone: You order the axes for the patches first and then reshape as if the pixels came first.
+ return cells.transpose(1, 3, 0, 2, 4).reshape(C * size * size, -1)
""")
