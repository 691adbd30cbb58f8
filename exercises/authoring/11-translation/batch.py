"""Exercise 11, question batch: from sentences to a batch."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import tuple_slip

MARKERS = ("source", "read", "wanted")


def batch_reference(sources, targets, start, end, padding):
    """Row by row into arrays that hold nothing but padding at first."""
    S, N = (1 + max(map(len, side)) for side in (sources, targets))
    source, read, wanted = (np.full((len(sources), width), padding) for width in (S, N, N))
    for b, (words, others) in enumerate(zip(sources, targets, strict=True)):
        source[b, : len(words)], source[b, len(words)] = words, end
        read[b, 0], read[b, 1 : 1 + len(others)] = start, others
        wanted[b, : len(others)], wanted[b, len(others)] = others, end
    return source, read, wanted


def draw_markers(rng):
    """Start, end and padding, now before the words and now after them, in any order; and the words."""
    first_word, start_of_markers = (3, 0) if rng.random() < 0.5 else (0, 17)
    return [int(m) + start_of_markers for m in rng.permutation(3)], first_word


def sentences(rng, lengths, first_word):
    return [rng.integers(first_word, first_word + 17, size=n).tolist() for n in lengths]


def draw_batch(rng, least=1):
    """Lists of sentences; the longest source and the longest target stand in different rows."""
    B, S, N = draw_sizes(rng, 3)
    markers, first_word = draw_markers(rng)
    lengths = [rng.integers(least, longest, size=B) for longest in (S - 1, N - 1)]
    for place, (row, longest) in enumerate(zip(rng.permutation(B)[:2], (S, N), strict=True)):
        lengths[place][row] = longest
    return (*(sentences(rng, found, first_word) for found in lengths), *markers)


def batches(rng):
    return [draw_batch(rng) for _ in range(3)]


def few_words(rng):
    """One sentence alone; sentences without words among others, and with many words, of large ids; no words at all."""
    one, (markers, first_word) = draw_batch(rng), draw_markers(rng)
    alone = [one[0][:1], one[1][:1], *one[2:4], one[2]]
    sources, targets, *rest = draw_batch(rng, least=2)
    sources[1], targets[2] = [], []
    sources[0], targets[0] = ([word + 70_000 for word in 12 * side[0]] for side in (sources, targets))
    return [tuple(alone), (sources, targets, *rest), ([[], []], sentences(rng, (0, 0), first_word), *markers)]


def one_place_late(ask, rng):
    sources, targets, start, end, padding = draw_batch(rng)
    came = ask(sources, targets, start, end, padding)
    if slip := tuple_slip(came, MARKERS):
        return slip
    longest = max(map(len, targets))
    for array, name in zip(came[1:], MARKERS[1:], strict=True):
        if slip := shape_slip(array, (len(targets), longest + 1), f"`{name}`"):
            return slip
    _, read, wanted = came
    for b, words in enumerate(targets):
        if (read[b, 1 : 1 + len(words)] != wanted[b, : len(words)]).any():
            return f"In row {b} of your batch a word that is wanted at one position is not the one read at the next."
        if (read[b] != padding).sum() != (wanted[b] != padding).sum():
            return f"In row {b} of your batch not as many words are read as are wanted."
    return None


QUESTION = Question(
    id="batch",
    title="From sentences to a batch",
    name="make_batch",
    minutes=15,
    difficulty=1,
    checks=with_battery(
        equals("values", 3, batches, batch_reference, dtype="int"),
        equals("few words", 3, few_words, batch_reference, dtype="int"),
        holds("one position late", 2, one_place_late),
    ),
    hints=(
        "Write the three rows of one sentence of two words on paper, with its markers, and compare their lengths.",
        "Each of the three arrays is filled up on its own: first put the markers to the words, then look for "
        "the longest row, then add padding.",
        "What is read begins with a marker and what is wanted ends with one. In the same column stands a word "
        "and, below it, the one that follows it.",
    ),
    section="a-batch",
    inputs=Inputs(no_sizes="lists of sentences, each of its own length"),
)

right, wrong = answers_to(QUESTION)


@right
def widths_first(sources, targets, start, end, padding):
    S = max(map(len, sources)) + 1
    N = max(map(len, targets)) + 1
    source, read, wanted = [], [], []
    for z, w in zip(sources, targets, strict=True):
        source.append([*z, end, *[padding] * (S - len(z) - 1)])
        read.append([start, *w, *[padding] * (N - len(w) - 1)])
        wanted.append([*w, end, *[padding] * (N - len(w) - 1)])
    return np.array(source), np.array(read), np.array(wanted)


@right
def one_array_and_its_shift(sources, targets, start, end, padding):
    """The target with both markers, cut once behind and once in front; an end that would be read becomes padding."""
    B = len(targets)
    whole = np.full((B, max(len(w) for w in targets) + 2), padding)
    source = np.full((B, max(len(z) for z in sources) + 1), padding)
    for b in range(B):
        whole[b, : len(targets[b]) + 2] = [start, *targets[b], end]
        source[b, : len(sources[b]) + 1] = [*sources[b], end]
    read = whole[:, :-1].copy()
    for b in range(B):
        read[b, len(targets[b]) + 1 :] = padding
    return source, read, whole[:, 1:]


@right
def by_truth_values(sources, targets, start, end, padding):
    def table(rows):
        lengths = np.array([len(row) for row in rows])
        filled = np.full((len(rows), lengths.max()), padding)
        filled[np.arange(lengths.max()) < lengths[:, None]] = np.concatenate(rows)
        return filled

    return (
        table([np.append(np.array(z, dtype=int), end) for z in sources]),
        table([np.insert(np.array(w, dtype=int), 0, start) for w in targets]),
        table([np.append(np.array(w, dtype=int), end) for w in targets]),
    )


@right
def as_often_written(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "The batch is filled up first and the markers come afterwards, and so the end token is missing from shorter "
    "sentences."
)
def start_before_the_padding(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([words for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([words for words in targets])
    for table in (source, wanted):
        table[:, -1:] = np.where(table[:, -1:] == padding, padding, end)
    return source, read, wanted


@wrong("You append the end token to the sentences that came in, so that the caller's own lists grow.")
def sentences_changed(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    for words in sources:
        words.append(end)
    source = filled(sources)
    read = filled([[start, *words] for words in targets])
    for words in targets:
        words.append(end)
    wanted = filled(targets)
    return source, read, wanted


wrong.edits("""
# as_often_written
## end_behind_the_padding: The end token stands behind the padding instead of right after the last word.
- source = filled([[*words, end] for words in sources])
+ source = np.pad(filled(sources), ((0, 0), (0, 1)), constant_values=end)
- wanted = filled([[*words, end] for words in targets])
+ wanted = np.pad(filled(targets), ((0, 0), (0, 1)), constant_values=end)
## not_shifted [common-mistakes]: What is read is what is wanted, so the model only has to copy: nothing is shifted.
- read = filled([[start, *words] for words in targets])
+ read = filled([[*words, end] for words in targets])
## end_is_read: In the shorter sentences you let the end token be read, although nothing is wanted after it.
- read = filled([[start, *words] for words in targets])
- wanted = filled([[*words, end] for words in targets])
+ whole = filled([[start, *words, end] for words in targets])
+ read, wanted = whole[:, :-1], whole[:, 1:]
## last_word_unread: What is read lacks the last word of each sentence; behind that word the end token is wanted.
- read = filled([[start, *words] for words in targets])
+ read = filled([[start, *words[:-1]] for words in targets])
## read_with_end: What is read holds the end token; nothing is wanted behind it, so it is not read.
+ read = filled([[start, *words, end] for words in targets])
## no_start: What is read lacks the start token, so nothing stands there from which the first word could be written.
- read = filled([[start, *words] for words in targets])
+ read = filled([words for words in targets])
## no_end [common-mistakes]: What is wanted lacks the end token, so the model never learns to stop.
- wanted = filled([[*words, end] for words in targets])
+ wanted = filled([words for words in targets])
## empty_without_end: A sentence without words gets no end token from you; it ends, too, and nothing else is wanted.
+ wanted = filled([[*words, end] if words else [padding] for words in targets])
## source_without_end: The source lacks its end token.
- source = filled([[*words, end] for words in sources])
+ source = filled([words for words in sources])
## source_with_start: You put a start token before the source; only what is read begins with one.
+ source = filled([[start, *words, end] for words in sources])
## padding_in_front: You fill up on the left; here padding stands behind the words.
- return np.array([row + [padding] * (longest - len(row)) for row in rows])
+ return np.array([[padding] * (longest - len(row)) + row for row in rows])
## both_with_both: What is read and what is wanted both hold start and end; each needs one of the two.
- read = filled([[start, *words] for words in targets])
- wanted = filled([[*words, end] for words in targets])
+ read = filled([[start, *words, end] for words in targets])
+ wanted = read.copy()
## read_and_wanted_exchanged: What is read and what is wanted have changed places.
- return source, read, wanted
+ return source, wanted, read
## filled_with_zero: You fill up with 0; the padding has an id of its own.
- return np.array([row + [padding] * (longest - len(row)) for row in rows])
+ return np.array([row + [0] * (longest - len(row)) for row in rows])
## one_width_for_all: Sources and targets are filled up to the same length; each has a longest row of its own.
- longest = max(len(row) for row in rows)
+ longest = max(len(words) for words in sources + targets) + 1
## one_place_early: What is read is shifted the wrong way: at each position it shows a word that comes later.
  wanted = filled([[*words, end] for words in targets])
