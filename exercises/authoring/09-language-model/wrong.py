"""Named wrong solutions of exercise 09: what learners write, and the sentence that tells them so."""

import math
from fractions import Fraction

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()
WRONG = wrong


# surprise


@wrong(
    "surprise",
    says="The end is not predicted: a text that stops has one factor more than it has tokens.",
    section="a-product-with-a-start-and-an-end",
)
def no_end(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="You begin with the third token, for which two stand before it; the first two need marks to look at.",
    section="a-product-with-a-start-and-an-end",
)
def no_start(P, text):
    mark = len(P) - 1
    line = np.array([*text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="With one mark in front your first factor is that of the second token.",
    section="a-product-with-a-start-and-an-end",
)
def one_mark_in_front(P, text):
    mark = len(P) - 1
    line = np.array([mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="You predict the mark twice at the end; the text has ended with the first one.",
    section="a-product-with-a-start-and-an-end",
)
def two_ends(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="The two tokens before are in the wrong order: the first axis belongs to the older one.",
    section="a-product-with-a-start-and-an-end",
)
def younger_token_first(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[1:-1], line[:-2], line[2:]])


@wrong(
    "surprise",
    says="You look up the token that comes on the first axis of P; it belongs on the last.",
    section="a-product-with-a-start-and-an-end",
)
def coming_token_first(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[2:], line[:-2], line[1:-1]])


@wrong(
    "surprise",
    says="These are nats: a surprise in bits needs the logarithm to the base 2.",
    section="surprise-adds-up",
)
def in_nats(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="The sign is missing: the logarithm of a probability is negative, and a surprise is not.",
    section="surprise-adds-up",
)
def sign_forgotten(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="These are the probabilities themselves, and no surprises yet.",
    section="surprise-adds-up",
)
def probabilities(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return P[line[:-2], line[1:-1], line[2:]]


@wrong(
    "surprise",
    says="Your third factor asks for the second token once more, as Turner's print does.",
    section="a-product-with-a-start-and-an-end",
)
def third_factor_repeats(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    coming = line[2:].copy()
    if len(coming) > 2:
        coming[2] = coming[1]
    return -np.log2(P[line[:-2], line[1:-1], coming])


@wrong(
    "surprise",
    says="In front of the text you have the id 0, which is a token like any other; the mark is the last id.",
    section="a-product-with-a-start-and-an-end",
)
def starts_with_zero(P, text):
    mark = len(P) - 1
    line = np.array([0, 0, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="For the first token you average over all that may stand before it, but it is known what stands "
    "there: the mark.",
    section="a-product-with-a-start-and-an-end",
)
def first_from_averages(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    p = P[line[:-2], line[1:-1], line[2:]]
    p[0] = P.mean(axis=(0, 1))[line[2]]
    return -np.log2(p)


@wrong(
    "surprise",
    says="You add a small number before the logarithm, so that what cannot come has a finite surprise.",
    section="surprise-adds-up",
)
def never_infinite(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]] + 1e-12)


@wrong(
    "surprise",
    says="You return the surprise of the whole text; the single ones are asked for, which add up to it.",
    section="surprise-adds-up",
)
def one_number(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]]).sum()


@wrong(
    "surprise",
    says="You add up on the way: each number should belong to one token alone.",
    section="surprise-adds-up",
)
def running_sum(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]]).cumsum()


@wrong(
    "surprise",
    says="Your mark has the id V, which no axis of P has; the last id is V − 1.",
    section="a-product-with-a-start-and-an-end",
)
def marks_from_nowhere(P, text):
    mark = len(P)
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P[line[:-2], line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="You look at one token before and average over the other; the table knows both.",
    section="a-product-with-a-start-and-an-end",
)
def one_token_of_context(P, text):
    mark = len(P) - 1
    line = np.array([mark, mark, *text, mark], dtype=int)
    return -np.log2(P.mean(axis=0)[line[1:-1], line[2:]])


@wrong(
    "surprise",
    says="`math.log2` refuses a probability of 0, whose surprise is infinite; `np.log2` gives infinity there.",
    section="surprise-adds-up",
)
def refuses_zero(P, text):
    mark = len(P) - 1
    line = [mark, mark, *text, mark]
    return np.array([-math.log2(P[u, v, w]) for u, v, w in zip(line[:-2], line[1:-1], line[2:], strict=True)])


# bits


