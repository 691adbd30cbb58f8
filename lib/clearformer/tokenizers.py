"""Text to ids and back: by bytes, by characters, and by byte pairs, learned from a text or given, as GPT-2's are."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import index
from typing import Any, SupportsIndex

from clearformer.checks import check_flag, check_items, check_text, check_whole, shorten

N_BYTES = 256
MOST_WORDS = 2**16  # whose ids a tokenizer remembers before it starts afresh
WORD = re.compile(r"\s?[^\W_]+|\s?(?:[^\w\s]|_)+|\s+")  # letters and digits, or signs, with the one space before them


class ByteTokenizer:
    """One id per byte of the UTF-8 text: 256 ids, no training, every text can be written."""

    n_vocab = N_BYTES

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a lone surrogate, which is no Unicode text."""
        return list(utf8("ByteTokenizer.encode", text))

    def decode(self, ids: Iterable | SupportsIndex) -> str:
        """The text of ``ids``, also one alone or a tensor of them; no whole UTF-8 character becomes U+FFFD."""
        return bytes(checked_ids("ByteTokenizer.decode", ids, self.n_vocab)).decode("utf-8", errors="replace")


class CharTokenizer:
    """One id per character that occurs in ``text``, in the order of Unicode.

    Raises: TypeError for what is no text; ValueError for an empty one.
    """

    def __init__(self, text: str):
        if not utf8("CharTokenizer", text):
            raise ValueError("CharTokenizer: text='' holds no character, expected the text that is to be encoded.")
        self.characters = sorted(set(text))
        self._ids = {character: i for i, character in enumerate(self.characters)}
        self.n_vocab = len(self.characters)

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a character that the training text did not hold."""
        utf8("CharTokenizer.encode", text)
        for position, character in enumerate(text):
            if character not in self._ids:
                raise ValueError(
                    f"CharTokenizer.encode: {character!r} at index {position} is not among the {self.n_vocab} known "
                    "characters. Build the tokenizer from a text that holds it, or use ByteTokenizer."
                )
        return [self._ids[character] for character in text]

    def decode(self, ids: Iterable | SupportsIndex) -> str:
        """The text of ``ids``, also one alone or a tensor. Raises: ValueError for an id outside the vocabulary."""
        return "".join(self.characters[i] for i in checked_ids("CharTokenizer.decode", ids, self.n_vocab))


class BytePairTokenizer:
    """Bytes, and then ever longer pieces: the most frequent pair of neighbours is merged, again and again.

    Pairs never cross from one word into the next; ``pattern`` finds the words, and must leave nothing between them.
    ``special`` tokens, such as ``<|endoftext|>``, have an id each, and are never cut.

    Source: Sennrich et al. 2016, on bytes as in Radford et al. 2019.
    """

    def __init__(self, text: str, n_merges: int, *, pattern: re.Pattern = WORD, special: Sequence[str] = ()):
        """Learn ``n_merges`` merges from ``text``; fewer if no pair is left. Raises: ValueError for fewer than 0."""
        n_merges = check_whole("BytePairTokenizer", "n_merges", n_merges, 0)
        self._begin([bytes([byte]) for byte in range(N_BYTES)], pattern, _special_tokens(special))
        words = Counter(word.encode() for word in self._words("BytePairTokenizer", text) if word not in self.special)
        self.add_merges(learn_merges(words, n_merges))

    def add_merges(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Merge these pairs of ids, too, in their order; the ``ranks`` of a tokenizer list its own.

        Raises: TypeError or ValueError for what is no pair of ids that are known by then; no merge is added.
        """
        n_pieces, new = len(self.pieces), []
        for pair in check_items("BytePairTokenizer.add_merges", "pairs", pairs, "pairs of ids, such as [(97, 98)]"):
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise TypeError(
                    f"BytePairTokenizer.add_merges: {shorten(pair)}, expected a pair of ids, such as (97, 98)."
                )
            known = n_pieces + len(new) - 1
            first, second = (check_whole("BytePairTokenizer.add_merges", "id", i, 0, known) for i in pair)
            new.append((first, second))
        for first, second in new:
            self.ranks[first, second] = len(self.pieces)
            self.pieces.append(self.pieces[first] + self.pieces[second])
        self._end({token: i for token, i in self.special.items() if i is not None})

    @classmethod
    def from_vocabulary(
        cls,
        vocabulary: Mapping[str, int],
        merges: Iterable[str | Sequence[str]],
        *,
        pattern: re.Pattern | None = None,
        special: Sequence[str] = ("<|endoftext|>",),
        skip_unknown: bool = False,
    ) -> "BytePairTokenizer":
        """A tokenizer with given pieces and merges, as in GPT-2's ``vocab.json`` and the lines of ``merges.txt``.

        Words are cut by GPT-2's pattern unless another is given; special tokens that the vocabulary lacks come last.
        A vocabulary may lack bytes that its text never held, as SmolLM2's does: with ``skip_unknown`` they are left
        out of what is encoded, as Hugging Face's ``tokenizers`` does.

        Raises: TypeError for paths, or merges in place of the vocabulary; ValueError for ids that are not 0, 1, 2 ...,
        a merge of unknown pieces or, without ``skip_unknown``, a byte without a piece.
        """
        from clearformer.pretrained.gpt2_words import byte_characters, gpt2_word  # here, for it brings torch along

        _check_vocabulary(vocabulary)
        ids, byte_of = sorted(vocabulary.values()), byte_characters()
        pairs, special = _pairs_of(merges), _special_tokens(special)
        unknown = [p for p in pairs if len(p) != 2 or not {*p, "".join(p)} <= vocabulary.keys()]
        if not check_flag("BytePairTokenizer", "skip_unknown", skip_unknown):
            unknown += [c for c in byte_of if c not in vocabulary]
        unknown += [p for p in vocabulary if p not in special and not set(p) <= byte_of.keys()]
        if unknown or ids != list(range(len(ids))):
            raise ValueError(
                f"BytePairTokenizer: {unknown[0] if unknown else ids[-1:]!r} does not fit a vocabulary of "
                f"{len(ids)} pieces, expected ids from 0 without a gap, a piece for each byte, all spelled in GPT-2's "
                "characters, and merges of two pieces into a third. Take both files of the same model."
            )
        self = cls.__new__(cls)
        pieces = {i: p.encode() if p in special else bytes(byte_of[c] for c in p) for p, i in vocabulary.items()}
        self._begin([pieces[i] for i in ids], gpt2_word() if pattern is None else pattern, special)
        for rank, (first, second) in enumerate(pairs):
            pair = vocabulary[first], vocabulary[second]
            self.ranks[pair], self._merged[pair] = rank, vocabulary[first + second]
        self._end(vocabulary)
        return self

    def _begin(self, pieces: list[bytes], pattern: Any, special: list[str]) -> None:
        self.pieces: list[bytes] = pieces
        self.pattern = _word_pattern(pattern)
        self.special: dict[str, int | None] = dict.fromkeys(special)
        self.ranks: dict[tuple[int, int], int] = {}
        self._merged: dict[tuple[int, int], int] = {}  # what a pair becomes, where that is not its rank
        ids = {piece: i for i, piece in reversed([*enumerate(pieces)])}  # of equal pieces the first
        self._bytes = [ids.get(bytes([byte])) for byte in range(N_BYTES)]  # none for a byte that is left out
        longest_first = sorted(map(re.escape, special), key=len, reverse=True)
        self._cut = re.compile(f"({'|'.join(longest_first) or '(?!)'})")

    def _end(self, known: Mapping[str, int]) -> None:
        for token in self.special:
            self.special[token] = known.get(token, len(self.pieces))
            self.pieces += [] if token in known else [token.encode()]
        self.n_vocab, self._known = len(self.pieces), {}

    def _words(self, caller: str, text: Any) -> list[str]:
        """The words and special tokens of a text."""
        utf8(caller, text)
        parts = self._cut.split(text)
        words = [word for p in parts for word in ([p] if p in self.special else self.pattern.findall(p))]
        if sum(map(len, words)) != len(text):
            raise ValueError(
                f"{caller}: pattern {self.pattern.pattern[:40]!r} leaves something out of {text[:20]!r}, expected "
                "words that together are the text. Add an alternative for the rest."
            )
        return words

    def encode(self, text: str) -> list[int]:
        """Ids of ``text``. Raises: ValueError for a lone surrogate, which is no Unicode text."""
        words = self._words("BytePairTokenizer.encode", text)
        known = self._known = self._known if len(self._known) < MOST_WORDS else {}
        known.update((word, self._encode_word(word)) for word in set(words) - known.keys())
        return [i for word in words for i in known[word]]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Apply the merges in the order in which they were learned."""
        if word in self.special:
            return (self.special[word],)
        ids = [i for i in (self._bytes[byte] for byte in word.encode("utf-8")) if i is not None]
        while known := [pair for pair in pairwise(ids) if pair in self.ranks]:
            first = min(known, key=self.ranks.__getitem__)
            ids = _merge(ids, first, self._merged.get(first, self.ranks[first]))
        return tuple(ids)

    def decode(self, ids: Iterable | SupportsIndex) -> str:
        """The text of ``ids``, also one alone or a tensor of them; no whole UTF-8 character becomes U+FFFD."""
        ids = checked_ids("BytePairTokenizer.decode", ids, self.n_vocab)
        return b"".join(self.pieces[i] for i in ids).decode("utf-8", errors="replace")


def _check_vocabulary(vocabulary: Any) -> None:
    known = isinstance(vocabulary, Mapping)
    if not known or not all(isinstance(piece, str) and type(i) is int for piece, i in vocabulary.items()):
        raise TypeError(
            f"BytePairTokenizer: vocabulary={shorten(vocabulary)}, expected a mapping of pieces to ids. Read the file: "
            'json.loads(Path("vocab.json").read_text(encoding="utf-8")).'
        )


def _pairs_of(merges: Any) -> list[tuple[str, ...]]:
    """The pairs of pieces in the lines of ``merges.txt``, or in a list of pairs."""
    expected = 'lines or pairs. Read the file: Path("merges.txt").read_text(encoding="utf-8").splitlines()'
    if isinstance(merges, Mapping):
        raise TypeError(f"BytePairTokenizer: merges={shorten(merges)}, expected {expected}.")
    pairs = []
    for line in check_items("BytePairTokenizer", "merges", merges, expected):
        pair = line.split() if isinstance(line, str) else line
        if not isinstance(pair, Sequence) or not all(isinstance(piece, str) for piece in pair):
            raise TypeError(f"BytePairTokenizer: {shorten(line)} among the merges, expected {expected}.")
        if pair and pair[0] != "#version:":
            pairs.append(tuple(pair))
    return pairs


def _special_tokens(special: Any) -> list[str]:
    expected = "a list of tokens, none of them empty"
    tokens = check_items("BytePairTokenizer", "special", special, expected)
    for token in tokens:
        if not isinstance(token, str) or not token:
            raise ValueError(f"BytePairTokenizer: special={shorten(special)}, expected {expected}.")
        utf8("BytePairTokenizer", token)
    return tokens


def _word_pattern(pattern: Any) -> re.Pattern:
    """A pattern of ``re`` or of ``regex``, which has the same methods."""
    is_text = isinstance(getattr(pattern, "pattern", None), str) and hasattr(pattern, "findall")
    if not is_text or pattern.groups:
        raise TypeError(
            f"BytePairTokenizer: pattern={shorten(pattern)}, expected a compiled pattern of text without groups, such "
            r"as re.compile(r'\w+|\W+'). Write groups as (?:...)."
        )
    return pattern


def learn_merges(words: Mapping[bytes, int], n_merges: int) -> list[tuple[int, int]]:
    """The pairs to merge, from words and how often each occurs; merge k makes the id 256 + k.

    Among equally frequent pairs the one with the smaller ids wins, so that the same text always gives the same
    vocabulary. A merge changes the counts of those words only that hold the pair.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    spelled = {tuple(word): times for word, times in words.items()}
    pairs: Counter[tuple[int, int]] = Counter()

    def count(word, times):
        for pair in pairwise(word):
            pairs[pair] += times

    for word, times in spelled.items():
        count(word, times)
    merges: list[tuple[int, int]] = []
    while len(merges) < n_merges and (pairs := +pairs):  # without those that have become 0
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        for word in [word for word in spelled if best in pairwise(word)]:
            merged, times = tuple(_merge(word, best, N_BYTES + len(merges))), spelled.pop(word)
            count(word, -times)
            count(merged, times)
            spelled[merged] = times
        merges.append(best)
    return merges


