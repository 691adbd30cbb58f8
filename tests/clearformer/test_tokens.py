"""Texts as tokens and back: characters, byte pairs, and everything that no tokenizer can read."""

import copy
import inspect
import pickle
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from clearbook.data.builtin import digits, zen_text
from clearformer.tokenizers import WORD, BytePairTokenizer, ByteTokenizer, CharTokenizer, learn_merges, utf8
from hypothesis import given

from tests.clearformer.vocabularies import UNICODE, VOCABULARY

PAIRS = BytePairTokenizer(zen_text(), n_merges=80)


@given(UNICODE)
@pytest.mark.parametrize("tokenizer", [ByteTokenizer(), PAIRS], ids=["bytes", "byte pairs"])
def test_any_unicode_text_comes_back(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(0 <= i < tokenizer.n_vocab for i in ids)


@given(UNICODE.filter(len))
def test_characters_come_back(text):
    tokenizer = CharTokenizer(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))], ids=["copy", "pickle"])
def test_a_copy_of_a_tokenizer_stands_alone(copied):
    """Catches a memory of words that belongs to the original."""
    original = BytePairTokenizer("", 0)
    assert original.encode("low") == [*b"low"]
    other = copied(original)
    other.add_merges([tuple(b"lo")])
    assert (original.encode("low"), other.encode("low")) == ([*b"low"], [256, ord("w")])


def test_a_tokenizer_does_not_remember_words_without_end(monkeypatch):
    monkeypatch.setattr("clearformer.tokenizers.MOST_WORDS", 3)
    tokenizer = BytePairTokenizer("ab ab", 1)
    assert [tokenizer.encode(text) for text in ("ab", "b ab", "ab c")] == [[256], [98, 32, 256], [256, 32, 99]]
    assert len(tokenizer._known) <= 4


def test_merging_by_hand_gives_the_same_merges():
    """'aa' is the most frequent pair, then 'aa'+'b'; catches counts across words, overlaps and another tie-break."""
    tokenizer = BytePairTokenizer("aab aab xaaaa cd", n_merges=2)
    assert tokenizer.pieces[256:] == [b"aa", b"aab"]
    assert tokenizer.encode("aaab") == [256, 97, 98]
    assert [tokenizer.pieces[i] for i in tokenizer.encode("aab")] == [b"aab"]


def test_words_are_cut_from_signs_and_keep_the_one_space_before_them():
    """Catches a full stop, a quotation mark or an underscore that is learned as a part of a word."""
    text = '"No," said he--"I do _not_.  Mr. 7\n\nM\xfc\xdfig  '
    words = WORD.findall(text)
    assert words[:11] == ['"', "No", ',"', " said", " he", '--"', "I", " do", " _", "not", "_."]
    assert words[11:] == ["  ", "Mr", ".", " 7", "\n\n", "M\xfc\xdfig", "  "]


def test_merges_are_those_of_counting_everything_again():
    """Catches a count that a merge leaves behind: the pairs of all words, counted from the start for each merge."""
    words = [list(word.encode()) for word in WORD.findall(zen_text() + " banana nana aaaa aaaaa")]
    merges = learn_merges(Counter(bytes(word) for word in words), 400)
    for new, merge in enumerate(merges, start=256):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        assert merge == min(pairs, key=lambda pair: (-pairs[pair], pair))
        for word in words:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == merge:
                    word[i : i + 2] = [new]
                i += 1
    assert len(merges) > 300 and all(len(word) == 1 for word in words) == (len(merges) < 400)


TOKENS = [ByteTokenizer(), CharTokenizer("Hai, H\xe9!"), PAIRS]


