"""Named wrong solutions of exercise 10: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()
WRONG = wrong


def mix(tokens):
    return tokens + tokens.mean(axis=1, keepdims=True)


# count


@wrong(
    "count",
    says="A class token brings two vectors, its own and that of its position; you count one of them.",
    section="from-patches-to-an-answer",
)
def no_place_for_the_class_token(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + N * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You count neither the class token nor its position; both are learned.",
    section="from-patches-to-an-answer",
)
def class_token_costs_nothing(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + 0 + N * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You count a class token and its position even where the model has none.",
    section="from-patches-to-an-answer",
)
def class_token_always(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + D + (N + 1) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="Positions are learned here, a vector of D numbers for each token; you count none.",
    section="from-patches-to-an-answer",
)
def positions_not_learned(rows, columns, C, s, D, F, M, classes, class_token):
    entry = C * s * s * D + D + int(class_token) * D + 0
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You count one channel: a patch holds the numbers of all its channels.",
    section="from-patches-to-an-answer",
)
def one_colour(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="A patch has s times s pixels; you count one side of it.",
    section="from-patches-to-an-answer",
)
def side_for_area(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="All patches share one map W; you count it anew for each of them.",
    section="from-patches-to-an-answer",
)
def a_map_for_each_patch(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = N * (C * s * s * D + D) + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You leave out the biases of the four maps of attention.",
    section="from-patches-to-an-answer",
)
def attention_without_biases(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You count the maps for queries, keys and values; there is a fourth, which mixes the heads.",
    section="from-patches-to-an-answer",
)
def three_maps(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 3 * D * D + 3 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You leave out the two biases of the feed-forward layer.",
    section="from-patches-to-an-answer",
)
def network_without_biases(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You take the hidden width for 4 D; here it is F.",
    section="from-patches-to-an-answer",
)
def network_of_width_four(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 8 * D * D + 5 * D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="After the last block there is one more norm, with a scale and a shift.",
    section="from-patches-to-an-answer",
)
def no_last_norm(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 0 + D * classes + classes


@wrong(
    "count",
    says="A norm has a scale and a shift for every feature; you count one of the two.",
    section="from-patches-to-an-answer",
)
def norms_without_shifts(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 2 * D
    return entry + M * block + D + D * classes + classes


@wrong(
    "count",
    says="A block has two norms, one before attention and one before the feed-forward layer; you count one.",
    section="from-patches-to-an-answer",
)
def one_norm_in_a_block(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 2 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="The head has a bias for every label, which you leave out.",
    section="from-patches-to-an-answer",
)
def head_without_bias(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes


@wrong(
    "count",
    says="You count one block; there are M, and each has its own numbers.",
    section="from-patches-to-an-answer",
)
def blocks_counted_once(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You take the image for a square: it has its own number of rows and of columns.",
    section="from-patches-to-an-answer",
)
def square_image(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) ** 2
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="The first map has a bias, too, D numbers that every patch shares.",
    section="from-patches-to-an-answer",
)
def no_first_bias(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You divide the number of pixels by the side of a patch; a patch covers s times s of them.",
    section="from-patches-to-an-answer",
)
def patches_by_the_side(rows, columns, C, s, D, F, M, classes, class_token):
    N = rows * columns // s
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + F + D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="The two biases of the feed-forward layer have F and D entries; you give both the same number.",
    section="from-patches-to-an-answer",
)
def biases_of_one_width(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + 2 * F + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


@wrong(
    "count",
    says="You give both biases of the feed-forward layer D entries; the first one has F.",
    section="from-patches-to-an-answer",
)
def biases_both_narrow(rows, columns, C, s, D, F, M, classes, class_token):
    N = (rows // s) * (columns // s)
    entry = C * s * s * D + D + int(class_token) * D + (N + int(class_token)) * D
    block = 4 * D * D + 4 * D + 2 * D * F + 2 * D + 4 * D
    return entry + M * block + 2 * D + D * classes + classes


# tokens


@wrong(
    "tokens",
    says="This is the museum piece as it was: patches that are no squares, the class token at the end, "
    "one position for a whole image.",
    section="from-patches-to-an-answer",
)
def museum_as_it_was(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
    return x + P[:B, None]


@wrong(
    "tokens",
    says="Two of three are repaired; your patches are still no squares: the pixel row has changed places "
    "with the patch column.",
    section="from-patches-to-an-answer",
)
def strips_left(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="Two of three are repaired; your class token still stands behind the patches, and gets the "
    "position of the last one.",
    section="from-patches-to-an-answer",
)
def class_token_left_behind(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
    return x + P


@wrong(
    "tokens",
    says="Two of three are repaired; every token of an image still gets the same position, chosen by the "
    "number of the image.",
    section="from-patches-to-an-answer",
)
def places_by_image(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P[:B, None]


@wrong(
    "tokens",
    says="One of three is repaired: the patches are squares; look at who stands first, and at which axis "
    "of the tokens P belongs to.",
    section="from-patches-to-an-answer",
)
def only_the_cut_repaired(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
    return x + P[:B, None]


@wrong(
    "tokens",
    says="One of three is repaired: the class token stands first; look at the cut, and at which axis of "
    "the tokens P belongs to.",
    section="from-patches-to-an-answer",
)
def only_the_class_token_repaired(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P[:B, None]


@wrong(
    "tokens",
    says="One of three is repaired: every token has its own position; look at the cut, and at who stands first.",
    section="from-patches-to-an-answer",
)
def only_the_places_repaired(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 3, 1, 4, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([patches @ W.T + b, np.tile(c, (B, 1, 1))], axis=1)
    return x + P


@wrong(
    "tokens",
    says="A bare reshape cuts each image into strips: no pixel below another one lands in the same patch.",
    section="common-mistakes",
)
def bare_reshape(images, s, W, b, c, P):
    B, C = images.shape[:2]
    patches = images.reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="Your reshape puts the patches before the images and so mixes the images of the batch.",
    section="common-mistakes",
)
def batch_mixed(images, s, W, b, c, P):
    B, C = images.shape[:2]
    patches = images.reshape(-1, B, C * s * s).swapaxes(0, 1)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="In your patches the channels of a pixel stand together; the channel has to vary slowest.",
    section="from-patches-to-an-answer",
)
def channels_fastest(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 3, 5, 1).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="You number the patches downwards; they are counted row by row, as one reads.",
    section="from-patches-to-an-answer",
)
def numbered_downwards(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 4, 2, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="You write the pixels of a patch column by column; they are written row by row.",
    section="from-patches-to-an-answer",
)
def pixels_downwards(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 5, 3).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)
    return x + P


@wrong(
    "tokens",
    says="The class token has a position, too, the first row of P; yours has none.",
    section="from-patches-to-an-answer",
)
def class_token_without_place(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = patches @ W.T + b + P[1:]
    return np.concatenate([np.tile(c, (B, 1, 1)), x], axis=1)


@wrong(
    "tokens",
    says="Your patches get the positions from the first row on, but that one belongs to the class token.",
    section="from-patches-to-an-answer",
)
def places_one_too_early(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = patches @ W.T + b + P[:-1]
    return np.concatenate([np.tile(c + P[-1], (B, 1, 1)), x], axis=1)


@wrong(
    "tokens",
    says="The bias b belongs to the map of the patches; you add it to the class token as well.",
    section="from-patches-to-an-answer",
)
def bias_on_the_class_token(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T], axis=1)
    return x + b + P


@wrong(
    "tokens",
    says="The bias b is missing in the tokens of the patches.",
    section="from-patches-to-an-answer",
)
def bias_left_out(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T], axis=1)
    return x + P


@wrong(
    "tokens",
    says="You put the mean of the patches first; the class token is c, the same for every image.",
    section="from-patches-to-an-answer",
)
def class_token_is_a_mean(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = patches @ W.T + b
    return np.concatenate([x.mean(axis=1, keepdims=True), x], axis=1) + P


@wrong(
    "tokens",
    says="You add the class token to the patches instead of putting it before them.",
    section="from-patches-to-an-answer",
)
def class_token_added(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    x = patches @ W.T + b + c
    return np.concatenate([np.zeros((B, 1, len(c))), x], axis=1) + P


@wrong(
    "tokens",
    says="No position is added, so the tokens are a bag of patches.",
    section="a-bag-of-patches",
)
def no_places(images, s, W, b, c, P):
    B, C, rows, columns = images.shape
    cells = images.reshape(B, C, rows // s, s, columns // s, s)
    patches = cells.transpose(0, 2, 4, 1, 3, 5).reshape(B, -1, C * s * s)
    return np.concatenate([np.tile(c, (B, 1, 1)), patches @ W.T + b], axis=1)


# pool


@wrong(
    "pool",
    says="Your sum takes the class token in; B sums over the patches alone.",
    section="from-patches-to-an-answer",
)
def sum_with_class_token(x, h):
    pooled = {"A": x[:, 0], "B": x.sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="Your C averages over all tokens, as D does; the mean over the patches leaves the class token out.",
    section="from-patches-to-an-answer",
)
def mean_with_class_token(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x.mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="Your D leaves the class token out, as C does.",
    section="from-patches-to-an-answer",
)
def all_without_class_token(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x[:, 1:].mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="You sum over the patches and divide by the number of all tokens; there is one patch less than tokens.",
    section="from-patches-to-an-answer",
)
def divided_by_all_tokens(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].sum(axis=1) / x.shape[1], "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="You look for the class token at the end; it stands first.",
    section="from-patches-to-an-answer",
)
def class_token_last(x, h):
    pooled = {"A": x[:, -1], "B": x[:, :-1].sum(axis=1), "C": x[:, :-1].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="A pooling passes with you as soon as one entry agrees; all of them have to.",
    section="from-patches-to-an-answer",
)
def any_entry_will_do(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).min() <= 1e-3)


@wrong(
    "pool",
    says="You compare the first image only; the program has pooled all of them in the same way.",
    section="from-patches-to-an-answer",
)
def first_image_only(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h)[0].max() <= 1e-3)


@wrong(
    "pool",
    says="A pooling passes with you if it fits one image; it has to fit every image of the batch.",
    section="from-patches-to-an-answer",
)
def any_image_will_do(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if (np.abs(made - h).max(axis=1) <= 1e-3).any())


@wrong(
    "pool",
    says="You average the gaps over all entries, so that one wrong entry drowns among many right ones.",
    section="from-patches-to-an-answer",
)
def on_average_near(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).mean() <= 1e-3)


@wrong(
    "pool",
    says="Your comparison allows a gap that grows with the numbers, as `np.allclose` does by default.",
    section="common-mistakes",
)
def relative_tolerance(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.allclose(made, h, atol=1e-3))


@wrong(
    "pool",
    says="You look at gaps in one direction only: what is too small by any amount passes.",
    section="from-patches-to-an-answer",
)
def no_absolute_value(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if (made - h).max() <= 1e-3)


@wrong(
    "pool",
    says="You ask for equal numbers, but h is rounded to five decimals.",
    section="from-patches-to-an-answer",
)
def exactly_equal(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.array_equal(made, h))


@wrong(
    "pool",
    says="Your limit is tighter than 0.001.",
    section="from-patches-to-an-answer",
)
def too_strict(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-4)


@wrong(
    "pool",
    says="You round both to three decimals and compare; two numbers that are close can be rounded to different sides.",
    section="from-patches-to-an-answer",
)
def rounded_and_compared(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.array_equal(made.round(3), h.round(3)))


@wrong(
    "pool",
    says="You stop at the first pooling that fits; all that fit are asked for.",
    section="from-patches-to-an-answer",
)
def first_letter_only(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    for letter, made in pooled.items():
        if np.abs(made - h).max() <= 1e-3:
            return letter
    return ""


@wrong(
    "pool",
    says="You name the nearest pooling even where none is near, and only one where several are.",
    section="from-patches-to-an-answer",
)
def nearest_letter_only(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return min(pooled, key=lambda letter: np.abs(pooled[letter] - h).max())


@wrong(
    "pool",
    says="You pool over the features of a token; the tokens are the middle axis of x.",
    section="from-patches-to-an-answer",
)
def pooled_over_features(x, h):
    patches = x[:, 1:]
    pooled = {"A": x[:, 0], "B": patches.sum(axis=2), "C": patches.mean(axis=2), "D": x.mean(axis=2)}
    fitting = [n for n, made in pooled.items() if made.shape == h.shape and np.abs(made - h).max() <= 1e-3]
    return "".join(fitting)


@wrong(
    "pool",
    says="You return a list of letters; one text is asked for.",
    section="from-patches-to-an-answer",
)
def a_list_of_letters(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return [letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3]


@wrong(
    "pool",
    says="`np.allclose` by itself allows small numbers hardly any gap and large ones a wide one; 0.001 is for all.",
    section="from-patches-to-an-answer",
)
def allclose_by_default(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    return "".join(letter for letter, made in pooled.items() if np.allclose(made, h))


# look


@wrong(
    "look",
    says="You show which patches look at the class token; who asks is the third axis of A, and the class "
    "token asks here.",
    section="what-the-class-token-looks-at",
)
def who_looks_at_the_class_token(A, rows):
    looks = A[:, :, 1:, 0].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="Your map sums to less than 1: it is divided by everything the class token takes, and a part of "
    "that is its own.",
    section="what-the-class-token-looks-at",
)
def class_token_kept(A, rows):
    looks = A[:, :, 0].mean(axis=1)
    looks = looks[:, 1:] / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You divide each head by its own sum before you average; the mean over the heads comes first.",
    section="what-the-class-token-looks-at",
)
def heads_divided_first(A, rows):
    looks = A[:, :, 0, 1:] / A[:, :, 0, 1:].sum(axis=2, keepdims=True)
    looks = looks.mean(axis=1)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="Your map shows the first head alone; the mean over all heads is asked for.",
    section="what-the-class-token-looks-at",
)
def one_head_only(A, rows):
    looks = A[:, 0, 0, 1:]
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You take the largest weight among the heads where their mean is asked for.",
    section="what-the-class-token-looks-at",
)
def largest_head(A, rows):
    looks = A[:, :, 0, 1:].max(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You average over all targets; only what the class token takes counts.",
    section="what-the-class-token-looks-at",
)
def mean_over_targets(A, rows):
    looks = A[:, :, :, 1:].mean(axis=(1, 2))
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You average what the patches take; the class token is target 0.",
    section="what-the-class-token-looks-at",
)
def mean_over_patches_asking(A, rows):
    looks = A[:, :, 1:, 1:].mean(axis=(1, 2))
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You divide by the sum over the whole batch; every image has its own.",
    section="what-the-class-token-looks-at",
)
def batch_shares_one_sum(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / looks.sum()
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You divide by the largest weight; the map is to sum to 1.",
    section="what-the-class-token-looks-at",
)
def largest_becomes_one(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / looks.max(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You put a softmax over weights that are weights already.",
    section="what-the-class-token-looks-at",
)
def softmax_again(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = np.exp(looks) / np.exp(looks).sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="Your map lies on its side: the patches are numbered row by row.",
    section="what-the-class-token-looks-at",
)
def stood_on_its_side(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), -1, rows).swapaxes(1, 2)


@wrong(
    "look",
    says="You take the number of rows for the number of columns.",
    section="what-the-class-token-looks-at",
)
def rows_for_columns(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), -1, rows)


@wrong(
    "look",
    says="You drop the last source instead of the first; the class token is token 0.",
    section="what-the-class-token-looks-at",
)
def last_patch_dropped(A, rows):
    looks = A[:, :, 0, :-1].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You take the last target; the class token is the first.",
    section="what-the-class-token-looks-at",
)
def last_target(A, rows):
    looks = A[:, :, -1, 1:].mean(axis=1)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(len(A), rows, -1)


@wrong(
    "look",
    says="You average over the images of the batch and keep the heads.",
    section="what-the-class-token-looks-at",
)
def heads_for_images(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=0)
    looks = looks / looks.sum(axis=1, keepdims=True)
    return looks.reshape(A.shape[1], rows, -1)


@wrong(
    "look",
    says="You divide by 1 minus the weight of the first patch; what does not go to patches is the weight "
    "of the class token.",
    section="what-the-class-token-looks-at",
)
def one_minus_a_patch(A, rows):
    looks = A[:, :, 0, 1:].mean(axis=1)
    looks = looks / (1 - looks[:, :1])
    return looks.reshape(len(A), rows, -1)


# hide


@wrong(
    "hide",
    says="You put the patches back by `order`, which says who stands where; to put them back you need "
    "where each one stands, its inverse.",
    section="drawing-what-is-hidden",
)
def order_for_place(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = order
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You leave the patches in shuffled order: the visible ones stand first, wherever they were.",
    section="drawing-what-is-hidden",
)
def never_put_back(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = shuffled + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You add the positions while the patches are still shuffled, so that they travel with the wrong patches.",
    section="drawing-what-is-hidden",
)
def places_before_restoring(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled + P, place[:, :, None], axis=1)
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You keep the patches with the largest noise; those with the smallest stay visible.",
    section="drawing-what-is-hidden",
)
def largest_noise_stays(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(-noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You take n_visible for the number of hidden patches.",
    section="drawing-what-is-hidden",
)
def as_many_hidden(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(-noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, n_visible:, None], axis=1)
    filler = np.tile(mask_token, (len(x), n_visible, 1))
    shuffled = np.concatenate([filler, encode(seen)], axis=1) if n_visible < x.shape[1] else filler
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place < n_visible


@wrong(
    "hide",
    says="Your encoder sees all patches, and hides them only afterwards: what is hidden reaches the mean.",
    section="drawing-what-is-hidden",
)
def encoder_sees_everything(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(encode(x), order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([seen, filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="Your encoder sees the mask tokens, too; only the visible patches go into it.",
    section="drawing-what-is-hidden",
)
def mask_tokens_encoded(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = encode(np.concatenate([seen, filler], axis=1))
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You add P before the encoder; it belongs to the decoder, and comes after the mask tokens are in place.",
    section="drawing-what-is-hidden",
)
def encoded_with_decoder_places(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x + P, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1)
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="Your mask tokens get no position, so the decoder cannot tell where they stand.",
    section="drawing-what-is-hidden",
)
def mask_tokens_without_places(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P * (place < n_visible)[:, :, None]
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="Only your mask tokens get a position; all tokens do.",
    section="drawing-what-is-hidden",
)
def only_mask_tokens_get_places(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P * (place >= n_visible)[:, :, None]
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="The positions P are never added.",
    section="drawing-what-is-hidden",
)
def no_places_at_all(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1)
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You hide the same patches in every image; each has its own noise.",
    section="drawing-what-is-hidden",
)
def same_for_every_image(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.tile(np.argsort(noise[0]), (len(x), 1))
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You keep the first n_visible patches of each image and never look at the noise.",
    section="drawing-what-is-hidden",
)
def the_first_ones_stay(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.tile(np.arange(x.shape[1]), (len(x), 1))
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="You fill the gaps with zeros; the mask token belongs there.",
    section="drawing-what-is-hidden",
)
def zeros_for_the_mask_token(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.zeros((len(x), x.shape[1] - n_visible, x.shape[2]))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="Your truth values are True where a patch is visible; they are asked for where it is hidden.",
    section="drawing-what-is-hidden",
)
def true_where_visible(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place < n_visible


@wrong(
    "hide",
    says="Your tokens are right; your truth values belong to the shuffled order, not to the patches.",
    section="drawing-what-is-hidden",
)
def hidden_in_shuffled_order(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, np.arange(x.shape[1]) >= n_visible + 0 * place


@wrong(
    "hide",
    says="Your tokens are right; your truth values are made from the order of the patches, not from "
    "their places in it.",
    section="drawing-what-is-hidden",
)
def hidden_by_order(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, order >= n_visible


@wrong(
    "hide",
    says="The visible patches come back as they were: they have not been through the encoder.",
    section="drawing-what-is-hidden",
)
def never_encoded(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, :n_visible, None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - n_visible, 1))
    shuffled = np.concatenate([seen, filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= n_visible


@wrong(
    "hide",
    says="One patch too few stays visible.",
    section="drawing-what-is-hidden",
)
def one_too_few(x, noise, n_visible, mask_token, P, encode=mix):
    order = np.argsort(noise, axis=1)
    place = np.argsort(order, axis=1)
    seen = np.take_along_axis(x, order[:, : max(n_visible - 1, 1), None], axis=1)
    filler = np.tile(mask_token, (len(x), x.shape[1] - max(n_visible - 1, 1), 1))
    shuffled = np.concatenate([encode(seen), filler], axis=1)
    tokens = np.take_along_axis(shuffled, place[:, :, None], axis=1) + P
    return tokens, place >= max(n_visible - 1, 1)


@wrong(
    "hide",
    says="You compare the noise with a share of 1, which leaves now more and now fewer patches visible; "
    "exactly n_visible stay.",
    section="drawing-what-is-hidden",
)
def share_for_a_number(x, noise, n_visible, mask_token, P, encode=mix):
    tokens, hidden = [], []
    for image, own in zip(x, noise, strict=True):
        seen = own <= n_visible / len(own)
        line = np.tile(mask_token, (len(own), 1))
        if seen.any():
            line[seen] = encode(image[seen][None])[0]
        tokens.append(line + P)
        hidden.append(~seen)
    return np.stack(tokens), np.stack(hidden)


@wrong(
    "hide",
    says="You add the mask token to what is hidden; it has to take its place, or everything is still there.",
    section="drawing-what-is-hidden",
)
def mask_token_added(x, noise, n_visible, mask_token, P, encode=mix):
    place = noise.argsort(axis=1).argsort(axis=1)
    hidden = place >= n_visible
    tokens = x + mask_token
    for b in range(len(x)):
        tokens[b, ~hidden[b]] = encode(x[b : b + 1, ~hidden[b]])[0]
    return tokens + P, hidden


@wrong(
    "hide",
    says="You set what is hidden to 0 and send everything into the encoder; the zeros count in its mean.",
    section="drawing-what-is-hidden",
)
def hidden_set_to_zero(x, noise, n_visible, mask_token, P, encode=mix):
    place = noise.argsort(axis=1).argsort(axis=1)
    hidden = place >= n_visible
    seen = encode(np.where(hidden[:, :, None], 0.0, x))
    return np.where(hidden[:, :, None], mask_token, seen) + P, hidden


@wrong(
    "hide",
    says="You send the visible patches of all images through the encoder as if they were one image.",
    section="drawing-what-is-hidden",
)
def all_images_as_one(x, noise, n_visible, mask_token, P, encode=mix):
    hidden = noise.argsort(axis=1).argsort(axis=1) >= n_visible
    tokens = np.tile(mask_token, (*noise.shape, 1))
    tokens[~hidden] = encode(x[~hidden][None])[0]
    return tokens + P, hidden


# loss


@wrong(
    "loss",
    says="You average over all patches; what the encoder has seen must not count, for it could be copied.",
    section="common-mistakes",
)
def all_patches_count(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = drawn - target
    count = gaps.size
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You sum over the hidden patches and divide by the number of all: the loss shrinks when less is hidden.",
    section="drawing-what-is-hidden",
)
def divided_by_all_patches(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = gaps.size
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You count the visible patches; True stands for a hidden one.",
    section="drawing-what-is-hidden",
)
def visible_patches_count(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * ~hidden[:, :, None]
    count = (~hidden).sum() * drawn.shape[2] + (1e-300)
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You divide by the number of hidden patches; each has L numbers, and the mean runs over all of them.",
    section="drawing-what-is-hidden",
)
def numbers_not_counted(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum()
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You divide by the numbers of one patch; the mean runs over all hidden patches.",
    section="drawing-what-is-hidden",
)
def patches_not_counted(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="Your loss is the sum of the squares, not their mean.",
    section="drawing-what-is-hidden",
)
def summed(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = 1
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You divide by the number of images, not by that of the hidden numbers.",
    section="drawing-what-is-hidden",
)
def divided_by_the_batch(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = len(drawn)
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You average within each image first, so that a patch counts more where few are hidden; the "
    "mean runs over all hidden patches at once.",
    section="drawing-what-is-hidden",
)
def mean_of_images(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = len(drawn) * np.maximum(hidden.sum(axis=1), 1)[:, None, None] * drawn.shape[2]
    return (gaps**2 / count).sum(), 2 * gaps / count


@wrong(
    "loss",
    says="Your loss is right; its gradient lacks the division by the number of hidden numbers.",
    section="drawing-what-is-hidden",
)
def gradient_of_a_sum(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps


@wrong(
    "loss",
    says="Your loss is right; its gradient lacks the factor 2, which the square brings.",
    section="drawing-what-is-hidden",
)
def factor_two_lost(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, gaps / count


@wrong(
    "loss",
    says="Your loss is right; its gradient has the wrong sign: a drawing that is too large must become smaller.",
    section="drawing-what-is-hidden",
)
def sign_of_the_gradient(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, -2 * gaps / count


@wrong(
    "loss",
    says="Your loss is right; its gradient is not 0 where nothing was hidden.",
    section="drawing-what-is-hidden",
)
def gradient_everywhere(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * (drawn - target) / count


@wrong(
    "loss",
    says="You take absolute errors where squared ones are asked for.",
    section="drawing-what-is-hidden",
)
def absolute_errors(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return np.abs(gaps).sum() / count, np.sign(gaps) / count


@wrong(
    "loss",
    says="You take the root of the mean square.",
    section="drawing-what-is-hidden",
)
def root_of_the_loss(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return np.sqrt((gaps**2).sum() / count), gaps / count / np.sqrt((gaps**2).sum() / count)


@wrong(
    "loss",
    says="You divide the squared deviations by L, as NumPy does by default; L − 1 is asked for.",
    section="drawing-what-is-hidden",
)
def variance_by_L(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="Your mean and variance run over all patches of an image; each patch has its own.",
    section="drawing-what-is-hidden",
)
def one_mean_for_all(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=(1, 2), keepdims=True), patches.var(axis=(1, 2), ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You divide by the variance: the root is missing.",
    section="drawing-what-is-hidden",
)
def divided_by_the_variance(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / (variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You add the 0.000001 outside the root; it belongs to the variance.",
    section="drawing-what-is-hidden",
)
def small_number_outside(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / (np.sqrt(variance) + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="Without the 0.000001 a patch of one grey is divided by 0.",
    section="drawing-what-is-hidden",
)
def no_small_number(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You normalise what was drawn as well; only the target is normalised.",
    section="drawing-what-is-hidden",
)
def drawing_normalised_too(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (
        (drawn - (drawn.mean(axis=2, keepdims=True) if normalise else 0))
        / (np.sqrt(drawn.var(axis=2, ddof=1, keepdims=True) + 1e-6) if normalise else 1)
        - target
    ) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You never normalise the target, whatever the caller says.",
    section="drawing-what-is-hidden",
)
def never_normalised(drawn, patches, hidden, normalise=False):
    target = patches
    if False:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You normalise the target even when the caller does not want it.",
    section="drawing-what-is-hidden",
)
def always_normalised(drawn, patches, hidden, normalise=False):
    target = patches
    if True:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="Your mean and variance run over the whole batch; each patch has its own.",
    section="drawing-what-is-hidden",
)
def one_mean_for_the_batch(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(), patches.var(ddof=1)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You divide by the spread of what was drawn; the target is divided by its own.",
    section="drawing-what-is-hidden",
)
def spread_of_the_drawing(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), drawn.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="You shift the target to mean 0, but do not divide it by its spread.",
    section="drawing-what-is-hidden",
)
def only_shifted(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / (1.0 + 0.0 * variance)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong(
    "loss",
    says="Your loss is right; its gradient is divided by the hidden patches, and not by all their numbers.",
    section="drawing-what-is-hidden",
)
def gradient_by_patches(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        spread = np.sqrt(patches.var(axis=2, keepdims=True, ddof=1) + 1e-6)
        target = (patches - patches.mean(axis=2, keepdims=True)) / spread
    gap = (drawn - target) * hidden[:, :, None]
    return (gap**2).sum() / (hidden.sum() * drawn.shape[2]), 2 * gap / hidden.sum()


# resize


@wrong(
    "resize",
    says="You lay the first middle on the first and the last on the last; the grids share their borders, "
    "so the middles of larger grids lie further out.",
    section="a-larger-picture",
)
def corners_on_corners(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = np.arange(many) * (few - 1) / max(many - 1, 1)
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You leave out the halves: place i of the new grid is not i · r / R, for vectors stand in the "
    "middle of their squares.",
    section="a-larger-picture",
)
def no_half_steps(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = np.arange(many) * few / many
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You go to the middle of the new square, but do not come back by half a square of the old grid.",
    section="a-larger-picture",
)
def half_step_once(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="Your ratio stands upside down: the places lie among the r old rows, so i is multiplied by r / R.",
    section="a-larger-picture",
)
def ratio_upside_down(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * many / few - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You always take the old neighbour before the place; between two of them the weighted average is asked for.",
    section="a-larger-picture",
)
def always_the_one_before(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append((np.floor(place)[:, None] == np.arange(few)).astype(float))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You take the nearest old vector; between two of them the weighted average is asked for.",
    section="a-larger-picture",
)
def nearest_neighbour(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(
            (
                np.abs(place[:, None] - np.arange(few))
                == np.abs(place[:, None] - np.arange(few)).min(axis=1, keepdims=True)
            )
            / (
                np.abs(place[:, None] - np.arange(few))
                == np.abs(place[:, None] - np.arange(few)).min(axis=1, keepdims=True)
            ).sum(axis=1, keepdims=True)
        )
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="Outside the first and the last middle your vectors fade towards 0; they take the value of the border.",
    section="a-larger-picture",
)
def not_held_at_the_border(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = place
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You give the larger share to the neighbour that is farther away.",
    section="a-larger-picture",
)
def shares_exchanged(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(
            np.where(np.floor(place)[:, None] == np.arange(few), place[:, None] - np.floor(place)[:, None], 0)
            + np.where(
                np.minimum(np.floor(place) + 1, few - 1)[:, None] == np.arange(few),
                1 - place[:, None] + np.floor(place)[:, None],
                0,
            )
        )
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You read the old grid with its rows and columns exchanged.",
    section="a-larger-picture",
)
def rows_and_columns_exchanged(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(old[1], old[0], -1).swapaxes(0, 1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="Your new positions are numbered downwards; patches are numbered row by row.",
    section="a-larger-picture",
)
def written_downwards(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.swapaxes(0, 1).reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="The position of the class token is missing in your result.",
    section="a-larger-picture",
)
def class_token_lost(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return larger.reshape(-1, P.shape[1])


@wrong(
    "resize",
    says="The class token comes first, and keeps its position there.",
    section="a-larger-picture",
)
def class_token_at_the_end(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([larger.reshape(-1, P.shape[1]), P[:1]])


@wrong(
    "resize",
    says="You give the class token the mean of the new positions; it keeps its own.",
    section="a-larger-picture",
)
def class_token_a_mean(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([larger.mean(axis=(0, 1))[None], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You take the last row of P for the class token; it is the first.",
    section="a-larger-picture",
)
def last_for_the_class_token(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[:-1].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[-1:], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="Your reshape puts the features first and so mixes them with the places.",
    section="a-larger-picture",
)
def features_interpolated(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(-1, *old).transpose(1, 2, 0)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You stretch the new vectors to the length of the old ones; an average is an average.",
    section="a-larger-picture",
)
def kept_the_norm(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        place = np.clip(place, 0, few - 1)
        shares.append(np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0))
    grid = P[1:].reshape(*old, -1)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], grid, shares[1])
    return np.concatenate(
        [
            P[:1],
            larger.reshape(-1, P.shape[1])
            * np.linalg.norm(P[1:], axis=1).mean()
            / np.linalg.norm(larger.reshape(-1, P.shape[1]), axis=1).mean(),
        ]
    )


@wrong(
    "resize",
    says="Outside the first and the last middle you draw the straight line on; there the vectors stay "
    "those of the border.",
    section="a-larger-picture",
)
def drawn_out(P, old, new):
    shares = []
    for few, many in zip(old, new, strict=True):
        place = (np.arange(many) + 0.5) * few / many - 0.5
        before = np.clip(np.floor(place), 0, max(few - 2, 0)).astype(int)
        share = (place - before) * (few > 1)
        table = np.zeros((many, few))
        table[np.arange(many), before] += 1 - share
        table[np.arange(many), np.minimum(before + 1, few - 1)] += share
        shares.append(table)
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], P[1:].reshape(*old, -1), shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You interpolate along the numbers of the patches, as if they all stood in one row; the grid has two axes.",
    section="a-larger-picture",
)
def one_long_row(P, old, new):
    few, many = old[0] * old[1], new[0] * new[1]
    places = (np.arange(many) + 0.5) * few / many - 0.5
    columns = [np.interp(places, np.arange(few), feature) for feature in P[1:].T]
    return np.concatenate([P[:1], np.stack(columns, axis=1)])


@wrong(
    "resize",
    says="You interpolate along the rows and repeat along the columns; both axes are interpolated.",
    section="a-larger-picture",
)
def rows_only(P, old, new):
    few, many = old[0], new[0]
    place = np.clip((np.arange(many) + 0.5) * few / many - 0.5, 0, few - 1)
    shares = np.maximum(1 - np.abs(place[:, None] - np.arange(few)), 0)
    grid = P[1:].reshape(*old, -1)[:, np.arange(new[1]) * old[1] // new[1]]
    return np.concatenate([P[:1], np.einsum("Rr,rcd->Rcd", shares, grid).reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You repeat the old positions until the new grid is full, so that two distant places look the same.",
    section="a-larger-picture",
)
def tiled(P, old, new):
    rows, columns = np.arange(new[0]) % old[0], np.arange(new[1]) % old[1]
    grid = P[1:].reshape(*old, -1)[rows][:, columns]
    return np.concatenate([P[:1], grid.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You keep the old positions in a corner and fill the rest with zeros.",
    section="a-larger-picture",
)
def cut_or_filled(P, old, new):
    grid = np.zeros((*new, P.shape[1]))
    rows, columns = min(old[0], new[0]), min(old[1], new[1])
    grid[:rows, :columns] = P[1:].reshape(*old, -1)[:rows, :columns]
    return np.concatenate([P[:1], grid.reshape(-1, P.shape[1])])


@wrong(
    "resize",
    says="You read the sizes of the grids as columns and rows; the rows come first.",
    section="a-larger-picture",
)
def columns_before_rows(P, old, new):
    shares = []
    for r, R in zip(old[::-1], new[::-1], strict=True):
        places = np.clip((np.arange(R) + 0.5) * r / R - 0.5, 0, r - 1)
        shares.append(np.maximum(0, 1 - np.abs(places[:, None] - np.arange(r))))
    larger = np.einsum("Rr,rcd,Cc->RCd", shares[0], P[1:].reshape(*old[::-1], -1), shares[1])
    return np.concatenate([P[:1], larger.reshape(-1, P.shape[1])])
