"""From a text to the next token on one drawing: pieces, ids, columns, the transformer, and what it expects."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, SIGNED, axes_or_new, ink_on

PIECE, CELL, BOX, BAR = 0.62, 0.36, 0.9, 0.42  # heights
WIDEST = 2.2  # of the bar of probability 1, in columns


def token_path(
    pieces: Sequence[str],
    ids: Sequence[int],
    X: Float[ndarray, "rows N"],
    expected: Mapping[str, float],
    *,
    n_features: int,
    ax: Axes | None = None,
) -> Axes:
    """Down the page: the pieces of a text, their ids, their columns, a transformer, and the likeliest next tokens.

    ``X`` holds the first rows of the columns, ``n_features`` is how many there are; ``expected`` maps a next token to
    its probability, the likeliest first.
    """
    N, n_rows = len(pieces), len(X)
    top = 2.15
    model = top + CELL * n_rows + 0.85
    bars = model + BOX + 0.75
    ax = axes_or_new(ax, (0.84 * N + 1.9, 0.62 * (bars + BAR * len(expected) + 0.2)))
    centred: dict[str, Any] = {"ha": "center", "va": "center"}
    for n, (piece, i) in enumerate(zip(pieces, ids, strict=True)):
        draw_box(ax, (n, 0), 0.86, 0.6, corner=0.03, fc="#e3eef8", ec=INK, lw=0.8)
        ax.text(n, 0, piece.replace(" ", "␣"), fontsize=9.5, **centred)
        ax.text(n, 1.05, str(i), fontsize=10, **centred)
        draw_arrow(ax, (n, 0.34), (n, 0.82), lw=1.0)
        draw_arrow(ax, (n, 1.28), (n, top - 0.06), lw=1.0)
        _column(ax, n, top, X[:, n], float(np.abs(X).max()))
        draw_arrow(ax, (n, top + CELL * n_rows + 0.32), (n, model - 0.03), lw=1.0)
    inside = ((N - 1) / 2, model + BOX / 2)
    draw_box(ax, inside, N - 0.08, BOX + 0.12, corner=0.06, fc="#f3f5f9", ec=INK, lw=1.4)
    ax.text(*inside, "the transformer", fontsize=12, **centred)
    draw_arrow(ax, (N - 1, model + BOX + 0.08), (N - 1, bars - 0.35), lw=1.0)
    _expected_tokens(ax, N - 1.35, bars, expected)
    side: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 10, "color": COLOURS[5]}
    middle = top + CELL * n_rows / 2
    for y, told in ((0, "pieces"), (1.05, "ids"), (middle, f"columns\nof {n_features}")):
        ax.text(-0.75, y, told, **side)
    ax.text(N - 2.6, bars + BAR * (len(expected) - 1) / 2, "next token", **side)
    ax.set(xlim=(-2.1, N + 0.3), ylim=(bars + BAR * len(expected), -0.5))
    ax.axis("off")
    return ax


def _expected_tokens(ax: Axes, left: float, top: float, expected: Mapping[str, float]) -> None:
    """A bar a token, as long as the token is likely."""
    for row, (piece, p) in enumerate(expected.items()):
        y = top + BAR * row
        ax.add_patch(plt.Rectangle((left, y - 0.13), WIDEST * p, 0.26, fc=COLOURS[0], ec="none"))
        ax.text(left - 0.12, y, piece.replace(" ", "␣"), ha="right", va="center", fontsize=9.5)
        ax.text(left + WIDEST * p + 0.1, y, f"{p:.0%}", ha="left", va="center", fontsize=9)


def _column(ax: Axes, n: int, top: float, values: ndarray, limit: float) -> None:
    """The first numbers of a token's vector from top to bottom, and three dots for the others."""
    for row, value in enumerate(values):
        shade = (value / limit + 1) / 2
        corner = (n - 0.38, top + CELL * row)
        ax.add_patch(plt.Rectangle(corner, 0.76, CELL, fc=plt.get_cmap(SIGNED)(shade), ec="#8a93a3", lw=0.7))
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "color": ink_on(shade, True)}
        ax.text(n, top + CELL * (row + 0.5), f"{value:z.2f}", **style)
    ax.text(n, top + CELL * len(values) + 0.13, "⋮", ha="center", va="center", fontsize=10)
