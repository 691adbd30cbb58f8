"""Figures of tokens themselves: as boxes in reading order, as patches of an image, and as they pass through a layer."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy import ndarray

from clearbook.figures.kit import draw_box
from clearbook.figures.plots import COLOURS, INK, SIGNED, WEIGHTS, axes_or_new, ink_on

SMALLEST = 8  # points of a letter that is still read with ease


def token_strip(
    pieces: Sequence[str], ids: Sequence[int] | None = None, *, per_row: int = 12, ax: Axes | None = None
) -> Axes:
    """Tokens as boxes in reading order, with their ids below; a space is drawn as ␣."""
    n_rows, per_point = -(-len(pieces) // per_row), 0.72 / 70
    width = max(0.72, SMALLEST * per_point * max(map(len, pieces)))  # of a box, in inches: the longest piece fits
    ax = axes_or_new(ax, (min(len(pieces), per_row) * width + 0.2, 0.75 * n_rows + 0.1))
    for i, piece in enumerate(pieces):
        x, y = i % per_row, -(i // per_row)
        shade = ("#e3eef8", "#fdeee6")[i % 2]
        draw_box(ax, (x, y + 0.03), 0.88, 0.58, corner=0.04, fc=shade, ec=INK, lw=0.8)
        size = min(10, width / per_point / len(piece))
        ax.text(x, y + 0.1, piece.replace(" ", "␣").replace("\n", "⏎"), ha="center", va="center", fontsize=size)
        if ids is not None:
            ax.text(x, y - 0.13, str(ids[i]), ha="center", va="center", fontsize=SMALLEST, color=COLOURS[5])
    ax.set(xlim=(-0.6, min(len(pieces), per_row) - 0.4), ylim=(-n_rows + 0.5, 0.5))
    ax.axis("off")
    return ax


def surprise_text(
    pieces: Sequence[str],
    bits: Sequence[float] | Float[ndarray, " N"],
    *,
    width: int = 46,
    limit: float = 12.0,
    ax: Axes | None = None,
) -> Axes:
    """A text whose tokens are the darker, and have the taller bar below, the more they surprised a model.

    ``width`` is in characters; a bar is full at ``limit`` bits. Below stands a key to the bars.

    Raises: ValueError for more or fewer numbers than pieces.
    """
    if len(pieces) != len(bits):
        raise ValueError(f"surprise_text: {len(pieces)} pieces with {len(bits)} bits, expected one number for each.")
    places, column, row = [], 0, 0
    for i, piece in enumerate(pieces):
        more = itertools.takewhile(lambda later: not later.startswith(" "), pieces[i + 1 :])
        word = len(piece) + sum(map(len, more))  # the rest of a word stays on its line
        if piece.startswith(" ") and column + word > width:
            column, row = 0, row + 1
            piece = piece.lstrip()
        places.append((column, row, piece))
        column += len(piece)
    ax = axes_or_new(ax, (0.0865 * width, 0.36 * (row + 2) + 0.07))
    for (x, y, piece), value in zip(places, bits, strict=True):
        share, start = min(float(value) / limit, 1.0), len(piece) - len(piece.lstrip())
        box: dict[str, Any] = {"width": len(piece) - start, "lw": 0}
        ax.add_patch(Rectangle((x + start, -y - 0.3), height=0.6, fc=WEIGHTS(0.75 * share), **box))
        ax.add_patch(Rectangle((x + start, -y - 0.37 - 0.28 * share), height=0.28 * share, fc=COLOURS[1], **box))
        for i, letter in enumerate(piece):
            ink = ink_on(0.75 * share, signed=False)
            ax.text(x + i + 0.5, -y, letter, ha="center", va="center", fontsize=10, family="monospace", color=ink)
    for at, value in zip((0.04, 0.28, 0.52, 0.76), limit * np.array([0.25, 0.5, 0.75, 1.0]), strict=True):
        share, top = float(value) / limit, -row - 1.3
        ax.add_patch(Rectangle((at * width, top - 0.28 * share), 2.5, 0.28 * share, fc=COLOURS[1], lw=0))
        ax.text(at * width + 3, top - 0.14, f"{value:g} bits", ha="left", va="center", fontsize=9)
    ax.set(xlim=(-0.2, width + 0.2), ylim=(-row - 1.75, 0.4))
    ax.axis("off")
    return ax


def image_patches(image: Float[ndarray, "rows columns"], size: int, *, title: str = "", ax: Axes | None = None) -> Axes:
    """A grey image with the cuts between its patches and the number n of each patch."""
    ax = axes_or_new(ax, (3.0, 3.2))
    ax.imshow(image, cmap="gray_r", vmin=0)
    rows, columns = image.shape
    for cut in range(0, rows + 1, size):
        ax.axhline(cut - 0.5, color=COLOURS[1], lw=1.5)
    for cut in range(0, columns + 1, size):
        ax.axvline(cut - 0.5, color=COLOURS[1], lw=1.5)
    for n in range((rows // size) * (columns // size)):
        y, x = divmod(n, columns // size)
        label = ax.text(x * size - 0.3, y * size - 0.3, str(n + 1), ha="left", va="top", fontsize=9, color=INK)
        label.set_bbox({"fc": "white", "ec": "none", "pad": 1.0, "alpha": 0.85})
    ax.set(title=title, xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return ax


def token_flow(
    stations: Mapping[str, Float[ndarray, "_ N"]],
    tokens: Sequence[str],
    *,
    links: Iterable[tuple[str, int, str, int]] = (),
    notes: Mapping[str, str] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """What becomes of the tokens, from top to bottom: one matrix a station, one column a token, NaN for no number.

    ``links`` are lines (from station, from token, to station, to token) between the columns of two stations;
    ``notes`` replace the size that stands to the right of a station. ``scales`` hold the numbers at both ends of a
    station's colours, (0, high) or (-high, high), so that stations of one kind have one scale; without them each
    station has its own.
    """
    cell, gap = 0.62, 0.5  # heights of a number, and of the space below a station
    bottoms = np.cumsum([cell * len(matrix) + gap for matrix in stations.values()]) - gap
    place = {name: (y - cell * len(stations[name]), y) for name, y in zip(stations, bottoms, strict=True)}
    ax = axes_or_new(ax, (0.95 * len(tokens) + 2.0, 0.58 * bottoms[-1] + 0.7))
    for name, matrix in stations.items():
        top, bottom = place[name]
        _token_columns(ax, matrix, top, cell, (scales or {}).get(name) or _own_scale(matrix))
        size = f"{matrix.shape[0]} × {(~np.isnan(matrix)).any(axis=0).sum()}"
        ax.text(-0.65, (top + bottom) / 2, name, ha="right", va="center")
        note = (notes or {}).get(name, size)
        ax.text(len(tokens) - 0.4, (top + bottom) / 2, note, ha="left", va="center", fontsize=10, color=COLOURS[5])
    for start, n, end, m in links:
        ax.plot([n, m], [place[start][1], place[end][0]], color=COLOURS[1], lw=1.3, zorder=1)
    for n, token in enumerate(tokens):
        ax.text(n, -0.12, token, ha="center", va="bottom")
    ax.set(xlim=(-1.9, len(tokens) + 0.4), ylim=(bottoms[-1] + 0.05, -0.6))
    ax.axis("off")
    return ax


def _own_scale(matrix: ndarray) -> tuple[float, float]:
    high = float(np.nanmax(np.abs(matrix))) or 1.0
    return (-high if (matrix < 0).any() else 0.0, high)


def _token_columns(ax: Axes, matrix: ndarray, top: float, cell: float, scale: tuple[float, float]) -> None:
    """The numbers of a matrix as separate columns of coloured cells; NaN is left out."""
    low, high = scale
    brightness = (matrix - low) / (high - low)
    for (i, n), value in np.ndenumerate(matrix):
        if np.isnan(value):
            continue
        colour = plt.get_cmap(SIGNED if low < 0 else WEIGHTS)(brightness[i, n])
        box = plt.Rectangle((n - 0.45, top + cell * i), 0.9, cell, fc=colour, ec="#8a93a3", lw=0.8, zorder=2)
        ax.add_patch(box)
        style: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "fontsize": 10,
            "color": ink_on(float(brightness[i, n]), low < 0),
            "zorder": 3,
        }
        ax.text(n, top + cell * (i + 0.5), f"{value:.3g}", **style)
