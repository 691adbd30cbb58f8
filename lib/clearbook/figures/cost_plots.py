"""Figures of what a model costs: its parameters to scale, its memory, who holds what, and who is busy when."""

from collections.abc import Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy import ndarray, ndenumerate

from clearbook.figures.plots import COLOURS, INK, axes_or_new
from clearbook.pipeline import FORWARD, Task

# Filling and hatching of successive parts, so that they are told apart without colour.
FILLS = (
    {"fc": "#9cc3e4", "hatch": ""},
    {"fc": "#f6d9c9", "hatch": "///"},
    {"fc": "#cfe6dc", "hatch": "..."},
    {"fc": "#e3d3ec", "hatch": "\\\\\\"},
    {"fc": "#efe3c4", "hatch": "xxx"},
    {"fc": "#ffffff", "hatch": ""},
)
SHARES = ("#cfe0f1", "#f6d9c9", "#cfe6dc", "#e3d3ec")


def parameter_areas(
    n_blocks: int,
    in_block: Mapping[str, float],
    outside: Mapping[str, float],
    *,
    columns: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """A model's parameters to scale: a square a block, cut into its parts, and a square for each part outside.

    All areas have one scale, so that a part which cannot be seen is one of which there is next to nothing.
    """
    whole = sum(in_block.values())
    n_rows = -(-n_blocks // columns)
    ax = axes_or_new(ax, (0.46 * columns + 0.3, 0.46 * n_rows + 1.9))
    for block in range(n_blocks):
        row, column = divmod(block, columns)
        left = float(column)
        for i, count in enumerate(in_block.values()):
            ax.add_patch(Rectangle((left, row), 0.94 * count / whole, 0.94, ec=INK, lw=0.5, **FILLS[i]))
            left += 0.94 * count / whole
    floor = n_rows + 0.35
    for i, (name, count) in enumerate(outside.items()):
        side = 0.94 * (count / whole) ** 0.5
        style = FILLS[len(in_block) + i]
        ax.add_patch(
            Rectangle(
                (0.5 - side / 2, floor + 0.5 - side / 2),
                side,
                side,
                ec=INK,
                lw=0.5,
                **style,
            )
        )
        ax.text(1.2, floor + 0.5, name, va="center")
        floor += max(side, 0.5) + 0.3
    handles = [Patch(ec=INK, lw=0.5, label=name, **FILLS[i]) for i, name in enumerate(in_block)]
    ax.legend(
        handles=handles,
        loc="upper center",
        ncols=len(handles),
        bbox_to_anchor=(0.5, 1.1),
    )
    ax.set(xlim=(-0.1, columns), ylim=(floor + 0.2, -0.1), aspect="equal")
    ax.axis("off")
    return ax


def stacked_bars(bars: Mapping[str, Mapping[str, float]], *, xlabel: str, ax: Axes | None = None) -> Axes:
    """One bar a row, cut into parts; a part has the same filling in every row, and the row's sum stands behind it."""
    names = list(dict.fromkeys(part for parts in bars.values() for part in parts))
    ax = axes_or_new(ax, (5.2, 0.55 * len(bars) + 1.2))
    longest = max(sum(parts.values()) for parts in bars.values())
    for row, parts in enumerate(bars.values()):
        left = 0.0
        for name, value in parts.items():
            ax.barh(
                row,
                value,
                left=left,
                ec=INK,
                lw=0.6,
                height=0.65,
                **FILLS[names.index(name)],
            )
            left += value
        ax.text(left + 0.015 * longest, row, f"{left:,.0f}", va="center", fontsize=10)
    ax.set_yticks(range(len(bars)), list(bars))
    ax.set(xlabel=xlabel, xlim=(0, 1.14 * longest), ylim=(len(bars) - 0.5, -0.5))
    handles = [Patch(ec=INK, lw=0.6, label=name, **FILLS[i]) for i, name in enumerate(names)]
    ax.legend(
        handles=handles,
        loc="lower center",
        ncols=2,
        bbox_to_anchor=(0.4, 1.0),
        fontsize=10,
    )
    return ax


def sharded(
    grids: Mapping[str, Int[ndarray, "_ _"]],
    *,
    per_row: int = 2,
    axes: Iterable[Axes] | None = None,
) -> Iterable[Axes]:
    """Who holds which cell: the number of a worker, counted from 1; 0 is held by all and stays empty."""
    if axes is None:
        n_rows = -(-len(grids) // per_row)
        _, axes = plt.subplots(n_rows, per_row, figsize=(2.4 * per_row, 1.75 * n_rows), squeeze=False)
        axes = list(axes.flat)
    for ax, (title, grid) in zip(axes, grids.items(), strict=True):
        for (row, column), worker in ndenumerate(grid):
            colour = SHARES[(worker - 1) % len(SHARES)] if worker else "white"
            ax.add_patch(Rectangle((column, row), 1, 1, fc=colour, ec="#8a93a3", lw=0.8))
            if worker:
                ax.text(
                    column + 0.5,
                    row + 0.5,
                    str(worker),
                    ha="center",
                    va="center",
                    fontsize=10,
                )
        ax.set(
            xlim=(-0.05, grid.shape[1] + 0.05),
            ylim=(grid.shape[0] + 0.05, -0.05),
            aspect="equal",
        )
        ax.set_title(title, loc="center")
        ax.axis("off")
    return axes


def timeline(tasks: Sequence[Task], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Who is busy when, one row a worker: the number of the microbatch, from 1, on light forward, on dark backward."""
    n_workers, end = (
        1 + max(task.worker for task in tasks),
        max(task.stop for task in tasks),
    )
    ax = axes_or_new(ax, (6.0, 0.42 * n_workers + 0.9))
    for task in tasks:
        forward = task.kind == FORWARD
        corner, width = (task.start, task.worker - 0.42), task.stop - task.start
        ax.add_patch(
            Rectangle(
                corner,
                width,
                0.84,
                fc="#cfe0f1" if forward else COLOURS[0],
                ec="white",
                lw=1.0,
            )
        )
        ink = {
            "color": INK if forward else "white",
            "ha": "center",
            "va": "center",
            "fontsize": 9,
        }
        ax.text(task.start + width / 2, task.worker, str(task.microbatch + 1), **ink)
    ax.set_yticks(range(n_workers), [f"worker {worker + 1}" for worker in range(n_workers)])
    ax.set(
        xlim=(0, end),
        ylim=(n_workers - 0.5, -0.5),
        xlabel="time, in forwards of one microbatch",
        title=title,
    )
    return ax
