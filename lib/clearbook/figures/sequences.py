"""Rows of tokens: what a decoder reads and is asked for, and what a cache keeps from step to step."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from clearbook.figures.kit import draw_arrow
from clearbook.figures.plots import COLOURS, INK, axes_or_new

PALE, KEPT = "#f3f5f9", "#9cc3e4"  # a box with a token; what was computed before
PER_ROW = 2  # frames beside each other


def shifted_rows(
    read: Sequence[str], asked: Sequence[str], *, source: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """What the decoder reads, below, and what it is asked for, above: the same tokens, shifted by one.

    A solid arrow leads from what is read to the answer at its position, a dashed one from an answer to where it is read
    next. The words of the ``source``, if there are any, stand under everything, and a dotted line leads them into the
    decoder: each position may look at all of them.
    Where nothing is asked for, an empty string, the box is dashed and no arrow leads to it.

    Raises: ValueError for two rows of different lengths.
    """
    if len(read) != len(asked):
        raise ValueError(f"shifted_rows: {len(read)} tokens are read and {len(asked)} asked for; expected as many.")
    n, floor = len(read), -1.5 if source else -0.2
    ax = axes_or_new(ax, (1.0 * n + 1.6, 3.3 if source else 2.5))
    ax.set(xlim=(-1.75, n - (0.1 if source else 0.4)), ylim=(floor, 2.6))
    ax.axis("off")
    for y, name, row in ((2.0, "asked for", asked), (0.2, "read", read)):
        ax.text(-0.65, y + 0.2, name, ha="right", va="center", fontsize=10)
        for i, token in enumerate(row):
            _cell(ax, (i, y), token, "white" if y > 1 else PALE, dashed=not token)
    ax.add_patch(Rectangle((-0.45, 1.0), n - 0.1, 0.5, fc=PALE, ec=INK, lw=1.0, zorder=2))
    seen = "decoder: each position sees what is read so far"
    ax.text((n - 1) / 2, 1.25, seen, ha="center", va="center", fontsize=10, zorder=3)
    for i in range(n):
        _way(ax, (i, 0.62), (i, 0.98))
        if asked[i]:
            _way(ax, (i, 1.52), (i, 1.98))
        if asked[i] and i + 1 < n:
            _way(ax, (i + 0.28, 1.98), (i + 0.78, 0.64), dashed=True)
    for i, word in enumerate(source):
        x = (i + 0.5) * n / len(source) - 0.5
        ax.text(x, -0.75, word, ha="center", va="center", fontsize=9.5)
    if source:
        dotted: dict[str, Any] = {
            "color": COLOURS[2],
            "lw": 2.2,
            "ls": (0, (1, 1.2)),
        }  # as the outline of a cross-attention
        ax.plot([-0.45, n - 0.25, n - 0.25, n - 0.5], [-0.4, -0.4, 1.25, 1.25], **dotted)
        ax.plot(n - 0.48, 1.25, "<", color=COLOURS[2], ms=7, zorder=4)
        ax.text((n - 1) / 2, -1.25, "source: every position sees all of it", ha="center", va="center", fontsize=10)
    return ax


def cache_frames(words: Sequence[str], *, axes: Iterable[Axes] | None = None) -> Iterable[Axes]:
    """A frame for each step of writing: the keys and values that are made now, and those that are there already.

    What is made in the step has a thick frame and says "new", what was kept is filled; above stands the one query.
    """
    n = len(words)
    if axes is None:
        rows = -(-n // PER_ROW)
        axes = plt.subplots(rows, PER_ROW, figsize=(2.45 * PER_ROW, 2.5 * rows), squeeze=False)[1].flat
        for unused in axes[n:]:
            unused.axis("off")
        axes = axes[:n]
    for step, ax in enumerate(axes):
        ax.set(xlim=(-0.75, n - 0.35), ylim=(-0.9, 3.3), aspect="auto")
        ax.axis("off")
        ax.set_title(f"step {step + 1}", loc="center")
        for y, name in ((0.9, "keys"), (0.0, "values")):
            ax.text(-0.5, y + 0.3, name[0], ha="right", va="center", fontsize=10, style="italic")
            for s in range(step + 1):
                _cell(
                    ax, (s, y), "new" if s == step else "kept", "white" if s == step else KEPT, thick=s == step, h=0.6
                )
        _cell(ax, (step, 2.3), "query", "white", thick=True, h=0.6)
        for s in range(step + 1):
            _way(ax, (step, 2.28), (s, 1.52))
            ax.text(s, -0.3, words[s], ha="center", va="center", fontsize=9.5)
    return axes


def _cell(
    ax: Axes, corner: tuple, text: str, colour: str, *, thick: bool = False, dashed: bool = False, h: float = 0.4
) -> None:
    """A box with a word, centred over the place corner[0]."""
    x, y = corner
    edge, ls = COLOURS[1] if thick else INK, "--" if dashed else "-"
    ax.add_patch(Rectangle((x - 0.42, y), 0.84, h, fc=colour, ec=edge, lw=2.4 if thick else 1.0, ls=ls, zorder=2))
    ax.text(x, y + h / 2, text, ha="center", va="center", fontsize=10, zorder=3)


def _way(ax: Axes, start: tuple, end: tuple, *, dashed: bool = False) -> None:
    draw_arrow(ax, start, end, color=COLOURS[1] if dashed else INK, lw=1.2, ls="--" if dashed else "-", zorder=1)
