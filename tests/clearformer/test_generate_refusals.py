"""Prompts, settings and models with which nothing can be generated, each named."""

import inspect
import math

import pytest
import torch
from clearformer.decoding import LanguageModel
from clearformer.generation import beam_search, draw, generate, keep_top_k, keep_top_p
from clearformer.models.bert import BERT, BERTConfig
from torch import nn

from tests.clearformer.writers import N_POSITIONS, D, H, V, gpt


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([[1, 2], [V]], 3), ValueError, f"id {V} "),
        (([[1, 2], []], 3), ValueError, r"torch\.float32 and shape \(0,\)"),
        (("hello", 3), TypeError, "ids='hello', .*Encode a text"),
        ((["hello", "you"], 3), ValueError, "'hello', expected a row"),
        (([1, 2], 3), ValueError, "single row .*into a list"),
        (([], 3), ValueError, "no prompts"),
        (([[0.5]], 3), ValueError, "whole number"),
        ((torch.zeros(2, 3), 3), TypeError, "float32"),
        (([[1, 2]], 2.5), TypeError, "n_tokens=2.5 .*float, .*whole number"),
        (([[1, 2]], True), TypeError, "n_tokens=True"),
        (([[1, 2]], N_POSITIONS - 1), ValueError, rf"{N_POSITIONS - 1} .*after 2 make {N_POSITIONS + 1}\b"),
        (([[1, 2]], 0), ValueError, "n_tokens=0, .*at least 1"),
    ],
)
def test_bad_prompts_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        inspect.unwrap(generate)(gpt(), *arguments)  # without the shape checks that the tests add
    with pytest.raises(error, match=message):
        inspect.unwrap(beam_search)(gpt(), *arguments, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": -0.5}, "temperature=-0.5"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"temperature": 1.0, "top_k": 0}, "top_k=0"),
        ({"temperature": 1.0, "top_p": 1.5}, "top_p=1.5"),
        ({"top_k": 5}, "top_k=5 .* temperature=0"),
        ({"temperature": 1e-40}, r"temperature=1e-40, .*\b0 .*at least 1e-6"),
        ({"temperature": None}, "temperature=None is of type NoneType"),
        ({"temperature": 1.0, "top_k": 2.5}, "top_k=2.5 is of type float"),
        ({"temperature": 1.0, "top_p": "all"}, "top_p='all'"),
        ({"generator": 0}, "generator=0, expected a torch.Generator"),
        ({"cached": 1}, "cached=1 .*True or False"),
        ({"stop": -1}, rf"stop=-1, .*\b0 to {V - 1}\b"),
        ({"stop": V}, rf"stop={V}, .*\b0 to {V - 1}\b"),
        ({"stop": [3, V]}, rf"stop={V}, .*\b0 to {V - 1}\b"),
        ({"stop": []}, r"stop=\[\] names no token"),
        ({"stop": True}, "stop=True is of type bool"),
        ({"stop": 0.5}, "stop=0.5 is of type float"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(generate)(gpt(), [[1]], 2, **settings)  # without the shape checks that the tests add
    if {"stop", "cached"} & settings.keys():
        with pytest.raises((TypeError, ValueError), match=message):
            inspect.unwrap(beam_search)(gpt(), [[1]], 2, 3, **settings)


@pytest.mark.parametrize(
    ("model", "missing"),
    [(nn.Linear(2, 2), "a Linear has no config"), (BERT(BERTConfig(V, 9, D, H, 1)), "a BERT has no hidden_states")],
)
def test_a_model_that_cannot_write_is_told_what_it_lacks(model, missing):
    with pytest.raises(TypeError, match=f"generate: {missing}.*new_cache"):
        inspect.unwrap(generate)(model, [[1]], 2)


def test_what_cannot_write_is_no_instance_of_the_protocol():
    assert not isinstance(nn.Linear(2, 2), LanguageModel)


@pytest.mark.parametrize(
    ("n_beams", "penalty", "message"),
    [
        (0, 1.0, "n_beams=0, expected a whole number"),
        (2.0, 1.0, "n_beams=2.0 is of type float"),
        (2, math.nan, r"length_penalty=nan, .*-5 to 5\b"),
        (2, 500.0, r"length_penalty=500\.0, .*-5 to 5\b"),
    ],
)
def test_fewer_than_one_beam_or_no_penalty_is_refused(n_beams, penalty, message):
    """Catches scores that a power of the length makes -0 for all, so that any text is the best."""
    with pytest.raises((TypeError, ValueError), match=message):
        inspect.unwrap(beam_search)(gpt(), [[1]], 2, n_beams, length_penalty=penalty)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda logits: keep_top_p(logits, 0.0), r"^keep_top_p: p=0\.0, .*above 0\b"),
        (lambda logits: keep_top_p(logits, 1.5), r"^keep_top_p: p=1\.5, .*at most 1\b"),
        (lambda logits: keep_top_k(logits, 0), r"^keep_top_k: k=0, .*at least 1\b"),
        (lambda logits: draw(logits, top_k=0), r"^keep_top_k: k=0, .*at least 1\b"),
        (lambda logits: draw(logits, top_p=-1.0), r"^keep_top_p: p=-1\.0, .*above 0\b"),
    ],
)
def test_no_token_can_be_asked_for_by_those_who_draw_themselves(call, message):
    """Catches checks that ``generate`` alone has: with nothing kept all logits are minus infinity."""
    with pytest.raises(ValueError, match=message):
        call(torch.randn(2, 5))
