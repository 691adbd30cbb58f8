"""Exercise 10, question count: how many numbers are learned?."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.cases import draw_sizes


def count_reference(rows, columns, C, s, D, F, M, classes, class_token):
    """The sizes of all arrays, one after another."""
    n_positions = sum(1 for _ in range(0, rows, s) for _ in range(0, columns, s)) + int(class_token)
    shapes = [(D, C * s * s), (D,), (n_positions, D), (D,), (D,), (classes, D), (classes,)]
    shapes += [(1, D)] if class_token else []
    for _ in range(M):
        shapes += [(D, D), (D,)] * 4 + [(F, D), (F,), (D, F), (D,)] + [(D,)] * 4
    return int(sum(np.prod(shape) for shape in shapes))


def sizes_of_models(rng, class_token):
    cases = []
    for M in rng.choice([1, 2, 3, 5], 3, replace=False):
        down, across, D, F = draw_sizes(rng, 4, (10, 14, 17, 19, 22, 26))
        s, C, classes = draw_sizes(rng, 3, (3, 4, 5, 7))
        cases.append((down * s, across * s, C, s, D, F, int(M), classes, class_token))
    return cases


QUESTION = Question(
    id="count",
    title="How many numbers are learned?",
    name="count_parameters",
    minutes=10,
    difficulty=1,
    checks=(
        equals("with a class token", 5, lambda rng: sizes_of_models(rng, True), count_reference),
        equals("without one", 3, lambda rng: sizes_of_models(rng, False), count_reference),
    ),
    hints=(
        "Walk through the model from the pixels to the labels and write down the shape of everything that is "
        "learned. Patches that share a map share its numbers.",
        "How many rows of patches are there, and how many in each row? The class token stands beside them and "
        "is a token like the others.",
        "In a block there are six matrices, one vector of F numbers, and several of D: count biases, scales "
        "and shifts. After the last block there is a norm, and the head has a bias.",
    ),
    section="from-patches-to-an-answer",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def part_by_part(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    first = (C * s * s + 1) * D
    positions = (N + 1) * D if class_token else N * D
    attention, network, norm = 4 * D * (D + 1), F * (D + 1) + D * (F + 1), 2 * D
    total = first + positions + M * (attention + network + 2 * norm) + norm + classes * (D + 1)
    return total + D if class_token else total


@right
def from_shapes(rows, columns, C, s, D, F, M, classes, class_token):
    N = rows * columns // s**2
    block = [(D, D), D] * 4 + [(F, D), F, (D, F), D] + [D, D] * 2
    outside = [(D, C * s**2), D, (N, D), D, D, (classes, D), classes] + [D, D] * class_token
    return int(sum(np.prod(shape) for shape in outside + block * M))


@right
def powers_of_the_width(rows, columns, C, s, D, F, M, classes, class_token):
    patches = rows * columns // (s * s)
    linear = C * s * s + 1 + patches + 2 * int(class_token) + 2 + classes + M * (2 * F + 9)
    return 4 * M * D**2 + linear * D + M * F + classes


@right
def as_often_written(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


wrong.edits("""
# as_often_written
## no_place_for_the_class_token: A class token brings two vectors, its own and that of its position; you count one of
them.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * s * D + D + int(class_token) * D + N * D
## class_token_costs_nothing: You count neither the class token nor its position; both are learned.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * s * D + D + 0 + N * D
## a_float: Your number is a float, however right; // divides whole numbers.
- N = (rows // s) * (columns // s)
+ N = rows / s * (columns / s)
## class_token_always: You count a class token and its position even where the model has none.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * s * D + D + D + (N + 1) * D
## positions_not_learned: Positions are learned here, a vector of D numbers for each token; you count none.
- N = (rows // s) * (columns // s)
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * s * D + D + int(class_token) * D + 0
## one_colour: You count one channel: a patch holds the numbers of all its channels.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
## side_for_area: A patch has s times s pixels; you count one side of it.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * D + D + int(class_token) * D + (N + int(class_token)) * D
## a_map_for_each_patch: All patches share one map W; you count it anew for each of them.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = N * (C * s * s * D + D) + int(class_token) * D + (N + int(class_token)) * D
## attention_without_biases: You leave out the biases of the four maps of attention.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 2 * D * F + F + D + 4 * D
## three_maps: You count the maps for queries, keys and values; there is a fourth, which mixes the heads.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 3 * D * D + 3 * D + 2 * D * F + F + D + 4 * D
## network_without_biases: You leave out the two biases of the feed-forward layer.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 4 * D + 2 * D * F + 4 * D
## network_of_width_four: You take the hidden width for 4 D; here it is F.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 4 * D + 8 * D * D + 5 * D + 4 * D
## no_last_norm: After the last block there is one more norm, with a scale and a shift.
- return entry + M * block + 2 * D + D * classes + classes
+ return entry + M * block + 0 + D * classes + classes
## norms_without_shifts: A norm has a scale and a shift for every feature; you count one of the two.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
- return entry + M * block + 2 * D + D * classes + classes
+ block = 4 * D * D + 4 * D + 2 * D * F + F + D + 2 * D
+ return entry + M * block + D + D * classes + classes
## one_norm_in_a_block: A block has two norms, one before attention and one before the feed-forward layer; you count
one.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 4 * D + 2 * D * F + F + D + 2 * D
## head_without_bias: The head has a bias for every label, which you leave out.
- return entry + M * block + 2 * D + D * classes + classes
+ return entry + M * block + 2 * D + D * classes
## blocks_counted_once: You count one block; there are M, and each has its own numbers.
- return entry + M * block + 2 * D + D * classes + classes
+ return entry + block + 2 * D + D * classes + classes
## square_image: You take the image for a square: it has its own number of rows and of columns.
- N = (rows // s) * (columns // s)
+ N = (rows // s) ** 2
## no_first_bias: The first map has a bias, too, D numbers that every patch shares.
- entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
+ entry = C * s * s * D + int(class_token) * D + (N + int(class_token)) * D
## patches_by_the_side: You divide the number of pixels by the side of a patch; a patch covers s times s of them.
- N = (rows // s) * (columns // s)
+ N = rows * columns // s
## biases_of_one_width: The two biases of the feed-forward layer have F and D entries; you give both the same number.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 4 * D + 2 * D * F + 2 * F + 4 * D
## biases_both_narrow: You give both biases of the feed-forward layer D entries; the first one has F.
- block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
+ block = 4 * D * D + 4 * D + 2 * D * F + 2 * D + 4 * D
""")