@wrong(
    "bits",
    says="You average the batches' means as if all batches were equally large.",
    section="bits-per-character",
)
def mean_of_means(means, counts, pieces):
    bits = means.mean() * len(pieces) / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="You take every batch to be as large as the first one.",
    section="bits-per-character",
)
def first_count_for_all(means, counts, pieces):
    bits = (means * counts[0]).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="You add up the means; each stands for as many tokens as its batch has.",
    section="bits-per-character",
)
def counts_ignored(means, counts, pieces):
    bits = means.sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="Your first number is in nats per character; a bit is 0.69 nats.",
    section="bits-per-character",
)
def first_in_nats(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits * np.log(2) / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="From nats to bits you multiply by ln 2 where you have to divide.",
    section="bits-per-character",
)
def multiplied_by_ln_2(means, counts, pieces):
    bits = (means * counts).sum() * np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="Your first number is per token: it depends on how the text was cut, and says little by itself.",
    section="bits-per-character",
)
def per_token(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    return bits / len(pieces), 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="The ends of the texts are not among your characters; each of them counts as one.",
    section="bits-per-character",
)
def ends_not_counted(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(len(piece) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="You count a character more for every token, and only an end has one that cannot be seen.",
    section="bits-per-character",
)
def one_more_for_every_token(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(len(piece) + 1 for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="You count bytes: a letter like ß has two of them, and is one character.",
    section="bits-per-character",
)
def bytes(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece.encode())) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="Your perplexity is taken per character; it belongs to a choice among tokens.",
    section="bits-per-character",
)
def perplexity_per_character(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / n_characters)


