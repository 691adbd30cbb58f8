"""Text to ids and back: by bytes, by characters, and by byte pairs, learned from a text or given, as GPT-2's are."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import index
from typing import Any, SupportsIndex

from clearformer.byte_pairs import N_BYTES, WordPattern, decode_stream, merge_pair
from clearformer.byte_pairs import learn_merges as learn_merges  # from here on as before
from clearformer.checks import check_callable, check_flag, check_items, check_text, check_whole, shorten

AHEAD = 8  # so many characters behind a word decide where it ends, at most
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

    def decode_iterable(self, ids: Iterable) -> Iterator[str]:
        """The text of ids that arrive one by one, each character as soon as it is whole."""
        return decode_stream(bytes(checked_ids("ByteTokenizer.decode_iterable", i, self.n_vocab)) for i in ids)


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

    def decode_iterable(self, ids: Iterable) -> Iterator[str]:
        """The characters of ids that arrive one by one."""
        return (self.decode(i) for i in ids)


class BytePairTokenizer:
    """Bytes, and then ever longer pieces: the most frequent pair of neighbours is merged, again and again.

    Pairs never cross from one word into the next; ``pattern`` finds the words, and must leave nothing between them.
    ``special`` tokens, such as ``<|endoftext|>``, have an id each, and are never cut.

    Source: Sennrich et al. 2016, on bytes as in Radford et al. 2019.
    """

    def __init__(
        self,
        text: str,
        n_merges: int,
        *,
        pattern: WordPattern = WORD,
        special: Sequence[str] = (),
        larger_first: bool = False,
    ):
        """Learn ``n_merges`` merges from ``text``; fewer if no pair is left. ``larger_first`` is that of
        ``learn_merges``.

        Raises: ValueError for fewer than 0 merges.
        """
        n_merges = check_whole("BytePairTokenizer", "n_merges", n_merges, 0)
        check_flag("BytePairTokenizer", "larger_first", larger_first)
        self._begin([bytes([byte]) for byte in range(N_BYTES)], pattern, _special_tokens(special))
        words = Counter(word.encode() for word, special in self._words("BytePairTokenizer", text) if not special)
        self.add_merges(learn_merges(words, n_merges, larger_first=larger_first))

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
        pattern: WordPattern | None = None,
        special: Sequence[str] = ("<|endoftext|>",),
        skip_unknown: bool = False,
        normalize: Callable[[str], str] | None = None,
        whole_words: bool = False,
    ) -> "BytePairTokenizer":
        """A tokenizer with given pieces and merges, as in GPT-2's ``vocab.json`` and the lines of ``merges.txt``.

        Words are cut by GPT-2's pattern unless another is given; special tokens that the vocabulary lacks come last.
        A vocabulary may lack bytes that its text never held, as SmolLM2's does: with ``skip_unknown`` they are left
        out of what is encoded, as Hugging Face's ``tokenizers`` does. ``normalize`` changes the text between special
        tokens first; with ``whole_words`` a word that is a piece is one id, whatever the merges give.

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
        if normalize is not None:
            self.normalize = check_callable("BytePairTokenizer", "normalize", normalize, "str.lower")
        if check_flag("BytePairTokenizer", "whole_words", whole_words):
            self._whole = {bytes(byte_of[c] for c in p): i for p, i in vocabulary.items() if p not in special}
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
        self.normalize: Callable[[str], str] | None = None
        self._whole: dict[bytes, int] = {}  # words that are not put together by merges
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

    def cut_special(self, text: str) -> list[str]:
        """A text and the special tokens in it: text, token, text, and so on; a text may be empty."""
        return self._cut.split(text)

    def _words(self, caller: str, text: Any, *, allow_special: bool = True) -> list[tuple[str, bool]]:
        """The words of a text, and of each whether it is a special token."""
        utf8(caller, text)
        words: list[tuple[str, bool]] = []
        for place, part in enumerate(self.cut_special(text) if allow_special else [text]):
            if place % 2:
                words.append((part, True))
                continue
            part = part if self.normalize is None else self.normalize(part)
            found = self.pattern.findall(part)
            if sum(map(len, found)) != len(part):
                raise ValueError(
                    f"{caller}: pattern {self.pattern.pattern[:40]!r} leaves something out of {text[:20]!r}, expected "
                    "words that together are the text. Add an alternative for the rest."
                )
            words += [(word, False) for word in found]
        return words

    def encode(self, text: str, *, allow_special: bool = True) -> list[int]:
        """Ids of ``text``; without ``allow_special`` what looks like a special token is text as any other.

        Raises: ValueError for a lone surrogate, which is no Unicode text.
        """
        check_flag("BytePairTokenizer.encode", "allow_special", allow_special)
        return self._ids_of(self._words("BytePairTokenizer.encode", text, allow_special=allow_special))

    def encode_iterable(self, texts: Iterable[str], *, allow_special: bool = True) -> Iterator[int]:
        """The ids of a text that comes in parts, as the lines of a file, of which only the last words are held.

        They are those of ``encode`` for the whole text, if the pattern looks at most 8 characters ahead, and not back.
        """
        caller, held = "BytePairTokenizer.encode_iterable", ""
        ahead = max([AHEAD, *map(len, self.special)])
        for text in texts:
            held += check_text(caller, "a part", text)
            held = held if self.normalize is None else self.normalize(held)
            words, done, n_known = self._words(caller, held, allow_special=allow_special), 0, 0
            for word, _ in words:
                if done + len(word) + ahead > len(held):
                    break
                done, n_known = done + len(word), n_known + 1
            yield from self._ids_of(words[:n_known])
            held = held[done:]
        yield from self.encode(held, allow_special=allow_special)

    def _ids_of(self, words: list[tuple[str, bool]]) -> list[int]:
        known = self._known = self._known if len(self._known) < MOST_WORDS else {}
        new = {word for word, special in words if not special and word not in known}
        known.update((word, self._encode_word(word)) for word in new)
        return [i for word, special in words for i in ([self.special[word]] if special else known[word])]

    def _encode_word(self, word: str) -> tuple[int, ...]:
        """Apply the merges in the order in which they were learned."""
        spelled = word.encode("utf-8")
        if spelled in self._whole:
            return (self._whole[spelled],)
        ids = [i for i in (self._bytes[byte] for byte in spelled) if i is not None]
        while known := [pair for pair in pairwise(ids) if pair in self.ranks]:
            first = min(known, key=self.ranks.__getitem__)
            ids = merge_pair(ids, first, self._merged.get(first, self.ranks[first]))
        return tuple(ids)

    def decode(self, ids: Iterable | SupportsIndex) -> str:
        """The text of ``ids``, also one alone or a tensor of them; no whole UTF-8 character becomes U+FFFD."""
        ids = checked_ids("BytePairTokenizer.decode", ids, self.n_vocab)
        return b"".join(self.pieces[i] for i in ids).decode("utf-8", errors="replace")

    def decode_iterable(self, ids: Iterable) -> Iterator[str]:
        """The text of ids that arrive one by one, each character as soon as it is whole."""
        caller = "BytePairTokenizer.decode_iterable"
        return decode_stream(self.pieces[checked_ids(caller, i, self.n_vocab)[0]] for i in ids)


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


def _word_pattern(pattern: Any) -> WordPattern:
    """A pattern of ``re`` or of ``regex``, which has the same methods."""
    is_text = isinstance(getattr(pattern, "pattern", None), str) and hasattr(pattern, "findall")
    if not is_text or pattern.groups:
        raise TypeError(
            f"BytePairTokenizer: pattern={shorten(pattern)}, expected a compiled pattern of text without groups, such "
            r"as re.compile(r'\w+|\W+'). Write groups as (?:...)."
        )
    return pattern


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
