"""Right solutions of exercise 01, as different from each other as learners' answers are."""

import numpy as np
from clearcheck import Solutions

right = Solutions()


# encode


@right("encode")
def merge_after_merge(word, merges):
    ids = list(word.encode("utf-8"))
    for k, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i : i + 2] = [256 + k]
            i += 1
    return ids


@right("encode")
def lowest_rank_first(word, merges):
    rank = {tuple(pair): k for k, pair in enumerate(merges)}
    ids = list(word.encode())
    while True:
        present = [rank[pair] for pair in map(tuple, (ids[i : i + 2] for i in range(len(ids) - 1))) if pair in rank]
        if not present:
            return ids
        best, old = min(present), ids
        ids, i = [], 0
        while i < len(old):
            if tuple(old[i : i + 2]) == tuple(merges[best]):
                ids.append(256 + best)
                i += 2
            else:
                ids.append(old[i])
                i += 1


@right("encode")
def build_a_new_list(word, merges):
    pieces = [byte for byte in bytes(word, "utf-8")]
    for new, pair in enumerate(merges, start=256):
        done = []
        whole = []  # whether this piece was made by the merge under way
        for piece in pieces:
            if done and not whole[-1] and (done[-1], piece) == tuple(pair):
                done[-1], whole[-1] = new, True
            else:
                done.append(piece)
                whole.append(False)
        pieces = done
    return pieces


@right("encode")
def as_a_string_of_characters(word, merges):
    text = word.encode().decode("latin-1")
    for k, (a, b) in enumerate(merges):
        text = text.replace(chr(a) + chr(b), chr(256 + k))
    return [ord(character) for character in text]


# embed


@right("embed")
def product_with_one_hot(E, ids):
    V = E.shape[1]
    if (ids < 0).any() or (ids >= V).any():
        raise ValueError(f"an id is outside 0 to {V - 1}")
    O = np.zeros((V, len(ids)))  # noqa: E741
    O[ids, np.arange(len(ids))] = 1
    return E @ O


@right("embed")
def look_up(E, ids):
    for i in ids:
        if not 0 <= i < E.shape[1]:
            raise ValueError("embed: foreign id " + str(i))
    return E[:, ids]


@right("embed")
def rows_of_the_transpose(E, ids):
    if not set(ids.tolist()) <= set(range(E.shape[1])):
        raise ValueError("unknown word")
    return np.array([E.T[i] for i in ids]).T


# counts


@right("counts")
def in_one_dict(n_vocab, n_text, channels, rows, columns, size, D):
    n = rows * columns // (size * size)
    return {
        "E": (D, n_vocab),
        "X_text": (D, n_text),
        "W": (D, channels * size * size),
        "X_image": (D, n),
        "pairs": n * n,
    }


@right("counts")
def measured_on_arrays(n_vocab, n_text, channels, rows, columns, size, D):
    corners = [(a, b) for a in range(0, rows, size) for b in range(0, columns, size)]
    patch = np.zeros((channels, size, size)).ravel()
    found = {"E": (D, n_vocab), "X_text": (D, n_text)}
    found["W"] = np.zeros((D, patch.size)).shape
    found["X_image"] = (D, len(corners))
    found["pairs"] = sum(len(corners) for _ in corners)
    return found


@right("counts")
def grid_first(n_vocab, n_text, channels, rows, columns, size, D):
    down, across = rows // size, columns // size
    others = dict(E=n_vocab, X_text=n_text, W=channels * size**2, X_image=down * across)
    result = {name: (D, other) for name, other in others.items()}
    result["pairs"] = (down * across) ** 2
    return result


# patches


@right("patches")
def five_axes(image, size):
    C, rows, columns = image.shape
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return np.transpose(cells, (0, 2, 4, 1, 3)).reshape(C * size**2, -1)


@right("patches")
def corner_by_corner(image, size):
    found = []
    for top in range(0, image.shape[1], size):
        for left in range(0, image.shape[2], size):
            found.append(image[:, top : top + size, left : left + size].ravel())
    return np.array(found).T


