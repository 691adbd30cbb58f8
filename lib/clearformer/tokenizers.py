"""Text to ids and back: by bytes, by characters, and by byte pairs learned from a text."""

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

N_BYTES = 256
WORD = re.compile(r"\s?\S+|\s+")  # a word keeps the one space before it, so that joining the pieces restores the text


def _utf8(caller: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{caller}: {text[error.start]!r} at index {error.start} is a lone surrogate, expected Unicode text. "
            "Read the file with the right encoding, or with errors='replace'."
        ) from None


def _check_ids(caller: str, ids: list[int], n_vocab: int) -> None:
    for position, i in enumerate(ids):
        if not 0 <= i < n_vocab:
            raise ValueError(
                f"{caller}: id {i} at position {position} is outside the vocabulary, expected 0 to {n_vocab - 1}. "
                "Decode with the tokenizer that encoded."
            )


class ByteTokenizer:
    """One id per byte of the UTF-8 text: 256 ids, no training, every text can be written."""

    n_vocab = N_BYTES

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a lone surrogate, which is no Unicode text."""
        return list(_utf8("ByteTokenizer.encode", text))

    def decode(self, ids: list[int]) -> str:
        """The text of ``ids``; bytes that are no whole UTF-8 character become U+FFFD."""
        _check_ids("ByteTokenizer.decode", ids, self.n_vocab)
        return bytes(ids).decode("utf-8", errors="replace")


class CharTokenizer:
    """One id per character that occurs in ``text``, in the order of Unicode."""

    def __init__(self, text: str):
        self.characters = sorted(set(text))
        self._ids = {character: i for i, character in enumerate(self.characters)}
        self.n_vocab = len(self.characters)

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a character that the training text did not hold."""
        for position, character in enumerate(text):
            if character not in self._ids:
                raise ValueError(
                    f"CharTokenizer.encode: {character!r} at index {position} is not among the {self.n_vocab} known "
                    "characters. Build the tokenizer from a text that holds it, or use ByteTokenizer."
                )
        return [self._ids[character] for character in text]

    def decode(self, ids: list[int]) -> str:
        """The text of ``ids``. Raises: ValueError for an id outside the vocabulary."""
        _check_ids("CharTokenizer.decode", ids, self.n_vocab)
        return "".join(self.characters[i] for i in ids)


class BytePairTokenizer:
    """Bytes, and then ever longer pieces: the most frequent pair of neighbours is merged, again and again.

    Pairs never cross from one word into the next. Among equally frequent pairs the one with the smaller
    ids wins, so that the same text always gives the same vocabulary.

    Source: Sennrich et al. 2016, on bytes as in Radford et al. 2019.
    """

    def __init__(self, text: str, n_merges: int):
        """Learn ``n_merges`` merges from ``text``; fewer if no pair is left.

        Raises: ValueError if ``n_merges`` is negative.
        """
        if n_merges < 0:
            raise ValueError(
                f"BytePairTokenizer: n_merges={n_merges}, expected 0 or more. Pass how many pairs to merge."
            )
        self.pieces: list[bytes] = [bytes([b]) for b in range(N_BYTES)]
        self.ranks: dict[tuple[int, int], int] = {}
        words = Counter(tuple(_utf8("BytePairTokenizer", word)) for word in WORD.findall(text))
        for _ in range(n_merges):
            pairs: Counter[tuple[int, int]] = Counter()
            for word, count in words.items():
                for pair in pairwise(word):
                    pairs[pair] += count
            if not pairs:
                break
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            new = len(self.pieces)
            self.ranks[best] = new
            self.pieces.append(self.pieces[best[0]] + self.pieces[best[1]])
            words = Counter({tuple(_merge(word, best, new)): count for word, count in words.items()})
        self.n_vocab = len(self.pieces)
        self._encode_word = lru_cache(maxsize=2**16)(self._encode_word)

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a lone surrogate, which is no Unicode text."""
        _utf8("BytePairTokenizer.encode", text)
        return [i for word in WORD.findall(text) for i in self._encode_word(word)]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Apply the merges in the order in which they were learned."""
        ids = list(word.encode("utf-8"))
        while True:
            known = [pair for pair in pairwise(ids) if pair in self.ranks]
            if not known:
                return tuple(ids)
            first = min(known, key=self.ranks.__getitem__)
            ids = _merge(ids, first, self.ranks[first])

    def decode(self, ids: list[int]) -> str:
        """The text of ``ids``; bytes that are no whole UTF-8 character become U+FFFD."""
        _check_ids("BytePairTokenizer.decode", ids, self.n_vocab)
        return b"".join(self.pieces[i] for i in ids).decode("utf-8", errors="replace")


def _merge(ids, pair: tuple[int, int], new: int) -> list[int]:
    """Replace every occurrence of ``pair``, from the left, by the id ``new``."""
    merged, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        merged.append(new if found else ids[i])
        i += 2 if found else 1
    return merged
