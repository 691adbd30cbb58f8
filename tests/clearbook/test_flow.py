"""The drawing of attention names every matrix with its shape, in columns and in rows."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures.flow import attention_flow


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    """What stands in the drawing, in the order in which it was drawn."""
    return [text.get_text() for text in ax.texts if text.get_text()]


def shape_after(ax, name):
    found = labels(ax)
    return found[found.index(name) + 1]


def test_every_matrix_has_its_shape():
    ax = attention_flow()
    names = ("tokens $X$", "queries $Q$", "keys", "values $V$", "scores $C$", "weights $A$", "outputs $Y$")
    shapes = ("D × N", "K × N", "K × N", "K × N", "N × N", "N × N", "K × N")
    assert [shape_after(ax, name) for name in names] == list(shapes)


def test_in_rows_the_shapes_turn_round_and_the_maps_are_named_as_in_code():
    ax = attention_flow(rows=True, two_sources=True)
    assert shape_after(ax, "queries $Q$") == "N × K"
    assert shape_after(ax, "keys") == "S × K" and shape_after(ax, "scores $C$") == "N × S"
    assert {"query", "key", "value", "softmax along each row"} <= set(labels(ax))


@pytest.mark.parametrize("rows", [False, True])
def test_causal_blanks_the_later_sources_in_scores_and_weights(rows):
    found = labels(attention_flow(causal=True, rows=rows))
    assert found.count("−∞") == found.count("0") == 6  # of 4 × 4
    assert "−∞" not in labels(attention_flow(rows=rows))


def test_heads_are_joined_and_mixed():
    ax = attention_flow(heads=3)
    assert shape_after(ax, "joined") == "HK × N" and shape_after(ax, "outputs $Y$") == "D × N"
    assert {"3 heads", "$W_O$"} <= set(labels(ax))


def test_it_draws_on_the_axes_it_is_given():
    _, ax = plt.subplots()
    assert attention_flow(ax=ax) is ax