@right("patches")
def number_by_number(image, size):
    C, height, width = image.shape
    G = width // size
    P = np.empty((C * size * size, height // size * G))
    for c, y, x in np.ndindex(C, height, width):
        P[(c * size + y % size) * size + x % size, (y // size) * G + x // size] = image[c, y, x]
    return P


@right("patches")
def by_einsum_of_the_axes(image, size):
    C, rows, columns = image.shape
    split = image.reshape(C, rows // size, size, columns // size, size)
    return np.einsum("caibj->cijab", split).reshape(C * size * size, rows * columns // size**2)


# rows


@right("rows")
def cut_then_multiply(x, W_in, n_heads, head):
    D = x.shape[1]
    K = D // n_heads
    tables = {}
    for number, name in enumerate("QKV"):
        first = number * D + head * K
        tables[name] = W_in[first : first + K] @ x.T
    return tables


@right("rows")
def multiply_then_cut(x, W_in, n_heads, head):
    N, D = x.shape
    everything = (W_in @ x.T).reshape(3, n_heads, D // n_heads, N)
    Q, K, V = everything[:, head]
    return {"Q": Q, "K": K, "V": V}


@right("rows")
def in_rows_and_transposed(x, W_in, n_heads, head):
    width = W_in.shape[1] // n_heads
    parts = np.split(x @ W_in.T, 3, axis=1)
    return {key: part[:, head * width : (head + 1) * width].T for key, part in zip("QKV", parts, strict=True)}


# shift


@right("shift")
def concatenated(ids, start):
    return np.concatenate(([start], ids[:-1])), ids


@right("shift")
def written_into_a_copy(ids, start):
    inputs = ids.copy()
    inputs[1:] = ids[:-1]
    inputs[0] = start
    return inputs, ids.copy()


@right("shift")
def one_longer_then_cut(ids, start):
    whole = np.array([start, *ids])
    return whole[:-1], whole[1:]


# learn


@right("learn")
def words_with_their_counts(words, n_merges):
    spelled = {}
    for word in words:
        key = tuple(word.encode())
        spelled[key] = spelled.get(key, 0) + 1
    merges = []
    for new in range(256, 256 + n_merges):
        counts = {}
        for pieces, frequency in spelled.items():
            for pair in (pieces[i : i + 2] for i in range(len(pieces) - 1)):
                counts[pair] = counts.get(pair, 0) + frequency
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        after = {}
        for pieces, frequency in spelled.items():
            done, i = [], 0
            while i < len(pieces):
                found = pieces[i : i + 2] == best
                done.append(new if found else pieces[i])
                i += 2 if found else 1
            after[tuple(done)] = after.get(tuple(done), 0) + frequency
        spelled = after
    return merges


@right("learn")
def strings_of_characters(words, n_merges):
    from collections import Counter

    texts = [word.encode().decode("latin-1") for word in words]
    merges = []
    for k in range(n_merges):
        counts = Counter(text[i : i + 2] for text in texts for i in range(len(text) - 1))
        if not counts:
            return merges
        most = max(counts.values())
        best = min(pair for pair in counts if counts[pair] == most)
        merges.append((ord(best[0]), ord(best[1])))
        texts = [text.replace(best, chr(256 + k)) for text in texts]
    return merges


@right("learn")
def sorted_by_pair_and_then_by_count(words, n_merges):
    from itertools import pairwise

    lists, merges = [list(bytes(word, "utf-8")) for word in words], []
    while len(merges) < n_merges and any(len(pieces) > 1 for pieces in lists):
        every = [pair for pieces in lists for pair in pairwise(pieces)]
        ordered = sorted(sorted(set(every)), key=every.count, reverse=True)
        a, b = ordered[0]
        for pieces in lists:
            for i in range(len(pieces)):
                if pieces[i : i + 2] == [a, b]:
                    pieces[i : i + 2] = [256 + len(merges)]
        merges.append((a, b))
    return merges


SOLUTIONS = right