@wrong(
    "bits",
    says="Your perplexity raises e to the number of bits; to bits belongs the base 2, and to nats e.",
    section="bits-per-character",
)
def e_to_the_bits(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, np.exp(bits / len(pieces))


@wrong(
    "bits",
    says="Your perplexity raises 2 to the number of nats; to bits belongs the base 2, and to nats e.",
    section="bits-per-character",
)
def two_to_the_nats(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits * np.log(2) / len(pieces))


@wrong(
    "bits",
    says="You average the perplexities of the batches; the average belongs into the exponent.",
    section="bits-per-character",
)
def perplexities_averaged(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, (counts * np.exp(means)).sum() / counts.sum()


@wrong(
    "bits",
    says="Both numbers are there, and in the wrong order.",
    section="bits-per-character",
)
def swapped(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return 2 ** (bits / len(pieces)), bits / n_characters


@wrong(
    "bits",
    says="The perplexity is missing: a pair is asked for.",
    section="bits-per-character",
)
def one_number_only(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters


@wrong(
    "bits",
    says="Your perplexity takes all batches as equally large; your bits do not.",
    section="bits-per-character",
)
def perplexity_of_the_plain_mean(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, np.exp(means.mean())


@wrong(
    "bits",
    says="Your second number is the bits per token; perplexity is 2 to that power.",
    section="bits-per-character",
)
def perplexity_is_the_bits(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, bits / len(pieces)


@wrong(
    "bits",
    says="You take the nats for bits, in both numbers; a bit is 0.69 nats.",
    section="bits-per-character",
)
def nats_for_bits(means, counts, pieces):
    nats = (means * counts).sum()
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return nats / n_characters, 2 ** (nats / len(pieces))


@wrong(
    "bits",
    says="You count one end for the whole log; every piece without a letter is the end of a text.",
    section="bits-per-character",
)
def one_end_for_all(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    return bits / (len("".join(pieces)) + 1), 2 ** (bits / len(pieces))


@wrong(
    "bits",
    says="You multiply by characters per token; the bits of a token are shared among its characters.",
    section="bits-per-character",
)
def times_the_characters(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2) / len(pieces)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits * n_characters / len(pieces), 2**bits


@wrong(
    "bits",
    says="You strip the pieces; a space at the edge of a piece is a character of the text.",
    section="bits-per-character",
)
def spaces_stripped(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece.strip())) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


# discount


@wrong(
    "discount",
    says="This is the print with both its slips.",
    section="counting-done-well",
)
def as_printed(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="The first slip is still there: how much a row has to give away depends on what followed v, and not on w.",
    section="counting-done-well",
)
def first_slip_left(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="The second slip is still there: the discount was taken off once for every different token of the text.",
    section="counting-done-well",
)
def second_slip_left(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="c(v) counts the last token of the text, too, which nothing follows.",
    section="counting-done-well",
)
def last_token_counts(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = np.bincount(ids, minlength=n_vocab)[:, None]
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="The discount is also taken off counts of 0, which become negative.",
    section="counting-done-well",
)
def below_zero(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = ((pairs - d) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="In both formulas the discount is also taken off counts of 0.",
    section="counting-done-well",
)
def below_zero_in_both(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = ((singles - d) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = ((pairs - d) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="Your t counts what came before a token; asked is what followed v.",
    section="counting-done-well",
)
def what_came_before(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=0)[:, None]
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="After a token that was never followed you give all tokens the same; the shorter context knows more, p(w).",
    section="counting-done-well",
)
def unseen_rows_uniform(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, 1 / n_vocab)


@wrong(
    "discount",
    says="After a token that was never followed you divide 0 by 0.",
    section="counting-done-well",
)
def unseen_rows_nan(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    return (np.maximum(pairs - d, 0) + d * t * p) / c


@wrong(
    "discount",
    says="After a token that was never followed your row is 0, and what can come then is p(w).",
    section="counting-done-well",
)
def unseen_rows_zero(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return table


@wrong(
    "discount",
    says="Your table lies on its side: row v should hold what follows v.",
    section="counting-done-well",
)
def lies_on_its_side(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p).T


@wrong(
    "discount",
    says="p(w) is the plain share: the discount is missing in the second formula.",
    section="counting-done-well",
)
def shorter_without_discount(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = singles / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="You add p(w) only where nothing was counted; every w gets its part of what was taken off.",
    section="counting-done-well",
)
def only_where_nothing_was_counted(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = np.where(pairs > 0, pairs - d, d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="You take the share d of every count; the discount is the same for all that were seen.",
    section="counting-done-well",
)
def a_share_of_every_count(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    table = ((1 - d) * pairs + d * c * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="You give d back once in a row; it was taken off once for every different token that followed.",
    section="counting-done-well",
)
def given_back_once(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="You let the first token follow the last one, as if the text were a circle.",
    section="counting-done-well",
)
def a_circle(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids, np.roll(ids, -1)), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="In p(w) the first token of the text is not counted: it follows nothing, and it does occur.",
    section="counting-done-well",
)
def first_token_not_counted(ids, n_vocab, d):
    singles = np.bincount(ids[1:], minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="At the bottom you share among as many tokens as occur; 1/V is for the whole vocabulary.",
    section="counting-done-well",
)
def vocabulary_of_the_text(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="In p(w) you give back d for every different pair; it was taken off once for every different token.",
    section="counting-done-well",
)
def pairs_for_tokens(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    p = (np.maximum(singles - d, 0) + d * (pairs > 0).sum() / n_vocab) / len(ids)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="You repair the rows by dividing by their sums; then they sum to 1, and the slips are still there.",
    section="counting-done-well",
)
def made_to_sum_to_one(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t.T * p) / np.maximum(c, 1)
    table = np.where(c > 0, table, p)
    return table / table.sum(axis=1, keepdims=True)


@wrong(
    "discount",
    says="You count a pair only once, however often it occurs.",
    section="counting-done-well",
)
def pairs_counted_once(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    p = (np.maximum(singles - d, 0) + d * (singles > 0).sum() / n_vocab) / len(ids)
    pairs = np.zeros((n_vocab, n_vocab))
    pairs[ids[:-1], ids[1:]] += 1
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    table = (np.maximum(pairs - d, 0) + d * t * p) / np.maximum(c, 1)
    return np.where(c > 0, table, p)


@wrong(
    "discount",
    says="This is the way of Witten and Bell out of the chapter; here d is taken off every count that is not 0.",
    section="counting-done-well",
)
def witten_and_bell(ids, n_vocab, d):
    singles = np.bincount(ids, minlength=n_vocab)
    kinds = (singles > 0).sum()
    p = (singles + kinds / n_vocab) / (len(ids) + kinds)
    pairs = np.zeros((n_vocab, n_vocab))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    c = pairs.sum(axis=1, keepdims=True)
    t = (pairs > 0).sum(axis=1, keepdims=True)
    return np.where(c > 0, (pairs + t * p) / np.maximum(c + t, 1), p)


# loss


@wrong(
    "loss",
    says="This is the museum piece, as it stands.",
    section="what-the-loss-tells-the-head",
)
def as_in_the_museum(logits, ids, lengths):
    V = logits.shape[2]
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    came = np.eye(V)[ids]
    asked = ids != V - 1
    weights = asked / np.maximum(asked.sum(axis=1, keepdims=True), 1) / len(ids)
    losses = -np.log((p * came).sum(axis=2))
    return (weights * losses).sum(), weights[:, :, None] * (p - came)


@wrong(
    "loss",
    says="Your targets are not shifted: each place is asked for the token that it has just read.",
    section="common-mistakes",
)
def predicts_itself(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = ids
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your targets are shifted the wrong way: each place is asked for the token before its own.",
    section="common-mistakes",
)
def shifted_the_other_way(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, 1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="No end of a text is asked for, since every mark is left out, or one place too many: the model "
    "will never stop.",
    section="common-mistakes",
)
def end_never_learned(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = (targets != V - 1) & (np.arange(T) < T - 1)
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You leave out all places that hold a mark, and with them the first, which predicts how a text begins.",
    section="what-the-loss-tells-the-head",
)
def first_never_learned(logits, ids, lengths):
    V = logits.shape[2]
    targets = np.roll(ids, -1, axis=1)
    asked = ids != V - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You ask for one id behind the end of every text.",
    section="what-the-loss-tells-the-head",
)
def one_too_many(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None]
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="The filling is asked for, too: the model is praised for going on with marks.",
    section="what-the-loss-tells-the-head",
)
def filling_asked(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < np.full((len(ids), 1), T - 1)
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Every text has the same say, so that a token of a short text counts for more than one of a long text.",
    section="what-the-loss-tells-the-head",
)
def mean_of_texts(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum(axis=1, keepdims=True) / len(ids)
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You divide by the number of places, the filling included; few of them are asked.",
    section="what-the-loss-tells-the-head",
)
def divided_by_all_places(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / ids.size
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You divide by the number of texts; the mean is over all predictions that are asked for.",
    section="what-the-loss-tells-the-head",
)
def divided_by_the_texts(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / len(ids)
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="This is the sum of all surprises, and no mean.",
    section="what-the-loss-tells-the-head",
)
def never_divided(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = 1.0 * asked
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="The exponential meets large logits as they are and overflows.",
    section="what-the-loss-tells-the-head",
)
def overflows(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You take the logarithm of a probability, which is rounded to 0 where the model is sure of something else.",
    section="what-the-loss-tells-the-head",
)
def logarithm_of_zero(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    p = np.exp(log_p)
    came = np.eye(V)[targets]
    loss = -(weights * np.log((p * came).sum(axis=2))).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Where the model is sure of another token you take the logarithm of a 0, and the loss is "
    "infinite; take that of the sum.",
    section="what-the-loss-tells-the-head",
)
def sure_and_wrong(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    p = np.exp(log_p)
    came = np.eye(V)[targets]
    loss = -np.log((p * came).sum(axis=2)[asked]).mean()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You add a small number before the logarithm: then no surprise is larger than its limit, and the "
    "gradient belongs to another loss.",
    section="what-the-loss-tells-the-head",
)
def never_very_surprised(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    p = np.exp(log_p)
    came = np.eye(V)[targets]
    loss = -(weights * np.log((p * came).sum(axis=2) + 1e-12)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your gradient is that of the sum of the losses; the loss is their mean.",
    section="what-the-loss-tells-the-head",
)
def gradient_of_the_sum(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, asked[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="The gradient of what is not asked for should be 0, and yours pushes there, too.",
    section="what-the-loss-tells-the-head",
)
def gradient_of_the_filling(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, 1 / asked.sum() * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your gradient has the wrong sign: with it the loss would rise.",
    section="what-the-loss-tells-the-head",
)
def gradient_upside_down(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (came - np.exp(log_p))


@wrong(
    "loss",
    says="Your gradient is the probability alone; the token that came gets 1 less.",
    section="what-the-loss-tells-the-head",
)
def gradient_without_the_target(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * np.exp(log_p)


@wrong(
    "loss",
    says="Your softmax runs over the places; the tokens of one place have to share its probability.",
    section="common-mistakes",
)
def softmax_over_places(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=1, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your gradient has a place less than the logits: the last place gets zeros.",
    section="what-the-loss-tells-the-head",
)
def gradient_one_place_short(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    gradient = weights[:, :, None] * (np.exp(log_p) - came)
    return loss, gradient[:, :-1]


@wrong(
    "loss",
    says="The sign of your loss is missing: it is a mean of −ln p.",
    section="what-the-loss-tells-the-head",
)
def loss_below_zero(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = (weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your loss is in bits, and your gradient in nats.",
    section="what-the-loss-tells-the-head",
)
def in_bits(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss / np.log(2), weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="The gradient is missing: a pair is asked for.",
    section="what-the-loss-tells-the-head",
)
def loss_alone(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss


@wrong(
    "loss",
    says="One of three is repaired: each place is asked for the next id; look at which places are asked, "
    "and at how much each of them counts.",
    section="common-mistakes",
)
def only_shifted(logits, ids, lengths):
    V = logits.shape[2]
    asked = ids != V - 1
    weights = asked / np.maximum(asked.sum(axis=1, keepdims=True), 1) / len(ids)
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="One of three is repaired: the right places are asked; look at what they are asked for, and at "
    "how much each of them counts.",
    section="common-mistakes",
)
def only_asked_by_length(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum(axis=1, keepdims=True) / len(ids)
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[ids]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="One of three is repaired: every prediction counts the same; look at which places are asked, and "
    "at what they are asked for.",
    section="common-mistakes",
)
def only_weighted_alike(logits, ids, lengths):
    V = logits.shape[2]
    asked = ids != V - 1
    weights = asked / max(asked.sum(), 1)
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[ids]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="You subtract the largest logit of the whole batch, so that elsewhere every exponential is "
    "rounded to 0; each place has its own largest.",
    section="what-the-loss-tells-the-head",
)
def largest_of_the_batch(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max()
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)


@wrong(
    "loss",
    says="Your gradient stands at the place of the token that came; the logits that predicted it are one place before.",
    section="what-the-loss-tells-the-head",
)
def gradient_one_place_late(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    gradient = weights[:, :, None] * (np.exp(log_p) - came)
    return -(weights * (log_p * came).sum(axis=2)).sum(), np.roll(gradient, 1, axis=1)


@wrong(
    "loss",
    says="Your gradient moves the token that came alone; every other token is pushed down by its probability.",
    section="what-the-loss-tells-the-head",
)
def gradient_of_one_logit(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - 1) * came


@wrong(
    "loss",
    says="With large logits your softmax divides infinity by infinity; subtract the largest of each place first.",
    section="what-the-loss-tells-the-head",
)
def infinity_by_infinity(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    loss = -np.log((p * came).sum(axis=2)[asked]).mean()
    return loss, asked[:, :, None] * (p - came) / asked.sum()


# filter


@wrong(
    "filter",
    says="You multiply by the temperature, so that a high one makes the text duller.",
    section="common-mistakes",
)
def temperature_multiplied(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) * temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="The temperature changes nothing: if the probabilities are divided by it, scaling them undoes "
    "that. Divide the logits.",
    section="from-probabilities-to-text",
)
def temperature_on_probabilities(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp(ranked - ranked[:, :1]) / temperature
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You filter first and apply the temperature to what is left; top-p then looks at other probabilities.",
    section="from-probabilities-to-text",
)
def temperature_at_the_end(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp(ranked - ranked[:, :1])
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    powers = powers ** (1 / temperature)
    powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="Top-p looks at the probabilities from before top-k: what top-k has left is scaled to sum to 1 first.",
    section="from-probabilities-to-text",
)
def top_p_first(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You drop the token that crosses the line, and where the first one does nothing is left.",
    section="common-mistakes",
)
def crossing_token_dropped(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        powers = np.where(np.cumsum(powers, axis=1) <= top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You drop the token that crosses the line, unless it is the only one; without it the kept ones do "
    "not reach top_p.",
    section="common-mistakes",
)
def crossing_token_dropped_but_one(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        keep = np.cumsum(powers, axis=1) <= top_p
        keep[:, 0] = True
        powers = np.where(keep, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="Where the kept tokens sum to top_p exactly, you keep one more.",
    section="from-probabilities-to-text",
)
def one_more_on_the_line(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before <= top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="What top-p leaves is not scaled to sum to 1 again.",
    section="from-probabilities-to-text",
)
def not_scaled_after_top_p(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="Where several logits are equal you keep more than top_k tokens.",
    section="from-probabilities-to-text",
)
def all_that_are_level(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers = np.where(powers >= powers[:, min(top_k, V) - 1, None], powers, 0)
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="Of equal logits you take the larger id first: turning a sorted list round turns them, too.",
    section="from-probabilities-to-text",
)
def larger_id_first(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(logits, axis=1, kind="stable")[:, ::-1]
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="The exponential meets large logits as they are and overflows.",
    section="from-probabilities-to-text",
)
def meets_large_logits(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp(ranked / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="At a temperature of 0 you divide by 0.",
    section="from-probabilities-to-text",
)
def divided_by_zero(logits, temperature, top_k=None, top_p=None):
    order = np.argsort(-logits, axis=1, kind="stable")
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You keep the least likely tokens: the order is upside down.",
    section="from-probabilities-to-text",
)
def least_likely_kept(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, -1:]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="The probabilities stand in order of size; each has to go back to its token.",
    section="from-probabilities-to-text",
)
def still_in_order(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    return powers


@wrong(
    "filter",
    says="You put the probabilities back with the order that sorted them; that takes the opposite permutation.",
    section="from-probabilities-to-text",
)
def put_back_the_wrong_way(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    return np.take_along_axis(powers, order, axis=1)


@wrong(
    "filter",
    says="What is not kept gets the logit 0, and not the probability 0.",
    section="from-probabilities-to-text",
)
def logits_of_zero(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]

    def softmax(z):
        powers = np.exp(z - z.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    rank = np.argsort(order, axis=1)
    z = logits / temperature
    if top_k is not None:
        z = np.where(rank < top_k, z, 0)
    if top_p is not None and top_p < 1:
        p = np.take_along_axis(softmax(z), order, axis=1)
        z = np.where(np.take_along_axis(np.cumsum(p, axis=1) - p < top_p, rank, axis=1), z, 0)
    return softmax(z)


@wrong(
    "filter",
    says="You keep each token that has some least probability by itself; top-p is about what they reach together.",
    section="from-probabilities-to-text",
)
def a_least_probability(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        powers = np.where(powers >= min(1 - top_p, powers.max(axis=1).min()), powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="top_k may be larger than the vocabulary; you look for a token that is not there.",
    section="from-probabilities-to-text",
)
def more_than_there_are(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        least = powers[:, [top_k - 1]]
        later = np.arange(V) >= top_k
        powers = np.where((powers < least) | later, 0, powers)
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="Where several tokens are as likely as the last one that top-p needs, you keep them all.",
    section="from-probabilities-to-text",
)
def all_level_with_the_last(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        least = np.where(before < top_p, powers, np.inf).min(axis=1, keepdims=True)
        powers = np.where(powers >= least, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="At a temperature of 0 you share among the likeliest where several are equal; the smallest id gets all.",
    section="from-probabilities-to-text",
)
def greedy_shared(logits, temperature, top_k=None, top_p=None):
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        best = logits == logits.max(axis=1, keepdims=True)
        return best / best.sum(axis=1, keepdims=True)
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="What top-k has left is not scaled to sum to 1 first, so that it may never reach top_p.",
    section="from-probabilities-to-text",
)
def never_reached(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_k is not None:
        powers[:, top_k:] = 0
    if top_p is not None and top_p < 1:
        last = np.argmax(np.cumsum(powers, axis=1) >= top_p, axis=1)
        powers = np.where(np.arange(V) <= last[:, None], powers, 0)
    powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="At a temperature of 0 each of several likeliest tokens gets the probability 1; one of them, the "
    "smallest id, gets it.",
    section="from-probabilities-to-text",
)
def greedy_for_each(logits, temperature, top_k=None, top_p=None):
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return 1.0 * (logits == logits.max(axis=1, keepdims=True))
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You scale over the batch: each row has to sum to 1 by itself.",
    section="from-probabilities-to-text",
)
def over_the_batch(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=0, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="At a temperature of 0 all tokens get the same probability: 0 stands for greedy, and not for no preference.",
    section="from-probabilities-to-text",
)
def greedy_filtered_away(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.full(logits.shape, 1 / V)
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says="You keep as many tokens in every row as top-p needs in the first one; each row has its own number.",
    section="from-probabilities-to-text",
)
def as_many_as_the_first_row(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        powers[:, int((np.cumsum(powers[0]) - powers[0] < top_p).sum()) :] = 0
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


@wrong(
    "filter",
    says='Your sort may put equal logits in any order: `np.argsort` keeps that of the ids with kind="stable" only.',
    section="from-probabilities-to-text",
)
def sort_not_stable(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1)
    if temperature == 0:
        return np.eye(V)[logits.argmax(axis=1)]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


# induction


@wrong(
    "induction",
    says="You read the targets in the rows; as in the chapter, a column of A belongs to a target.",
    section="a-head-with-a-job",
)
def targets_in_rows(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, n, places].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You take the weight on the earlier place itself; an induction head looks at what came after it.",
    section="a-head-with-a-job",
)
def the_same_token(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You take the place before the earlier one; what followed stands after it.",
    section="a-head-with-a-job",
)
def the_token_before(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j - 1 for j in range(1, n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Only the last earlier place counts with you; all of them do, together.",
    section="a-head-with-a-job",
)
def last_time_only(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        places = places[-1:]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Only the first earlier place counts with you; all of them do, together.",
    section="a-head-with-a-job",
)
def first_time_only(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        places = places[:1]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You divide by the number of all targets; those whose token is new cannot look at anything.",
    section="a-head-with-a-job",
)
def mean_over_all_targets(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / len(ids), chance / len(ids)


@wrong(
    "induction",
    says="Where a token stood before several times you take the mean over the places; their weights add up.",
    section="a-head-with-a-job",
)
def mean_over_the_places(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].mean(axis=1)
            chance += 1 / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You divide by the number of pairs, so that a frequent token counts more often than its targets.",
    section="a-head-with-a-job",
)
def mean_over_the_pairs(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += len(places)
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Target n may look at itself, too: by chance it has n + 1 sources, counted from 0.",
    section="a-head-with-a-job",
)
def one_source_short(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / n
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Your chance is that of a head which sees the whole text; a target sees nothing behind itself.",
    section="a-head-with-a-job",
)
def all_sources_alike(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / len(ids)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Your chance is that of a single place; where there are several, each of them may be hit.",
    section="a-head-with-a-job",
)
def one_place_by_chance(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += 1 / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Where a token follows itself, the place after it is that of the target. You leave it out.",
    section="a-head-with-a-job",
)
def itself_left_out(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n - 1) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You also take places where the token comes again later, which the target cannot know.",
    section="a-head-with-a-job",
)
def later_ones_too(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(len(ids) - 1) if j != n and ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Where no token comes twice you divide 0 by 0.",
    section="a-head-with-a-job",
)
def nothing_by_nothing(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / n_targets, float(np.float64(chance) / n_targets)


@wrong(
    "induction",
    says="Where no token comes twice you take the mean of nothing, which is no number.",
    section="a-head-with-a-job",
)
def mean_of_nothing(A, ids):
    scores, chance = [], []
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            scores.append(A[:, places, n].sum(axis=1))
            chance.append(len(places) / (n + 1))
    return np.mean(scores, axis=0), np.mean(chance)


@wrong(
    "induction",
    says="Your scores are divided by the number of pairs of equal tokens, while chance is a mean over "
    "targets, as both should be.",
    section="a-head-with-a-job",
)
def scores_over_the_pairs(A, ids):
    scores, chance, n_targets, n_pairs = np.zeros(len(A)), 0.0, 0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets, n_pairs = n_targets + 1, n_pairs + len(places)
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_pairs, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You add up over the targets where the mean is asked for.",
    section="a-head-with-a-job",
)
def sum_over_the_targets(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores, chance


@wrong(
    "induction",
    says="You count the target's own token as an earlier one, so that every target has a place, behind itself.",
    section="a-head-with-a-job",
)
def itself_as_earlier(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    A = np.concatenate([A, 0 * A[:, :1]], axis=1)
    for n in range(len(ids)):
        places = [j + 1 for j in range(n + 1) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="You compare the tokens before: that finds the places where the target's own token came, and not "
    "what followed.",
    section="a-head-with-a-job",
)
def same_token_before(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n - 1) if ids[j] == ids[n - 1]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Your chance is the mean of the heads' scores; it has nothing to do with these heads.",
    section="a-head-with-a-job",
)
def chance_of_the_heads(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), float(scores.mean()) / max(n_targets, 1)


@wrong(
    "induction",
    says="You average over the heads; each has a score of its own.",
    section="a-head-with-a-job",
)
def heads_averaged(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            chance += len(places) / (n + 1)
    return float(scores.mean()) / max(n_targets, 1), chance / max(n_targets, 1)


@wrong(
    "induction",
    says="Your chance divides all places by all sources; like the score it is a mean over the targets.",
    section="a-head-with-a-job",
)
def chance_as_one_quotient(A, ids):
    scores, n_places, n_sources, n_targets = np.zeros(len(A)), 0, 0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, places, n].sum(axis=1)
            n_places, n_sources = n_places + len(places), n_sources + n + 1
    return scores / max(n_targets, 1), n_places / max(n_sources, 1)


# pack


@wrong(
    "pack",
    says="The end is not packed: a reader would not know where to stop.",
    section="a-product-with-a-start-and-an-end",
)
def end_not_packed(counts, text):
    before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in text:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="The first token is read as if the id 0 stood before it; it is the mark that does.",
    section="a-product-with-a-start-and-an-end",
)
def begins_after_zero(counts, text):
    mark, before = len(counts) - 1, 0
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You always use the counts after the mark; each token is followed by its own.",
    section="bits-per-character",
)
def never_moves_on(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You read the columns of the table: the counts after v are row v.",
    section="bits-per-character",
)
def columns_for_rows(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = [other[before] for other in counts]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="Your interval is made of floats, which soon cannot tell its two ends apart.",
    section="bits-per-character",
)
def floats(counts, text):
    mark = before = len(counts) - 1
    low, width = 0.0, 1.0
    for w in [*text, mark]:
        row = counts[before]
        low += width * sum(row[:w]) / sum(row)
        width *= row[w] / sum(row)
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="Your number lies in the interval, and with other bits behind it, it need not; all numbers that "
    "begin so have to fit.",
    section="bits-per-character",
)
def only_a_point(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while math.ceil(low * 2**m) >= (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="Where your bits' numbers end exactly where the interval ends they fit, since neither includes that end.",
    section="bits-per-character",
)
def upper_end_refused(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) >= (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You cut the interval with the largest id at its lower end; it begins with the id 0.",
    section="bits-per-character",
)
def largest_id_first(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[w + 1 :]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="The lower end of a token's piece lies above all pieces of *smaller* ids; you add its own, too.",
    section="bits-per-character",
)
def own_piece_counted_twice(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[: w + 1]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="The pieces are parts of the interval, so that its width multiplies them; you add them as if it "
    "were still 1 wide.",
    section="bits-per-character",
)
def width_forgotten(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="The width is multiplied from token to token; yours is that of the last one.",
    section="bits-per-character",
)
def width_of_the_last_token(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width = Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="The zeros in front are lost, and they say where the interval lies.",
    section="bits-per-character",
)
def zeros_in_front_lost(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, "b")


@wrong(
    "pack",
    says="Your bits begin with the letters 0b, which Python puts in front of a binary number.",
    section="bits-per-character",
)
def prefix_of_python(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return bin(k)


@wrong(
    "pack",
    says="You round the lower end down, so that the numbers may begin before the interval does.",
    section="bits-per-character",
)
def rounded_down(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while Fraction(1, 2**m) > width:
        m += 1
    k = math.floor(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You name the middle of the interval with enough bits to be safe; shorter bits would often do.",
    section="bits-per-character",
)
def the_middle_to_be_safe(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while Fraction(2, 2**m) > width:
        m += 1
    k = math.floor((low + width / 2) * 2**m)
    return format(k, f"0{m}b")


@wrong(
    "pack",
    says="Of equally short bits you take those of the largest numbers; the smallest are asked for.",
    section="bits-per-character",
)
def largest_numbers(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.floor((low + width) * 2**m) - 1
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You try one bit more before you look: shorter bits would have done.",
    section="bits-per-character",
)
def one_bit_too_many(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You take one bit more than the surprise rounded up, which is always enough, and often too many.",
    section="bits-per-character",
)
def one_more_than_the_surprise(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 1
    while Fraction(2, 2**m) > width:
        m += 1
    return format(math.ceil(low * 2**m), f"0{m}b")


@wrong(
    "pack",
    says="You pack the mark in front of the text, too; the reader knows that it stands there.",
    section="bits-per-character",
)
def mark_packed_in_front(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [mark, *text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="Where the interval lies astride a middle you always go up; bits for the lower half may be "
    "shorter, or smaller.",
    section="bits-per-character",
)
def astride_goes_up(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    bits, a, b = "", Fraction(0), Fraction(1)
    while a < low or b > low + width:
        middle = (a + b) / 2
        if a >= low or low + width <= middle:
            bits, b = bits + "0", middle
        else:
            bits, a = bits + "1", middle
    return bits


@wrong(
    "pack",
    says="Your bits are a list; a text of the characters 0 and 1 is asked for.",
    section="bits-per-character",
)
def a_list_of_bits(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return [int(bit) for bit in format(k, f"0{m}b")] if m else []


@wrong(
    "pack",
    says="Your bits are in reverse order: the first one halves the whole interval.",
    section="bits-per-character",
)
def backwards(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b")[::-1] if m else ""


@wrong(
    "pack",
    says="You halve towards the middle of the interval; shorter bits, or smaller numbers, may fit beside it.",
    section="bits-per-character",
)
def towards_the_middle(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]), sum(row))
        width *= Fraction(row[w], sum(row))
        before = w
    m = 0
    while True:
        k = math.floor((low + width / 2) * 2**m)
        if low * 2**m <= k and k + 1 <= (low + width) * 2**m:
            return format(k, f"0{m}b")
        m += 1


@wrong(
    "pack",
    says="You shrink the width before the lower end moves; the lower end moves by a share of the old width.",
    section="bits-per-character",
)
def share_of_the_new_width(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        width *= Fraction(row[w], sum(row))
        low += width * Fraction(sum(row[:w]), sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""


@wrong(
    "pack",
    says="You divide before you make a Fraction, so that it holds a rounded number: Fraction(1 / 3) is not a third.",
    section="bits-per-character",
)
def fractions_of_floats(counts, text):
    mark = before = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for w in [*text, mark]:
        row = counts[before]
        low += width * Fraction(sum(row[:w]) / sum(row))
        width *= Fraction(row[w] / sum(row))
        before = w
    m = 0
    while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
        m += 1
    k = math.ceil(low * 2**m)
    return format(k, f"0{m}b") if m else ""
