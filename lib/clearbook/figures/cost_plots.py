"""Figures of what a model costs: its parameters to scale, its memory, who holds what, and who is busy when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy import ndarray, ndenumerate

from clearbook.figures.kit import draw_arrow
from clearbook.figures.plots import COLOURS, INK, axes_or_new
from clearbook.pipeline import FORWARD, Task

# Filling and hatching of successive parts, so that they are told apart without colour.
FILLS: tuple[dict[str, Any], ...] = (
    {"fc": "#9cc3e4", "hatch": ""},
    {"fc": "#f6d9c9", "hatch": "///"},
    {"fc": "#cfe6dc", "hatch": "..."},
    {"fc": "#e3d3ec", "hatch": "\\\\\\"},
    {"fc": "#efe3c4", "hatch": "xxx"},
    {"fc": "#ffffff", "hatch": ""},
)


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
        corner = 0.5 - side / 2, floor + 0.5 - side / 2
        ax.add_patch(Rectangle(corner, side, side, ec=INK, lw=0.5, **style))
        ax.text(1.2, floor + 0.5, name, va="center")
        floor += max(side, 0.5) + 0.3
    handles = [Patch(ec=INK, lw=0.5, label=name, **FILLS[i]) for i, name in enumerate(in_block)]
    ax.legend(handles=handles, loc="upper center", ncols=len(handles), bbox_to_anchor=(0.5, 1.1))
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


@dataclass(frozen=True)
class Split:
    """One way to share the work: what each of two workers holds, and what they send each other, how often."""

    title: str
    model: tuple[ndarray, ndarray]  # for each worker: layers × features, True where it holds the weights
    batch: tuple[ndarray, ndarray]  # for each worker: True for the sequences that it reads
    sent: str
    when: str


LAYERS, FEATURES, SEQUENCES = 4, 4, 4  # of the drawings of a split
WHOLE, EVERY = np.ones((LAYERS, FEATURES), dtype=bool), np.ones(SEQUENCES, dtype=bool)
LEFT, UPPER = WHOLE & (np.arange(FEATURES) < FEATURES // 2), WHOLE & (np.arange(LAYERS) < LAYERS // 2)[:, None]
FIRST = np.arange(SEQUENCES) < SEQUENCES // 2
SPLITS = (
    Split("data parallel", (WHOLE, WHOLE), (FIRST, ~FIRST), "gradients", "once a step"),
    Split("fully sharded data parallel: FSDP", (LEFT, ~LEFT), (FIRST, ~FIRST), "weights, gradients", "for every layer"),
    Split("tensor parallel", (LEFT, ~LEFT), (EVERY, EVERY), "sums of outputs", "4 times a block"),
    Split("pipeline parallel", (~UPPER, UPPER), (EVERY, EVERY), "outputs, errors", "every micro-batch"),
)


def ways_to_split(splits: Sequence[Split] = SPLITS, *, axes: Iterable[Axes] | None = None) -> Iterable[Axes]:
    """Two workers a panel, each with the model above and the batch below; arrows name what is sent, and how often.

    What a worker holds is filled, with a pattern for the second; what it does not hold is dotted.
    """
    if axes is None:
        _, axes = plt.subplots(len(splits), 1, figsize=(4.4, 2.1 * len(splits)))
    for ax, split in zip(axes, splits, strict=True):
        for worker, left in enumerate((0.0, 10.0)):
            for (row, column), held in ndenumerate(split.model[worker]):
                _share(ax, (left + column, row), worker, held=bool(held))
            for row, held in enumerate(split.batch[worker]):
                _share(ax, (left + row, LAYERS + 0.5), worker, held=bool(held), height=0.7)
            label = {"ha": "right" if worker == 0 else "left", "va": "center", "fontsize": 9}
            edge = left - 0.3 if worker == 0 else left + FEATURES + 0.3
            ax.text(edge, LAYERS / 2, "model", **label)
            ax.text(edge, LAYERS + 0.85, "batch", **label)
            ax.text(left + FEATURES / 2, -0.45, f"GPU {worker + 1}", ha="center", va="center", fontsize=9)
        ends = (FEATURES + 0.2, LAYERS / 2), (9.8, LAYERS / 2)
        draw_arrow(ax, *ends, lw=1.8, gaps=(2, 2), arrowstyle="<|-|>")
        ax.text(7, LAYERS / 2 - 0.25, split.sent, ha="center", va="bottom", fontsize=9.5)
        ax.text(7, LAYERS / 2 + 0.25, split.when, ha="center", va="top", fontsize=9.5)
        ax.set(xlim=(-2.0, 16.0), ylim=(LAYERS + 1.4, -0.9), aspect="equal")
        ax.set_title(split.title, loc="center", fontsize=11)
        ax.axis("off")
    return axes


def _share(ax: Axes, corner: tuple, worker: int, *, held: bool, height: float = 1.0) -> None:
    """One cell of a worker's model or batch."""
    style: dict[str, Any] = (
        FILLS[worker] | {"ec": INK, "lw": 0.8} if held else {"fc": "white", "ec": "#8a93a3", "lw": 0.7, "ls": ":"}
    )
    ax.add_patch(Rectangle(corner, 1, height, zorder=2 if held else 1, **style))


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
        ink: dict[str, Any] = {
            "color": INK if forward else "white",
            "ha": "center",
            "va": "center",
            "fontsize": 9,
        }
        ax.text(task.start + width / 2, task.worker, str(task.microbatch + 1), **ink)
    ax.set_yticks(range(n_workers), [f"GPU {worker + 1}" for worker in range(n_workers)])
    ax.set(
        xlim=(0, end),
        ylim=(n_workers - 0.5, -0.5),
        xlabel="time, in forwards of one micro-batch",
        title=title,
    )
    return ax
