"""What is read from options of theirs: numbers, flags and lists of the right kind, or a sentence with what came."""

import math
from functools import partial

import pytest
from clearformer.layers import GatedFeedForward, RMSNorm
from clearformer.pretrained.together import (
    function_and_arguments,
    read_flag,
    read_items,
    read_list,
    read_number,
    read_whole,
)
from inline_snapshot import snapshot

from tests.clearformer.refusals import refusal


def test_a_callable_is_what_it_is_called_with_besides_its_defaults():
    """Catches arguments by place that do not count, and defaults that do."""
    assert function_and_arguments(partial(RMSNorm, eps=0.5)) != function_and_arguments(RMSNorm)
    assert function_and_arguments(partial(RMSNorm, 7)) != function_and_arguments(RMSNorm)
    assert function_and_arguments(partial(GatedFeedForward, bias=False)) == function_and_arguments(GatedFeedForward)
    assert function_and_arguments(3) == 3


def test_a_number_has_a_default_and_a_bound():
    assert read_number({"n": 2.5}, "n") == 2.5 and read_number({"n": None}, "n", 4) == 4
    assert read_whole({}, "n", 4) == 4 and read_flag({}, "n", True) is True
    assert refusal(ValueError, read_number, {}, "n") == snapshot("from_pretrained: config.json lacks 'n'.")
    assert refusal(ValueError, read_number, {"n": True}, "n") == snapshot(
        "from_pretrained: n=True in config.json, expected a number."
    )
    for value in (2**60, -(2**60), math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"n={value} in config\.json, expected a number below 2 to the 60"):
            read_number({"n": value}, "n")
    for value in (0, -3, 2.0):
        with pytest.raises(ValueError, match=f"n={value} .*, expected a whole number of at least 1"):
            read_whole({"n": value}, "n")
    assert refusal(ValueError, read_flag, {"n": 1}, "n", True) == snapshot(
        "from_pretrained: n=1 in config.json, expected true or false."
    )


def test_a_list_has_its_length_or_any():
    assert read_list({"n": (1, 2)}, "n", 2) == [1, 2]
    for value in ([1], None, "ab", {"a": 1, "b": 2}):
        with pytest.raises(ValueError, match=r"n=.* in config\.json, expected a list of 2"):
            read_list({"n": value}, "n", 2)
    assert read_items({"n": (1, 2)}, "n") == [1, 2] and read_items({"n": None}, "n") == read_items({}, "n") == []
    assert refusal(ValueError, read_items, {"n": "ab"}, "n") == snapshot(
        "from_pretrained: n='ab' in config.json, expected a list."
    )
