"""Figures about places show what they say: doors, digits, waves and hands."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures import position_plots
from clearformer.reference.positions import sinusoidal
from matplotlib.patches import PathPatch, Rectangle


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_each_kind_stands_at_its_own_door():
    """Catches a kind that is drawn at another door: positions that turn queries and keys at the score, say."""
    doors = (position_plots.ADDED, position_plots.TURNED, position_plots.COMPARED)
    ax = position_plots.three_doors(dict(zip(("waves", "turns", "slopes"), doors, strict=True)))
    at = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert at["waves"] == at[position_plots.ADDED] == at["+"] < at["turns"] == at["query,\nkey"] < at["score"]
    assert at["slopes"] == at[position_plots.COMPARED] == at["score"]
    with pytest.raises(ValueError, match="'window' is no door"):
        position_plots.three_doors({"waves": "window"})


def test_the_counter_counts_beside_the_waves():
    """Catches digits in the wrong order, and curves of other rows than those that are named."""
    waves = sinusoidal(8, 6)
    counter, cells, curves = position_plots.counter_and_waves(waves, (0, 2))
    printed = {text.get_position(): text.get_text() for text in counter.texts}
    assert [int("".join(printed[n, bit] for bit in (2, 1, 0)), 2) for n in range(8)] == list(range(8))
    np.testing.assert_allclose(cells.images[0].get_array(), waves)
    for curve, dots, row in zip(curves.lines[::2], curves.lines[1::2], (0, 2), strict=True):
        np.testing.assert_allclose(dots.get_ydata(), waves[row])
        at_places = np.interp(dots.get_xdata(), curve.get_xdata(), curve.get_ydata())
        np.testing.assert_allclose(at_places, waves[row], atol=0.01)


def test_a_hand_points_where_its_angle_says():
    ax = position_plots.clock({"1": 0.0, "2": np.pi / 2}, arc=(0.0, np.pi / 2))
    tips = [line.get_xydata()[0] for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(tips, [[1, 0], [0, 1]], atol=1e-12)
    styles = [line.get_linestyle() for line in ax.lines if line.get_marker() != "o"]
    assert len(set(styles)) == 2  # told apart without colour


def test_a_ribbon_leads_from_each_word_to_the_same_word():
    """Catches a ribbon to another word, and columns on two scales."""
    first = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]])
    above, below = (["a", "b", "c"], first), (["c", "a", "b"], first[:, [2, 0, 1]])
    ax = position_plots.changed_places(above, below)
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c", "c", "a", "b"]
    ribbons = [patch.get_path().vertices[:, 0] for patch in ax.patches if isinstance(patch, PathPatch)]
    assert [(round(x[0] - 0.3), round(x[3] - 0.3)) for x in ribbons] == [(0, 1), (1, 2), (2, 0)]
    cells = [patch.get_facecolor() for patch in ax.patches if isinstance(patch, Rectangle)]
    assert len(cells) == 12 and cells[0] == cells[7] and cells[2] == cells[6]
