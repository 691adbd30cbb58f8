"""The recall game and the map of cities, as they are drawn."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures import city_map, recall

SQUARE = {"Southwest": (0.0, 0.0), "Southeast": (0.0, 4.0), "Northeast": (3.0, 4.0), "Northwest": (3.0, 0.0)}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_an_unrolled_network_has_a_state_for_each_card_and_a_matrix_between_two():
    drawn = words(recall.unrolled(list("abcd")))
    assert [word for word in drawn if word in "abcd"] == list("abcd")
    assert drawn.count("$W_x$") == 4 and drawn.count("$W_h$") == 3
    assert "$\\mathbf{h}_4$" in drawn and "answer" in drawn


def test_a_hull_leaves_out_what_lies_inside_and_on_an_edge():
    inside = np.array([*SQUARE.values(), (1.0, 1.0), (0.0, 2.0)])
    assert {tuple(corner) for corner in city_map.hull(inside)} == set(SQUARE.values())


def test_the_map_names_every_place_and_frames_the_cities():
    path = np.array([[1.0, 1.0], [0.5, 0.5]])
    ax = city_map.city_map(SQUARE, {"a path": path}, outside={"Away": (5.0, 2.0)})
    assert set(words(ax)) == {*SQUARE, "Away"}
    (polygon,) = ax.patches
    assert len({tuple(corner) for corner in polygon.get_xy()}) == 4
    assert ax.get_legend().get_texts()[0].get_text() == "a path"


def test_a_cell_is_filled_where_the_output_knows_the_token():
    """Catches rows taken for columns, and a sign that does not agree with the corner."""
    diagonal = np.eye(3)
    first, second = recall.who_knows_whom({"RNN": diagonal, "attention": np.triu(np.ones((3, 3)))})
    filled = [p.get_xy() for p in first.patches if p.get_fill() and p.get_facecolor()[:3] != (1, 1, 1)]
    assert filled == [(0.5, 0.5), (1.5, 1.5), (2.5, 2.5)]
    assert [ax.texts[0].get_text() for ax in (first, second)] == ["✗", "✓"]
    frames = [p.get_xy() for p in first.patches if not p.get_fill()]
    assert frames == [(2.5, 0.5)] and first.get_xlabel() == "output"
