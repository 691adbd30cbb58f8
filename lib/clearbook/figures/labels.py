"""Words that stand where they belong: at the end of a line, on a level, under a column; no legend to look up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray

from clearbook.figures.plots import COLOURS

GREY = "#5b6472"
LINE_HEIGHT = 1.25  # of a label, in sizes of its letters
MOVED = 0.25  # of a line height: a label that has moved further is joined to its line


def label_ends(ax: Axes, *, fontsize: float = 10) -> Axes:
    """The name of every line to the right of its last point, in its colour, in place of a legend.

    Names that would overlap move apart, and a thin stroke joins each of those to its line. Call it when the limits of
    the axes are final.
    """
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    ends = [_fraction(ax, np.asarray(line.get_xydata())[-1]) for line in lines]
    inches = ax.figure.get_size_inches()[1]  # type: ignore[union-attr]  # a figure, no part of one
    row = LINE_HEIGHT * fontsize / (72 * ax.get_position().height * inches)
    heights = [row * (1 + str(line.get_label()).count("\n")) for line in lines]
    for line, end, y in zip(lines, ends, kept_apart([y for _, y in ends], heights), strict=True):
        stroke = {"arrowstyle": "-", "color": line.get_color(), "lw": 0.7, "shrinkA": 0, "shrinkB": 3}
        ax.annotate(
            str(line.get_label()),
            end,
            (max(1.01, end[0] + 0.04), y),
            "axes fraction",
            "axes fraction",
            arrowprops=stroke if abs(y - end[1]) > MOVED * row else None,
            color=line.get_color(),
            fontsize=fontsize,
            va="center",
            annotation_clip=False,
        )
    return ax


def kept_apart(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Middles in the order of the ``wanted`` ones, as near to them as things of these ``heights`` can stand."""
    groups: list[list[int]] = []  # of neighbours that touch, from bottom to top

    def middle(group: list[int]) -> float:
        return sum(wanted[i] for i in group) / len(group)

    def height(group: list[int]) -> float:
        return sum(heights[i] for i in group)

    for i in np.argsort(wanted, kind="stable").tolist():
        groups.append([i])
        while len(groups) > 1 and middle(groups[-1]) - middle(groups[-2]) < height(groups[-2] + groups[-1]) / 2:
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = [0.0] * len(wanted)
    for group in groups:
        floor = middle(group) - height(group) / 2
        for i in group:
            placed[i] = floor + heights[i] / 2
            floor += heights[i]
    return placed


def name_level(ax: Axes, y: float, name: str, *, x: float = 0.01, above: bool = True) -> Axes:
    """A dotted line at the height ``y`` over the whole width, with its name on it, at ``x`` in shares of the width."""
    ax.axhline(y, color=GREY, ls=":", lw=1.2, zorder=1)
    offset, va = ((0, 4), "bottom") if above else ((0, -4), "top")
    side = "right" if x > 0.5 else "left"
    ax.annotate(
        name,
        (x, y),
        offset,
        ax.get_yaxis_transform(),
        "offset points",
        color=GREY,
        fontsize=10,
        ha=side,
        va=va,
    )
    return ax


def column_sums(ax: Axes, matrix: Float[ndarray, "rows columns"]) -> Axes:
    """Under each column of a heatmap its sum, with ✓ where that is 1 and ✗ where it is not."""
    floor = len(matrix) - 0.5
    for column, total in enumerate(matrix.sum(axis=0)):
        right = bool(np.isclose(total, 1))
        style: dict[str, Any] = {"ha": "center", "va": "top", "color": COLOURS[2 if right else 1], "weight": "bold"}
        ax.text(column, floor + 0.12, f"{total:.2f}\n{'✓' if right else '✗'}", fontsize=9.5, **style)
    ax.text(-0.62, floor + 0.12, "sum", ha="right", va="top", fontsize=10)
    ax.set_ylim(floor + 0.85, -0.5)
    return ax


def _fraction(ax: Axes, point: ndarray) -> tuple[float, float]:
    """A point of the data in shares of the width and the height of the axes."""
    x, y = ax.transAxes.inverted().transform(ax.transData.transform(point))
    return float(x), float(y)
