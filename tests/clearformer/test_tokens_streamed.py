"""Texts and ids that come in parts, special tokens that a text cannot become, and ties of equally frequent pairs."""

import itertools
import random
import re

import pytest
import torch
from clearbook.data.builtin import zen_text
from clearformer.byte_pairs import learn_merges
from clearformer.pretrained.gpt2_words import gpt2_word
from clearformer.tokenizers import BytePairTokenizer, ByteTokenizer, CharTokenizer

from tests.clearformer.vocabularies import MERGES, VOCABULARY

GIVEN = BytePairTokenizer.from_vocabulary(VOCABULARY, MERGES, special=("<|end|>", "<|endoftext|>"))
TEXT = "we'll  say 'tis\n\n the\u2167 ½ caf\u00e9 <|endof \U0001f600 中文 <|end|> they're <|endoftext|>don't   " * 3


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
def test_a_text_in_parts_has_the_ids_of_the_whole(size):
    """Catches a word, a short form or a special token that is cut where a part ends."""
    parts = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    assert list(GIVEN.encode_iterable(parts)) == GIVEN.encode(TEXT)
    assert list(GIVEN.encode_iterable(parts, allow_special=False)) == GIVEN.encode(TEXT, allow_special=False)


def test_parts_at_random_places_have_the_ids_of_the_whole():
    draw = random.Random(3)
    for _ in range(30):
        text = "".join(draw.choices(["the", "'", "re", " ", "\n", "<|end", "|>", "oftext", "9", "\u0663", "ſ"], k=40))
        cuts = sorted(draw.sample(range(len(text)), 12))
        parts = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
        assert list(GIVEN.encode_iterable(parts)) == GIVEN.encode(text), parts


def test_a_part_is_encoded_before_the_next_is_asked_for():
    """Catches a text that is joined first, which a large file does not allow."""
    ids = GIVEN.encode_iterable(itertools.repeat("the words of a text "))
    assert len(list(itertools.islice(ids, 1000))) == 1000


@pytest.mark.parametrize("tokenizer", [ByteTokenizer(), CharTokenizer(TEXT), GIVEN], ids=lambda t: type(t).__name__)
def test_characters_are_written_as_soon_as_they_are_whole(tokenizer):
    """Catches half a character that is written as U+FFFD, and one that is held back though it is whole."""
    ids = tokenizer.encode(TEXT)
    parts = list(tokenizer.decode_iterable(iter(ids)))
    assert "".join(parts) == TEXT and all(parts)
    assert "".join(tokenizer.decode_iterable(torch.tensor(ids))) == TEXT


def test_what_is_no_character_becomes_the_same_as_at_once():
    for ids in ([0xF0, 0x9F, 0x98], [0xF0, 0x9F, 65], [0x80, 66, 0xC3]):
        assert "".join(ByteTokenizer().decode_iterable(ids)) == ByteTokenizer().decode(ids)
    with pytest.raises(ValueError, match="decode_iterable: id 256"):
        list(ByteTokenizer().decode_iterable([65, 256]))


def test_a_text_cannot_become_a_special_token():
    """Catches a user who ends a conversation by writing its end token."""
    special = set(GIVEN.special.values())
    assert special & set(GIVEN.encode(TEXT))
    ids = GIVEN.encode(TEXT, allow_special=False)
    assert not special & set(ids) and GIVEN.decode(ids) == TEXT
    word = BytePairTokenizer("hello hello", 9, special=["hello"])
    assert word.encode("hello") == [word.special["hello"]]
    assert word.encode("hello", allow_special=False) == [*b"hello"]
    assert word.encode("hello") == [word.special["hello"]]  # whatever was encoded before


def merges_by_counting(words, n_merges, better):
    """The pairs as pieces of bytes, each found by counting everything anew."""
    spelled, merges = [[bytes([b]) for b in word] for word in words], []
    for _ in range(n_merges):
        counts = {}
        for word in spelled:
            for pair in itertools.pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = better(counts)
        merges.append(best)
        for word in spelled:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [word[i] + word[i + 1]]
                i += 1
    return merges


def test_of_equally_frequent_pairs_the_larger_bytes_can_come_first():
    """Catches a comparison of ids, which stand in the order of learning."""
    text = zen_text()
    tokenizer = BytePairTokenizer(text, 150, pattern=gpt2_word(), larger_first=True)
    found = [(tokenizer.pieces[a], tokenizer.pieces[b]) for a, b in tokenizer.ranks]
    words = [word.encode() for word in gpt2_word().findall(text)]
    assert found == merges_by_counting(words, 150, lambda counts: max(counts, key=lambda p: (counts[p], p)))
    assert found != [
        (t.pieces[a], t.pieces[b]) for t in [BytePairTokenizer(text, 150, pattern=gpt2_word())] for a, b in t.ranks
    ]
    assert learn_merges({b"ab": 1, b"ba": 1}, 1) == [(97, 98)]
    assert learn_merges({b"ab": 1, b"ba": 1}, 1, larger_first=True) == [(98, 97)]


def test_a_pattern_that_leaves_something_out_is_told_in_parts_too():
    tokenizer = BytePairTokenizer("ab", 0, pattern=re.compile("[a-z ]+"))
    with pytest.raises(ValueError, match="leaves something out"):
        list(tokenizer.encode_iterable(["abcdefghij", "0123456789"]))
