"""Figures show the numbers they were given; what only colour could tell is also told by a number or a marker."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from clearformer import plots, token_plots
from clearformer.notebook import show_source
from clearformer.reference import attention


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_heatmap_prints_its_entries_and_labels():
    ax = plots.heatmap(np.array([[1.0, -2.0, 0.5]]), rows=["r"], columns=list("abc"), signed=True)
    assert [text.get_text() for text in ax.texts] == ["1.00", "-2.00", "0.50"]
    assert [label.get_text() for label in ax.get_xticklabels()] == list("abc")
    assert ax.images[0].get_clim() == (-2.0, 2.0)


def test_an_attention_map_puts_sources_down_the_side():
    A = np.array([[0.9, 0.2], [0.05, 0.3], [0.05, 0.5]])
    ax = plots.attention_map(A, sources=["s1", "s2", "s3"], targets=["n1", "n2"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["s1", "s2", "s3"]
    np.testing.assert_array_equal(ax.images[0].get_array(), A)


def test_a_product_names_sizes_and_frames_the_row_and_column_of_one_entry():
    X, A = np.ones((2, 3)), np.ones((3, 4))
    axes = plots.product({"X": X, "A": A}, ("Y", X @ A), highlight=(1, 2))
    assert [ax.get_xlabel() for ax in axes] == ["2 × 3", "3 × 4", "2 × 4"]
    assert [ax.get_title(loc="center").strip() for ax in axes] == ["X", "×  A", "=  Y"]
    assert [(p.get_width(), p.get_height()) for ax in axes for p in ax.patches] == [(3, 1), (1, 3), (1, 1)]


def test_curves_are_told_apart_without_colour_and_show_the_spread():
    seeds = np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 9.0]])
    ax = plots.curves([1, 2], {"a": seeds, "b": [1.0, 1.0]}, xlabel="x", ylabel="y", log="x")
    assert len({line.get_marker() for line in ax.lines}) == 2
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [2.0, 4.0])
    assert len(ax.collections) == 1 and ax.get_xscale() == "log"


def test_tokens_and_patches_are_numbered():
    ax = token_plots.token_strip(["a", " b", "c"], [7, 8, 9], per_row=2)
    assert [text.get_text() for text in ax.texts] == ["a", "7", "␣b", "8", "c", "9"]
    ax = token_plots.image_patches(np.ones((4, 6)), 2)
    assert [text.get_text() for text in ax.texts] == [str(n) for n in range(1, 7)]


def test_a_flow_of_tokens_leaves_out_what_is_not_there_and_joins_columns():
    query = np.array([[np.nan, 3.0], [np.nan, -1.0]])
    stations = {"query": query, "scores": np.array([[0.5, 2.0]])}
    links = [("query", 1, "scores", 0), ("query", 1, "scores", 1)]
    ax = token_plots.token_flow(stations, ["a", "b"], links=links, notes={"scores": "sum 2.5"})
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["3", "-1", "query", "2 × 1", "0.5", "2", "scores", "sum 2.5", "a", "b"]
    assert len(ax.patches) == 4
    assert [list(line.get_xdata()) for line in ax.lines] == [[1, 0], [1, 1]]
    from_y, to_y = ax.lines[0].get_ydata()
    bottom_of_query, top_of_scores = ax.patches[1].get_y() + ax.patches[1].get_height(), ax.patches[2].get_y()
    np.testing.assert_allclose([from_y, to_y], [bottom_of_query, top_of_scores])


def test_shown_source_is_the_code_without_its_docstring():
    shown = show_source(attention.weighted_average).data
    assert "return X @ A" in shown and "clearformer.reference.attention" in shown
    assert "Source:" not in shown and "@shaped" not in shown
