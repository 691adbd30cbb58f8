"""Exercise 09, question pack: Stretch: pack a text."""

import itertools
import math
from fractions import Fraction

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds


def interval(counts, text):
    mark = len(counts) - 1
    low, width = Fraction(0), Fraction(1)
    for before, w in itertools.pairwise([mark, *map(int, text), mark]):
        row = [int(count) for count in counts[before]]
        low, width = low + width * Fraction(sum(row[:w]), sum(row)), width * Fraction(row[w], sum(row))
    return low, width


def pack_reference(counts, text):
    low, width = interval(counts, text)
    m = 0
    while True:
        k = -(-low.numerator * 2**m // low.denominator)  # the smallest that is not below
        if Fraction(k + 1, 2**m) <= low + width:
            return format(k, f"0{m}b") if m else ""
        m += 1


def has_a_rival(counts, text):
    """Other bits, as short as the shortest, name larger numbers that lie in the interval, too."""
    low, width = interval(counts, text)
    bits = pack_reference(counts, text)
    return Fraction(int("0" + bits, 2) + 2, 2 ** len(bits)) <= low + width


def off_the_middle(counts, text):
    """Whoever halves towards the middle of the interval does not come upon the shortest bits."""
    low, width = interval(counts, text)
    bits = pack_reference(counts, text)
    return int("0" + bits, 2) != int((low + width / 2) * 2 ** len(bits))


def draw_counts(rng, n_vocab, most=20):
    return [[int(count) for count in row] for row in rng.integers(1, most, size=(n_vocab, n_vocab))]


def counts_and_text(rng, length, most=20):
    V = int(rng.choice([3, 4, 5, 7]))
    return draw_counts(rng, V, most), [int(w) for w in rng.integers(V - 1, size=length)]


def ordinary_packs(rng):
    cases = [counts_and_text(rng, length) for length in (3, 5, 8, 11, 4, 6)]
    return [*cases, drawn_until(has_a_rival, rng), drawn_until(off_the_middle, rng)]


def drawn_until(telling, rng):
    while True:
        counts, text = counts_and_text(rng, 3)
        if telling(counts, text):
            return counts, text


def short_packs(rng):
    """Once all counts are equal, in a vocabulary of 4: the bits fit exactly; once the mark is alone: no bit at all."""
    level = [[int(rng.integers(1, 9))] * 4 for _ in range(4)]
    cases = [counts_and_text(rng, length, 200) for length in (0, 1, 0, 1, 2)]
    return [*cases, ([[int(rng.integers(1, 9))]], []), (level, []), (level, [int(w) for w in rng.integers(3, size=2)])]


def long_packs(rng):
    """In the last one a token so rare comes so often that the width is 0 as a float."""
    rare = [[first, 1, last] for first, last in rng.integers(2**18, 2**20, size=(3, 2)).tolist()]
    return [counts_and_text(rng, 130), counts_and_text(rng, 80, 3000), (rare, [1] * 60)]


def comes_out_again(ask, rng):
    for length in (0, 2, 7, 23, 40):
        counts, text = counts_and_text(rng, length, 50)
        bits = ask(counts, text)
        if not isinstance(bits, str) or set(bits) - {"0", "1"}:
            return "The result should be a text of the characters 0 and 1."
        low, width = interval(counts, text)
        surprise = float(np.log2(width.denominator / width.numerator))
        if len(bits) >= surprise + 2:
            return f"A text of {length} tokens has {surprise:.1f} bits of surprise, and you need {len(bits)}."
        for more in ("", "0" * 9, "1" * 9, "01100"):
            number = Fraction(int(f"0{bits}{more}", 2), 2 ** len(bits + more))
            if not low <= number < low + width:
                behind = f', with "{more}" behind it,' if more else ""
                return f"A text of {length} tokens{behind} is not what a reader gets out of your bits."
    return None


QUESTION = Question(
    id="pack",
    title="Stretch: pack a text",
    name="pack",
    minutes=30,
    difficulty=3,
    checks=(
        equals("values", 6, ordinary_packs, pack_reference),
        equals("short texts", 3, short_packs, pack_reference),
        equals("long texts", 5, long_packs, pack_reference),
        holds("comes out again", 6, comes_out_again),
    ),
    hints=(
        "Do it in two steps: first the interval of the text, as two exact fractions, then the shortest bits "
        "that fit into it. The mark is cut off last, like any other token. If your second step never ends: "
        "whoever halves from 0 to 1 and always keeps the half with the lower end goes on for ever as a rule, "
        "for that half begins below it; and a middle inside the interval rules neither half out.",
        "After each token the interval is a part of the one before. Its new lower end is the old one plus the "
        "share of all tokens with smaller ids, times the old width; the width is multiplied by the token's own "
        "share.",
        "With m bits there are the numbers k / 2ᵐ. Take the smallest k that is not below the lower end, and "
        "look whether the *next* one is not above the upper end. If it is, try one bit more. In the end write "
        "k with exactly m digits.",
    ),
    section="bits-per-character",
    inputs=Inputs(no_sizes="lists of whole numbers, so that the bits are exact"),
)

right, wrong = answers_to(QUESTION)


@right
def interval_then_bits(counts, text):
    mark = len(counts) - 1
    low, width, before = Fraction(0), Fraction(1), mark
    for w in [*text, mark]:
        total = sum(counts[before])
        low = low + width * Fraction(sum(counts[before][:w]), total)
        width = width * Fraction(counts[before][w], total)
        before = w
    n_bits = 0
    while True:
        scale = 2**n_bits
        k = math.ceil(low * scale)
        if Fraction(k + 1, scale) <= low + width:
            return bin(k)[2:].zfill(n_bits) if n_bits else ""
        n_bits += 1


@right
def whole_numbers_alone(counts, text):
    last = before = len(counts) - 1
    low, wide, scale = 0, 1, 1
    for w in [*text, last]:
        row = counts[before]
        low, wide, scale = low * sum(row) + wide * sum(row[:w]), wide * row[w], scale * sum(row)
        before = w
    bits = 0
    while ((low << bits) + scale - 1) // scale * scale + scale > (low + wide) << bits:
        bits += 1
    first = ((low << bits) + scale - 1) // scale
    return "".join(str(first >> place & 1) for place in reversed(range(bits)))


@right
def begins_with_a_guess(counts, text):
    ends, before = [Fraction(0), Fraction(1)], len(counts) - 1
    for token in [*text, len(counts) - 1]:
        row, (low, high) = counts[before], ends
        ends = [low + (high - low) * sum(row[:stop]) / sum(row) for stop in (token, token + 1)]
        before = token
    low, high = ends
    m = max(0, (1 / (high - low)).__ceil__().bit_length() - 2)  # fewer bits are too wide in any case
    while True:
        step = Fraction(1, 2**m)
        k = -((-low) // step)
        if (k + 1) * step <= high:
            return format(k, "b").rjust(m, "0")[-m:] if m > 0 else ""
        m += 1


@right
def as_often_written(counts, text):
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
    return format(k, f"0{m}b") if m else ""


@wrong("Where the interval lies astride a middle you always go up; bits for the lower half may be shorter, or smaller.")
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


@wrong("You halve towards the middle of the interval; shorter bits, or smaller numbers, may fit beside it.")
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


wrong.edits("""
# as_often_written
## end_not_packed [a-product-with-a-start-and-an-end]: The end is not packed: a reader would not know where to stop.
- for w in [*text, mark]:
+ for w in text:
## begins_after_zero [a-product-with-a-start-and-an-end]: The first token is read as if the id 0 stood before it; it is
the mark that does.
- mark = before = len(counts) - 1
+ mark, before = len(counts) - 1, 0
## never_moves_on: You always use the counts after the mark; each token is followed by its own.
- before = w
## columns_for_rows: You read the columns of the table: the counts after v are row v.
- row = counts[before]
+ row = [other[before] for other in counts]
## floats: Your interval is made of floats, which soon cannot tell its two ends apart.
- low += width * Fraction(sum(row[:w]), sum(row))
- width *= Fraction(row[w], sum(row))
+ low += width * sum(row[:w]) / sum(row)
+ width *= row[w] / sum(row)
## only_a_point: Your number lies in the interval, and with other bits behind it, it need not; all numbers that begin so
have to fit.
- while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
+ while math.ceil(low * 2**m) >= (low + width) * 2**m:
## upper_end_refused: Where your bits' numbers end exactly where the interval ends they fit, since neither includes that
end.
- while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
+ while (math.ceil(low * 2**m) + 1) >= (low + width) * 2**m:
## largest_id_first: You cut the interval with the largest id at its lower end; it begins with the id 0.
- low += width * Fraction(sum(row[:w]), sum(row))
+ low += width * Fraction(sum(row[w + 1 :]), sum(row))
## own_piece_counted_twice: The lower end of a token's piece lies above all pieces of *smaller* ids; you add its own,
too.
- low += width * Fraction(sum(row[:w]), sum(row))
+ low += width * Fraction(sum(row[: w + 1]), sum(row))
## width_forgotten: The pieces are parts of the interval, so that its width multiplies them; you add them as if it were
still 1 wide.
- low += width * Fraction(sum(row[:w]), sum(row))
+ low += Fraction(sum(row[:w]), sum(row))
## width_of_the_last_token: The width is multiplied from token to token; yours is that of the last one.
- width *= Fraction(row[w], sum(row))
+ width = Fraction(row[w], sum(row))
## zeros_in_front_lost: The zeros in front are lost, and they say where the interval lies.
- return format(k, f"0{m}b") if m else ""
+ return format(k, "b")
## prefix_of_python: Your bits begin with the letters 0b, which Python puts in front of a binary number.
- return format(k, f"0{m}b") if m else ""
+ return bin(k)
## rounded_down: You round the lower end down, so that the numbers may begin before the interval does.
- while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
+ while Fraction(1, 2**m) > width:
- k = math.ceil(low * 2**m)
+ k = math.floor(low * 2**m)
## the_middle_to_be_safe: You name the middle of the interval with enough bits to be safe; shorter bits would often do.
- while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
+ while Fraction(2, 2**m) > width:
- k = math.ceil(low * 2**m)
- return format(k, f"0{m}b") if m else ""
+ k = math.floor((low + width / 2) * 2**m)
+ return format(k, f"0{m}b")
## largest_numbers: Of equally short bits you take those of the largest numbers; the smallest are asked for.
- k = math.ceil(low * 2**m)
+ k = math.floor((low + width) * 2**m) - 1
## at_least_one_bit: You begin with one bit; where nothing but the mark can come, none is needed.
- m = 0
+ m = 1
## logarithm_of_the_width: You take the logarithm of the width as a float, and for a long text that is 0.
- m = 0
+ m = math.ceil(-math.log2(width))
## one_bit_too_many: You try one bit more before you look: shorter bits would have done.
      m += 1
+ m += 1
## one_more_than_the_surprise: You take one bit more than the surprise rounded up, which is always enough, and often too
many.
- m = 0
- while (math.ceil(low * 2**m) + 1) > (low + width) * 2**m:
+ m = 1
+ while Fraction(2, 2**m) > width:
## mark_packed_in_front: You pack the mark in front of the text, too; the reader knows that it stands there.
- for w in [*text, mark]:
+ for w in [mark, *text, mark]:
## a_list_of_bits: Your bits are a list; a text of the characters 0 and 1 is asked for.
- return format(k, f"0{m}b") if m else ""
+ return [int(bit) for bit in format(k, f"0{m}b")] if m else []
## backwards: Your bits are in reverse order: the first one halves the whole interval.
- return format(k, f"0{m}b") if m else ""
+ return format(k, f"0{m}b")[::-1] if m else ""
## share_of_the_new_width: You shrink the width before the lower end moves; the lower end moves by a share of the old
width.
  row = counts[before]
+ width *= Fraction(row[w], sum(row))
- width *= Fraction(row[w], sum(row))
## fractions_of_floats: You divide before you make a Fraction, so that it holds a rounded number: Fraction(1 / 3) is not
a third.
- low += width * Fraction(sum(row[:w]), sum(row))
- width *= Fraction(row[w], sum(row))
+ low += width * Fraction(sum(row[:w]) / sum(row))
+ width *= Fraction(row[w] / sum(row))
""")
