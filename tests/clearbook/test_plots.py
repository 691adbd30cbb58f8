"""Figures show the numbers they were given; what only colour could tell is also told by a number or a marker."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from clearbook.figures import plots, token_plots


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


def test_a_surprising_token_is_darker_and_has_a_taller_bar():
    """Catches bars that go to other tokens, a line that is longer than it may be, and a bar without an end."""
    ax = token_plots.surprise_text(["It", " is", " so", "!"], [6.0, 0.0, 3.0, 99.0], width=8, limit=12.0)
    letters, key = ax.texts[:8], ax.texts[8:]
    assert "".join(text.get_text() for text in letters) == "It isso!"  # "so" would fit, "so!" does not
    assert [round(-text.get_position()[1]) for text in letters] == [0] * 5 + [1] * 3
    shades, bars = ax.patches[:8:2], [bar.get_height() for bar in ax.patches[1:8:2]]
    assert [text.get_text() for text in key] == ["3 bits", "6 bits", "9 bits", "12 bits"]
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches[8:]], [0.07, 0.14, 0.21, 0.28])
    np.testing.assert_allclose(bars, [0.14, 0.0, 0.07, 0.28])
    darkness = [sum(shade.get_facecolor()[:3]) for shade in shades]
    assert darkness[1] > darkness[2] > darkness[0] > darkness[3]
    assert [shade.get_width() for shade in shades] == [2, 2, 2, 1]
    with pytest.raises(ValueError, match="2 pieces with 1 bits"):
        token_plots.surprise_text(["a", "b"], [1.0])


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


def test_no_number_of_a_heatmap_is_a_negative_zero():
    """Catches -0.00 and -0 in a cell whose number is next to nothing."""
    for matrix, printed in (([[-0.001, 0.25]], ["0.00", "0.25"]), ([[-1e-12, 2.0]], ["0", "2"])):
        ax = plots.heatmap(np.array(matrix, dtype="float32"), numbers=True)
        assert [text.get_text() for text in ax.texts] == printed
        plots.plt.close()


def test_stations_of_one_scale_have_one_colour_for_a_number():
    """Catches a number that is dark in one station and pale in the next."""
    stations = {"a": np.array([[1.0, 4.0]]), "b": np.array([[1.0, 2.0]])}
    ax = token_plots.token_flow(stations, ["x", "y"], scales={"a": (0.0, 4.0), "b": (0.0, 4.0)})
    assert ax.patches[0].get_facecolor() == ax.patches[2].get_facecolor()
    own = token_plots.token_flow(stations, ["x", "y"])
    assert own.patches[0].get_facecolor() != own.patches[2].get_facecolor()


# Machado, Oliveira and Fernandes 2009, severity 1: what linear sRGB becomes for who lacks one kind of cone.
SEEN_BY = {
    "everybody": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = [0.9505, 1.0, 1.089]


def linear(colours) -> np.ndarray:
    rgb = np.array([matplotlib.colors.to_rgb(colour) for colour in colours])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB, where equal distances look about equally far apart."""
    x = rgb.clip(0, 1) @ np.transpose(TO_XYZ) / WHITE
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_no_two_colours_are_alike_to_any_eyes(eyes):
    """Catches two lines of one figure that a colour-blind reader cannot tell apart; 10 is a clear difference."""
    seen = lab(linear(plots.COLOURS) @ np.transpose(SEEN_BY[eyes]))
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 1000 * np.eye(len(seen))
    assert apart.min() > 20


def test_every_colour_stands_out_from_white():
    luminance = linear(plots.COLOURS) @ TO_XYZ[1]
    assert (1.05 / (luminance + 0.05)).min() >= 3


# `hue-rotate(180deg)` of the Filter Effects Module: what nonlinear sRGB becomes.
ROTATED = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]


def in_the_dark(colours) -> np.ndarray:
    """What the site's style sheet makes of a drawing on a dark page."""
    sheet = (Path(__file__).parents[2] / "_static" / "clearformer.css").read_text(encoding="utf8")
    [share] = set(re.findall(r"filter: invert\(([\d.]+)\) hue-rotate\(180deg\)", sheet))
    rgb = np.array([matplotlib.colors.to_rgb(colour) for colour in colours])
    inverted = float(share) + (1 - 2 * float(share)) * rgb
    return (inverted @ np.transpose(ROTATED)).clip(0, 1)


@pytest.mark.parametrize("page", ["light", "dark"])
@pytest.mark.parametrize("signed", [False, True])
def test_every_number_on_a_cell_can_be_read(signed, page):
    """Catches numbers in cells of middle colours that sink into them where a dark page inverts the drawing."""
    places = np.linspace(0, 1, 201)
    cells = plt.get_cmap(plots.SIGNED if signed else plots.WEIGHTS)(places)[:, :3]
    inks = [plots.ink_on(place, signed) for place in places]
    if page == "dark":
        cells, inks = in_the_dark(cells), in_the_dark(inks)
    luminances = np.sort([linear(colours) @ TO_XYZ[1] for colours in (cells, inks)], axis=0)
    assert ((luminances[1] + 0.05) / (luminances[0] + 0.05)).min() >= 3.2
