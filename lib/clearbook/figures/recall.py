"""How news of a card travels: through the states of a recurrent network, and which output knows which token."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy import ndarray

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, axes_or_new

STEP, FLOOR, CEILING = 1.3, 0.0, 1.5  # from card to card, and the heights of cards and states
PALE = "#8a93a3"
KNOWN = "#9cc3e4"  # a cell of what an output knows


def unrolled(cards: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """A recurrent network, one copy for each card; the way of the first card to the answer is drawn thick."""
    last = len(cards) - 1
    ax = axes_or_new(ax, (1.15 * len(cards) + 1.3, 2.7))
    for n, card in enumerate(cards):
        _station(ax, (n * STEP, FLOOR), card, first=n == 0)
        _station(ax, (n * STEP, CEILING), f"$\\mathbf{{h}}_{n + 1}$", first=True)
        _way(ax, (n * STEP, FLOOR + 0.36), (n * STEP, CEILING - 0.36), thick=n == 0)
        if n:
            _way(ax, ((n - 1) * STEP + 0.36, CEILING), (n * STEP - 0.36, CEILING), thick=True)
            ax.text((n - 0.5) * STEP, CEILING + 0.16, "$W_h$", ha="center", va="bottom", fontsize=11)
        ax.text(n * STEP + 0.1, (FLOOR + CEILING) / 2, "$W_x$", ha="left", va="center", fontsize=11)
    _way(ax, (last * STEP + 0.36, CEILING), (last * STEP + 0.95, CEILING), thick=True)
    ax.text(last * STEP + 1.05, CEILING, "answer", ha="left", va="center")
    ax.text(-0.62, FLOOR, "cards", ha="right", va="center")
    ax.text(-0.62, CEILING, "states", ha="right", va="center")
    ax.set(xlim=(-0.6, last * STEP + 2.0), ylim=(-0.5, CEILING + 0.6), aspect="equal")
    ax.axis("off")
    return ax


def who_knows_whom(
    maps: Mapping[str, Float[ndarray, "N N"]], *, per_row: int = 2, axes: Iterable[Axes] | None = None
) -> Iterable[Axes]:
    """For each title a square of cells, filled where the output of that column knows the token of that row.

    A frame stands around the longest way, from the first token to the last output, and a sign says if it is gone.
    """
    if axes is None:
        n_rows = -(-len(maps) // per_row)
        _, drawn = plt.subplots(n_rows, per_row, figsize=(2.35 * per_row, 2.75 * n_rows), squeeze=False)
        axes = list(drawn.flat)
    for ax, (title, knows) in zip(axes, maps.items(), strict=True):
        n = len(knows)
        for s in range(n):
            for m in range(n):
                colour = KNOWN if knows[s, m] else "white"
                ax.add_patch(Rectangle((m + 0.5, s + 0.5), 1, 1, fc=colour, ec=PALE, lw=0.6))
        ax.add_patch(Rectangle((n - 0.5, 0.5), 1, 1, fill=False, ec=COLOURS[1], lw=2.6, zorder=3, clip_on=False))
        ax.text(n, 1, "✓" if knows[0, -1] else "✗", ha="center", va="center", fontsize=11, weight="bold", zorder=4)
        ax.set(xlim=(0.5, n + 0.5), ylim=(n + 0.5, 0.5), aspect="equal", xticks=range(1, n + 1), yticks=range(1, n + 1))
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.tick_params(length=0, labelsize=9)
        ax.spines[:].set_visible(False)
        ax.set(xlabel="output", ylabel="token")
        ax.set_title(title, loc="center", weight="bold", pad=8)
    return axes


def _station(ax: Axes, centre: tuple[float, float], text: str, *, first: bool) -> None:
    """A card or a state; ``first`` outlines it as a part of the way that the figure is about."""
    x, y = centre
    edge: dict[str, Any] = {"ec": COLOURS[0], "lw": 2.4} if first else {"ec": PALE, "lw": 1.0}
    draw_box(ax, centre, 0.68, 0.68, **edge)
    ax.text(x, y, text, ha="center", va="center", fontsize=13, color=INK)


def _way(ax: Axes, start: tuple, end: tuple, *, thick: bool) -> None:
    line: dict[str, Any] = {"color": COLOURS[0], "lw": 3.0} if thick else {"color": PALE, "lw": 1.2}
    draw_arrow(ax, start, end, mutation_scale=15, **line)
