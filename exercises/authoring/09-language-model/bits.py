"""Exercise 09, question bits: out of a training log."""

import math

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE

from .shared import pair_slip

PIECES = ("der", " ", " Zug", "fährt", "nach", "Köln", "ab", "Straße", "ß", "→", "über", ".", "heute", "naïve", "x")


def bits_reference(means, counts, pieces):
    nats = sum(float(mean) * int(count) for mean, count in zip(means, counts, strict=True))
    characters = sum(max(1, len(piece)) for piece in pieces)
    return nats / np.log(2) / characters, float(np.exp(nats / len(pieces)))


def draw_log(rng, n_batches, small=False):
    counts = rng.permutation(np.array([5, 7, 11, 13]))[:n_batches] if not small else np.array([1])
    pieces = [str(piece) for piece in rng.choice(PIECES, counts.sum())]
    if not small:
        pieces[1] = "\n\n\n\n"  # four characters: whoever takes it for one is not off by as much as forgotten ends
    pieces[-1] = ""
    for place in range(4, len(pieces), 6):
        pieces[place] = ""
    return rng.uniform(1.0, 6.0, size=len(counts)), counts, pieces


def ordinary_logs(rng):
    return [draw_log(rng, 3), draw_log(rng, 4), draw_log(rng, 2)]


def short_logs(rng):
    means, counts, pieces = draw_log(rng, 1)
    alone = draw_log(rng, 1, small=True)
    two = np.append(alone[0], alone[0] + 1.0), np.array([1, 1]), ["", "x"]
    return [(means, counts, pieces), two, (alone[0] + 2.0, alone[1], ["überaus"])]


def cut_differently(ask, rng):
    """The same surprises, summed over other batches and over longer tokens."""
    nats, pieces = rng.uniform(0.5, 5.0, size=12), [str(piece) for piece in rng.choice(PIECES, 12)]
    before = None
    for cuts in ([12], [5, 7], [1, 8, 3]):
        ends = np.cumsum(cuts)
        means = np.array([nats[end - cut : end].mean() for cut, end in zip(cuts, ends, strict=True)])
        came = ask(means, np.array(cuts), pieces)
        if slip := pair_slip(came):
            return slip
        if before is not None and not np.allclose(came, before, rtol=0, atol=1e-9):
            return "The same tokens with the same losses, in other batches, must give the same pair; yours changes."
        before = came
    joined = ["".join(pieces[i : i + 2]) for i in range(0, 12, 2)]
    longer = ask(np.array([2 * nats.mean()]), np.array([6]), joined)
    if abs(longer[0] - before[0]) > CLOSE:
        return (
            "Two and two tokens were joined to one, with the sum of their losses: the bits per character must stay as "
            "they were, but yours change."
        )
    if abs(longer[1] - before[1] ** 2) > 1e-6:
        return "Two and two tokens were joined to one: the perplexity per token must become its square; yours does not."
    return None


QUESTION = Question(
    id="bits",
    title="Out of a training log",
    name="from_log",
    minutes=15,
    difficulty=1,
    checks=with_battery(
        equals("values", 5, ordinary_logs, bits_reference),
        equals("short logs", 2, short_logs, bits_reference),
        holds("cut differently", 3, cut_differently),
    ),
    hints=(
        "A mean over few tokens must not count as much as a mean over many. What is the surprise of the whole "
        "text, in nats?",
        "From nats to bits a number becomes larger or smaller? A coin flip is one bit, and 0.69 nats.",
        "The same total is divided by two different numbers: by how many tokens there were, and by how many "
        "characters they stand for. The end of a text is a character without a letter.",
    ),
    section="bits-per-character",
    inputs=Inputs(no_sizes="batches and tokens are cut from one log"),
)

right, wrong = answers_to(QUESTION)


@right
def one_sum_two_divisions(means, counts, pieces):
    bits = np.sum(means * counts) / np.log(2)
    characters = sum(1 if piece == "" else len(piece) for piece in pieces)
    return bits / characters, 2.0 ** (bits / len(pieces))


@right
def weighted_average(means, counts, pieces):
    nats_per_token = np.average(means, weights=counts)
    characters = len("".join(pieces)) + pieces.count("")
    return nats_per_token * len(pieces) / characters / math.log(2), math.exp(nats_per_token)


@right
def token_after_token(means, counts, pieces):
    each = np.repeat(means, counts)
    lengths = np.array([len(piece.replace("", "")) for piece in pieces])
    lengths[lengths == 0] = 1
    return (each / np.log(2)).sum() / lengths.sum(), np.exp(each.mean())


