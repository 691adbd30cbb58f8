"""LoRA as a picture: a frozen square matrix, and beside it a way through a few numbers."""

from matplotlib.axes import Axes

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, axes_or_new

FROZEN, TRAINED = "#e4e7ec", "#e3eefa"


def draw_adapter(*, ax: Axes | None = None) -> Axes:
    """From x two ways lead to a sum: through W, which rests, and through A and B, which learn."""
    ax = axes_or_new(ax, (6.4, 3.2))
    ax.set(xlim=(-0.6, 11.4), ylim=(-1.5, 4.6), aspect="equal")
    ax.axis("off")
    draw_box(ax, (4.4, 3.1), 2.4, 2.4, fc=FROZEN, ec=INK, lw=1.2)
    draw_box(ax, (3.0, 0.0), 2.4, 0.7, fc=TRAINED, ec=COLOURS[0], lw=2)
    draw_box(ax, (6.6, 0.0), 0.7, 2.4, fc=TRAINED, ec=COLOURS[0], lw=2)
    ax.text(4.4, 3.1, "W\nfrozen", ha="center", va="center", fontsize=11)
    ax.text(3.0, 0.0, "A, learns", ha="center", va="center", fontsize=11)
    ax.text(6.6, 0.0, "B", ha="center", va="center", fontsize=11)
    ax.text(7.15, 0.0, "learns,\n0 at first", ha="left", va="center", fontsize=10)
    for start, end in (
        ((0.3, 1.7), (3.2, 3.1)),
        ((0.3, 1.3), (1.8, 0.0)),
        ((4.2, 0.0), (6.25, 0.0)),
        ((5.6, 3.1), (9.1, 1.75)),
        ((6.95, 0.75), (9.05, 1.35)),
        ((9.75, 1.55), (10.5, 1.55)),
    ):
        draw_arrow(ax, start, end)
    for x, y, text, va in (
        (0.0, 1.5, "x", "center"),
        (0.0, 0.85, "D", "center"),
        (9.4, 1.55, "+", "center"),
        (10.8, 1.55, "y", "center"),
        (10.8, 0.9, "E", "center"),
        (5.2, 0.12, "r numbers", "bottom"),
        (4.4, 4.35, "E × D", "bottom"),
        (3.0, -0.4, "r × D", "top"),
        (6.6, -1.25, "E × r", "top"),
    ):
        small = text in ("D", "E") or "×" in text or "numbers" in text
        ax.text(x, y, text, ha="center", va=va, fontsize=10 if small else 13)
    return ax
