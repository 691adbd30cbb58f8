"""Byte pairs: which are merged, learned from the words of a text, and bytes as text while they arrive."""

import codecs
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Protocol, runtime_checkable

N_BYTES = 256


@runtime_checkable
class WordPattern(Protocol):
    """What finds the words of a text: a compiled pattern of ``re`` or ``regex``, or whatever has the same methods."""

    @property
    def pattern(self) -> str: ...
    @property
    def groups(self) -> int: ...
    def findall(self, string: str, /) -> list[str]: ...


def learn_merges(words: Mapping[bytes, int], n_merges: int, *, larger_first: bool = False) -> list[tuple[int, int]]:
    """The pairs to merge, from words and how often each occurs; merge k makes the id 256 + k.

    Among equally frequent pairs the one with the smaller ids wins, so that the same text always gives the same
    vocabulary; with ``larger_first`` the one whose bytes come last in the dictionary. A merge changes the counts of
    those words only that hold the pair.

    Source: Sennrich et al. 2016, algorithm 1.
    """
    spelled = {tuple(word): times for word, times in words.items()}
    pairs: Counter[tuple[int, int]] = Counter()
    holders: defaultdict[tuple[int, int], set[tuple[int, ...]]] = defaultdict(set)  # the words that hold a pair

    def count(word, times):
        for pair in pairwise(word):
            pairs[pair] += times
            (holders[pair].add if times > 0 else holders[pair].discard)(word)

    for word, times in spelled.items():
        count(word, times)
    merges: list[tuple[int, int]] = []
    pieces = [bytes([byte]) for byte in range(N_BYTES)]
    while len(merges) < n_merges and (pairs := +pairs):  # without those that have become 0
        if larger_first:
            best = max(pairs, key=lambda pair: (pairs[pair], pieces[pair[0]], pieces[pair[1]]))
        else:
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        for word in [*holders[best]]:
            merged, times = tuple(merge_pair(word, best, N_BYTES + len(merges))), spelled.pop(word)
            count(word, -times)
            count(merged, times)
            spelled[merged] = times
        merges.append(best)
        pieces.append(pieces[best[0]] + pieces[best[1]])
    return merges


def merge_pair(ids, pair: tuple[int, int], new: int) -> list[int]:
    """Replace every occurrence of ``pair``, from the left, by the id ``new``."""
    merged, i = [], 0
    while i < len(ids):
        found = tuple(ids[i : i + 2]) == pair
        merged.append(new if found else ids[i])
        i += 2 if found else 1
    return merged


def decode_stream(chunks: Iterable[bytes]) -> Iterator[str]:
    """The text of bytes that arrive in chunks, each character as soon as it is whole.

    Together it is what all bytes give at once, with U+FFFD for what is no character.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        if text := decoder.decode(chunk):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest
