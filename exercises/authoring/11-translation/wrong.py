"""Named wrong solutions of exercise 11: what learners write, and the sentence that tells them so."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
from clearcheck import WrongSolutions

_spec = spec_from_file_location("clearcheck_parts_11", Path(__file__).with_name("parts.py"))
parts = module_from_spec(_spec)
_spec.loader.exec_module(parts)

next_scores = parts.next_scores  # in a notebook a given function

wrong = WrongSolutions()
WRONG = wrong


# batch


@wrong(
    "batch",
    says="What is read is what is wanted, so the model only has to copy: nothing is shifted.",
    section="common-mistakes",
)
def not_shifted(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[*words, end] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="In the shorter sentences you let the end token be read, although nothing is wanted after it.",
    section="a-batch",
)
def end_is_read(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    whole = filled([[start, *words, end] for words in targets])
    read, wanted = whole[:, :-1], whole[:, 1:]
    return source, read, wanted


@wrong(
    "batch",
    says="What is read lacks the start token, so nothing stands there from which the first word could be written.",
    section="a-batch",
)
def no_start(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([words for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="What is wanted lacks the end token, so the model never learns to stop.",
    section="common-mistakes",
)
def no_end(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([words for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="The source lacks its end token.",
    section="a-batch",
)
def source_without_end(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([words for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="You put a start token before the source; only what is read begins with one.",
    section="a-batch",
)
def source_with_start(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[start, *words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="You fill up on the left; here padding stands behind the words.",
    section="a-batch",
)
def padding_in_front(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([[padding] * (longest - len(row)) + row for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="What is read and what is wanted both hold start and end; each has one of the two.",
    section="a-batch",
)
def both_with_both(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words, end] for words in targets])
    wanted = read.copy()
    return source, read, wanted


@wrong(
    "batch",
    says="What is read and what is wanted have changed places.",
    section="a-batch",
)
def read_and_wanted_exchanged(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, wanted, read


@wrong(
    "batch",
    says="You fill up with 0; the padding has an id of its own.",
    section="a-batch",
)
def filled_with_zero(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [0] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="Sources and targets are filled up to the same length; each has a longest row of its own.",
    section="a-batch",
)
def one_width_for_all(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(words) for words in sources + targets) + 1
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="What is read is shifted the wrong way: at each place it shows a word that comes later.",
    section="a-batch",
)
def one_place_early(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])

    wanted = filled([[*words, end] for words in targets])
    read = np.roll(wanted, -1, axis=1)
    return source, read, wanted


@wrong(
    "batch",
    says="The end token stands behind the padding instead of right after the last word.",
    section="a-batch",
)
def end_behind_the_padding(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([words for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([words for words in targets])
    ends = np.full((len(targets), 1), end)
    return np.hstack([source, ends]), read, np.hstack([wanted, ends])


@wrong(
    "batch",
    says="The batch is filled up first and the markers come afterwards, and so the end token is missing "
    "from shorter sentences.",
    section="a-batch",
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


@wrong(
    "batch",
    says="Longer sentences are cut to the length of the shortest one.",
    section="a-batch",
)
def cut_to_the_shortest(sources, targets, start, end, padding):
    def filled(rows):
        longest = min(len(row) for row in rows)
        return np.array([row[:longest] for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="Your ids are floating-point numbers, which nothing can be looked up with.",
    section="a-batch",
)
def not_whole_numbers(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows], dtype=float)

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="You append the end token to the sentences that came in, so that the caller's own lists grow.",
    section="a-batch",
)
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


@wrong(
    "batch",
    says="Your arrays are one column wider than they have to be.",
    section="a-batch",
)
def one_column_too_many(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows) + 1
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="You write the end token where the start token belongs, and the other way round.",
    section="a-batch",
)
def markers_exchanged(sources, targets, start, end, padding):
    def filled(rows):
        longest = max(len(row) for row in rows)
        return np.array([row + [padding] * (longest - len(row)) for row in rows])

    source = filled([[*words, start] for words in sources])
    read = filled([[end, *words] for words in targets])
    wanted = filled([[*words, start] for words in targets])
    return source, read, wanted


@wrong(
    "batch",
    says="Nothing is filled up, and rows of different lengths make no array.",
    section="a-batch",
)
def rows_of_different_lengths(sources, targets, start, end, padding):
    def filled(rows):
        return np.array(rows)

    source = filled([[*words, end] for words in sources])
    read = filled([[start, *words] for words in targets])
    wanted = filled([[*words, end] for words in targets])
    return source, read, wanted


# masks


@wrong(
    "masks",
    says="You also forbid padding to look at others; its rows have no rule of their own.",
    section="a-batch",
)
def padding_may_not_look(source, read, padding):
    (_B, _S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source & np.swapaxes(in_source, 1, 2)
    decoder = in_read & np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
    across = in_source & np.swapaxes(in_read, 1, 2)
    return encoder, decoder, across


@wrong(
    "masks",
    says="You hide the rows of padding: padding may not look, but everyone may look at it.",
    section="a-batch",
)
def rows_for_columns(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(np.swapaxes(in_source, 1, 2), S, axis=2)
    decoder = np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
    across = np.repeat(np.swapaxes(in_read, 1, 2), S, axis=2)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the decoder you have the triangle, but padding that stands in front of a place may be looked at.",
    section="a-batch",
)
def triangle_alone(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    in_source, _in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = np.repeat(np.tri(N, dtype=bool)[None], B, axis=0)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the decoder a place may look at what is written later: the triangle is missing.",
    section="a-batch",
)
def no_triangle(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = np.repeat(in_read, N, axis=1)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your triangle in the decoder lies on the wrong side: a place sees what comes and not what was.",
    section="a-batch",
)
def triangle_upside_down(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.triu(np.ones((N, N), dtype=bool))
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the decoder a place of yours does not see itself; the first one would see nothing at all.",
    section="a-batch",
)
def not_itself(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, k=-1, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your triangle in the decoder reaches one place too far: each place sees the next one.",
    section="a-batch",
)
def one_place_too_far(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, k=1, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="You put a triangle into the encoder, whose words are all there from the beginning.",
    section="a-batch",
)
def triangle_in_the_encoder(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source & np.tri(S, dtype=bool)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="You put a triangle across: word n of a translation may look at all of the source, not only at "
    "its first n words.",
    section="a-batch",
)
def triangle_across(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = in_source & np.tri(N, S, dtype=bool)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Encoder and the table across have a triangle, too; only the decoder's own words come one after the other.",
    section="a-batch",
)
def triangles_everywhere(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source & np.tri(S, dtype=bool)
    decoder = in_read & np.tri(N, dtype=bool)
    across = in_source & np.tri(N, S, dtype=bool)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the table across you ask where the target has padding; there it is the source that is looked at.",
    section="a-batch",
)
def padding_of_the_wrong_side(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(np.swapaxes(in_read, 1, 2), S, axis=2)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your True means hidden; here it says that the token may look.",
    section="a-batch",
)
def true_hides(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return ~encoder, ~decoder, ~across


@wrong(
    "masks",
    says="You take 0 for the padding; which id it has comes in as an argument.",
    section="a-batch",
)
def padding_is_zero(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != 0)[:, None, :], (read != 0)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your table across lies on its side: the places of the target are its rows, for they look.",
    section="a-batch",
)
def across_on_its_side(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(np.swapaxes(in_source, 1, 2), N, axis=2)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the table across nothing is hidden, and the padding of the source takes its share.",
    section="common-mistakes",
)
def nothing_hidden_across(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.ones((B, N, S), dtype=bool)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the encoder nothing is hidden, and the source's words look at its padding.",
    section="a-batch",
)
def encoder_sees_padding(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.ones((B, S, S), dtype=bool)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="You count the words of a sentence and hide what comes after so many places; padding may stand in front, too.",
    section="a-batch",
)
def padding_only_behind(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    words, texts = (source != padding).sum(axis=1), (read != padding).sum(axis=1)
    in_source = (np.arange(S) < words[:, None])[:, None, :]
    in_read = (np.arange(N) < texts[:, None])[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your tables have an axis too many; B×S×S, B×N×N and B×N×S are expected.",
    section="a-batch",
)
def one_axis_for_heads(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder[:, None], decoder[:, None], across[:, None]


@wrong(
    "masks",
    says="Your tables are not spread out over the tokens that look: one row for all of them is left.",
    section="a-batch",
)
def not_spread_out(source, read, padding):
    (_B, _S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source
    decoder = in_read & np.tri(N, dtype=bool)
    across = in_source
    return encoder, decoder, across


@wrong(
    "masks",
    says="You return what would be added to scores, 0 and −∞; truth values are expected.",
    section="a-batch",
)
def zeros_and_minus_infinity(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return tuple(np.where(table, 0.0, -np.inf) for table in (encoder, decoder, across))


@wrong(
    "masks",
    says="You return ones and zeros as numbers; truth values are expected.",
    section="a-batch",
)
def ones_and_zeros(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return tuple(table.astype(int) for table in (encoder, decoder, across))


@wrong(
    "masks",
    says="In the decoder one of the two rules is enough for you, padding or triangle; both have to hold.",
    section="a-batch",
)
def either_will_do(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read | np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="All sentences get the table of the first one; each has padding of its own.",
    section="a-batch",
)
def first_sentence_for_all(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return tuple(np.repeat(table[:1], B, axis=0) for table in (encoder, decoder, across))


@wrong(
    "masks",
    says="In the decoder you ask where the source has padding; there the target looks at itself.",
    section="a-batch",
)
def source_in_the_decoder(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, _in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = (source != padding)[:, None, :] & np.tri(N, S, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="You let every token see itself, padding as well; nobody may look at padding.",
    section="a-batch",
)
def padding_keeps_itself(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source | np.eye(S, dtype=bool)
    decoder = in_read & np.tri(N, dtype=bool) | np.eye(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In the decoder you hide the rows of padding; it is the columns that nobody may look at.",
    section="a-batch",
)
def decoder_rows_hidden(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="In encoder and decoder you also forbid padding to look at others; its rows have no rule of their own.",
    section="a-batch",
)
def padding_sees_nobody(source, read, padding):
    (_B, _S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = in_source & np.swapaxes(in_source, 1, 2)
    decoder = in_read & np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


@wrong(
    "masks",
    says="Your decoder's table is a product of numbers; truth values are expected, joined with `&`.",
    section="a-batch",
)
def decoder_of_numbers(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read * np.tri(N)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


# loss


@wrong(
    "loss",
    says="Padding counts as a word like any other, in the loss and in the gradient.",
    section="common-mistakes",
)
def padding_counts(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], np.ones(wanted.shape, dtype=bool)
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="From p your gradient takes 1 − ε off at the wanted word alone; every word has a share of ε/V as well.",
    section="common-mistakes",
)
def gradient_lacks_the_small_shares(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - (1 - smoothing) * np.eye(V)[wanted]) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your loss is below 0: a surprise is minus the logarithm, and the minus is missing.",
    section="common-mistakes",
)
def minus_forgotten(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = (shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You leave padding out of the sum and divide by the number of all places; divide by the number of real words.",
    section="the-loss",
)
def divided_by_all_places(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / wanted.size, gradient / wanted.size


@wrong(
    "loss",
    says="You average in each sentence and then over the sentences; that gives the words of a short "
    "sentence more weight.",
    section="the-loss",
)
def mean_of_means(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    words = np.maximum(real.sum(axis=1), 1)
    sentences = real.any(axis=1).sum()
    return (surprise.sum(axis=1) / words).sum() / sentences, gradient / words[:, None, None] / sentences


@wrong(
    "loss",
    says="You average in each sentence and then over all sentences, those with nothing but padding included.",
    section="the-loss",
)
def mean_of_all_means(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    words = np.maximum(real.sum(axis=1), 1)
    return (surprise.sum(axis=1) / words).mean(), gradient / words[:, None, None] / len(wanted)


@wrong(
    "loss",
    says="You divide by the number of sentences; the mean runs over words.",
    section="the-loss",
)
def divided_by_sentences(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / len(wanted), gradient / len(wanted)


@wrong(
    "loss",
    says="You return sums; loss and gradient are means over the real words.",
    section="the-loss",
)
def sum_only(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum(), gradient


@wrong(
    "loss",
    says="Your loss is a mean, and your gradient is that of the sum.",
    section="the-loss",
)
def gradient_not_divided(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient


@wrong(
    "loss",
    says="Your loss leaves padding out, and your gradient does not.",
    section="the-loss",
)
def gradient_of_padding(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = np.exp(log_p) - shares
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your loss is the surprise at the wanted word alone: ε is not used.",
    section="the-loss",
)
def smoothing_ignored(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your loss is smoothed, and your gradient belongs to ε = 0.",
    section="the-loss",
)
def gradient_not_smoothed(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - np.eye(V)[wanted]) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You share ε out among the other words only; every word gets ε/V, the wanted one too.",
    section="the-loss",
)
def shared_by_the_others(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = np.where(np.eye(V)[wanted] == 1, 1 - smoothing, smoothing / (V - 1))
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="The wanted word gets 1 − ε without its own ε/V, so that your shares do not sum to 1.",
    section="the-loss",
)
def wanted_word_lacks_its_share(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = np.where(np.eye(V)[wanted] == 1, 1 - smoothing, smoothing / V)
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Every word gets ε instead of ε/V, so that your shares sum to more than 1.",
    section="the-loss",
)
def epsilon_for_everyone(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Every word gets ε/V, but nothing is taken from the wanted one.",
    section="the-loss",
)
def nothing_taken_away(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your gradient has the wrong sign: it points to where the loss falls.",
    section="the-loss",
)
def uphill(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (shares - np.exp(log_p)) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="The exponential meets large scores as they are and overflows.",
    section="the-loss",
)
def overflows(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You take the logarithm of a softmax that has become 0; with large scores that is −∞.",
    section="the-loss",
)
def log_of_zero(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=2, keepdims=True)
    log_p = np.log(p)
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You add a tiny number before the logarithm; for words that are very unlikely the surprise is "
    "then far too small.",
    section="the-loss",
)
def tiny_number_added(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=2, keepdims=True)
    log_p = np.log(p + 1e-12)
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (p - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You subtract the largest of all scores; where a place has only much smaller ones, all its "
    "exponentials become 0.",
    section="the-loss",
)
def one_maximum_for_all(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max()
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your softmax runs over the places of a sentence; the words of one place have to share the probability.",
    section="the-loss",
)
def softmax_over_places(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your logarithm has the base 2; nats are expected, and the gradient belongs to them.",
    section="the-loss",
)
def bits(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p / np.log(2)).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You leave the padding out of the softmax; it is one of the V words, and only as a wanted word it "
    "does not count.",
    section="the-loss",
)
def padding_cannot_be_written(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = np.where(np.arange(V) == padding, -1e300, logits - logits.max(axis=2, keepdims=True))
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You treat the scores as logarithms of probabilities; they are no such thing before a softmax.",
    section="the-loss",
)
def logits_taken_for_logs(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * logits).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="You return the loss of each place; one number is expected.",
    section="the-loss",
)
def loss_for_each_word(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise, gradient / real.sum()


@wrong(
    "loss",
    says="Your gradient has a factor p(1 − p) too much: it is taken by the softmax's own slope once more.",
    section="the-loss",
)
def gradient_of_the_softmax(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * np.exp(log_p) * (1 - np.exp(log_p)) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


@wrong(
    "loss",
    says="Your loss is divided by the number of real words, and your gradient by that of all places.",
    section="the-loss",
)
def gradient_over_all_places(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / wanted.size


@wrong(
    "loss",
    says="Your gradient has entries at the wanted word alone; the scores of all words push each other aside.",
    section="the-loss",
)
def gradient_at_the_word_only(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = np.eye(V)[wanted] * (np.exp(log_p) - 1) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


# museum


@wrong(
    "museum",
    says="This is the museum piece: it sees what it is to write, never looks at the source, and gives padding a share.",
    section="common-mistakes",
)
def museum_piece(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


@wrong(
    "museum",
    says="The source is read and padding is hidden, but every place still sees the words that come after it.",
    section="the-translator",
)
def future_still_seen(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The second attention still asks the target's own words: the source never comes in.",
    section="the-translator",
)
def source_still_unread(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


@wrong(
    "museum",
    says="The second attention has a triangle now, but it still asks the target's own words: the source "
    "never comes in.",
    section="the-translator",
)
def source_unread_with_triangle(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, x, p["cross"], in_read & past)
    return x @ p["head"]


@wrong(
    "museum",
    says="A hidden score becomes 0, and the exponential of 0 is 1: what is hidden still takes its share.",
    section="the-translator",
)
def padding_still_shares(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The source is read; but every place still sees what comes after it, and hidden scores of 0 take their share.",
    section="the-translator",
)
def future_seen_and_padding_shares(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The triangle is there; but the source never comes in, and hidden scores of 0 take their share.",
    section="the-translator",
)
def padding_shares_source_unread(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


@wrong(
    "museum",
    says="The second attention asks the target's past instead of the source, and hidden scores of 0 take their share.",
    section="the-translator",
)
def padding_shares_source_unread_past(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, x, p["cross"], in_read & past)
    return x @ p["head"]


@wrong(
    "museum",
    says="Padding is hidden; but every place still sees what comes after it, and the source never comes in.",
    section="the-translator",
)
def future_seen_source_unread(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


@wrong(
    "museum",
    says="You set weights to 0 after the softmax, so that what is hidden stays in its sum.",
    section="the-translator",
)
def late_mask(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) * may_look @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="You put a triangle on the way to the source, too; a word may look at all of the source.",
    section="the-translator",
)
def triangle_across_too(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source & np.tri(read.shape[1], source.shape[1], dtype=bool))
    return x @ p["head"]


@wrong(
    "museum",
    says="A place sees what stands before it, but not itself.",
    section="the-translator",
)
def place_not_itself(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], k=-1, dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="Your triangle lies on the wrong side: a place sees what comes and not what was.",
    section="the-translator",
)
def triangle_on_its_head(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool).T
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="Nothing hides the padding of the source, so a translation depends on the other sentences of its batch.",
    section="common-mistakes",
)
def padding_of_the_source_seen(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], np.bool_(True))
    return x @ p["head"]


@wrong(
    "museum",
    says="You have the triangle, but the places behind the end still look at padding.",
    section="the-translator",
)
def padding_of_the_target_seen(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, _in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The memory asks and the target answers: queries come from whoever is being written.",
    section="the-translator",
)
def memory_asks(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(memory, x, p["cross"], in_read)
    return x @ p["head"]


@wrong(
    "museum",
    says="The memory looks at itself; queries come from the target.",
    section="the-translator",
)
def memory_asks_itself(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(memory, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="Keys come from the memory and values from the target, and they no longer belong together.",
    section="the-translator",
)
def values_from_the_target(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        values = asking
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (values @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="Both attentions start from the same rows; the second one takes up what the first has made.",
    section="the-translator",
)
def side_by_side(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past) + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The source is looked at first and the own words afterwards; the order is the other way round.",
    section="the-translator",
)
def source_first(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, memory, p["cross"], in_source)
    x = x + attend(x, x, p["self"], in_read & past)
    return x @ p["head"]


@wrong(
    "museum",
    says="The result of an attention takes the place of the stream instead of being added to it.",
    section="the-translator",
)
def nothing_added(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = attend(x, x, p["self"], in_read & past)
    x = attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="What the look at the memory gives takes the place of the stream instead of being added to it.",
    section="the-translator",
)
def nothing_added_across(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The memory lacks its places, so the order of the source is lost.",
    section="the-translator",
)
def memory_without_places(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The tokens that are read lack their places.",
    section="the-translator",
)
def target_without_places(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The two attentions use each other's maps.",
    section="the-translator",
)
def maps_exchanged(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["cross"], in_read & past)
    x = x + attend(x, memory, p["self"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The scores are not divided by √D.",
    section="the-translator",
)
def never_scaled(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2)
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="You take 10,000 off the hidden scores, and where scores are in the ten thousands that does not hide them.",
    section="the-translator",
)
def hidden_by_ten_thousand(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = table - 1e4 * ~may_look
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="You put a number like −10⁴ in place of hidden scores, and where scores are in the ten thousands "
    "that is not low enough.",
    section="the-translator",
)
def too_small_a_number(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e4)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="The exponential meets large scores as they are and overflows.",
    section="the-translator",
)
def attention_overflows(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table)
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="You subtract the largest of all scores, hidden ones included; where a hidden one is huge, every "
    "visible weight becomes 0.",
    section="the-translator",
)
def maximum_before_hiding(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        powers = np.exp(table - table.max(axis=2, keepdims=True)) * may_look
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="Your softmax runs over the tokens that look; each of them has to share out its own weight.",
    section="the-translator",
)
def softmax_over_those_who_look(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "museum",
    says="You put a softmax behind the head; scores are expected.",
    section="the-translator",
)
def softmax_at_the_end(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    scores = x @ p["head"]
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    return scores / scores.sum(axis=2, keepdims=True)


@wrong(
    "museum",
    says="You hide the padding of the source from the target's look at itself and the other way round.",
    section="the-translator",
)
def padding_dropped_from_target(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], past)
    x = x + attend(x, memory, p["cross"], np.swapaxes(in_read, 1, 2))
    return x @ p["head"]


@wrong(
    "museum",
    says="You give the memory an attention of its own; it is nothing but rows and places.",
    section="the-translator",
)
def memory_looks_at_itself_first(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["places"][: source.shape[1]]
    x = p["E"][read] + p["places"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    memory = memory + attend(memory, memory, p["self"], in_source)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


# bleu


@wrong(
    "bleu",
    says="Every written n-gram that occurs in the wanted sentence is a hit, however often it was written.",
    section="all-right-or-wrong",
)
def not_clipped(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(gram in theirs for gram in ours)
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Different n-grams are counted, each once; what was written twice and is wanted twice has two hits.",
    section="all-right-or-wrong",
)
def each_once(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += len(set(ours) & set(theirs))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Hits and n-grams are counted as sets, each different n-gram once.",
    section="all-right-or-wrong",
)
def sets_on_both_sides(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += len(set(ours) & set(theirs))
            total += len(set(ours))
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You divide by the number of wanted n-grams; a precision divides by those that were written.",
    section="all-right-or-wrong",
)
def recall(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(theirs)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You divide within each sentence and average the precisions; sum hits and n-grams over the batch first.",
    section="all-right-or-wrong",
)
def mean_of_sentences(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours)) / max(len(ours), 1)
            total += 1
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You count n-grams over the whole batch before you clip, so that a word is a hit that is wanted "
    "in another sentence only.",
    section="all-right-or-wrong",
)
def clipped_over_the_batch(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        ours = [tuple(a[i : i + n]) for a in written for i in range(len(a) - n + 1)]
        theirs = [tuple(b[i : i + n]) for b in wanted for i in range(len(b) - n + 1)]
        hits, total = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours)), len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You join all sentences into one text, whose n-grams then cross from one sentence into the next.",
    section="all-right-or-wrong",
)
def one_long_text(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    written, wanted = ([[word for text in texts for word in text]] for texts in (written, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You take the ordinary mean of the precisions; BLEU takes the geometric one.",
    section="all-right-or-wrong",
)
def arithmetic_mean(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.mean(precisions) * np.exp(min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You multiply the precisions without taking the root of their number.",
    section="all-right-or-wrong",
)
def product_without_root(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.prod(precisions) * np.exp(min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Only the longest order counts for you; all orders from 1 on do.",
    section="all-right-or-wrong",
)
def longest_order_alone(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(precisions[-1] * np.exp(min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="There is no brevity penalty: whoever writes only the words that are sure gets a high score.",
    section="all-right-or-wrong",
)
def no_penalty(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    _c, _r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions))))


@wrong(
    "bleu",
    says="Your penalty has c and r exchanged: it punishes texts that are too long.",
    section="all-right-or-wrong",
)
def penalty_for_length(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - c / r)))


@wrong(
    "bleu",
    says="Your penalty is c/r; it is exp(1 − r/c).",
    section="all-right-or-wrong",
)
def penalty_is_a_ratio(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions))) * min(1.0, c / r))


@wrong(
    "bleu",
    says="You leave out an order of which nothing was written; BLEU is then 0.",
    section="all-right-or-wrong",
)
def orders_never_written_left_out(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        if total:
            precisions.append(hits / total)
    if min(precisions, default=0) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Your penalty has r and c the wrong way round in its exponent: texts that are too short get a bonus.",
    section="all-right-or-wrong",
)
def penalty_turned_round(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + max(0.0, 1 - c / r)))


@wrong(
    "bleu",
    says="Texts that are too long get a penalty above 1 from you, which is a bonus; it is at most 1.",
    section="all-right-or-wrong",
)
def bonus_for_length(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + 1 - r / c))


@wrong(
    "bleu",
    says="You average a penalty of each sentence; there is one, from the lengths of the whole batch.",
    section="all-right-or-wrong",
)
def penalty_of_sentences(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    _c, _r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    penalties = [np.exp(min(0.0, 1 - len(b) / len(a))) if a else 0.0 for a, b in zip(written, wanted, strict=True)]
    return exact, float(np.exp(np.mean(np.log(precisions))) * np.mean(penalties))


@wrong(
    "bleu",
    says="Orders without a hit or without an n-gram are left out of your mean; BLEU is 0 then.",
    section="all-right-or-wrong",
)
def empty_orders_left_out(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    precisions = [precision for precision in precisions if precision > 0]
    if not precisions:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Where an order has no hit you take the logarithm of 0 or divide by 0.",
    section="all-right-or-wrong",
)
def log_of_no_hits(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(np.divide(hits, total))
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - np.divide(r, c))))


@wrong(
    "bleu",
    says="When no n-gram was written you divide by 0.",
    section="all-right-or-wrong",
)
def division_by_nothing(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / total)
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You add 1 to hits and n-grams; here an order without a hit makes BLEU 0.",
    section="all-right-or-wrong",
)
def smoothed_by_one(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append((hits + 1) / (total + 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="What was written and what is wanted have changed places: hits are divided by the wanted n-grams, "
    "and the penalty is turned round.",
    section="all-right-or-wrong",
)
def written_and_wanted_exchanged(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    written, wanted, c, r = wanted, written, r, c
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="The longest order is missing: your orders end one too early.",
    section="all-right-or-wrong",
)
def one_order_too_few(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, max(longest, 2)):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Your first number is a share of right words; a sentence counts only if all of it is right.",
    section="all-right-or-wrong",
)
def share_of_words(written, wanted, longest):
    exact = sum(x == y for a, b in zip(written, wanted, strict=True) for x, y in zip(a, b, strict=False)) / sum(
        map(len, wanted)
    )
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You take a sentence as right when its beginning is; it has to be as long as what is wanted.",
    section="all-right-or-wrong",
)
def beginning_is_enough(written, wanted, longest):
    exact = sum(a == b[: len(a)] for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="The order of the words does not matter to you in the exact share; it does.",
    section="all-right-or-wrong",
)
def sorted_words(written, wanted, longest):
    exact = sum(sorted(a) == sorted(b) for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Your numbers are percentages; shares between 0 and 1 are expected.",
    section="all-right-or-wrong",
)
def in_percent(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return 100 * exact, 0.0
    return 100 * exact, 100 * float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Only BLEU comes back; the share of exact sentences belongs before it.",
    section="all-right-or-wrong",
)
def bleu_alone(written, wanted, longest):
    sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return 0.0
    return float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="Your n-grams end one word early: the last one of each sentence is missing.",
    section="all-right-or-wrong",
)
def grams_one_short(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="At the end of a sentence you count pieces that are shorter than n words.",
    section="all-right-or-wrong",
)
def short_grams_too(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a))]
            theirs = [tuple(b[i : i + n]) for i in range(len(b))]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(hits / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / c)))


@wrong(
    "bleu",
    says="You put a tiny number in place of an order without hits; BLEU is then 0.",
    section="all-right-or-wrong",
)
def nearly_zero(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    c, r = sum(map(len, written)), sum(map(len, wanted))
    precisions = []
    for n in range(1, longest + 1):
        hits = total = 0
        for a, b in zip(written, wanted, strict=True):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            total += len(ours)
        precisions.append(max(hits, 1e-9) / max(total, 1))
    if min(precisions) == 0:
        return exact, 0.0
    return exact, float(np.exp(np.mean(np.log(precisions)) + min(0.0, 1 - r / max(c, 1))))


@wrong(
    "bleu",
    says="You compute a BLEU of each sentence and average; hits, n-grams and lengths are summed over the batch.",
    section="all-right-or-wrong",
)
def mean_of_sentence_bleus(written, wanted, longest):
    exact = sum(a == b for a, b in zip(written, wanted, strict=True)) / len(wanted)
    scores = []
    for a, b in zip(written, wanted, strict=True):
        precisions = []
        for n in range(1, longest + 1):
            ours = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            theirs = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            hits = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
            precisions.append(hits / max(len(ours), 1))
        penalty = np.exp(min(0.0, 1 - len(b) / max(len(a), 1)))
        scores.append(0.0 if min(precisions) == 0 else np.exp(np.mean(np.log(precisions))) * penalty)
    return exact, float(np.mean(scores))


# align


@wrong(
    "align",
    says="The head is chosen on all sentences; those that report must have no part in it.",
    section="who-looks-at-whom",
)
def chosen_on_all(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps, links).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="The head is chosen on the sentences that report, where it then looks better than it is.",
    section="who-looks-at-whom",
)
def chosen_where_reported(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[n_choose:], links[n_choose:]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="The score is that of the choosing sentences; the others report.",
    section="who-looks-at-whom",
)
def reported_where_chosen(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(maps[:n_choose], links[:n_choose])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="Your score is a mean over all sentences; only the reporting ones count.",
    section="who-looks-at-whom",
)
def score_of_all(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(maps, links)[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="Your crossing is a mean over all sentences; only the reporting ones count.",
    section="the-reordering",
)
def crossing_of_all(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in maps]))


@wrong(
    "align",
    says="The score is the best of all heads on the reporting sentences; it belongs to the head that was chosen.",
    section="who-looks-at-whom",
)
def best_score_of_all_heads(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:]).max()
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You average in each sentence and then over the sentences; every link counts alike.",
    section="who-looks-at-whom",
)
def means_of_sentences(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.mean([weights.mean(axis=1) for weights in found], axis=0)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="Your score is a sum over the links; a mean is asked for.",
    section="who-looks-at-whom",
)
def sums_of_links(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).sum(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You read a link the wrong way round: first the written word, then the source.",
    section="who-looks-at-whom",
)
def links_reversed(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 1], link[:, 0]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You look one row further down: word 0 is written at the place of the start token, which is row 0.",
    section="common-mistakes",
)
def one_row_late(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, (link[:, 0] + 1) % A.shape[1], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You look one row further down, beyond the last one: word 0 is written at the place of the start "
    "token, which is row 0.",
    section="common-mistakes",
)
def one_row_late_and_out(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0] + 1, link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You take the weights of all rows in the links at all columns in the links, not of each link.",
    section="who-looks-at-whom",
)
def whole_table_of_links(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [
            A[:, link[:, 0]][:, :, link[:, 1]].reshape(len(A), -1)
            for A, link in zip(some_maps, some_links, strict=True)
        ]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You count how often a head looks most at the right source; its weight there is asked for.",
    section="who-looks-at-whom",
)
def hits_counted(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [
            (A.argmax(axis=2)[:, link[:, 0]] == link[:, 1]).astype(float)
            for A, link in zip(some_maps, some_links, strict=True)
        ]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You take a head's largest weight on a link; its mean weight is asked for.",
    section="who-looks-at-whom",
)
def largest_weight(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).max(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="Your heads are counted from 1; they are counted from 0.",
    section="who-looks-at-whom",
)
def head_counted_from_one(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head + 1, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You average over the heads; one of them is to be found.",
    section="who-looks-at-whom",
)
def heads_averaged(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:]).mean()
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You ask which row looks most at a source; for each row the source is wanted that it looks at most.",
    section="the-reordering",
)
def wrong_axis_for_most(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=0)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="Rows that look most at the same source cross for you; they do not.",
    section="the-reordering",
)
def same_source_crosses(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] >= most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You count the pairs that do not cross: the earlier row looks at the earlier source.",
    section="the-reordering",
)
def straight_ones_counted(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] < most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You compare each row with the next one only; all pairs count.",
    section="the-reordering",
)
def neighbours_only(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        earlier, later = np.arange(len(most) - 1), np.arange(1, len(most))
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You divide by N², or N(N − 1), as if each pair were there twice; there are N(N − 1)/2 pairs.",
    section="the-reordering",
)
def divided_by_all_pairs(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.sum(most[earlier] > most[later]) / (len(most) * (len(most) - 1)) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You divide the crossing pairs by N²; there are N(N − 1)/2 pairs.",
    section="the-reordering",
)
def divided_by_square(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.sum(most[earlier] > most[later]) / len(most) ** 2 if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You divide all crossing pairs by all pairs of all sentences; the mean runs over the sentences' shares.",
    section="the-reordering",
)
def pairs_over_sentences(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.sum(most[earlier] > most[later]), len(later)

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.divide(*np.sum([crossing(A[head]) for A in rest], axis=0)))


@wrong(
    "align",
    says="Sentences with one row are left out of your mean; their share is 0, and they count.",
    section="the-reordering",
)
def single_rows_left_out(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest if A.shape[1] > 1]))


@wrong(
    "align",
    says="For a sentence with one row you take the mean of nothing.",
    section="the-reordering",
)
def nothing_for_single_rows(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later])

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="The crossing is averaged over all heads; it belongs to the one that was chosen.",
    section="the-reordering",
)
def crossing_of_all_heads(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(one) for A in rest for one in A]))


@wrong(
    "align",
    says="You average the maps of all heads and look at the crossing of that; it belongs to the chosen head.",
    section="the-reordering",
)
def crossing_of_the_mean_map(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A.mean(axis=0)) for A in rest]))


@wrong(
    "align",
    says="You look for crossings among the links alone; all pairs of rows count.",
    section="the-reordering",
)
def only_links_cross(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return (
        head,
        float(score),
        float(
            np.mean([crossing(A[head][np.sort(link[:, 0])]) for A, link in zip(rest, links[n_choose:], strict=True)])
        ),
    )


@wrong(
    "align",
    says="You choose the head with the smallest weight on the links.",
    section="who-looks-at-whom",
)
def worst_head(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmin())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


@wrong(
    "align",
    says="You compare the rows of the links, in the order in which the links come; all rows count, in their own order.",
    section="the-reordering",
)
def order_of_the_links(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return (
        head,
        float(score),
        float(np.mean([crossing(A[head][link[:, 0]]) for A, link in zip(rest, links[n_choose:], strict=True)])),
    )


@wrong(
    "align",
    says="You compare each row with the next one only, and your score is a mean over all sentences.",
    section="the-reordering",
)
def neighbours_and_all(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        earlier, later = np.arange(len(most) - 1), np.arange(1, len(most))
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(maps, links)[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


# beam


@wrong(
    "beam",
    says="You take the likeliest word each time, however many beams are asked for.",
    section="greedy-or-beam",
)
def greedy_whatever_the_beams(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:1]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You add up raw scores; they are no log-probabilities before a softmax.",
    section="greedy-or-beam",
)
def scores_without_softmax(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You take the softmax of something that has been through a softmax already.",
    section="greedy-or-beam",
)
def softmax_twice(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                p_next = np.exp(scores - scores.max())
                p_next = p_next / p_next.sum()
                log_p = p_next - np.log(np.exp(p_next).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You add up probabilities; those of a text are multiplied, or their logarithms added.",
    section="greedy-or-beam",
)
def probabilities_added(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = np.exp(log_p) / np.exp(log_p).sum()
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You multiply probabilities and take a logarithm at the end; a product of very small numbers becomes 0.",
    section="greedy-or-beam",
)
def probabilities_multiplied(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return np.log(beam[1]) / (len(beam[0]) - 1) ** alpha

    beams = [([start], 1.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total * np.exp(more)) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="The exponential meets large scores as they are and overflows.",
    section="greedy-or-beam",
)
def search_overflows(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="Beams that have ended are dropped from the search, and with them short texts that may be the best.",
    section="greedy-or-beam",
)
def ended_ones_dropped(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = []
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You extend texts behind their end token.",
    section="greedy-or-beam",
)
def written_on_after_the_end(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = []
        for text, total in beams:
            if True:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You stop as soon as one beam has ended; another may still become better.",
    section="greedy-or-beam",
)
def first_end_wins(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if any(text[-1] == end for text, _ in beams):
            break
    ended = [beam for beam in beams if beam[0][-1] == end]
    best = max(ended or beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You stop as soon as the best beam has ended; others may still overtake it.",
    section="greedy-or-beam",
)
def best_beam_ended(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if beams[0][0][-1] == end:
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You stop as soon as one beam has ended; all that are kept must have.",
    section="greedy-or-beam",
)
def one_ended_beam_stops(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if any(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="L counts the start token, too; only the words that are written count.",
    section="greedy-or-beam",
)
def start_counts(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / len(beam[0]) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="L leaves the end token out; it is a word that was written.",
    section="greedy-or-beam",
)
def end_does_not_count(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / max(sum(word != end for word in beam[0]) - 1, 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="While searching you compare log-probabilities as they are, and divide by the length only at the end.",
    section="greedy-or-beam",
)
def divided_at_the_end_only(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=lambda beam: beam[1], reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="The length is not used: α has no effect.",
    section="greedy-or-beam",
)
def never_divided(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1]

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You divide by α times the length, or by α alone; the length is raised to the power of α.",
    section="greedy-or-beam",
)
def alpha_times_length(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / max(alpha * (len(beam[0]) - 1), 1)

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You divide by the length whatever α is.",
    section="greedy-or-beam",
)
def always_the_mean(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1)

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You add to scores that have been divided already; log-probabilities are added, and scores are made of them.",
    section="greedy-or-beam",
)
def divided_in_every_step(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [
                    ([*text, word], (total * max(len(text) - 1, 1) ** alpha + more * 1.0) / len(text) ** alpha)
                    for word, more in enumerate(log_p)
                ]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You multiply by the length to the power of α instead of dividing.",
    section="greedy-or-beam",
)
def multiplied_by_the_length(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] * (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You keep the best extension of each beam, not the best of all candidates; one bad beginning "
    "takes a place from start to end.",
    section="greedy-or-beam",
)
def some_of_every_beam(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += sorted(
                    [([*text, word], total + more) for word, more in enumerate(log_p)], key=score, reverse=True
                )[: 1 if len(beams) > 1 else n_beams]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You show the model the last word only; what comes next depends on the whole text.",
    section="greedy-or-beam",
)
def last_word_alone(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text[-1:]]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You hand the model the text without its start token.",
    section="greedy-or-beam",
)
def without_the_start(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text[1:] or text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="The text that you return begins with the start token.",
    section="greedy-or-beam",
)
def start_returned(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0]), float(score(best))


@wrong(
    "beam",
    says="The text that you return lacks the end token that was written.",
    section="greedy-or-beam",
)
def end_cut_off(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array([word for word in best[0][1:] if word != end]), float(score(best))


@wrong(
    "beam",
    says="You return the log-probability; the score is divided by the length.",
    section="greedy-or-beam",
)
def log_probability_returned(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(best[1])


@wrong(
    "beam",
    says="You return the exponential of the score.",
    section="greedy-or-beam",
)
def probability_returned(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(np.exp(score(best)))


@wrong(
    "beam",
    says="You sort the wrong way round and keep the worst candidates.",
    section="greedy-or-beam",
)
def worst_kept(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="One step is missing: a text may have n_tokens words besides its start.",
    section="greedy-or-beam",
)
def one_step_too_few(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(max(n_tokens - 1, 1)):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You write one word too many: a text has n_tokens words at most, besides its start.",
    section="greedy-or-beam",
)
def one_step_too_many(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens + 1):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You return the last beam, or the longest, and not the best.",
    section="greedy-or-beam",
)
def longest_beam_returned(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = beams[-1]
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="At the end you choose by log-probability; the score decides here, too.",
    section="greedy-or-beam",
)
def likeliest_at_the_end(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=lambda beam: beam[1])
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="Ended beams are set aside and give their place to others; here they stay among the beams, and "
    "may be thrown out.",
    section="greedy-or-beam",
)
def ended_ones_set_aside(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams, done = [([start], 0.0)], []
    for _ in range(n_tokens):
        candidates = []
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        ranked = sorted(candidates, key=score, reverse=True)
        done += [beam for beam in ranked[:n_beams] if beam[0][-1] == end]
        beams = [beam for beam in ranked if beam[0][-1] != end][:n_beams]
    best = max(done + beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="You return an ended text even where one that was cut off has the better score.",
    section="greedy-or-beam",
)
def unfinished_never_returned(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max([beam for beam in beams if beam[0][-1] == end] or beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "beam",
    says="Your logarithms have the base 2.",
    section="greedy-or-beam",
)
def base_two(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best) / np.log(2))
