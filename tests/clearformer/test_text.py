"""Text from tokens as they come: whole characters, and an end where certain words begin."""

import inspect

import pytest
import torch
from clearformer.generation import stream_tokens
from clearformer.text import stream_text
from clearformer.tokenizers import BytePairTokenizer, ByteTokenizer, CharTokenizer
from hypothesis import example, given
from hypothesis import strategies as st

from tests.clearformer.writers import gpt

BYTES = ByteTokenizer()
PAIRS = BytePairTokenizer("low lower lowest. new newer newest.\n\nthe end the end", 40, special=("<|end|>",))
IDS = st.lists(st.integers(0, 255), max_size=12)


@given(st.text(max_size=6), IDS)
@example("a\u20ac\U0001f600\ufffdb", [226, 130])
@example("", [255, 240, 159, 152, 128])
def test_the_pieces_are_the_text_and_no_character_is_cut(text, ids):
    """Catches half a character that is given out, and one that is kept for ever."""
    ids = BYTES.encode(text) + ids
    asked: list[int] = []
    given_out = ""
    for piece in stream_text(BYTES, (asked.append(i) or i for i in ids)):
        given_out += piece
        so_far = BYTES.decode(asked)
        assert so_far.startswith(given_out) and len(given_out) >= len(so_far) - 1
    assert given_out == BYTES.decode(ids)


def test_a_character_comes_when_its_last_byte_does():
    """Catches characters that wait for the next token."""
    tokens = iter(BYTES.encode("a\u20acb"))
    asked = []
    pieces = stream_text(BYTES, (asked.append(i) or i for i in tokens))
    assert next(pieces) == "a" and len(asked) == 1
    assert next(pieces) == "\u20ac" and len(asked) == 4
    assert next(pieces) == "b" and len(asked) == 5


def cut_by_hand(text, ends):
    """The text before the first of ``ends`` that is complete; of several the one that began first."""
    for n in range(len(text) + 1):
        found = [len(end) for end in ends if text[:n].endswith(end)]
        if found:
            return text[: n - max(found)]
    return text


@given(st.text("abc", max_size=14), st.lists(st.text("abc", min_size=1, max_size=4), max_size=3), st.integers(1, 4))
@example("abab", ["abb", "bab"], 1)
@example("aab", ["ab"], 2)
@example("abcd", ["abcde", "bc"], 1)
def test_a_text_ends_before_the_first_word_that_is_complete(text, ends, width):
    """Catches a word that lies in several tokens, its beginning given out, and another word found first."""
    words = [text[i : i + width] for i in range(0, len(text), width)]

    class Words:
        def decode(self, ids):
            return "".join(words[i] for i in ids)

    assert "".join(stream_text(Words(), range(len(words)), until=ends)) == cut_by_hand(text, ends)


def test_no_token_is_asked_for_after_the_end():
    """Catches a text that is written to its end, and then cut."""
    ids, asked = PAIRS.encode("the lowest.\n\nthe end"), []
    pieces = stream_text(PAIRS, (asked.append(i) or i for i in ids), until="\n\n")
    assert "".join(pieces) == "the lowest."
    assert PAIRS.decode(asked).startswith("the lowest.\n\n") and len(asked) < len(ids)


def test_what_only_begins_like_an_end_comes_in_the_end():
    assert [*stream_text(BYTES, BYTES.encode("ab<|en"), until=["<|end|>"])] == ["a", "b", "<|en"]
    assert "".join(stream_text(PAIRS, PAIRS.encode("low<|end|>new"), until=["<|end|>"])) == "low"


def test_what_is_streamed_can_be_printed():
    """Catches rows of one token that are not taken."""
    tokenizer = CharTokenizer("abcdefghijk")
    model, prompt = gpt(), [tokenizer.encode("face")]
    tokens = [int(token) for token in stream_tokens(model, prompt, 8)]
    assert "".join(stream_text(tokenizer, stream_tokens(model, prompt, 8))) == tokenizer.decode(tokens)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((None, [1]), {}, TypeError, "tokenizer=None has no decode"),
        ((BYTES, [1]), {"until": ""}, ValueError, "until='', expected a text or several"),
        ((BYTES, [1]), {"until": ["a", ""]}, ValueError, "until=.*none of them empty"),
        ((BYTES, [1]), {"until": 3}, TypeError, "until=3 is of type int"),
        ((BYTES, [1]), {"until": [3]}, ValueError, r"until=\[3\]"),
        ((BYTES, "abc"), {}, TypeError, "tokens='abc', expected ids"),
        ((BYTES, 5), {}, TypeError, "tokens=5, expected ids"),
        ((BYTES, torch.ones(2, 3).long()), {}, ValueError, "3 tokens at once, expected those of one text"),
    ],
)
def test_what_is_no_text_is_named(arguments, options, error, message):
    with pytest.raises(error, match=f"stream_text: {message}"):
        next(inspect.unwrap(stream_text)(*arguments, **options))  # without the check that the tests add
