"""Vocabularies and merges that come from elsewhere: ids as Hugging Face gives them, and bytes that have no piece."""

import inspect
import re

import pytest
import torch
from clearbook.data.builtin import zen_text
from clearformer.pretrained.gpt2_words import gpt2_word
from clearformer.tokenizers import BytePairTokenizer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.clearformer.vocabularies import HUGGING_FACE, MERGES, UNICODE, VOCABULARY, their_tokenizer

GIVEN = BytePairTokenizer.from_vocabulary(VOCABULARY, MERGES, special=("<|end|>", "<|endoftext|>"))
PIECES = st.sampled_from([*"'stdl \n\t_aZ9\xbd\u2167\xb2\x1c\x85\u3000\u4e2d\u0663", "<|end|>", "the", "<|endoftext|>"])


@given(st.lists(PIECES | UNICODE, max_size=8).map("".join))
@settings(max_examples=300)
def test_a_given_vocabulary_gives_the_ids_of_hugging_face(text):
    """Catches another word pattern (short forms, digits that are not decimal, white space), order, or special token."""
    ids = GIVEN.encode(text)
    assert ids == HUGGING_FACE.encode(text).ids
    assert GIVEN.decode(ids) == HUGGING_FACE.decode(ids, skip_special_tokens=False) == text


SOME_BYTES, *FEWER = their_tokenizer(all_bytes=False)  # only those of the text that it was trained on
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
    with pytest.raises(ValueError, match=f"vocabulary of {len(FEWER[0])}"):
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
        ([(98, 97), (9999, 0)], r"id=9999, .*\b0 to 256\b"),
        ([(-1, 97)], r"id=-1, .*\bfrom 0\b"),
        ([(97, 257)], r"id=257, .*\b0 to 255\b"),
        ([(97.0, 98)], "id=97.0 is of type float"),
        ([97], "97, expected a pair"),
        (97, "pairs=97 .*int, expected pairs"),
        (torch.tensor(97), r"pairs=tensor\(97\) .*Tensor, expected pairs"),
    ],
)
def test_merges_of_what_is_not_there_are_refused_and_none_is_added(pairs, message):
    """Catches a rank that is stored before the piece is looked up, and ids from behind."""
    tokenizer = BytePairTokenizer("", 0)
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(BytePairTokenizer.add_merges)(tokenizer, pairs)
    assert tokenizer.n_vocab == len(tokenizer.pieces) == 256 and not tokenizer.ranks