+ read = np.roll(wanted, -1, axis=1)
## cut_to_the_shortest: Longer sentences are cut to the length of the shortest one.
- longest = max(len(row) for row in rows)
- return np.array([row + [padding] * (longest - len(row)) for row in rows])
+ longest = min(len(row) for row in rows)
+ return np.array([row[:longest] for row in rows])
## not_whole_numbers: Your ids are floating-point numbers, which nothing can be looked up with.
- return np.array([row + [padding] * (longest - len(row)) for row in rows])
+ return np.array([row + [padding] * (longest - len(row)) for row in rows], dtype=float)
## too_narrow_for_ids: Your whole numbers have 8 or 16 bits; an id may be larger than those hold.
+ return np.array([row + [padding] * (longest - len(row)) for row in rows]).astype(np.int16)
## one_column_too_many: Your arrays are one column wider than they have to be.
- longest = max(len(row) for row in rows)
+ longest = max(len(row) for row in rows) + 1
## markers_exchanged: You write the end token where the start token belongs, and the other way round.
- source = filled([[*words, end] for words in sources])
- read = filled([[start, *words] for words in targets])
- wanted = filled([[*words, end] for words in targets])
+ source = filled([[*words, start] for words in sources])
+ read = filled([[end, *words] for words in targets])
+ wanted = filled([[*words, start] for words in targets])
## rows_of_different_lengths: Nothing is filled up, and rows of different lengths make no array.
- longest = max(len(row) for row in rows)
- return np.array([row + [padding] * (longest - len(row)) for row in rows])
+ return np.array(rows)
""")
