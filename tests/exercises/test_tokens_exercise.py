"""The tokeniser of exercise 01: what it is compared with is GPT-2's, and the notebook shows the same merges."""

import io
import re
import sys
from contextlib import redirect_stdout
from functools import cache

import pytest
from clearbook.data.builtin import zen_text
from clearformer.pretrained.gpt2_words import byte_characters, gpt2_word
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.exercises.course_exercises import cell, course_exercise, learner, task_of

SLUG = "01-tokens"


def author_module(name):
    """A module that stands beside the questions."""
    package = course_exercise(SLUG).right.of("encode")[0].function.__module__.rpartition(".")[0]
    return sys.modules[f"{package}.{name}"]


def right_answers(id):
    return [entry.function for entry in course_exercise(SLUG).right.of(id)]


@cache
def gpt2():
    """GPT-2's tokeniser with the merges of the exercise alone, by the program of Hugging Face."""
    letter_of = {byte: letter for letter, byte in byte_characters().items()}
    spelled = author_module("gpt2").IN_LINES.strip().replace("\n", ",").replace("␣", letter_of[32])
    merges = [tuple(pair.split(" ")) for pair in spelled.split(",")]
    pieces = [letter_of[byte] for byte in range(256)] + ["".join(pair) for pair in merges]
    tokenizer = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def texts():
    given = author_module("gpt2")
    return [given.NOVEL, *given.ANY_TEXTS, zen_text()]


def test_the_notebook_shows_the_merges_that_are_checked():
    """Catches a pair or a pattern that was changed in one of the two places."""
    names, given = {"re": re}, author_module("gpt2")
    with redirect_stdout(io.StringIO()):
        exec(cell(learner(SLUG), "encode-gpt2"), names)
    assert (names["GPT2_PATTERN"], names["GPT2_MERGES"]) == (given.PATTERN, given.MERGES)
    assert len(given.MERGES) == 100 and "the first hundred" in task_of(SLUG, "encode")


@pytest.mark.parametrize("answer", range(5))
def test_right_answers_give_what_gpt2s_program_gives(answer):
    """Catches a reference that is right by its own rules and not by GPT-2's: words, order or bytes."""
    given, encode = author_module("gpt2"), right_answers("encode")[answer]
    for text in texts():
        assert encode(text, given.MERGES, given.PATTERN) == gpt2().encode(text).ids


def test_right_answers_write_what_gpt2s_program_writes():
    """Catches a vocabulary in another order."""
    for decode in right_answers("decode"):
        for text in texts():
            ids = gpt2().encode(text).ids
            assert decode(ids, author_module("gpt2").MERGES) == gpt2().decode(ids) == text


def test_the_pattern_of_the_notebook_cuts_as_the_librarys():
    """Catches a slip in the pattern, which is written without the classes that Python lacks."""
    for text in texts():
        assert re.findall(author_module("gpt2").PATTERN, text) == gpt2_word().findall(text)
