"""Pictures of the residual stream and of a norm: a token and what is added to it, paths, a plane and a circle."""

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from numpy import ndarray

from clearbook.figures.kit import Point, draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, MARKERS, SIGNED, axes_or_new, ink_on

FAINT = "#c3cad6"  # of what is there and not taken
STEP = 2.6  # from one station of the stream to the next
IN_PLANE = np.array([[1.0, -1, 0], [1, 1, -2]]) / np.sqrt([[2.0], [6.0]])  # two directions at right angles to (1, 1, 1)


def residual_stream(
    stream: Float[ndarray, "stations D"],
    bits: Float[ndarray, "parts D"],
    parts: Sequence[str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """One token on its way through a stack: its features along the line, and under each plus what a part adds.

    Source: turner-v2, section 2.3.
    Raises: ValueError if there is not one station more than parts.
    """
    if not len(stream) == len(bits) + 1 == len(parts) + 1:
        raise ValueError(
            f"residual_stream: {len(stream)} stations, {len(bits)} bits and {len(parts)} names, "
            "expected one station more than bits and a name for each bit."
        )
    D, limit = stream.shape[1], float(np.abs(stream).max())
    ax = axes_or_new(ax, (7.4, 0.62 * D + 1.3))
    top = D + 1.2  # the lower edge of the stations; a bit stands below it
    middle, last = top + D / 2, STEP * len(parts)
    ax.plot([-0.9, last + 1.3], [middle, middle], color=INK, lw=5, zorder=0, solid_capstyle="butt")
    draw_arrow(ax, (last + 1.0, middle), (last + 1.7, middle), lw=3, gaps=(2, 2))
    for i, features in enumerate(stream):
        _column(ax, features, (STEP * i, top), limit)
    for i, (bit, name) in enumerate(zip(bits, parts, strict=True)):
        x = STEP * i + STEP / 2
        _column(ax, bit, (x, 0), limit)
        reads = [(STEP * i, top), (STEP * i, D / 2), (x - 0.5, D / 2)]
        ax.plot(*zip(*reads, strict=True), color=INK, lw=1.4, zorder=1)
        for end, start in ((reads[-1], (x - 0.7, D / 2)), ((x, middle - 0.3), (x, D))):
            draw_arrow(ax, start, end, lw=1.4, gaps=(0, 2))
        ax.text(x, middle, "+", ha="center", va="center", bbox={"boxstyle": "circle,pad=0.12", "fc": "white"})
        ax.text(x, -0.25, name, ha="center", va="top", fontsize=10)
    ax.text(-1.05, middle, "in", ha="right", va="center")
    ax.text(last + 1.8, middle, "out", ha="left", va="center")
    ax.set(xlim=(-1.6, last + 2.6), ylim=(-1.2, top + D + 0.2))
    ax.axis("off")
    return ax


def residual_paths(*, axes: Iterable[Axes] | None = None) -> Iterable[Axes]:
    """The four ways through two parts with residual connections, from bottom to top, with the term each one gives.

    Source: Veit et al. 2016, figure 1.
    """
    if axes is None:
        _, axes = plt.subplots(1, 4, figsize=(7.0, 2.9))
    terms = {"$I$": (), "$J_1$": (1,), "$J_2$": (2,), "$J_2 J_1$": (1, 2)}
    for ax, (term, taken) in zip(axes, terms.items(), strict=True):
        for part in (1, 2):
            floor = 2.0 * (part - 1)
            straight, around = [(0, floor), (0, floor + 2)], [(0, floor + 0.25), (1, floor + 0.25), (1, floor + 0.6)]
            back = [(1, floor + 1.4), (1, floor + 1.75), (0, floor + 1.75)]
            chosen = part in taken
            for line in (straight, around, back):
                ax.plot(*zip(*line, strict=True), color=FAINT, lw=1.2, zorder=1)
            way = [[(0, floor), *around], [*back, (0, floor + 2)]] if chosen else [straight]
            for line in way:
                ax.plot(*zip(*line, strict=True), color=COLOURS[1], lw=4, zorder=2, solid_joinstyle="round")
            edge: dict[str, Any] = {"ec": COLOURS[1], "lw": 2.4} if chosen else {"ec": "#8a93a3", "lw": 1.0}
            draw_box(ax, (1, floor + 1), 0.8, 0.8, **edge)
            ax.text(1, floor + 1, f"$J_{part}$", ha="center", va="center", zorder=3)
        draw_arrow(ax, (0, 3.9), (0, 4.45), color=COLOURS[1], lw=3, gaps=(2, 2))
        ax.set(xlim=(-0.6, 1.7), ylim=(-0.1, 4.5))
        ax.set_title(term, loc="center", fontsize=14)
        ax.axis("off")
    return axes


def norm_geometry(tokens: Float[ndarray, "N 3"], *, axes: Iterable[Axes] | None = None) -> Iterable[Axes]:
    """LayerNorm of tokens with three features: onto the plane where the mean is 0, then onto a circle in that plane.

    The left panel shows the plane from the side, the right one from above.

    Source: Ba et al. 2016, eq. 4.
    """
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(7.2, 3.6))
    side, above = axes
    flat, heights = tokens @ IN_PLANE.T, tokens.mean(axis=1)
    reach = 1.15 * max(np.abs(flat).max(), 2.2)
    side.axhline(0, color=INK, lw=3)
    side.text(reach, 0.12, "mean 0", ha="right", va="bottom")
    above.add_patch(Circle((0, 0), np.sqrt(3), fill=False, ec=INK, lw=2))
    above.plot(0, 0, "+", color=INK)
    for i, ((u, v), h) in enumerate(zip(flat, heights, strict=True)):
        style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "ms": 8}
        target = np.sqrt(3) * np.array([u, v]) / np.hypot(u, v)
        for ax, start, end in ((side, (u, h), (u, 0)), (above, (u, v), target)):
            ax.plot(*start, **style)
            draw_arrow(ax, start, end, color=style["color"], lw=1.6, gaps=(5, 0))
        above.plot(*target, **style, mfc="white")
    side.set(xlim=(-reach, reach), ylabel="mean of the token", title="1  subtract the mean (from the side)")
    above.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title="2  divide by the spread (from above)")
    above.axis("off")
    side.set_xticks([])
    side.spines["bottom"].set_visible(False)
    return axes


def _column(ax: Axes, values: ndarray, corner: Point, limit: float) -> None:
    """The features of one token, the first on top, each with its number."""
    x, floor = corner
    for d, value in enumerate(values):
        y, brightness = floor + len(values) - 1 - d, (value + limit) / (2 * limit)
        ax.add_patch(Rectangle((x - 0.5, y), 1, 1, fc=plt.get_cmap(SIGNED)(brightness), ec="#8a93a3", lw=0.8, zorder=2))
        text, ink = f"{value:z.1f}", ink_on(brightness, signed=True)
        ax.text(x, y + 0.5, text, ha="center", va="center", fontsize=9, color=ink, zorder=3)
