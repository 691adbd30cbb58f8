"""Figures of the course: each function draws on an Axes and returns it; white background, colour-blind safe."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from numpy import ndarray
from numpy.typing import ArrayLike

INK = "#1d2433"
COLOURS = (
    "#0b5fa5",
    "#c8501e",
    "#27a387",
    "#8a2be2",
    "#43310c",
    "#444b59",
)  # ≥ 3 : 1 on white, for all eyes
MARKERS = ("o", "s", "^", "D", "v", "P")  # told apart without colour, too
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#9cc3e4", "#0b5fa5", "#062c50"])
SIGNED = "PuOr_r"
LONG_LABEL = 5  # characters that fit over one cell
MAX_PRINTED = 100  # a matrix with more entries is drawn without numbers

STYLE: dict[Any, Any] = {
    "figure.figsize": (6.4, 3.2),
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.bbox": "tight",
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#8a93a3",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "legend.frameon": False,
    "svg.hashsalt": "clearformer",
}


def heatmap(
    matrix: Float[ndarray, "rows columns"],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    signed: bool = False,
    limit: float | None = None,
    numbers: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """A matrix as coloured cells with the numbers written in them while there is room.

    ``rows`` and ``columns`` label the axes; ``signed`` centres the colours at 0; ``limit`` fixes the largest colour;
    ``numbers=False`` leaves the cells without numbers.
    """
    ax = axes_or_new(ax, (0.62 * matrix.shape[1] + 1.2, 0.5 * matrix.shape[0] + 0.8))
    limit = limit or float(np.abs(matrix).max()) or 1.0
    low = -limit if signed else 0.0
    ax.imshow(matrix, cmap=SIGNED if signed else WEIGHTS, vmin=low, vmax=limit, aspect="equal")
    for axis, labels in ((ax.yaxis, rows), (ax.xaxis, columns)):
        axis.set_ticks(range(len(labels)) if labels is not None else [], labels if labels is not None else [])
    ax.xaxis.tick_top()
    if columns is not None and max(map(len, columns)) > LONG_LABEL:
        ax.tick_params(axis="x", rotation=40)
        plt.setp(ax.get_xticklabels(), ha="left", rotation_mode="anchor")  # each begins over its own column
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title, pad=10)
    if numbers and matrix.size <= MAX_PRINTED:
        _print_entries(ax, matrix, (matrix - low) / (limit - low), signed)
    return ax


def _print_entries(ax: Axes, matrix: ndarray, brightness: ndarray, signed: bool) -> None:
    whole = np.allclose(matrix, matrix.round())
    for (i, j), value in np.ndenumerate(matrix):
        text = f"{value:z.0f}" if whole else f"{value:z.2f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=9, color=ink_on(float(brightness[i, j]), signed))


def ink_on(brightness: float, signed: bool) -> str:
    """The colour of a number that can be read on a cell, in the light and where a dark page inverts the drawing.

    ``brightness`` in 0 … 1 is the cell's place in its colours, those of ``SIGNED`` or of ``WEIGHTS``.
    """
    black = 0.22 < brightness < 0.822 if signed else brightness < 0.51
    return "black" if black else "white"


def attention_map(
    A: Float[ndarray, "S N"],
    sources: Sequence[str],
    targets: Sequence[str] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """An attention matrix in the course's columns: the source down the side, the target along the top.

    Raises: ValueError if the labels do not fit the matrix.
    """
    targets = sources if targets is None else targets
    if A.shape != (len(sources), len(targets)):
        raise ValueError(
            f"attention_map: A has shape {A.shape}, but there are {len(sources)} sources and {len(targets)} targets. "
            "Pass one label per row and per column; torch weights are transposed first."
        )
    ax = heatmap(A, rows=sources, columns=targets, title=title, limit=1.0, ax=ax)
    ax.set_ylabel("looked at (source s)")
    ax.set_xlabel("looking (target n)")
    ax.xaxis.set_label_position("top")
    return ax


def product(
    factors: Mapping[str, Float[ndarray, "_ _"]],
    result: tuple[str, Float[ndarray, "_ _"]],
    *,
    highlight: tuple[int, int] | None = None,
    axes: Iterable[Axes] | None = None,
) -> Iterable[Axes]:
    """A matrix product drawn to scale from live arrays, with names and sizes: factors, then the result.

    ``highlight`` = (row, column) frames that entry of the result, and with two factors the row and the column it
    comes from.
    """
    items = [*factors.items(), result]
    if axes is None:
        ratios = [matrix.shape[1] for _, matrix in items]
        tallest = max(matrix.shape[0] for _, matrix in items)
        _, axes = plt.subplots(
            1, len(items), figsize=(0.45 * sum(ratios) + 1.6, 0.45 * tallest + 0.9), width_ratios=ratios
        )
    for i, (ax, (name, matrix)) in enumerate(zip(axes, items, strict=True)):
        heatmap(matrix, signed=bool((matrix < 0).any()), ax=ax)
        sign = "=  " if i == len(items) - 1 else "×  " if i else ""
        ax.set_title(f"{sign}{name}", pad=6, fontsize=13, loc="center")
        ax.set_xlabel(f"{matrix.shape[0]} × {matrix.shape[1]}")
        ax.spines[:].set_visible(True)
    if highlight is not None:
        _frame(list(axes), [matrix for _, matrix in items], highlight)
    return axes


def _frame(axes: list[Axes], matrices: Sequence[ndarray], entry: tuple[int, int]) -> None:
    row, column = entry
    boxes = [(axes[-1], column, row, 1, 1)]
    if len(matrices) == 3:
        boxes += [(axes[0], 0, row, matrices[0].shape[1], 1), (axes[1], column, 0, 1, matrices[1].shape[0])]
    for ax, x, y, width, height in boxes:
        ax.add_patch(plt.Rectangle((x - 0.5, y - 0.5), width, height, fill=False, lw=2.5, ec=COLOURS[1], clip_on=False))


def curves(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    log: str = "",
    band: float = 0.15,
    ax: Axes | None = None,
) -> Axes:
    """Labelled lines over ``x``; of several seeds (seeds × points) the median, and the range as a band.

    ``log`` holds the letters of the logarithmic axes: "x", "y" or "xy"; ``band`` says how strong the bands are, 0 to 1.
    """
    ax = axes_or_new(ax, STYLE["figure.figsize"])
    for i, (label, values) in enumerate(lines.items()):
        seeds = np.atleast_2d(np.asarray(values, dtype=float))
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        middle = np.median(seeds, axis=0)
        every = max(1, len(middle) // 12)
        ax.plot(x, middle, color=colour, marker=marker, ms=5, markevery=every, lw=1.8, label=label)
        if len(seeds) > 1:
            ax.fill_between(x, seeds.min(axis=0), seeds.max(axis=0), color=colour, alpha=band, lw=0)
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.legend()
    return ax


def axes_or_new(ax: Axes | None, figsize: tuple[float, float]) -> Axes:
    """``ax``, or the axes of a new figure of this size where none is given."""
    return plt.subplots(figsize=figsize)[1] if ax is None else ax
