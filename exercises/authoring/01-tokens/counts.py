"""Exercise 01, question counts: shapes and pairs."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes


def draw_bill(rng):
    """n_vocab, n_text, C, rows, columns, size, D."""
    size = int(rng.integers(3, 9))
    down, across = rng.choice((4, 5, 6, 7, 9), 2, replace=False)
    channels = int(rng.choice((11, 13)))
    return (
        int(rng.integers(300, 9000)),
        int(rng.integers(50, 300)),
        channels,
        int(down) * size,
        int(across) * size,
        size,
    )


def any_images(rng):
    D, *others = draw_sizes(rng, 4)
    n_vocab, n_text, channels, _, _, size = draw_bill(rng)
    large = (n_vocab, n_text, channels, 67 * size, 71 * size, size, D)  # millions of pairs
    row, pixels = (3, n_text, channels, size, 7 * size, size, D), (n_vocab, 1, channels, 5, 4, 1, D)
    alone = n_vocab, n_text, channels, size, size, size, D
    return [large, row, pixels, alone, *((*draw_bill(rng), width) for width in others)]


def grey_squares(rng):
    cases = []
    for D in draw_sizes(rng, 3):
        n_text, n_vocab, _, side, _, size = draw_bill(rng)  # a long text in few ids, such as bytes
        cases.append((n_vocab, n_text, 1, side, side, size, D))
    return cases


def bill(n_vocab, n_text, channels, rows, columns, size, D):
    n_patches = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n_patches),
        "pairs": n_patches**2,
    }


QUESTION = Question(
    id="counts",
    title="Shapes and pairs",
    name="sizes",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("any image", 5, any_images, bill),
        equals("grey squares", 3, grey_squares, bill),
    ),
    hints=(
        "Two of the four shapes belong to the model and do not change with the text or the image. Which?",
        "Draw an image of 4 by 6 pixels and cut it into squares of side 2. Count the squares, then count the "
        "numbers in one of them when there are three colours.",
        "The width D stands in all four shapes, since every token is a column of D numbers. The other side is "
        "something that you counted: ids, tokens, numbers in a patch, or patches.",
    ),
    section="an-image-is-a-sequence-too",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def in_one_dict(n_vocab, n_text, channels, rows, columns, size, D):
    n = rows * columns // (size * size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size * size),
        "X_image": (D, n),
        "pairs": n * n,
    }


@right
def measured_on_arrays(n_vocab, n_text, channels, rows, columns, size, D):
    corners = [(a, b) for a in range(0, rows, size) for b in range(0, columns, size)]
    patch = np.zeros((channels, size, size)).ravel()
    found = {"E": (D, n_vocab), "X_text": (D, n_text)}
    found["W"] = np.zeros((D, patch.size)).shape
    found["X_image"] = (D, len(corners))
    found["pairs"] = sum(len(corners) for _ in corners)
    return found


@right
def grid_first(n_vocab, n_text, channels, rows, columns, size, D):
    down, across = rows // size, columns // size
    others = dict(E=n_vocab, X_text=n_text, W=channels * size**2, X_image=down * across)
    result = {name: (D, other) for name, other in others.items()}
    result["pairs"] = (down * across) ** 2
    return result


@right
def as_often_written(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong("Your four shapes have the tokens in rows, as in torch; here a token is a column.", section="columns-or-rows")
def tokens_as_rows(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (n_vocab, D),
        "X_text": (n_text, D),
        "W": (channels * size**2, D),
        "X_image": (n, D),
        "pairs": n**2,
    }


wrong.edits("""
# as_often_written
## E_and_X_exchanged [tokens-to-vectors]: You have swapped E and X: E has a column for every id that could occur, X one
for every token that does.
- "E": (D, n_vocab),
- "X_text": (D, n_text),
+ "E": (D, n_text),
+ "X_text": (D, n_vocab),
## colours_forgotten: You count one colour per patch; a patch holds the numbers of all its channels.
- "W": (D, channels * size**2),
+ "W": (D, size**2),
## side_not_squared: You count one side of a patch where its area belongs.
+ "W": (D, channels * size),
## one_row_of_patches: You count the patches that fit side by side and forget that there are several rows of them.
- n = (rows // size) * (columns // size)
+ n = columns // size
## square_assumed: You take the image for a square: its two sides can differ.
+ n = (rows // size) ** 2
## a_token_per_pixel: You make a token of every pixel instead of every patch.
+ n = rows * columns
## overlapping_patches: You let the patches overlap; start each one where the last one ends.
+ n = (rows - size + 1) * (columns - size + 1)
## side_for_area: You divide the number of pixels by the side of a patch instead of by its area.
+ n = rows * columns // size
## a_token_per_channel: You give every colour a token of its own; the channels of a patch belong in one token.
+ n = channels * (rows // size) * (columns // size)
## one_hot_for_X [tokens-to-vectors]: Your X_text is the one-hot matrix O, with an entry for every id of the vocabulary.
- "X_text": (D, n_text),
+ "X_text": (n_vocab, n_text),
## patches_for_X [the-matrix-w]: Your X_image is the matrix of patches P, before W has mapped it to width D.
- "X_image": (D, n),
+ "X_image": (channels * size**2, n),
## each_pair_once [what-a-larger-vocabulary-buys]: You count each pair once and never a token with itself; attention
compares every token with all tokens.
- "pairs": n**2,
+ "pairs": n * (n - 1) // 2,
## pairs_in_16_bits: You count the pairs in a small integer type, and a large image has more of them than fit into it.
+ "pairs": int(np.square(np.array([n]), dtype=np.int16)[0]) if n > 99 else n**2,
## lone_patch_without_pair [what-a-larger-vocabulary-buys]: You give a single patch no pair; a token is compared with
itself, too.
+ "pairs": n**2 if n > 1 else 0,
## pairs_with_text: You pair the tokens of the image with those of the text.
+ "pairs": n * n_text,
## class_token_counted: You count one token more than there are patches; no other token is asked for.
- n = (rows // size) * (columns // size)
+ n = (rows // size) * (columns // size) + 1
## pairs_in_one_order [what-a-larger-vocabulary-buys]: You count each pair once; two tokens are compared both ways.
- "pairs": n**2,
+ "pairs": n * (n + 1) // 2,
## itself_left_out [what-a-larger-vocabulary-buys]: You pair no token with itself; attention compares that, too.
+ "pairs": n * (n - 1),
""")
