"""Boxes and arrows: how the parts of a transformer are joined; an attention is known by its label and its outline."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, axes_or_new

# One outline a kind of part, so that the three attentions are told apart without colour.
OUTLINES: dict[str, Any] = {
    "self-attention": {"ec": COLOURS[0], "ls": "-", "lw": 2.2},
    "masked self-attention": {"ec": COLOURS[1], "ls": (0, (5, 2)), "lw": 2.2},
    "cross-attention": {"ec": COLOURS[2], "ls": (0, (1, 1.2)), "lw": 2.6},
    "feed-forward": {"ec": COLOURS[5], "ls": "-", "lw": 1.0},
    "norm": {"ec": COLOURS[5], "ls": "-", "lw": 1.0},
}
SHADE = "#9cc3e4"  # of cells that share a mean
HEIGHT, GAP = 0.72, 1.15  # of a box, and from one box to the next


def block_diagram(
    *, norm_first: bool = True, cross: bool = False, causal: bool = False, ax: Axes | None = None
) -> Axes:
    """One block from bottom to top: the residual stream on the left, and the parts that read it and add to it.

    The memory Z enters the cross-attention from the right. ``norm_first`` puts the norms in front of the parts,
    otherwise they stand in the stream after each sum.

    Source: turner-v2, figure 7 (norm first); Vaswani et al. 2017, figure 1 (norm after).
    """
    parts = ["masked self-attention" if causal else "self-attention", *["cross-attention"] * cross, "feed-forward"]
    floor = 0.0
    top = len(parts) * 3 * GAP
    ax = _canvas(ax, (3.1, 0.62 * top + 0.9), (-0.9, 5.2 if cross else 3.6), (-0.75, top + 0.45))
    for part in parts:
        branch = ["norm", part] if norm_first else [part]
        places = [floor + GAP * (i + (0.8 if norm_first else 0.9)) for i in range(len(branch))]
        _line(ax, [(0, floor + 0.2), (2, floor + 0.2), (2, places[0] - HEIGHT / 2)])
        for name, y in zip(branch, places, strict=True):
            _part(ax, (2, y), name)
        if norm_first:
            _line(ax, [(2, places[0] + HEIGHT / 2), (2, places[1] - HEIGHT / 2)])
        if part == "cross-attention":
            _line(ax, [(4.35, places[-1]), (3.25, places[-1])])
            ax.text(4.45, places[-1], "$Z$\nD × S", ha="left", va="center")
        total = places[-1] + 0.75
        _line(ax, [(2, places[-1] + HEIGHT / 2), (2, total), (0.17, total)])
        ceiling = floor + 3 * GAP
        _line(ax, [(0, floor), (0, total - 0.17)], lw=3.0, head=False)
        ax.text(
            0, total, "+", ha="center", va="center", fontsize=12, bbox={"boxstyle": "circle,pad=0.1", "fc": "white"}
        )
        if not norm_first:
            _part(ax, (0, total + 0.78), "norm", width=1.3)
            _line(ax, [(0, total + 0.17), (0, total + 0.78 - HEIGHT / 2)], lw=3.0, head=False)
            _line(ax, [(0, total + 0.78 + HEIGHT / 2), (0, ceiling)], lw=3.0, head=False)
        else:
            _line(ax, [(0, total + 0.17), (0, ceiling)], lw=3.0, head=False)
        floor = ceiling
    ax.text(0, -0.4, "$X$,  D × N", ha="center", va="center")
    ax.text(0, top + 0.3, "$X'$,  D × N", ha="center", va="center")
    ax.set_title("pre-norm: norm first" if norm_first else "post-norm: norm after", loc="center")
    return ax


def norm_axes(
    norms: Mapping[str, str], *, sizes: tuple[int, int, int] = (2, 4, 5), axes: Iterable[Axes] | None = None
) -> Iterable[Axes]:
    """For every norm, which numbers share a mean: the cells with a dot, inside a thick frame.

    ``norms`` maps a title to the axes that are averaged, "D" or "B N"; ``sizes`` are those of batch, features and
    tokens. A sequence is drawn as in the formulas, features down the side and one token a column.

    Source: turner-v2, figure 5.

    Raises: ValueError for an axis other than B, D and N.
    """
    if axes is None:
        size = 2.3 * len(norms), 0.36 * sizes[0] * (sizes[1] + 1) + 0.9
        axes = plt.subplots(1, len(norms), figsize=size, squeeze=False)[1][0]
    for ax, (title, averaged) in zip(axes, norms.items(), strict=True):
        if not set(averaged.split()) <= set("BDN"):
            raise ValueError(f"norm_axes: {title!r} averages over {averaged!r}, expected axes from B, D and N.")
        _norm_grids(ax, averaged.split(), *sizes)
        ax.set_title(title, loc="center")
    return axes


def _norm_grids(ax: Axes, averaged: list[str], n_sequences: int, n_features: int, n_tokens: int) -> None:
    """One grid a sequence, the first on top; of an axis that is not averaged the second entry is taken."""
    chosen = {axis: range(size) if axis in averaged else [1] for axis, size in (("D", n_features), ("N", n_tokens))}
    for b in range(n_sequences):
        floor = (n_sequences - 1 - b) * (n_features + 1)
        for d, n in product(range(n_features), range(n_tokens)):
            ax.add_patch(Rectangle((n, floor + n_features - 1 - d), 1, 1, fc="white", ec="#8a93a3", lw=0.8))
        ax.text(-0.35, floor + n_features / 2, f"sequence {b + 1}", rotation=90, ha="center", va="center", fontsize=10)
        if b > 0 and "B" not in averaged:
            continue
        for d, n in product(chosen["D"], chosen["N"]):
            y = floor + n_features - 1 - d
            ax.add_patch(Rectangle((n, y), 1, 1, fc=SHADE, ec="#8a93a3", lw=0.8, zorder=2))
            ax.plot(n + 0.5, y + 0.5, "o", color=INK, ms=5, zorder=3)
        corner = (chosen["N"][0], floor + n_features - 1 - chosen["D"][-1])
        outline = Rectangle(corner, len(chosen["N"]), len(chosen["D"]), fill=False, ec=COLOURS[0], lw=3, zorder=4)
        ax.add_patch(outline)
    ax.set(xlim=(-0.8, n_tokens + 0.1), ylim=(-0.9, n_sequences * (n_features + 1) - 0.9), aspect="equal")
    ax.text(n_tokens / 2, -0.25, "tokens →  features ↓", ha="center", va="top", fontsize=10)
    ax.axis("off")


def _canvas(ax: Axes | None, figsize: tuple, xlim: tuple, ylim: tuple) -> Axes:
    ax = axes_or_new(ax, figsize)
    ax.set(xlim=xlim, ylim=ylim)
    ax.axis("off")
    return ax


def _part(ax: Axes, centre: tuple, name: str, *, width: float = 2.4) -> None:
    """A part of the model, outlined as its kind is, with its name inside."""
    x, y = centre
    draw_box(ax, centre, width, HEIGHT, zorder=2, **OUTLINES[name])
    text = name.replace("masked self", "masked\nself")
    style: dict[str, Any] = {"fontsize": 9 if "\n" in text else 10.5, "linespacing": 1.0}
    ax.text(x, y, text, ha="center", va="center", zorder=3, **style)


def _line(ax: Axes, points: list[tuple], *, lw: float = 1.3, head: bool = True) -> None:
    """Straight pieces from point to point, with an arrow head at the end."""
    ax.plot(*zip(*points, strict=True), color=INK, lw=lw, zorder=1, solid_capstyle="butt")
    if head:
        draw_arrow(ax, points[-2], points[-1], lw=lw, gaps=(2, 0))
