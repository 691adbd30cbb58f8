"""The lines between a sentence and its translation."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures.plots import COLOURS
from clearbook.figures.word_lines import word_lines


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_lines_that_cross_are_coloured():
    """Catches a line to another word, and one that is marked although it crosses none."""
    [ax] = word_lines([(["a", "b", "c"], ["A", "C", "B"], [(0, 0), (1, 2), (2, 1)])])
    assert [line.get_color() == COLOURS[1] for line in ax.lines] == [False, True, True]
    places = {text.get_text(): text.get_position() for text in ax.texts}
    for line, (top, bottom) in zip(ax.lines, ("aA", "bB", "cC"), strict=True):
        assert list(line.get_xdata()) == [places[top][0], places[bottom][0]]


def test_words_stand_beside_each_other():
    """Catches long words that are written over their neighbours."""
    [ax] = word_lines([(["Fahrrad", "am", "5."], ["on"], [(1, 0)])])
    x = [text.get_position()[0] for text in ax.texts]
    assert x[1] - x[0] > x[2] - x[1] > 0


def test_a_line_to_no_word_is_refused():
    with pytest.raises(ValueError, match=r"the lines \[\(2, 0\)\] leave 2 words above or 1 below"):
        word_lines([(["a", "b"], ["c"], [(0, 0), (2, 0)])])
