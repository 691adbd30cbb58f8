"""Names stand at the ends of their lines, on levels and under columns, and do not cover each other."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures import labels, plots
from matplotlib.text import Text


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_every_line_is_named_at_its_end_in_its_colour():
    """Catches a name at another line, and a legend that stays."""
    ax = plots.curves([0, 1], {"up": [0.0, 1.0], "level": [0.4, 0.4]}, xlabel="x", ylabel="y")
    labels.label_ends(ax)
    assert ax.get_legend() is None
    for line, text in zip(ax.lines, ax.texts, strict=True):
        assert (text.get_text(), text.get_color()) == (line.get_label(), line.get_color())
        height = ax.transAxes.inverted().transform(ax.transData.transform(line.get_xydata()[-1]))[1]
        assert text.get_position()[1] == pytest.approx(height)


def test_names_of_lines_that_end_together_move_apart():
    """Catches names on top of each other, and two lines of text that are taken for one."""
    ax = plots.curves([0, 1], {"a": [0.0, 0.5], "b\nb": [1.0, 0.5], "c": [0.4, 0.51]}, xlabel="x", ylabel="y")
    ax.set_ylim(0, 1)
    labels.label_ends(ax)
    ax.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without the strokes to the lines
    for i, box in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert box.y1 <= other.y0 + 1 or other.y1 <= box.y0 + 1
    assert boxes[0].y0 < boxes[2].y0  # in the order of their ends


def test_names_keep_their_order_and_their_middle():
    assert labels.kept_apart([0.5, 0.1], [0.2, 0.2]) == [0.5, 0.1]
    np.testing.assert_allclose(labels.kept_apart([0.5, 0.5, 0.9], [0.1, 0.1, 0.1]), [0.45, 0.55, 0.9])
    np.testing.assert_allclose(labels.kept_apart([0.5, 0.49], [0.3, 0.1]), [0.545, 0.345])


def test_a_level_has_its_name():
    _, ax = plt.subplots()
    labels.name_level(ax, 0.25, "guessing", x=0.9)
    assert list(ax.lines[0].get_ydata()) == [0.25, 0.25]
    assert ax.texts[0].xy == (0.9, 0.25) and ax.texts[0].get_text() == "guessing"


def test_a_sum_stands_under_its_column_and_says_whether_it_is_one():
    """Catches sums of the rows, and a sign that does not agree with the number."""
    A = np.array([[0.5, 0.25], [0.5, 0.5], [0.0, 0.1]])
    ax = labels.column_sums(plots.heatmap(A, numbers=False), A)
    found = {text.get_text(): text.get_position() for text in ax.texts}
    assert found["1.00\n✓"][0] == 0 and found["0.85\n✗"][0] == 1
    assert {position[1] for position in found.values()} == {2.62}