def _merge(ids, pair: tuple[int, int], new: int) -> list[int]:
    """Replace every occurrence of ``pair``, from the left, by the id ``new``."""
    merged, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        merged.append(new if found else ids[i])
        i += 2 if found else 1
    return merged


def utf8(caller: str, text: str) -> bytes:
    """The bytes of a text. Raises: TypeError for what is no text; ValueError for a lone surrogate."""
    check_text(caller, "text", text, "Decode bytes; join lists of words.")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{caller}: {text[error.start]!r} at index {error.start} is a lone surrogate, expected Unicode text. "
            "Read the file with the right encoding, or with errors='replace'."
        ) from None


def checked_ids(caller: str, ids: Any, n_vocab: int) -> list[int]:
    """Ids as a list, from a sequence, tensor or array, or one alone; errors for others than 0 to ``n_vocab`` - 1."""
    ids = _without_tensors(caller, ids)
    with contextlib.suppress(TypeError):
        ids = ids if isinstance(ids, bool) else [index(ids)]
    row = [_without_tensors(caller, i) for i in check_items(caller, "ids", ids, "whole numbers, such as [1, 2]")]
    for position, i in enumerate(row):
        if not isinstance(i, int) or isinstance(i, bool):
            raise TypeError(
                f"{caller}: {i!r} at position {position} is {type(i).__name__}, expected a whole number. Pass one row."
            )
        if not 0 <= i < n_vocab:
            raise ValueError(
                f"{caller}: id {i} at position {position} is outside the vocabulary, expected 0 to {n_vocab - 1}. "
                "Decode with the tokenizer that encoded."
            )
    return row


def _without_tensors(caller: str, ids: Any) -> Any:
    """Lists and numbers of Python in place of an array or a tensor."""
    if isinstance(ids, type) or not hasattr(ids, "tolist"):
        return ids
    try:
        return ids.tolist()
    except RuntimeError as error:  # on "meta", or sparse: there are no numbers to read
        raise TypeError(
            f"{caller}: ids={shorten(ids)} cannot be read ({error}), expected a tensor of numbers."
        ) from None
