"""The drawings of rows of tokens say what is read, asked for, made and kept."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
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
