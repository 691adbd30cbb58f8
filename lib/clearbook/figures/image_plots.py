"""Pictures, their patches, and the path of the patches through a vision transformer."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy import ndarray

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, WEIGHTS, axes_or_new

INK_ON_PAPER: dict[str, Any] = {"cmap": "gray_r", "vmin": -0.45, "vmax": 2.8}  # pixels of mean 0 and spread 1


def image_panel(ax: Axes, image, *, title: str = "", **style) -> Axes:
    """One grey picture, ink dark on white, without axes."""
    ax.imshow(np.asarray(image).squeeze(), **(INK_ON_PAPER | style))
    ax.set(xticks=[], yticks=[], title=title)
    ax.spines[:].set_visible(True)
    ax.title.set_fontsize(10)
    return ax


def map_of_patches(ax: Axes, values, *, title: str = "", **style) -> Axes:
    """A number for each patch of a square picture, as squares: white is little, dark is much."""
    values = np.asarray(values)
    side = round(values.size**0.5)
    shades: dict[str, Any] = {"cmap": WEIGHTS, "vmin": 0}
    ax.imshow(values.reshape(side, side), **(shades | style))
    ax.set(xticks=[], yticks=[], title=title)
    ax.spines[:].set_visible(True)
    return ax


def patches_apart(ax: Axes, image: Float[ndarray, "..."], size: int, *, gap: int) -> Axes:
    """A picture, grey or in colour, with white gaps between its patches of ``size`` × ``size`` pixels.

    Raises: ValueError if the patches do not fill the picture.
    """
    rows, columns = image.shape[:2]
    if rows % size or columns % size:
        raise ValueError(
            f"patches_apart: patches of {size} × {size} pixels do not fill {rows} × {columns}. Choose another size."
        )
    step = size + gap
    paper = np.ones((rows // size * step - gap, columns // size * step - gap, 3))
    colours = image if image.ndim == 3 else image[..., None].repeat(3, axis=-1)
    for i in range(rows // size):
        for j in range(columns // size):
            square = colours[i * size : (i + 1) * size, j * size : (j + 1) * size]
            paper[i * step : i * step + size, j * step : j * step + size] = square
    ax.imshow(np.clip(paper, 0, 1), interpolation="nearest")
    ax.axis("off")
    return ax


def vit_diagram(image: Float[ndarray, "rows rows"], *, size: int, answer: str, ax: Axes | None = None) -> Axes:
    """From the bottom up: a picture, its patches as tokens with their positions, the blocks, the head, the answer.

    Of the tokens the first three and the last are drawn.

    Source: Dosovitskiy et al. 2021, figure 1.
    """
    ax = axes_or_new(ax, (5.4, 6.6))
    ax.set(xlim=(-0.7, 9.3), ylim=(-0.9, 11.4), aspect="equal")
    ax.axis("off")
    grey: dict[str, Any] = {**INK_ON_PAPER, "interpolation": "nearest", "zorder": 2}
    n_side = len(image) // size
    for i in range(n_side):
        for j in range(n_side):
            square = image[i * size : (i + 1) * size, j * size : (j + 1) * size]
            left, top = 3.1 + 0.8 * j, 2.5 - 0.8 * i
            ax.imshow(square, extent=(left, left + 0.7, top - 0.7, top), **grey)
            _frame(ax, left, top - 0.7)
    patches = [image[:size, j * size : (j + 1) * size] for j in range(3)] + [image[-size:, -size:]]
    places, names = (2.1, 3.9, 5.7, 8.4), ("1", "2", "3", str(n_side**2))
    for x, patch, name in zip(places, patches, names, strict=True):
        ax.imshow(patch, extent=(x - 0.35, x + 0.35, 3.35, 4.05), **grey)
        _frame(ax, x - 0.35, 3.35)
        _upward(ax, x, 4.1, 5.05)
        _token(ax, x, 5.4, f"$p_{{{name}}}$")
        _upward(ax, x, 5.75, 6.45)
    ax.text(7.05, 3.7, "…", ha="center", va="center", fontsize=14)
    ax.text(7.05, 5.4, "…", ha="center", va="center", fontsize=14)
    ax.text(7.05, 4.55, "times $W$,\nplus $b$", fontsize=10, ha="center", va="center")
    _token(ax, 0.3, 5.4, "$p_0$", first=True)
    _upward(ax, 0.3, 5.75, 6.45)
    ax.text(0.3, 4.6, "class\ntoken", fontsize=10, ha="center", va="center", color=COLOURS[1])
    draw_box(ax, (4.3, 7.25), 9.6, 1.5, ec=COLOURS[0], lw=2.2)
    ax.text(4.3, 7.25, "encoder: M blocks, every token sees every token", ha="center", va="center", fontsize=11)
    for x in places:
        _upward(ax, x, 8.05, 8.6, colour="#8a93a3")
    _upward(ax, 0.3, 8.05, 9.05)
    draw_box(ax, (0.3, 9.45), 1.6, 0.8, ec=INK, lw=1.2)
    ax.text(0.3, 9.45, "head", ha="center", va="center", fontsize=11)
    _upward(ax, 0.3, 9.9, 10.5)
    ax.text(0.3, 10.85, answer, ha="center", va="center", fontsize=13)
    ax.text(5.3, 8.9, "not read", ha="center", va="center", fontsize=10, color="#5b6472")
    return ax


def _frame(ax: Axes, x: float, y: float) -> None:
    ax.add_patch(Rectangle((x, y), 0.7, 0.7, fill=False, ec="#8a93a3", lw=0.8, zorder=3))


def _token(ax: Axes, x: float, y: float, position: str, *, first: bool = False) -> None:
    style: dict[str, Any] = {"ec": COLOURS[1], "ls": (0, (5, 2)), "lw": 2} if first else {"ec": INK, "lw": 1.2}
    draw_box(ax, (x, y), 1.26, 0.6, corner=0.08, **style)
    ax.text(x, y, f"$c$ + {position}" if first else f"+ {position}", ha="center", va="center", fontsize=10.5)


def _upward(ax: Axes, x: float, below: float, above: float, colour: str = INK) -> None:
    draw_arrow(ax, (x, below), (x, above), color=colour, gaps=(2, 2))