@pytest.mark.parametrize("tokenizer", TOKENS, ids=["bytes", "characters", "byte pairs"])
def test_ids_may_come_as_tensor_array_or_alone(tokenizer):
    """Token by token is how text is streamed; Python takes a tensor of one number for a number of zeros."""
    ids = tokenizer.encode("Hi!" if isinstance(tokenizer, CharTokenizer) else "Hi! The way")
    text = tokenizer.decode(ids)
    assert tokenizer.decode(torch.tensor(ids)) == tokenizer.decode(np.array(ids)) == tokenizer.decode(iter(ids)) == text
    one_by_one = ["".join(tokenizer.decode(kind(i)) for i in ids) for kind in (int, torch.tensor, np.int64)]
    one_by_one += ["".join(tokenizer.decode(torch.tensor([i])) for i in ids)]
    assert one_by_one == [text] * 4


def test_merges_shorten_the_text_and_end_when_no_pair_is_left():
    assert len(PAIRS.encode(zen_text())) < 0.7 * len(ByteTokenizer().encode(zen_text()))
    assert BytePairTokenizer("ab ab", n_merges=1000).n_vocab < 256 + 5


decode = inspect.unwrap(BytePairTokenizer.decode)  # without the checks of types that the tests add
learn = inspect.unwrap(BytePairTokenizer.__init__)
from_vocabulary = inspect.unwrap(BytePairTokenizer.from_vocabulary.__func__)


class One:
    def __index__(self):
        return 97


def test_ids_may_be_numbers_of_numpy_or_torch_or_what_counts_as_one():
    """Catches a look at ``int`` alone: a list of an array's or a tensor's elements holds none."""
    for several in (list(np.array([97, 98])), list(torch.tensor([97, 98])), (t for t in torch.tensor([97, 98]))):
        assert decode(PAIRS, several) == "ab"
    for one in (np.int64(97), torch.tensor(97), One()):
        assert decode(PAIRS, one) == "a"


