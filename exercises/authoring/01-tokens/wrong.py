"""Named wrong solutions of exercise 01: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# encode


@wrong(
    "encode",
    says="You take the longest known piece from the left; encoding replays the merges in the order in which "
    "they were learned.",
    section="byte-pairs-by-hand",
)
def longest_piece_first(word, merges):
    pieces = {bytes([b]): b for b in range(256)}
    by_id = {b: bytes([b]) for b in range(256)}
    for k, (a, b) in enumerate(merges):
        by_id[256 + k] = by_id[a] + by_id[b]
        pieces.setdefault(by_id[256 + k], 256 + k)
    rest, ids = word.encode(), []
    while rest:
        length = max(n for n in range(1, len(rest) + 1) if rest[:n] in pieces)
        ids.append(pieces[rest[:length]])
        rest = rest[length:]
    return ids


@wrong(
    "encode",
    says="You apply the latest merge first, but the oldest one in the list has precedence.",
    section="byte-pairs-by-hand",
)
def latest_merge_first(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    while True:
        present = [rank[pair] for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
        if not present:
            return ids
        ids = merged(ids, merges[max(present)], 256 + max(present))


@wrong(
    "encode",
    says="You go through the list of merges once from its end, so a piece is looked for before it can have been made.",
    section="byte-pairs-by-hand",
)
def one_backward_pass(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = list(word.encode())
    for k in reversed(range(len(merges))):
        ids = merged(ids, merges[k], 256 + k)
    return ids


@wrong(
    "encode",
    says="You count the pairs of the new word and merge the most frequent known one; encoding is not to count again.",
    section="byte-pairs-by-hand",
)
def counts_again(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    while True:
        present = [pair for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
        if not present:
            return ids
        best = min(present, key=lambda pair: (-present.count(pair), rank[pair]))
        ids = merged(ids, best, 256 + rank[best])


@wrong(
    "encode",
    says="You walk through the word once and merge whatever known pair stands there, whether or not another "
    "one was learned before it.",
    section="byte-pairs-by-hand",
)
def whatever_stands_there(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    i = 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) in rank:
            ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]
        else:
            i += 1
    return ids


@wrong(
    "encode",
    says="You compare the list with the bytes of the word alone, so a piece that was made by a merge is never "
    "merged again.",
    section="byte-pairs-by-hand",
)
def bytes_only(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): 256 + k for k, pair in enumerate(merges)}
    done, i = [], 0
    while i < len(ids):
        pair = tuple(ids[i : i + 2])
        done.append(rank.get(pair, ids[i]))
        i += 2 if pair in rank else 1
    return done


@wrong(
    "encode",
    says="You start from the numbers of the characters; the ids below 256 are bytes, and some letters take two "
    "or three of them.",
    section="text-to-tokens",
)
def characters_for_bytes(word, merges):
    def merged(ids, pair, new):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(new if found else ids[i])
            i += 2 if found else 1
        return done

    ids = [ord(character) for character in word]
    for k, pair in enumerate(merges):
        ids = merged(ids, pair, 256 + k)
    return ids


@wrong(
    "encode",
    says="Your first merge gets the id 257: the bytes are numbered from 0, so one id is left out.",
    section="byte-pairs-by-hand",
)
def ids_one_too_high(word, merges):
    ids = [i + (i > 255) for i in map(ord, word.encode().decode("latin-1"))]
    for k, pair in enumerate(merges):
        a, b = (i + (i > 255) for i in pair)
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i : i + 2] = [257 + k]
            i += 1
    return ids


@wrong(
    "encode",
    says="You give a merged piece its place in the list as id, but the ids 0 to 255 are taken by the bytes.",
    section="byte-pairs-by-hand",
)
def ids_from_zero(word, merges):
    ids = list(word.encode())
    for k, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i : i + 2] = [256 + k]
            i += 1
    return [i if i < 256 else i - 256 for i in ids]


@wrong(
    "encode",
    says="Each merge is carried out at one place of the word, and its other occurrences stay in pieces.",
    section="byte-pairs-by-hand",
)
def first_occurrence_only(word, merges):
    ids = list(word.encode())
    for k, (a, b) in enumerate(merges):
        for i in range(len(ids) - 1):
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i : i + 2] = [256 + k]
                break
    return ids


@wrong(
    "encode",
    says="In a run such as aaa you use the piece in the middle twice, so the decoded word would be longer than "
    "the word.",
    section="byte-pairs-by-hand",
)
def overlapping_pairs(word, merges):
    ids = list(word.encode())
    for k, pair in enumerate(merges):
        done, i = [], 0
        while i < len(ids):
            found = tuple(ids[i : i + 2]) == tuple(pair)
            again = i + 2 < len(ids) and tuple(ids[i + 1 : i + 3]) == tuple(pair)
            done.append(256 + k if found else ids[i])
            i += 2 if found and not again else 1
        ids = done
    return ids


@wrong(
    "encode",
    says="You also merge the pair the other way round: b followed by a is not the pair (a, b).",
    section="byte-pairs-by-hand",
)
def either_order(word, merges):
    ids = list(word.encode())
    for k, pair in enumerate(merges):
        done, i = [], 0
        while i < len(ids):
            found = sorted(ids[i : i + 2]) == sorted(pair)
            done.append(256 + k if found else ids[i])
            i += 2 if found else 1
        ids = done
    return ids


@wrong(
    "encode",
    says="You merge a run such as aaa from its right end; the chapter reads every word from the left.",
    section="byte-pairs-by-hand",
)
def runs_from_the_right(word, merges):
    ids = list(word.encode())
    for k, (a, b) in enumerate(merges):
        for i in range(len(ids) - 2, -1, -1):
            if ids[i : i + 2] == [a, b]:
                ids[i : i + 2] = [256 + k]
    return ids


@wrong(
    "encode",
    says="The last piece of the word is lost when it is not part of a pair.",
    section="byte-pairs-by-hand",
)
def last_piece_lost(word, merges):
    ids = list(word.encode())
    for k, pair in enumerate(merges):
        done, i = [], 0
        while i < len(ids) - 1:
            found = tuple(ids[i : i + 2]) == tuple(pair)
            done.append(256 + k if found else ids[i])
            i += 2 if found else 1
        ids = done
    return ids


@wrong(
    "encode",
    says="You merge the first known pair from the left and start over; the pair that was learned first comes first, "
    "wherever in the word it stands.",
    section="byte-pairs-by-hand",
)
def first_known_pair(word, merges):
    ids = list(word.encode())
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    while True:
        places = [i for i in range(len(ids) - 1) if (ids[i], ids[i + 1]) in rank]
        if not places:
            return ids
        i = places[0]
        ids[i : i + 2] = [256 + rank[ids[i], ids[i + 1]]]


# embed


@wrong(
    "embed",
    says="Nothing stops a foreign id: in NumPy −1 quietly picks the last column, and a large id ends in an IndexError.",
    section="tokens-to-vectors",
)
def look_up_without_a_guard(E, ids):
    return E[:, ids]


@wrong(
    "embed",
    says="You stop ids that are too large and let negative ones pass, which NumPy counts from the end.",
    section="tokens-to-vectors",
)
def large_ids_only(E, ids):
    if ids.max() >= E.shape[1]:
        raise ValueError("an id is too large")
    return E[:, ids]


@wrong(
    "embed",
    says="A foreign id gives a column of zeros without a word, and the model reads it like any other.",
    section="tokens-to-vectors",
)
def zeros_for_foreign_ids(E, ids):
    return E @ (np.arange(E.shape[1])[:, None] == ids).astype(float)


@wrong(
    "embed",
    says="You clip foreign ids to the nearest known one, so a wrong tokeniser goes unnoticed.",
    section="common-mistakes",
)
def clipped_ids(E, ids):
    return E[:, np.clip(ids, 0, E.shape[1] - 1)]


@wrong(
    "embed",
    says="You wrap foreign ids round with the modulo, so a wrong tokeniser goes unnoticed.",
    section="common-mistakes",
)
def ids_modulo_V(E, ids):
    return E[:, ids % E.shape[1]]


@wrong(
    "embed",
    says="Your guard lets the id V through, but ids are counted from 0.",
    section="tokens-to-vectors",
)
def guard_one_too_wide(E, ids):
    if ids.min() < 0 or ids.max() > E.shape[1]:
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids]


@wrong(
    "embed",
    says="Your guard refuses the last word of the vocabulary, although its id is valid.",
    section="tokens-to-vectors",
)
def guard_one_too_narrow(E, ids):
    if ids.min() < 0 or ids.max() >= E.shape[1] - 1:
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids]


@wrong(
    "embed",
    says="Your guard compares the ids with the width D; the number of words is the other side of E.",
    section="tokens-to-vectors",
)
def guard_counts_the_rows(E, ids):
    if ids.min() < 0 or ids.max() >= len(E):
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids]


@wrong(
    "embed",
    says="Your tokens stand in rows: this is what torch.nn.Embedding returns, lying on its side here.",
    section="columns-or-rows",
)
def tokens_in_rows(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E.T[ids]


@wrong(
    "embed",
    says="You look up rows of E, but a word has a column of its own.",
    section="tokens-to-vectors",
)
def rows_of_E(E, ids):
    return E[ids]


@wrong(
    "embed",
    says="You return the one-hot columns and never multiply them by E.",
    section="tokens-to-vectors",
)
def one_hot_alone(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return (np.arange(E.shape[1])[:, None] == ids).astype(float)


@wrong(
    "embed",
    says="You count the ids from 1, so every word gets the column of its neighbour.",
    section="tokens-to-vectors",
)
def counted_from_one(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids - 1]


@wrong(
    "embed",
    says="You add up the columns of all tokens: the order of the text is gone.",
    section="tokens-to-vectors",
)
def bag_of_words(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids].sum(axis=1)


@wrong(
    "embed",
    says="You embed each different word once, in the order of the ids, instead of each token of the text.",
    section="tokens-to-vectors",
)
def each_word_once(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, np.unique(ids)]


@wrong(
    "embed",
    says="You scale the columns by the root of D; that is not part of this embedding.",
    section="tokens-to-vectors",
)
def scaled_by_root_D(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids] * np.sqrt(len(E))


@wrong(
    "embed",
    says="You multiply by the ids as if they were measurements, but an id is a name.",
    section="what-a-transformer-eats",
)
def ids_as_numbers(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, :1] * ids


@wrong(
    "embed",
    says="You scale every column to length 1; an embedding gives the columns back as they are.",
    section="tokens-to-vectors",
)
def columns_of_unit_length(E, ids):
    if ((ids < 0) | (ids >= E.shape[1])).any():
        raise ValueError("an id is outside the vocabulary")
    return E[:, ids] / np.linalg.norm(E[:, ids], axis=0)


# counts


@wrong(
    "counts",
    says="You have E and X exchanged: E has a column for every id that could occur, X one for every token that does.",
    section="tokens-to-vectors",
)
def E_and_X_exchanged(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_text),
        "X_text": (D, n_vocab),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You count one colour per patch; a patch holds the numbers of all its channels.",
    section="an-image-is-a-sequence-too",
)
def colours_forgotten(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You count one side of a patch where its area belongs.",
    section="an-image-is-a-sequence-too",
)
def side_not_squared(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You count the patches that fit side by side and forget that there are several rows of them.",
    section="an-image-is-a-sequence-too",
)
def one_row_of_patches(n_vocab, n_text, channels, rows, columns, size, D):
    n = columns // size
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You take the image for a square: its two sides can differ.",
    section="an-image-is-a-sequence-too",
)
def square_assumed(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) ** 2
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You make a token of every pixel instead of every patch.",
    section="an-image-is-a-sequence-too",
)
def a_token_per_pixel(n_vocab, n_text, channels, rows, columns, size, D):
    n = rows * columns
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You let the patches overlap: the next one starts where the last one ends, not one pixel further.",
    section="an-image-is-a-sequence-too",
)
def overlapping_patches(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows - size + 1) * (columns - size + 1)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You divide the number of pixels by the side of a patch instead of by its area.",
    section="an-image-is-a-sequence-too",
)
def side_for_area(n_vocab, n_text, channels, rows, columns, size, D):
    n = rows * columns // size
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You give every colour a token of its own; the channels of a patch belong into one token.",
    section="an-image-is-a-sequence-too",
)
def a_token_per_channel(n_vocab, n_text, channels, rows, columns, size, D):
    n = channels * (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="Your four shapes have the tokens in rows, as in torch; here a token is a column.",
    section="columns-or-rows",
)
def tokens_as_rows(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (n_vocab, D),
        "X_text": (n_text, D),
        "W": (channels * size**2, D),
        "X_image": (n, D),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="Your X_text is the one-hot matrix O, with an entry for every id of the vocabulary.",
    section="tokens-to-vectors",
)
def one_hot_for_X(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (n_vocab, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="Your X_image is the matrix of patches P, before W has mapped it to width D.",
    section="the-matrix-w",
)
def patches_for_X(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (channels * size**2, n),
        "pairs": n**2,
    }


@wrong(
    "counts",
    says="You count a pair of two tokens once and leave out a token with itself; attention compares each with "
    "every one.",
    section="what-a-larger-vocabulary-buys",
)
def each_pair_once(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n * (n - 1) // 2,
    }


@wrong(
    "counts",
    says="You pair the tokens of the image with those of the text.",
    section="an-image-is-a-sequence-too",
)
def pairs_with_text(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n * n_text,
    }


@wrong(
    "counts",
    says="You count one token more than there are patches; a class token is not part of this image.",
    section="could-one-not-leave-it-out",
)
def class_token_counted(n_vocab, n_text, channels, rows, columns, size, D):
    n = (rows // size) * (columns // size) + 1
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size**2),
        "X_image": (D, n),
        "pairs": n**2,
    }


# patches


@wrong(
    "patches",
    says="A bare reshape cuts the image into strips: no pixel below another one lands in the same patch.",
    section="an-image-is-a-sequence-too",
)
def reshape_alone(image, size):
    C = len(image)
    return image.reshape(-1, C * size * size).T


@wrong(
    "patches",
    says="This is the museum piece as it was: neighbours in one row of the image are spread over all columns.",
    section="an-image-is-a-sequence-too",
)
def museum_unchanged(image, size):
    C = len(image)
    return image.reshape(C * size * size, -1)


@wrong(
    "patches",
    says="In your columns the three colours of a pixel stand together; the channel has to vary slowest.",
    section="an-image-is-a-sequence-too",
)
def channel_fastest(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(2, 4, 0, 1, 3).reshape(C * size * size, -1)


@wrong(
    "patches",
    says="You write the pixels of a patch column by column: vec stacks its rows here.",
    section="an-image-is-a-sequence-too",
)
def pixels_by_column(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(0, 4, 2, 1, 3).reshape(C * size * size, -1)


@wrong(
    "patches",
    says="You number the patches downwards; they are counted row by row, as one reads.",
    section="an-image-is-a-sequence-too",
)
def grid_by_column(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(0, 2, 4, 3, 1).reshape(C * size * size, -1)


@wrong(
    "patches",
    says="Your patches stand in rows; the result has one column for each.",
    section="columns-or-rows",
)
def patches_in_rows(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(1, 3, 0, 2, 4).reshape(-1, C * size * size)


@wrong(
    "patches",
    says="The grid and the pixels have changed places: your patch collects pixels from all over the image.",
    section="an-image-is-a-sequence-too",
)
def grid_and_pixel_exchanged(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, size, rows // size, size, columns // size)
    return cells.transpose(0, 1, 3, 2, 4).reshape(C * size * size, -1)


@wrong(
    "patches",
    says="You split the rows with the number of columns and the columns with the number of rows, which fits "
    "square images only.",
    section="an-image-is-a-sequence-too",
)
def sides_exchanged(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, columns // size, size, rows // size, size)
    return cells.transpose(0, 2, 4, 1, 3).reshape(C * size * size, -1)


@wrong(
    "patches",
    says="You keep the first channel and drop the others.",
    section="an-image-is-a-sequence-too",
)
def one_channel_only(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells[:1].transpose(0, 2, 4, 1, 3).reshape(size * size, -1)


@wrong(
    "patches",
    says="You average the channels, so the colours cannot be told apart any more.",
    section="an-image-is-a-sequence-too",
)
def channels_averaged(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.mean(axis=0).transpose(1, 3, 0, 2).reshape(size * size, -1)


@wrong(
    "patches",
    says="Every channel of a patch has become a column of its own.",
    section="an-image-is-a-sequence-too",
)
def channels_as_tokens(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(2, 4, 0, 1, 3).reshape(size * size, -1)


@wrong(
    "patches",
    says="Your squares overlap: each one starts a single pixel after the last.",
    section="an-image-is-a-sequence-too",
)
def overlapping_squares(image, size):
    _, rows, columns = image.shape
    found = [
        image[:, i : i + size, j : j + size].ravel() for i in range(rows - size + 1) for j in range(columns - size + 1)
    ]
    return np.stack(found, axis=1)


@wrong(
    "patches",
    says="You order the axes for the patches first and then reshape as if the pixels came first.",
    section="an-image-is-a-sequence-too",
)
def transpose_undone(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(1, 3, 0, 2, 4).reshape(C * size * size, -1)


# rows


@wrong(
    "rows",
    says="Your tokens still stand in rows; the tables have one column for each token.",
    section="the-concordance",
)
def tokens_left_in_rows(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    return {name: x @ U[head * K : (head + 1) * K].T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You cut W_in into one block for each head; its pile is queries first, then keys, then values, with "
    "all heads in each.",
    section="the-concordance",
)
def chunk_per_head(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in[3 * head * K : 3 * (head + 1) * K], 3)
    return {name: U @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You take every third row for the queries; the three matrices are stacked, not interleaved.",
    section="the-concordance",
)
def every_third_row(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = [W_in[i::3] for i in range(3)]
    return {name: U[head * K : (head + 1) * K] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You take every H-th row for a head; the rows of one head stand together.",
    section="the-concordance",
)
def interleaved_heads(x, W_in, n_heads, head):
    parts = np.split(W_in, 3)
    return {name: U[head::n_heads] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You count the heads from 1, so you take the head before the one that was asked for.",
    section="the-concordance",
)
def heads_from_one(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    return {name: (U @ x.T)[np.arange((head - 1) * K, head * K)] for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You transpose the weights once too often: W_in is stored output × input, as the columns need it.",
    section="columns-or-rows",
)
def weights_transposed(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    return {name: (U.T @ x.T)[head * K : (head + 1) * K] for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You turn the tokens with a reshape, which keeps the order of the numbers and mixes up the tokens.",
    section="columns-or-rows",
)
def tokens_reshaped(x, W_in, n_heads, head):
    D = x.shape[1]
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    return {name: U[head * K : (head + 1) * K] @ x.reshape(D, -1) for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You read the pile from the wrong end: the queries are at the top and the values at the bottom.",
    section="the-concordance",
)
def values_first(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)[::-1]
    return {name: U[head * K : (head + 1) * K] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You take the first matrix of the pile for the keys and the second for the queries.",
    section="the-concordance",
)
def keys_on_top(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    U_k, U_q, U_v = np.split(W_in, 3)
    parts = U_q, U_k, U_v
    return {name: U[head * K : (head + 1) * K] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You use the queries' rows for all three tables.",
    section="the-concordance",
)
def queries_three_times(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = [W_in] * 3
    return {name: U[head * K : (head + 1) * K] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You give each head a slice of the token's features; a head reads the whole token and has its own "
    "rows of the weights.",
    section="the-concordance",
)
def features_cut(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    mine = slice(head * K, (head + 1) * K)
    return {name: U[mine, mine] @ x.T[mine] for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You take H rows for a head, but the width of a head is K = D/H.",
    section="the-concordance",
)
def heads_for_width(x, W_in, n_heads, head):
    parts = np.split(W_in, 3)
    return {name: U[head * n_heads : (head + 1) * n_heads] @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You return the tables of all heads together.",
    section="the-concordance",
)
def all_heads_at_once(x, W_in, n_heads, head):
    parts = np.split(W_in, 3)
    return {name: U @ x.T for name, U in zip("QKV", parts, strict=True)}


@wrong(
    "rows",
    says="You scale by the root of K; the scale belongs to the scores of attention, not to these tables.",
    section="the-concordance",
)
def scaled_by_root_K(x, W_in, n_heads, head):
    K = x.shape[1] // n_heads
    parts = np.split(W_in, 3)
    return {name: U[head * K : (head + 1) * K] @ x.T / np.sqrt(K) for name, U in zip("QKV", parts, strict=True)}


# shift


@wrong(
    "shift",
    says="Inputs and targets are the same: the model only has to copy what it reads.",
    section="common-mistakes",
)
def not_shifted(ids, start):
    return ids, ids


@wrong(
    "shift",
    says="You leave out the start token, so the first token of the text is never predicted.",
    section="the-token-before-the-first",
)
def no_start_token(ids, start):
    return ids[:-1], ids[1:]


@wrong(
    "shift",
    says="Your inputs do not end one token early: their last column predicts a token that the text does not have.",
    section="the-token-before-the-first",
)
def inputs_one_longer(ids, start):
    return np.concatenate([[start], ids]), ids


@wrong(
    "shift",
    says="You put the start token before the targets too, but it is never predicted.",
    section="the-token-before-the-first",
)
def start_in_both(ids, start):
    return np.concatenate([[start], ids[:-1]]), np.concatenate([[start], ids[:-1]])


@wrong(
    "shift",
    says="You have inputs and targets exchanged: the model would read a token and predict the one before it.",
    section="the-token-before-the-first",
)
def roles_swapped(ids, start):
    return ids, np.concatenate([[start], ids[:-1]])


@wrong(
    "shift",
    says="You roll the text round, so the last token stands before the first and gives the end away.",
    section="the-token-before-the-first",
)
def rolled_round(ids, start):
    return np.roll(ids, 1), ids


@wrong(
    "shift",
    says="You put the start token behind the text, as if it marked the end.",
    section="the-token-before-the-first",
)
def start_at_the_end(ids, start):
    return ids, np.concatenate([ids[1:], [start]])


@wrong(
    "shift",
    says="You write the start token over the first one without shifting, so from the second column on the "
    "model copies.",
    section="the-token-before-the-first",
)
def first_token_replaced(ids, start):
    inputs = ids.copy()
    inputs[0] = start
    return inputs, ids


@wrong(
    "shift",
    says="You shift by two: the model is to predict a token without seeing the one just before it.",
    section="the-token-before-the-first",
)
def shifted_twice(ids, start):
    return np.concatenate([[start, start], ids])[: len(ids)], ids


@wrong(
    "shift",
    says="You take 0 for the start token and leave the id that came unused; 0 is a word of the text's vocabulary.",
    section="the-token-before-the-first",
)
def always_zero(ids, start):
    return np.concatenate([[0], ids[:-1]]), ids


@wrong(
    "shift",
    says="You read the text from its end.",
    section="the-token-before-the-first",
)
def backwards(ids, start):
    return np.concatenate([[start], ids[::-1][:-1]]), ids[::-1]


@wrong(
    "shift",
    says="The ids have become floating-point numbers, and a look-up wants whole ones.",
    section="the-token-before-the-first",
)
def ids_become_floats(ids, start):
    return np.concatenate([np.full(1, float(start)), ids[:-1]]), ids


@wrong(
    "shift",
    says="You shift inside the array that came in, so the caller's text is lost.",
    section="the-token-before-the-first",
)
def changes_its_argument(ids, start):
    targets = ids.copy()
    ids[1:] = targets[:-1]
    ids[0] = start
    return ids, targets


# learn


@wrong(
    "learn",
    says="Among equally frequent pairs you take the one that you met first; the smaller ids should win.",
    section="byte-pairs-by-hand",
)
def first_met_wins(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.get)
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="Among equally frequent pairs you take the one with the larger ids.",
    section="byte-pairs-by-hand",
)
def larger_ids_win(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You settle ties by the sum of the two ids; the first id decides, and the second only if the first "
    "ones are equal.",
    section="byte-pairs-by-hand",
)
def smaller_sum_wins(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], sum(pair), pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You count every different word once, however often it occurs in the text.",
    section="byte-pairs-by-hand",
)
def frequency_ignored(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in dict.fromkeys(words)], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You let pairs cross from one word into the next.",
    section="byte-pairs-by-hand",
)
def across_words(words, n_merges):
    lists, merges = [tuple("".join(words).encode())], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You count the bytes once and return the most frequent pairs; after each merge the counting begins "
    "again, with the merged piece.",
    section="byte-pairs-by-hand",
)
def counted_only_once(words, n_merges):
    counts = {}
    for word in words:
        pieces = tuple(word.encode())
        for pair in (pieces[i : i + 2] for i in range(len(pieces) - 1)):
            counts[pair] = counts.get(pair, 0) + 1
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n_merges]


@wrong(
    "learn",
    says="You start from the numbers of the characters; the ids below 256 are bytes, and some letters take two "
    "or three of them.",
    section="text-to-tokens",
)
def learned_from_characters(words, n_merges):
    lists, merges = [tuple(map(ord, word)) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="Your first merge gets the id 257, so later pairs name pieces that nobody made.",
    section="byte-pairs-by-hand",
)
def new_ids_from_257(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(257 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You count a pair and its mirror image as one; a followed by b is another pair than b followed by a.",
    section="byte-pairs-by-hand",
)
def order_ignored(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                pair = min(pair, pair[::-1])
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) in (best, best[::-1])
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="Your function ends in an error when no pair is left to merge; it should return the merges that it has.",
    section="byte-pairs-by-hand",
)
def no_pair_left(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You stop when no pair comes twice, although there are still pairs to merge.",
    section="byte-pairs-by-hand",
)
def stops_at_single_pairs(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You merge the rarest pair instead of the most frequent one.",
    section="byte-pairs-by-hand",
)
def rarest_pair(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="In a run such as aaa you count one pair; the formula counts every place where two neighbours stand.",
    section="byte-pairs-by-hand",
)
def runs_counted_without_overlap(words, n_merges):
    lists, merges = ["".join(map(chr, word.encode())) for word in words], []
    for k in range(n_merges):
        pairs = {text[i : i + 2] for text in lists for i in range(len(text) - 1)}
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-sum(text.count(pair) for text in lists), pair))
        merges.append((ord(best[0]), ord(best[1])))
        lists = [text.replace(best, chr(256 + k)) for text in lists]
    return merges


@wrong(
    "learn",
    says="You merge the pair at one place of each word and leave its other occurrences in pieces.",
    section="byte-pairs-by-hand",
)
def merged_once_per_word(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best and (256 + k) not in done
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You return the ids of the new pieces; the pair that was merged is asked for.",
    section="byte-pairs-by-hand",
)
def new_ids_instead_of_pairs(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append((256 + k, counts[best]))
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


@wrong(
    "learn",
    says="You learn one merge more than was asked for.",
    section="byte-pairs-by-hand",
)
def one_merge_too_many(words, n_merges):
    lists, merges = [tuple(word.encode()) for word in words], []
    for k in range(n_merges + 1):
        counts = {}
        for pieces in lists:
            for pair in (tuple(pieces[i : i + 2]) for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = []
        for pieces in lists:
            done, i = [], 0
            while i < len(pieces):
                found = tuple(pieces[i : i + 2]) == best
                done.append(256 + k if found else pieces[i])
                i += 2 if found else 1
            after.append(tuple(done))
        lists = after
    return merges


WRONG = wrong
