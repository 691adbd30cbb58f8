"""Tokenizers give back what they were given; patches in torch, in the reference and in a convolution are the same."""

import numpy as np
import pytest
import torch
from clearformer.data import digits, zen_text
from clearformer.reference.tokens import patches
from clearformer.tokenizers import BytePairTokenizer, ByteTokenizer, CharTokenizer
from clearformer.tokens import patchify, unpatchify
from hypothesis import given
from hypothesis import strategies as st

PAIRS = BytePairTokenizer(zen_text(), n_merges=80)
UNICODE = st.text(st.characters(exclude_categories=["Cs"]))


@given(UNICODE)
@pytest.mark.parametrize("tokenizer", [ByteTokenizer(), PAIRS], ids=["bytes", "byte pairs"])
def test_any_unicode_text_comes_back(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(0 <= i < tokenizer.n_vocab for i in ids)


@given(UNICODE)
def test_characters_come_back(text):
    tokenizer = CharTokenizer(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_merging_by_hand_gives_the_same_merges():
    """'aa' is the most frequent pair, then 'aa'+'b'; catches counts across words, overlaps and another tie-break."""
    tokenizer = BytePairTokenizer("aab aab xaaaa cd", n_merges=2)
    assert tokenizer.pieces[256:] == [b"aa", b"aab"]
    assert tokenizer.encode("aaab") == [256, 97, 98]
    assert [tokenizer.pieces[i] for i in tokenizer.encode("aab")] == [b"aab"]


def test_merges_shorten_the_text_and_end_when_no_pair_is_left():
    assert len(PAIRS.encode(zen_text())) < 0.7 * len(ByteTokenizer().encode(zen_text()))
    assert BytePairTokenizer("ab ab", n_merges=1000).n_vocab < 256 + 5


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
    "negative merges": (lambda: BytePairTokenizer("ab", n_merges=-1), "n_merges=-1"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_no_tokenizer_can_read_is_named(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_patches_agree_with_the_reference_and_come_back():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    sequence = patchify(images, 2)
    assert sequence.shape == (2, 12, 12)
    np.testing.assert_array_equal(sequence[1].numpy().T, patches(images[1].numpy(), 2))
    assert torch.equal(unpatchify(sequence, 2, rows=4), images)


def test_a_patch_embedding_is_a_convolution_with_stride():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    conv = torch.nn.Conv2d(3, 5, kernel_size=2, stride=2, bias=False, dtype=torch.float64)
    expected = conv(images).flatten(2).transpose(1, 2)
    torch.testing.assert_close(patchify(images, 2) @ conv.weight.flatten(1).T, expected, rtol=0, atol=1e-12)


def test_the_data_is_what_it_says():
    images, labels = digits()
    assert images.shape == (1797, 1, 8, 8) and labels.unique().tolist() == list(range(10))
    assert images.min() == 0 and images.max() == 1
    assert zen_text().startswith("The Zen of Python") and zen_text().count("\n") == 20