BAD = {
    "unknown character": (
        lambda: CharTokenizer("abc").encode("abx"),
        "'x' at index 2 is not among the 3 known",
    ),
    "lone surrogate": (lambda: ByteTokenizer().encode("a\ud800"), "at index 1 is a lone surrogate"),
    "lone surrogate, pairs": (lambda: PAIRS.encode("\udfff"), "at index 0 is a lone surrogate"),
    "id too large": (lambda: ByteTokenizer().decode([65, 256]), "id 256 at position 1 .* 0 to 255"),
    "id too large, pairs": (lambda: PAIRS.decode([9999]), "id 9999 at position 0"),
    "id too large, characters": (lambda: CharTokenizer("ab").decode([2]), "id 2 at position 0 .* 0 to 1"),
    "id no number": (lambda: decode(PAIRS, [[1, 2]]), r"\[1, 2\] at position 0 is list"),
    "half an id": (lambda: ByteTokenizer().decode(torch.tensor([0.5])), "0.5 at position 0 is float"),
    "bytes": (lambda: inspect.unwrap(utf8)("encode", b"ab"), "text=b'ab' is of type bytes, expected str"),
    "pattern with a gap": (
        lambda: BytePairTokenizer("a b", 2, pattern=re.compile(r"\w+")),
        "leaves something out of 'a b'",
    ),
    "empty special token": (lambda: BytePairTokenizer("a b", 2, special=("",)), r"special=\('',\)"),
    "special tokens in one text": (
        lambda: BytePairTokenizer("a b", 2, special="<e>"),
        "special='<e>' is of type str, expected a list of tokens, none of them empty",
    ),
    "no byte": (lambda: BytePairTokenizer.from_vocabulary({"a": 0}, []), "'!' does not fit a vocabulary of 1 piece"),
    "gap in the ids": (
        lambda: BytePairTokenizer.from_vocabulary(VOCABULARY | {"aa": 9999}, []),
        r"\[9999\] does not fit",
    ),
    "unknown merge": (
        lambda: BytePairTokenizer.from_vocabulary(VOCABULARY, [("q", "qqq")]),
        r"\('q', 'qqq'\) does not fit",
    ),
    "foreign piece": (
        lambda: BytePairTokenizer.from_vocabulary(VOCABULARY | {"\u4e2d": len(VOCABULARY)}, []),
        "'\u4e2d' does not fit",
    ),
    "negative merges": (lambda: BytePairTokenizer("ab", n_merges=-1), "n_merges=-1"),
    "no text to learn from": (lambda: CharTokenizer(""), "text='' holds no character"),
    "paths": (
        lambda: inspect.unwrap(BytePairTokenizer.from_vocabulary.__func__)(
            BytePairTokenizer, "vocab.json", "merges.txt"
        ),
        "vocabulary='vocab.json', expected a mapping of pieces to ids. Read the file",
    ),
    "no list of merges": (
        lambda: from_vocabulary(BytePairTokenizer, VOCABULARY, 3),
        r"merges=3 is of type int, expected lines or pairs. Read the file: Path\(",
    ),
    "no pair": (lambda: from_vocabulary(BytePairTokenizer, VOCABULARY, [3]), "3 among the merges, expected lines or"),
    "half an id for a piece": (lambda: from_vocabulary(BytePairTokenizer, {"a": 0.5}, []), "expected a mapping"),
    "True for an id": (lambda: from_vocabulary(BytePairTokenizer, {"a": True}, []), "expected a mapping of pieces"),
    "a number for a piece": (lambda: from_vocabulary(BytePairTokenizer, {3: 0}, []), "expected a mapping of pieces"),
    "no list of special tokens": (lambda: learn(PAIRS, "a", 1, special=5), "special=5 is of type int, expected a list"),
    "no special tokens": (lambda: learn(PAIRS, "a", 1, special=[5]), r"special=\[5\], expected a list of tokens"),
    "half a special token": (lambda: learn(PAIRS, "a", 1, special=["\ud800"]), "at index 0 is a lone surrogate"),
    "pattern as text": (
        lambda: learn(PAIRS, "a", 1, pattern=r"\w"),
        "pattern='.*', expected a compiled pattern of tex",
    ),
    "pattern of bytes": (lambda: learn(PAIRS, "a", 1, pattern=re.compile(b".")), "expected a compiled pattern of text"),
    "pattern with groups": (
        lambda: learn(PAIRS, "a", 1, pattern=re.compile(r"(\w)|(\W)")),
        r"expected a compiled pattern of text without groups.* Write groups as \(\?:...\)",
    ),
    "no ids": (lambda: decode(PAIRS, None), "ids=None is of type NoneType, expected whole numbers"),
    "a kind of ids": (lambda: decode(PAIRS, int), "ids=<class 'int'> is of type type, expected whole numbers"),
    "ids as text": (lambda: decode(PAIRS, "12"), "ids='12' is of type str, expected whole numbers"),
    "half an id alone": (lambda: decode(PAIRS, 2.5), "ids=2.5 is of type float, expected whole numbers"),
    "True alone": (lambda: decode(PAIRS, True), "ids=True is of type bool, expected whole numbers"),
    "True among ids": (lambda: decode(PAIRS, [97, True]), "True at position 1 is bool, expected a whole number"),
    "ids on meta": (lambda: decode(PAIRS, torch.ones(2, device="meta").long()), "cannot be read"),
    "merges first": (
        lambda: from_vocabulary(BytePairTokenizer, VOCABULARY, VOCABULARY),
        "merges={.*, expected lines or pairs",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_no_tokenizer_can_read_is_named(case):
    call, message = BAD[case]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


class Remembered(dict):
    """Words with their ids that may be looked up, but not gone through."""

    def keys(self):
        raise AssertionError("all remembered words were gone through, for one text")

    __iter__ = keys


def test_a_text_costs_the_same_however_many_words_are_remembered():
    """Catches a search through all words seen so far in every call, which makes a large set of texts quadratic."""
    tokenizer = BytePairTokenizer("", 0)
    tokenizer._known = Remembered()
    assert tokenizer.encode("low low") == [*b"low low"]
    assert set(dict(tokenizer._known.items())) == {"low", " low"}


@pytest.mark.slow
def test_the_data_is_what_it_says():
    images, labels = digits()
    assert images.shape == (1797, 1, 8, 8) and labels.unique().tolist() == list(range(10))
    assert images.min() == 0 and images.max() == 1
    assert zen_text().startswith("The Zen of Python") and zen_text().count("\n") == 20
