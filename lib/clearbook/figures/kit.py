"""Arrows and boxes, as all schematic figures draw them."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from numpy import ndarray

from clearbook.figures.plots import INK

Point = Sequence[float | int] | Float[ndarray, "2"]


def draw_arrow(
    ax: Axes,
    start: Point,
    end: Point,
    *,
    color: str = INK,
    lw: float | int = 1.3,
    gaps: tuple[int, int] = (0, 0),
    zorder: int = 3,
    **style: Any,
) -> None:
    """Straight, with a filled head at its end; ``gaps`` are left free before and behind it, in points."""
    (x_start, y_start), (x_end, y_end) = start, end
    before, behind = gaps
    look = {"arrowstyle": "-|>", "color": color, "lw": lw, "shrinkA": before, "shrinkB": behind, **style}
    ax.annotate("", (x_end, y_end), (x_start, y_start), arrowprops=look, zorder=zorder)


def draw_box(
    ax: Axes,
    centre: Point,
    width: float | int,
    height: float | int,
    *,
    corner: float = 0.1,
    fc: str = "white",
    **style: Any,
) -> None:
    """A rectangle around its ``centre`` whose corners are rounded with the radius ``corner``."""
    x, y = centre
    left, bottom = x - width / 2 + corner, y - height / 2 + corner
    shape = f"round,pad={corner}"
    patch = FancyBboxPatch((left, bottom), width - 2 * corner, height - 2 * corner, boxstyle=shape, fc=fc, **style)
    ax.add_patch(patch)
