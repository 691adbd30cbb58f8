"""Tokenizers give back what they were given; patches in torch, in the reference and in a convolution are the same."""

import copy
import inspect
import json
import pickle
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from clearbook.data.builtin import digits, zen_text
from clearformer.patches import patchify, unpatchify
from clearformer.pretrained.gpt2_words import gpt2_word
from clearformer.reference.tokens import patches
from clearformer.tokenizers import WORD, BytePairTokenizer, ByteTokenizer, CharTokenizer, learn_merges, utf8
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

PAIRS = BytePairTokenizer(zen_text(), n_merges=80)
UNICODE = st.text(st.characters(exclude_categories=["Cs"]))


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


def theirs(special=("<|endoftext|>", "<|end|>"), all_bytes=True):
    """A byte-pair tokenizer of Hugging Face with GPT-2's words, trained here; its vocabulary and its merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if all_bytes else []
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(zen_text().splitlines(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return tokenizer, model["vocab"], model["merges"]


HUGGING_FACE, VOCABULARY, MERGES = theirs()
GIVEN = BytePairTokenizer.from_vocabulary(VOCABULARY, MERGES, special=("<|end|>", "<|endoftext|>"))
PIECES = st.sampled_from([*"'stdl \n\t_aZ9\xbd\u2167\xb2\x1c\x85\u3000\u4e2d\u0663", "<|end|>", "the", "<|endoftext|>"])


@given(st.lists(PIECES | UNICODE, max_size=8).map("".join))
@settings(max_examples=300)
def test_a_given_vocabulary_gives_the_ids_of_hugging_face(text):
    """Catches another word pattern (short forms, digits that are not decimal, white space), order, or special token."""
    ids = GIVEN.encode(text)
    assert ids == HUGGING_FACE.encode(text).ids
    assert GIVEN.decode(ids) == HUGGING_FACE.decode(ids, skip_special_tokens=False) == text


SOME_BYTES, *FEWER = theirs(all_bytes=False)  # only those of the text that it was trained on
SKIPPING = BytePairTokenizer.from_vocabulary(*FEWER, special=("<|end|>", "<|endoftext|>"), skip_unknown=True)


@given(st.lists(PIECES | UNICODE, max_size=8).map("".join))
@example("t\x1dhe b\xfcetter")
@settings(max_examples=300)
def test_bytes_without_a_piece_are_left_out_as_hugging_face_does(text):
    """Catches ids beyond those of the model, and what stood around such a byte that is no longer merged."""
    ids = SKIPPING.encode(text)
    assert ids == SOME_BYTES.encode(text).ids and all(0 <= i < len(FEWER[0]) for i in ids)
    assert SKIPPING.decode(ids) == SOME_BYTES.decode(ids, skip_special_tokens=False)


def test_bytes_without_a_piece_are_refused_unless_asked_for():
    """Catches the vocabulary of another kind of tokenizer, of which a text would lose most in silence."""
    assert SKIPPING.decode(SKIPPING.encode("t\x1dhe")) == "the" and SKIPPING.n_vocab == len(FEWER[0]) < 600
    with pytest.raises(ValueError, match="does not fit a vocabulary of"):
        BytePairTokenizer.from_vocabulary(*FEWER)


def test_merges_may_be_the_lines_of_a_file_and_special_tokens_come_last():
    lines = ["#version: 0.2", *(" ".join(pair) for pair in MERGES)]
    plain = {piece: i - 2 for piece, i in VOCABULARY.items() if i >= 2}  # theirs begin with the two special ones
    tokenizer = BytePairTokenizer.from_vocabulary(plain, lines, special=("<|end|>",))
    assert tokenizer.encode("the<|end|>way")[1:-1].count(len(plain)) == 1
    assert tokenizer.n_vocab == len(plain) + 1
    assert [i + 2 for i in tokenizer.encode(zen_text())] == GIVEN.encode(zen_text())


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_merges_may_be_an_open_file_or_its_lines_with_an_empty_one(tmp_path, ends):
    text = "\n".join(["#version: 0.2", *(" ".join(pair) for pair in MERGES), ""])
    (tmp_path / "merges.txt").write_text(text, encoding="utf-8", newline=ends)
    with (tmp_path / "merges.txt").open(encoding="utf-8", newline="") as file:
        for lines in (file, text.split("\n")):
            assert BytePairTokenizer.from_vocabulary(VOCABULARY, lines).ranks == GIVEN.ranks


def test_special_tokens_and_other_words_when_learning():
    """Catches merges across a special token, a token cut to pieces, and a longer one found as a shorter."""
    tokenizer = BytePairTokenizer("ab<s>ab<s>ab<s>", 5, special=("<s>", "<s>!"))
    assert tokenizer.pieces[256:] == [b"ab", b"<s>", b"<s>!"]
    assert tokenizer.encode("ab<s>!<s>b") == [256, 258, 257, 98]
    assert tokenizer.decode([256, 258, 257]) == "ab<s>!<s>"
    letters = re.compile(r"\w|\W")
    assert BytePairTokenizer("abab", 5, pattern=letters).n_vocab == 256
    assert BytePairTokenizer("a1 a1", 5, pattern=gpt2_word()).pieces[256:] == [b" a"]


def test_merges_can_be_given_to_a_tokenizer_that_has_none_or_some():
    """Catches merges in another order, a word remembered as it was before, a special token that loses its id."""
    text = "the tea, the theatre, the other teapot " * 3
    learned = BytePairTokenizer(text, 12)
    given, grown = BytePairTokenizer("", 0), BytePairTokenizer(text, 4, special=("<s>",))
    assert len(given.encode(text)) == len(text) and grown.encode("<s>") == [260]
    given.add_merges(learned.ranks)
    assert given.encode(text) == learned.encode(text) and given.n_vocab == learned.n_vocab == 268
    grown.add_merges([*learned.ranks][4:5])
    assert grown.encode("<s>" + text)[0] == 260 and len(grown.encode(text)) < len(
        BytePairTokenizer(text, 4).encode(text)
    )
    assert grown.decode(grown.encode(text)) == text and grown.n_vocab == 262


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(98, 97), (9999, 0)], r"id=9999, expected a whole number from 0 to 256"),
        ([(-1, 97)], "id=-1, expected a whole number from 0"),
        ([(97, 257)], "id=257, expected a whole number from 0 to 255"),
        ([(97.0, 98)], "id=97.0 is of type float"),
        ([97], "97, expected a pair of ids"),
        (97, "pairs=97 is of type int, expected pairs of ids"),
        (torch.tensor(97), r"pairs=tensor\(97\) is of type Tensor, expected pairs of ids"),
    ],
)
def test_merges_of_what_is_not_there_are_refused_and_none_is_added(pairs, message):
    """Catches a rank that is stored before the piece is looked up, and ids from behind."""
    tokenizer = BytePairTokenizer("", 0)
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(BytePairTokenizer.add_merges)(tokenizer, pairs)
    assert tokenizer.n_vocab == len(tokenizer.pieces) == 256 and not tokenizer.ranks


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


def test_patches_agree_with_the_reference_and_come_back():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    sequence = patchify(images, 2)
    assert sequence.shape == (2, 12, 12)
    np.testing.assert_array_equal(sequence[1].numpy().T, patches(images[1].numpy(), 2))
    assert torch.equal(unpatchify(sequence, 2, rows=4), images)


@pytest.mark.parametrize(("size", "rows"), [(2, 3), (3, 2)])
def test_patches_that_do_not_fill_an_image_are_refused(size, rows):
    with pytest.raises(ValueError, match=f"do not fill {rows} rows of patches of {size} × {size}"):
        unpatchify(torch.zeros(1, 4, 12), size, rows)
    for none in (0, -2):
        with pytest.raises(ValueError, match=f"unpatchify: rows={none}, expected a whole number of at least 1"):
            unpatchify(torch.zeros(1, 4, 12), size, none)
        with pytest.raises(ValueError, match=f"unpatchify: size={none}, expected a whole number of at least 1"):
            unpatchify(torch.zeros(1, 4, 12), none, rows)


def test_a_patch_embedding_is_a_convolution_with_stride():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    conv = torch.nn.Conv2d(3, 5, kernel_size=2, stride=2, bias=False, dtype=torch.float64)
    expected = conv(images).flatten(2).transpose(1, 2)
    torch.testing.assert_close(patchify(images, 2) @ conv.weight.flatten(1).T, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_the_data_is_what_it_says():
    images, labels = digits()
    assert images.shape == (1797, 1, 8, 8) and labels.unique().tolist() == list(range(10))
    assert images.min() == 0 and images.max() == 1
    assert zen_text().startswith("The Zen of Python") and zen_text().count("\n") == 20
