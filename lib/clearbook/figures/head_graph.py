"""One head of attention as a graph: what is made from what on the way up, and the steps of the way back."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from clearbook.figures.kit import draw_arrow
from clearbook.figures.plots import COLOURS, INK

FORWARD: dict[str, Any] = {"color": INK, "lw": 1.6, "mutation_scale": 13}
BACK: dict[str, Any] = {"color": COLOURS[1], "lw": 1.8, "ls": (0, (4, 2)), "mutation_scale": 13}
PLACES = {  # name, shape, place
    "X": ("tokens $X$", "D × N", (5.0, 0.0)),
    "Q": ("queries $\\mathbf{q}_n$", "K × N", (1.5, 3.0)),
    "K": ("keys $\\mathbf{k}_s$", "K × N", (5.0, 3.0)),
    "V": ("values $\\mathbf{v}_s$", "K × N", (8.5, 3.0)),
    "C": ("scores $C$", "N × N", (3.25, 6.0)),
    "A": ("weights $A$", "N × N", (3.25, 9.2)),
    "Y": ("outputs $Y$", "K × N", (5.6, 12.4)),
    "F": ("loss $F$", "one number", (5.6, 15.6)),
}
EDGES = (  # from, to, what is done on the way forward, the step on the way back
    ("X", "Q", "$U_q$", "4"),
    ("X", "K", "$U_k$", "4"),
    ("X", "V", "$U_v$", "4"),
    ("Q", "C", "", "3"),
    ("K", "C", "", "3"),
    ("C", "A", "softmax", "2"),
    ("A", "Y", "", "1"),
    ("V", "Y", "", "1"),
    ("Y", "F", "the rest", "$E$"),
)
APART, HALF = 0.27, 0.78  # of the two arrows of a pair from their middle; half the height of a box


def head_graph(ax: Axes | None = None) -> Axes:
    """Every matrix of a head with its shape, the loss on top; solid arrows forward, dashed ones back with their steps.

    Source: Jiang 2023, figure 1 and backward steps 1 to 4.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(4.6, 7.3))
    ax.set(xlim=(-0.4, 10.4), ylim=(-1.9, 16.6))
    ax.axis("off")
    for start, end, done, step in EDGES:
        _pair(ax, np.array(PLACES[start][2]), np.array(PLACES[end][2]), done, step)
    for name, shape, (x, y) in PLACES.values():
        style = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": INK, "lw": 1.2}
        ax.text(x, y, f"{name}\n{shape}", ha="center", va="center", fontsize=11, color=INK, bbox=style, zorder=4)
    handles = [
        Line2D([], [], color=INK, lw=1.6, label="forward"),
        Line2D([], [], color=COLOURS[1], lw=1.8, ls=(0, (4, 2)), label="back, with its step"),
    ]
    ax.legend(handles=handles, loc="lower center", ncols=2, frameon=False, fontsize=10, bbox_to_anchor=(0.5, -0.02))
    return ax


def _pair(ax: Axes, start: np.ndarray, end: np.ndarray, done: str, step: str) -> None:
    """An arrow forward and, beside it, the arrow back."""
    down = HALF / (end - start)[1]
    tail, head = start + down * (end - start), end - down * (end - start)
    aside = APART * np.array([1.0, 0.0])
    draw_arrow(ax, tail - aside, head - aside, **FORWARD)
    draw_arrow(ax, head + aside, tail + aside, **BACK)
    x, y = (tail + head) / 2
    if done:
        up = 0.35 if end[0] < start[0] else 0.0  # clear of an arrow that leans to the left
        ax.text(x - 0.45, y - up, done, ha="right", va="center", fontsize=10.5, color=INK)
    circle = {"boxstyle": "circle,pad=0.18", "fc": "white", "ec": COLOURS[1], "lw": 1.2}
    ax.text(x + APART, y, step, ha="center", va="center", fontsize=10, color=COLOURS[1], bbox=circle, zorder=3)
