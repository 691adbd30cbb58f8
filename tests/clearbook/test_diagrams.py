"""Diagrams say in words what they draw, and each attention has an outline of its own."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures import diagrams
from matplotlib.patches import FancyBboxPatch


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    """Text and height of every label, from bottom to top, line breaks taken out."""
    found = [(text.get_position()[1], text.get_text().replace("\n", " ")) for text in ax.texts]
    return [label for _, label in sorted(found) if label]


def test_the_norm_stands_before_each_part_or_after_each_sum():
    before, after = (labels(diagrams.block_diagram(norm_first=first))[1:-1] for first in (True, False))
    assert before == ["norm", "self-attention", "+", "norm", "feed-forward", "+"]
    assert after == ["self-attention", "+", "norm", "feed-forward", "+", "norm"]


def test_a_block_of_the_decoder_has_three_parts_and_three_sums():
    drawn = labels(diagrams.block_diagram(cross=True, causal=True))
    parts = [label for label in drawn if "attention" in label or "forward" in label]
    assert parts == ["masked self-attention", "cross-attention", "feed-forward"]
    assert drawn.count("+") == 3


def test_the_three_attentions_are_told_apart_without_colour():
    ax = diagrams.block_diagram(cross=True, causal=True)
    diagrams.block_diagram(ax=ax)
    outlines = {
        str(patch.get_linestyle()) + str(patch._dash_pattern)
        for patch in ax.patches
        if isinstance(patch, FancyBboxPatch) and patch.get_linewidth() > 2
    }
    assert len(outlines) == 3
    assert {"self-attention", "masked self-attention", "cross-attention"} <= set(labels(ax))


def test_diagrams_draw_on_the_axes_they_are_given():
    _, axes = plt.subplots(1, 2)
    assert diagrams.block_diagram(ax=axes[0]) is axes[0]
    assert diagrams.block_diagram(cross=True, ax=axes[1]) is axes[1]


@pytest.mark.parametrize(
    ("averaged", "frames", "dots"), [("D", [(1, 3)], 3), ("B N", [(4, 1), (4, 1)], 8), ("N", [(4, 1)], 4)]
)
def test_a_norm_frames_and_dots_what_it_averages(averaged, frames, dots):
    """2 sequences of 4 tokens with 3 features: the frames tell the norms apart without colour."""
    (ax,) = diagrams.norm_axes({"a norm": averaged}, sizes=(2, 3, 4))
    framed = [(p.get_width(), p.get_height()) for p in ax.patches if not p.get_fill()]
    assert framed == frames and len(ax.lines) == dots
    assert ax.get_title(loc="center") == "a norm" and labels(ax) == ["tokens →  features ↓", "sequence 2", "sequence 1"]


def test_a_norm_averages_over_known_axes():
    with pytest.raises(ValueError, match="'K'"):
        diagrams.norm_axes({"a norm": "K"})
