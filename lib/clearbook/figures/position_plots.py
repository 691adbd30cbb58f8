"""Figures about positions: words that change theirs, where positions enter the model, waves, and hands of clocks."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Arc, PathPatch, Rectangle
from matplotlib.path import Path
from numpy import ndarray

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, SIGNED, axes_or_new, heatmap

HAND_STYLES = ("-", (0, (4, 2)), (0, (1, 1.2)))  # told apart without colour
ADDED, TURNED, COMPARED = "added to the token", "turns both", "added to the score"


def changed_places(
    above: tuple[Sequence[str], Float[ndarray, "D N"]],
    below: tuple[Sequence[str], Float[ndarray, "D N"]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """The columns of two sentences, one above the other, with a ribbon from each word to the same word.

    Both are coloured on one scale, so that columns which look alike are alike.
    """
    (words, first), (others, second) = above, below
    limit, n_features = max(np.abs(first).max(), np.abs(second).max()), len(first)
    top, floor = n_features * 0.4, n_features * 0.4 + 2.2  # lower ends of the first columns, upper ends of the second
    ax = axes_or_new(ax, (1.4 * len(words) + 0.2, 0.55 * (floor + top) + 0.6))
    for start, names, matrix in ((0.0, words, first), (floor, others, second)):
        shades = plt.get_cmap(SIGNED)((matrix / limit + 1) / 2)
        for (d, n), _ in np.ndenumerate(matrix):
            box = Rectangle((n - 0.36, start + 0.4 * d), 0.72, 0.4, fc=shades[d, n], ec="#8a93a3", lw=0.6, zorder=2)
            ax.add_patch(box)
        for n, name in enumerate(names):
            y, va = (-0.12, "bottom") if start == 0 else (floor + top + 0.12, "top")
            ax.text(n, y, name, ha="center", va=va)
    for n, (name, colour) in enumerate(zip(words, COLOURS, strict=False)):
        _ribbon(ax, n, list(others).index(name), (top + 0.06, floor - 0.06), colour)
    ax.set(xlim=(-0.6, len(words) - 0.4), ylim=(floor + top + 0.6, -0.6))
    ax.axis("off")
    return ax


def _ribbon(ax: Axes, start: int, end: int, heights: tuple[float, float], colour: str, half: float = 0.3) -> None:
    """A band from one column to another, without a corner."""
    y, last = heights
    bend = (y + last) / 2
    right = [(start + half, y), (start + half, bend), (end + half, bend), (end + half, last)]
    left = [(end - half, last), (end - half, bend), (start - half, bend), (start - half, y)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
    ax.add_patch(PathPatch(Path(right + left, codes), fc=colour, ec=colour, alpha=0.35, lw=1.2, zorder=1))


def three_doors(kinds: Mapping[str, str], *, ax: Axes | None = None) -> Axes:
    """The path of one layer from the word to its score, and at which of three doors each kind of position enters.

    ``kinds`` maps a name to ``ADDED``, ``TURNED`` or ``COMPARED``.

    Raises: ValueError for another door.
    """
    if wrong := set(kinds.values()) - {ADDED, TURNED, COMPARED}:
        raise ValueError(f"three_doors: {wrong.pop()!r} is no door. Choose {ADDED!r}, {TURNED!r} or {COMPARED!r}.")
    ax = axes_or_new(ax, (6.6, 2.0))
    stations = {"word\nvector": 0.6, "+": 2.0, "query,\nkey": 4.3, "score": 6.9, "softmax": 8.6}
    for name, x in stations.items():
        if name == "+":
            circle = {"boxstyle": "circle,pad=0.15", "fc": "white"}
            ax.text(x, 1, "+", ha="center", va="center", fontsize=14, bbox=circle)
        else:
            _card(ax, (x, 1), name)
    for (one, x), (other, y) in pairwise(stations.items()):
        draw_arrow(ax, (x + (0.28 if one == "+" else 0.66), 1), (y - (0.28 if other == "+" else 0.66), 1))
    doors = {ADDED: "+", TURNED: "query,\nkey", COMPARED: "score"}
    for (door, station), colour, style in zip(doors.items(), COLOURS, HAND_STYLES, strict=False):
        x, names = stations[station], [name for name, enters in kinds.items() if enters == door]
        ax.text(x, 2.9, door, ha="center", va="bottom", color=colour, weight="bold")
        ax.text(x, 2.82, "\n".join(names), ha="center", va="top", color=INK, fontsize=10)
        draw_arrow(ax, (x, 2.08), (x, 1.42), color=colour, ls=style, lw=2.0)
    ax.set(xlim=(-0.1, 9.3), ylim=(0.45, 3.35))
    ax.axis("off")
    return ax


def counter_and_waves(
    waves: Float[ndarray, "D N"], rows: Sequence[int], *, axes: Iterable[Axes] | None = None
) -> Iterable[Axes]:
    """The digits of a binary counter, the sinusoids as cells and two of their ``rows`` as curves with a dot at each
    position, position below position.
    """
    n_places = waves.shape[1]
    digits = (np.arange(n_places) >> np.arange((n_places - 1).bit_length())[:, None]) % 2
    if axes is None:
        _, axes = plt.subplots(3, 1, figsize=(6.6, 5.6), height_ratios=(len(digits), len(waves), 6), sharex=True)
    counter, cells, curves = axes
    _cells(counter, digits, [f"{2**bit}s" for bit in range(len(digits))], "a binary counter", limit=2.0)
    for (bit, n), digit in np.ndenumerate(digits):
        counter.text(n, bit, f"{digit}", ha="center", va="center", fontsize=8)
    labels = [f"row {i}" if i in rows else "" for i in range(len(waves))]
    _cells(cells, waves, labels, "sinusoids", signed=True)
    for row, colour, style in zip(rows, COLOURS, HAND_STYLES, strict=False):
        wave, speed = (np.cos if row % 2 else np.sin), 10000.0 ** (-(row - row % 2) / len(waves))
        between = np.linspace(0, n_places - 1, 12 * n_places)
        curves.plot(between, wave(speed * between), color=colour, ls=style, lw=1.8, label=f"row {row}")
        curves.plot(waves[row], color=colour, ls="", marker="o", ms=3.5)
    curves.set(xlim=(-0.5, n_places - 0.5), xlabel="position n", yticks=[-1, 0, 1])
    curves.set_xticks(range(0, n_places, 4), [str(n) for n in range(0, n_places, 4)])
    curves.tick_params(labelbottom=True, bottom=True)
    curves.set_title("two of these rows as curves", pad=6)
    curves.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(rows), borderaxespad=0.0)
    return axes


def _cells(ax: Axes, values: ndarray, labels: Sequence[str], title: str, **options) -> None:
    heatmap(values.astype(float), rows=labels, numbers=False, ax=ax, **options)
    ax.set_aspect("auto")
    ax.set_title(title, pad=6)
    ax.tick_params(labeltop=False)


def clock(
    hands: Mapping[str, float], *, arc: tuple[float, float] | None = None, title: str = "", ax: Axes | None = None
) -> Axes:
    """A circle with a labelled hand for every angle, in radians from the right, turning left; ``arc`` marks a turn."""
    ax = axes_or_new(ax, (2.2, 2.4))
    ax.add_patch(plt.Circle((0, 0), 1, fill=False, ec="#8a93a3", lw=1.2))
    for (name, angle), colour, style in zip(hands.items(), COLOURS, HAND_STYLES, strict=False):
        x, y = np.cos(angle), np.sin(angle)
        ax.plot([0, 0.93 * x], [0, 0.93 * y], color=colour, ls=style, lw=2.4, solid_capstyle="round")
        ax.plot(x, y, "o", color=colour, ms=6)
        ax.text(1.3 * x, 1.24 * y, name, ha="center", va="center", color=colour)
    if arc is not None:
        low, high = np.degrees(sorted(arc))
        ax.add_patch(Arc((0, 0), 0.8, 0.8, theta1=low, theta2=high, color=INK, lw=1.6))
    ax.set_title(title, loc="center")
    ax.set(xlim=(-1.65, 1.65), ylim=(-1.5, 1.5), aspect="equal")
    ax.axis("off")
    return ax


def _card(ax: Axes, centre: tuple[int | float, int | float], name: str) -> None:
    draw_box(ax, centre, 1.24, 0.72, corner=0.06, fc="#f3f5f9", ec=COLOURS[5])
    ax.text(*centre, name, ha="center", va="center", fontsize=10)
