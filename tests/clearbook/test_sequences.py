"""The drawings of rows of tokens say what is read, asked for, made and kept."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures.beam_tree import beam_tree
from clearbook.figures.sequences import cache_frames, shifted_rows


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_both_rows_and_the_source_are_named():
    found = labels(shifted_rows(["start", "7"], ["7", "end"], source=["seven"]))
    assert found.count("7") == 2 and {"start", "end", "seven", "read", "asked for"} <= set(found)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="3 tokens are read and 2 asked for"):
        shifted_rows(["start", "7", "4"], ["7", "end"])


def test_each_step_makes_one_key_and_one_value():
    for step, ax in enumerate(cache_frames(["start", "7", "4"])):
        assert labels(ax).count("new") == 2 and labels(ax).count("kept") == 2 * step


def test_nothing_is_asked_for_in_the_source_of_a_prompt():
    """Catches an arrow to an empty box, and one from it to what is read next."""
    ax = shifted_rows(["four", "start", "vier"], ["", "vier", "end"])
    dashed = [box for box in ax.patches if box.get_linestyle() == "--"]
    assert len(dashed) == 1 and len(ax.texts) == 9 + 3 + 2 + 1  # words with the empty one, arrows up twice, one across


def test_a_beam_tree_says_what_is_kept():
    """The garden path of chapter 11: with one beam a wins, with two b; what is not kept is not extended."""
    following = {(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.3, "d": 0.3, "end": 0.4}, ("b",): {"end": 1.0}}
    one = labels(beam_tree(following, 1))
    assert sum("dropped" in text for text in one) == 3 and "end  0.24\nkept, no. 1" in one and "b  0.4\ndropped" in one
    two = labels(beam_tree(following, 2))
    assert (
        sum("dropped" in text for text in two) == 2
        and "end  0.4\nkept, no. 1" in two
        and "end  0.24\nkept, no. 2" in two
    )
