"""Exercise 11, question masks: who may look at whom."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import padded_ids, tuple_slip


def masks_reference(source, read, padding):
    (B, S), N = source.shape, read.shape[1]
    encoder, decoder, across = (np.zeros((B, *shape), dtype=bool) for shape in ((S, S), (N, N), (N, S)))
    for b in range(B):
        for s in np.flatnonzero(source[b] != padding):
            encoder[b, :, s] = across[b, :, s] = True
        for n in np.flatnonzero(read[b] != padding):
            decoder[b, n:, n] = True
    return encoder, decoder, across


def draw_ids(rng, behind=True, n_sources=None, n_targets=None):
    B, S, N = draw_sizes(rng, 3)
    padding = int(rng.integers(21))
    S, N = n_sources or S, n_targets or N
    return padded_ids(rng, B, S, padding, behind), padded_ids(rng, B, N, padding, behind), padding


def padding_anywhere(rng):
    source, read, padding = draw_ids(rng, behind=False)
    source[1, 0] = read[1, 0] = padding
    read[2, :] = source[3, :] = padding
    alone = source[:1], read[:1], padding
    return [(source, read, padding), alone, *(draw_ids(rng, True, *given) for given in ((1, None), (None, 1), (9, 9)))]


TABLES = ("the encoder's", "the decoder's", "the one across")


def tables_slip(came, source, read):
    """A sentence when the result is not three arrays of truth values of the right shapes."""
    if slip := tuple_slip(came, TABLES):
        return slip
    (B, S), N = source.shape, read.shape[1]
    for table, name, shape in zip(came, TABLES, ((B, S, S), (B, N, N), (B, N, S)), strict=True):
        if slip := shape_slip(table, shape, f"Of your tables, {name}"):
            return slip
        if table.dtype != bool:
            return f"Truth values are expected in every table; in {name} your numbers have the dtype {table.dtype}."
    return None


def more_padding(ask, rng):
    source, read, padding = draw_ids(rng)
    before = ask(source, read, padding)
    if slip := tables_slip(before, source, read):
        return slip
    wider = [np.pad(rows, ((0, 0), (0, 2)), constant_values=padding) for rows in (source, read)]
    after = ask(*wider, padding)
    if slip := tables_slip(after, *wider):
        return slip
    for small, large, name in zip(before, after, TABLES, strict=True):
        rows, columns = small.shape[1:]
        if (large[:, :rows, :columns] != small).any():
            return f"With two columns of padding more the tables must stay; in yours, {name}, something changes."
        if large[:, :, columns:].any():
            return f"Two columns of padding were added, and in a table of yours, {name}, somebody may look at them."
    return None


def what_is_written_later(ask, rng):
    source, read, padding = draw_ids(rng)
    read[0] = (padding + 1 + np.arange(read.shape[1])) % 21
    came = ask(source, read, padding)
    if slip := tables_slip(came, source, read):
        return slip
    decoder, N = came[1][0], read.shape[1]
    for n in range(N):
        if not decoder[n, n]:
            return f"In the decoder a position sees itself, but position {n} of yours does not."
        if decoder[n, n + 1 :].any():
            return f"In the decoder nobody sees what stands behind; position {n} of yours does."
        if not decoder[n, :n].all():
            return f"In the decoder a position sees all words before it; position {n} of yours does not."
    return None


QUESTION = Question(
    id="masks",
    title="Who may look at whom",
    name="make_masks",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 3, lambda rng: [draw_ids(rng) for _ in range(3)], masks_reference, dtype="bool"),
        equals("padding anywhere", 3, padding_anywhere, masks_reference, dtype="bool"),
        holds("more padding", 2, more_padding),
        holds("what is written later", 2, what_is_written_later),
        more={"boundary": in_cases_of("values")},
    ),
    hints=(
        "For each table: who stands in the rows, who in the columns, and which of the two may be padding "
        "without anything being forbidden?",
        "Padding is hidden by a row of truth values for each sentence, which all rows of its table share. Say "
        "on which axis it varies, and give it an axis of length 1 for the other.",
        "Only one of the three has a triangle. It is the one in which the words are not all there from the "
        "beginning; both of its rules have to hold at once.",
    ),
    section="a-batch",
    inputs=Inputs(
        lambda source, read, padding: dict(zip("BSN", (*source.shape, read.shape[1]), strict=True)),
        alike=("padding anywhere",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def visible_columns(source, read, padding):
    rows = np.ones((*read.shape, 1), dtype=bool)
    hidden_sources = (source == padding)[:, None]
    encoder = np.repeat(~hidden_sources, source.shape[1], axis=1)
    triangle = np.tril(np.ones((read.shape[1], read.shape[1]), dtype=bool))
    return encoder, triangle & (read != padding)[:, None], rows & ~hidden_sources


@right
def sentence_by_sentence(source, read, padding):
    S, N = source.shape[1], read.shape[1]
    n, m = np.indices((N, N))
    tables = [], [], []
    for z, w in zip(source, read, strict=True):
        tables[0].append(np.tile(z != padding, (S, 1)))
        tables[1].append((m <= n) & (w != padding))
        tables[2].append(np.tile(z != padding, (N, 1)))
    return tuple(np.stack(table) for table in tables)


@right
def with_einsum(source, read, padding):
    z, w = (source != padding).astype(int), (read != padding).astype(int)
    everyone, writers = np.ones_like(z), np.ones_like(w)
    encoder, decoder, across = (
        np.einsum("bi,bj->bij", rows, columns) > 0 for rows, columns in ((everyone, z), (writers, w), (writers, z))
    )
    return encoder, np.tril(decoder), across


@right
def as_often_written(source, read, padding):
    (_B, S), N = source.shape, read.shape[1]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    encoder = np.repeat(in_source, S, axis=1)
    decoder = in_read & np.tri(N, dtype=bool)
    across = np.repeat(in_source, N, axis=1)
    return encoder, decoder, across


wrong.edits("""
# as_often_written
## padding_may_not_look: You also forbid padding to look at others; its rows have no rule of their own.
- encoder = np.repeat(in_source, S, axis=1)
- decoder = in_read & np.tri(N, dtype=bool)
- across = np.repeat(in_source, N, axis=1)
+ encoder = in_source & np.swapaxes(in_source, 1, 2)
+ decoder = in_read & np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
+ across = in_source & np.swapaxes(in_read, 1, 2)
## nobody_left: Where a source is nothing but padding you let everyone look at it; nobody may look at padding.
- return encoder, decoder, across
+ alone = ~in_source.any(axis=2, keepdims=True)
+ return encoder | alone, decoder, across | alone
## rows_for_columns: You hide the rows of padding: padding may not look, but everyone may look at it.
- encoder = np.repeat(in_source, S, axis=1)
- decoder = in_read & np.tri(N, dtype=bool)
- across = np.repeat(in_source, N, axis=1)
+ encoder = np.repeat(np.swapaxes(in_source, 1, 2), S, axis=2)
+ decoder = np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
+ across = np.repeat(np.swapaxes(in_read, 1, 2), S, axis=2)
## triangle_alone: In the decoder you have the triangle, but padding in front of a position may be looked at.
- (_B, S), N = source.shape, read.shape[1]
- in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
+ (B, S), N = source.shape, read.shape[1]
+ in_source, _in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = np.repeat(np.tri(N, dtype=bool)[None], B, axis=0)
## no_triangle: In the decoder a position may look at what is written later: the triangle is missing.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = np.repeat(in_read, N, axis=1)
## triangle_upside_down: Your triangle in the decoder is on the wrong side: a position sees what comes and not what was.
+ decoder = in_read & np.triu(np.ones((N, N), dtype=bool))
## not_itself: In the decoder a position of yours does not see itself; the first one would see nothing at all.
+ decoder = in_read & np.tri(N, k=-1, dtype=bool)
## one_place_too_far: Your triangle in the decoder reaches one position too far: each position sees the next one.
+ decoder = in_read & np.tri(N, k=1, dtype=bool)
## triangle_in_the_encoder: You put a triangle into the encoder, whose words are all there from the beginning.
- encoder = np.repeat(in_source, S, axis=1)
+ encoder = in_source & np.tri(S, dtype=bool)
## triangle_across: You put a triangle across: word n of a translation may look at all of the source, not only at its
first n words.
- across = np.repeat(in_source, N, axis=1)
+ across = in_source & np.tri(N, S, dtype=bool)
## triangles_everywhere: Encoder and the table across have a triangle, too; only the decoder's own words come one after
the other.
- encoder = np.repeat(in_source, S, axis=1)
+ encoder = in_source & np.tri(S, dtype=bool)
- across = np.repeat(in_source, N, axis=1)
+ across = in_source & np.tri(N, S, dtype=bool)
## padding_of_the_wrong_side: In the table across you ask where the target has padding; there it is the source that is
looked at.
- across = np.repeat(in_source, N, axis=1)
+ across = np.repeat(np.swapaxes(in_read, 1, 2), S, axis=2)
## true_hides: Your True means hidden; here it says that the token may look.
- return encoder, decoder, across
+ return ~encoder, ~decoder, ~across
## padding_is_zero: You take 0 for the padding; which id it has comes in as an argument.
- in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
+ in_source, in_read = (source != 0)[:, None, :], (read != 0)[:, None, :]
## across_on_its_side: Your table across lies on its side: the positions of the target are its rows, for they look.
- across = np.repeat(in_source, N, axis=1)
+ across = np.repeat(np.swapaxes(in_source, 1, 2), N, axis=2)
## nothing_hidden_across [common-mistakes]: In the table across nothing is hidden, and the padding of the source takes
its share.
- (_B, S), N = source.shape, read.shape[1]
+ (B, S), N = source.shape, read.shape[1]
- across = np.repeat(in_source, N, axis=1)
+ across = np.ones((B, N, S), dtype=bool)
## encoder_sees_padding: In the encoder nothing is hidden, and the source's words look at its padding.
- (_B, S), N = source.shape, read.shape[1]
+ (B, S), N = source.shape, read.shape[1]
- encoder = np.repeat(in_source, S, axis=1)
+ encoder = np.ones((B, S, S), dtype=bool)
## padding_turned_round: You let everyone look at padding, and at nothing else.
- in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
+ in_source, in_read = (source == padding)[:, None, :], (read == padding)[:, None, :]
## padding_only_behind: You count the words of a sentence and hide what comes after so many positions; padding may stand
in front, too.
- in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
+ words, texts = (source != padding).sum(axis=1), (read != padding).sum(axis=1)
+ in_source = (np.arange(S) < words[:, None])[:, None, :]
+ in_read = (np.arange(N) < texts[:, None])[:, None, :]
## one_axis_for_heads: Your tables have an axis too many; B×S×S, B×N×N and B×N×S are expected.
- return encoder, decoder, across
+ return encoder[:, None], decoder[:, None], across[:, None]
## not_spread_out: Your tables are not spread out over the tokens that look: one row for all of them is left.
- encoder = np.repeat(in_source, S, axis=1)
+ encoder = in_source
- across = np.repeat(in_source, N, axis=1)
+ across = in_source
## zeros_and_minus_infinity: You return what would be added to scores, 0 and −∞; truth values are expected.
- return encoder, decoder, across
+ return tuple(np.where(table, 0.0, -np.inf) for table in (encoder, decoder, across))
## ones_and_zeros: You return ones and zeros as numbers; truth values are expected.
+ return tuple(table.astype(int) for table in (encoder, decoder, across))
## either_will_do: In the decoder one of the two rules is enough for you, padding or triangle; both have to hold.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = in_read | np.tri(N, dtype=bool)
## first_sentence_for_all: All sentences get the table of the first one; each has padding of its own.
- (_B, S), N = source.shape, read.shape[1]
+ (B, S), N = source.shape, read.shape[1]
- return encoder, decoder, across
+ return tuple(np.repeat(table[:1], B, axis=0) for table in (encoder, decoder, across))
## source_in_the_decoder: In the decoder you ask where the source has padding; there the target looks at itself.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = (source != padding)[:, None, :] & np.tri(N, S, dtype=bool)
## padding_keeps_itself: You let every token see itself, padding as well; nobody may look at padding.
- encoder = np.repeat(in_source, S, axis=1)
- decoder = in_read & np.tri(N, dtype=bool)
+ encoder = in_source | np.eye(S, dtype=bool)
+ decoder = in_read & np.tri(N, dtype=bool) | np.eye(N, dtype=bool)
## decoder_keeps_itself: In the decoder you let every token see itself, padding as well; nobody may look at padding.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = in_read & np.tri(N, dtype=bool) | np.eye(N, dtype=bool)
## decoder_rows_and_columns: In the decoder you hide the columns of padding, which is right, and its rows, which is too
much: they have no rule of their own.
+ decoder = in_read & np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
## decoder_rows_hidden: In the decoder you hide the rows of padding; it is the columns that nobody may look at.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
## padding_sees_nobody: In encoder and decoder you also forbid padding to look at others; its rows have no rule of their
own.
- encoder = np.repeat(in_source, S, axis=1)
- decoder = in_read & np.tri(N, dtype=bool)
+ encoder = in_source & np.swapaxes(in_source, 1, 2)
+ decoder = in_read & np.swapaxes(in_read, 1, 2) & np.tri(N, dtype=bool)
## encoder_rows_hidden: In the encoder you also forbid padding to look at others; its rows have no rule of their own.
- encoder = np.repeat(in_source, S, axis=1)
+ encoder = in_source & np.swapaxes(in_source, 1, 2)
## across_rows_hidden: In the table across you also forbid padding to look; its rows have no rule of their own.
- across = np.repeat(in_source, N, axis=1)
+ across = in_source & np.swapaxes(in_read, 1, 2)
## decoder_of_numbers: Your decoder's table is a product of numbers; truth values are expected, joined with `&`.
- decoder = in_read & np.tri(N, dtype=bool)
+ decoder = in_read * np.tri(N)
""")