@right
def as_often_written(means, counts, pieces):
    bits = (means * counts).sum() / np.log(2)
    n_characters = sum(max(1, len(piece)) for piece in pieces)
    return bits / n_characters, 2 ** (bits / len(pieces))


wrong.edits("""
# as_often_written
## mean_of_means: You average the batches' means as if all batches were equally large.
- bits = (means * counts).sum() / np.log(2)
+ bits = means.mean() * len(pieces) / np.log(2)
## first_count_for_all: You take every batch to be as large as the first one.
+ bits = (means * counts[0]).sum() / np.log(2)
## counts_ignored: You add up the means; each stands for as many tokens as its batch has.
+ bits = means.sum() / np.log(2)
## first_in_nats: Your first number is in nats per character; a bit is 0.69 nats.
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return bits * np.log(2) / n_characters, 2 ** (bits / len(pieces))
## multiplied_by_ln_2: From nats to bits you multiply by ln 2 where you have to divide.
- bits = (means * counts).sum() / np.log(2)
+ bits = (means * counts).sum() * np.log(2)
## log_to_base_ten: You divide by the logarithm of 2 to base 10; nats come from the natural logarithm.
+ bits = (means * counts).sum() / np.log10(2)
## per_token: Your first number is per token: it depends on how the text was cut, and says little by itself.
- n_characters = sum(max(1, len(piece)) for piece in pieces)
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return bits / len(pieces), 2 ** (bits / len(pieces))
## ends_not_counted: The ends of the texts are not among your characters; each of them counts as one.
- n_characters = sum(max(1, len(piece)) for piece in pieces)
+ n_characters = sum(len(piece) for piece in pieces)
## one_more_for_every_token: You count a character more for every token; only an end adds one.
+ n_characters = sum(len(piece) + 1 for piece in pieces)
## bytes: You count bytes: a letter like ß has two of them, and is one character.
+ n_characters = sum(max(1, len(piece.encode())) for piece in pieces)
## perplexity_per_character: Your perplexity is taken per character; it belongs to a choice among tokens.
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return bits / n_characters, 2 ** (bits / n_characters)
## e_to_the_bits: Your perplexity raises e to the number of bits; to bits belongs the base 2, and to nats e.
+ return bits / n_characters, np.exp(bits / len(pieces))
## two_to_the_nats: Your perplexity raises 2 to the number of nats; to bits belongs the base 2, and to nats e.
+ return bits / n_characters, 2 ** (bits * np.log(2) / len(pieces))
## perplexities_averaged: You average the perplexities of the batches; the average belongs in the exponent.
+ return bits / n_characters, (counts * np.exp(means)).sum() / counts.sum()
## swapped: Both numbers are there, and in the wrong order.
+ return 2 ** (bits / len(pieces)), bits / n_characters
## one_number_only: The perplexity is missing: a pair is asked for.
+ return bits / n_characters
## perplexity_of_the_plain_mean: Your perplexity takes all batches as equally large; your bits do not.
+ return bits / n_characters, np.exp(means.mean())
## perplexity_is_the_bits: Your second number is the bits per token; perplexity is 2 to that power.
+ return bits / n_characters, bits / len(pieces)
## nats_for_bits: You take the nats for bits, in both numbers; a bit is 0.69 nats.
- bits = (means * counts).sum() / np.log(2)
+ nats = (means * counts).sum()
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return nats / n_characters, 2 ** (nats / len(pieces))
## one_end_for_all: You count one end for the whole log; every piece without a letter is the end of a text.
- n_characters = sum(max(1, len(piece)) for piece in pieces)
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return bits / (len("".join(pieces)) + 1), 2 ** (bits / len(pieces))
## last_end_alone: You count the end of the last text alone; every piece without a letter is the end of a text.
+ return bits / (len("".join(pieces)) + (pieces[-1] == "")), 2 ** (bits / len(pieces))
## times_the_characters: You multiply by characters per token; the bits of a token are shared among its characters.
- bits = (means * counts).sum() / np.log(2)
+ bits = (means * counts).sum() / np.log(2) / len(pieces)
- return bits / n_characters, 2 ** (bits / len(pieces))
+ return bits * n_characters / len(pieces), 2**bits
## spaces_stripped: You strip the pieces; a space at the edge of a piece is a character of the text.
- n_characters = sum(max(1, len(piece)) for piece in pieces)
+ n_characters = sum(max(1, len(piece.strip())) for piece in pieces)
## lines_not_counted: Line breaks are characters of the text, too; you leave them out.
+ n_characters = sum(max(1, len(piece.replace(chr(10), ""))) for piece in pieces)
""")
