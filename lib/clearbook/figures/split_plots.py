"""Figures of chapter 15: items that were right, and what GPUs send each other in a ring, to experts, in a plan."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from clearbook.figures.cost_plots import FILLS
from clearbook.figures.plots import INK, axes_or_new

LETTERS = "abcdefgh"
PLATE: dict[str, Any] = {"fc": "white", "ec": "none", "pad": 1.0, "alpha": 0.85}  # under words on a hatched ground


def rows_of_answers(found: Mapping[str, Sequence[bool]], items: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """A row for each way to ask, a column for each item: filled and ticked if it was right, and the row's count."""
    ax = axes_or_new(ax, (6.6, 0.36 * len(found) + 1.2))
    for row, (_, right) in enumerate(found.items()):
        for column, is_right in enumerate(right):
            face = FILLS[0]["fc"] if is_right else "white"
            ax.add_patch(Rectangle((column + 0.05, row + 0.08), 0.9, 0.84, fc=face, ec=INK, lw=0.7))
            if is_right:
                ax.text(column + 0.5, row + 0.5, "✓", ha="center", va="center", fontsize=10)
        ax.text(len(items) + 0.3, row + 0.5, f"{sum(right)} of {len(items)}", va="center", fontsize=10)
    ax.set_yticks([row + 0.5 for row in range(len(found))], list(found))
    ax.set_xticks([column + 0.5 for column in range(len(items))], items, rotation=90)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=10)
    ax.set(xlim=(0, len(items) + 2.4), ylim=(len(found), 0))
    ax.spines[:].set_visible(False)
    return ax


def ring_rounds(n: int = 3) -> list[list[list[set[int]]]]:
    """Who holds the sum of whose pieces, before the first message of a ring and after each.

    ``rounds[t][gpu][piece]`` are the GPUs whose pieces are added up in that piece of that GPU after t messages.
    """
    rounds = [[[{gpu} for _ in range(n)] for gpu in range(n)]]
    for step in range(2 * (n - 1)):
        before, after = rounds[-1], [[set(piece) for piece in gpu] for gpu in rounds[-1]]
        for gpu in range(n):
            piece, to = (gpu - step) % n, (gpu + 1) % n
            after[to][piece] = before[gpu][piece] | (before[to][piece] if step < n - 1 else set())
        rounds.append(after)
    return rounds


def ring_of_gpus(n: int = 3) -> list[Axes]:
    """A grid for each round of an all-reduce: a row a GPU, a column a piece, letters for whose numbers are in it.

    What is a whole sum is filled; what has just arrived has a thick frame.
    """
    rounds = ring_rounds(n)
    _, axes = plt.subplots(1, len(rounds), figsize=(6.6, 1.9))
    for t, (ax, held) in enumerate(zip(axes, rounds, strict=True)):
        for gpu in range(n):
            for piece in range(n):
                parts = held[gpu][piece]
                new = t > 0 and parts != rounds[t - 1][gpu][piece]
                face = FILLS[0]["fc"] if len(parts) == n else "white"
                frame: dict[str, Any] = {"lw": 2.2 if new else 0.7, "zorder": 2 if new else 1}
                ax.add_patch(Rectangle((piece, gpu), 1, 1, fc=face, ec=INK, **frame))
                told = "".join(LETTERS[one] for one in sorted(parts))
                ax.text(piece + 0.5, gpu + 0.5, told, ha="center", va="center", fontsize=10, zorder=3)
        half = "sum" if t < n else "pass on"
        ax.set_title("before" if t == 0 else f"{t}: {half}", fontsize=10)
        ax.set(xlim=(-0.1, n + 0.1), ylim=(n + 0.1, -0.1), aspect="equal", xticks=[])
        named = range(n) if t == 0 else ()
        ax.set_yticks([gpu + 0.5 for gpu in named], [f"GPU {LETTERS[gpu]}" for gpu in named])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    return list(axes)


def keys_go_round(n: int = 4, *, ax: Axes | None = None) -> Axes:
    """Context parallelism with a causal mask: in each round, which part's keys and values lie on which GPU.

    A GPU keeps the queries of its part. What comes later than these is not looked at, and is hatched.
    """
    ax = axes_or_new(ax, (5.6, 0.62 * n + 0.9))
    for turn in range(n):
        for gpu in range(n):
            part = (gpu - turn) % n
            style = FILLS[0] if part <= gpu else FILLS[1] | {"fc": "white"}
            ax.add_patch(Rectangle((gpu + 0.04, turn + 0.08), 0.92, 0.84, ec=INK, lw=0.8, **style))
            ax.text(gpu + 0.5, turn + 0.5, f"keys {part + 1}", ha="center", va="center", fontsize=10, bbox=PLATE)
    ax.set_xticks([gpu + 0.5 for gpu in range(n)], [f"GPU {gpu + 1}\nqueries {gpu + 1}" for gpu in range(n)])
    ax.set_yticks([turn + 0.5 for turn in range(n)], [f"round {turn + 1}" for turn in range(n)])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set(xlim=(0, n), ylim=(n, 0))
    ax.spines[:].set_visible(False)
    return ax


def tokens_to_experts(experts: Sequence[int], per_gpu: int, *, ax: Axes | None = None) -> Axes:
    """Tokens of all GPUs on the left, in their order; on the right sorted by the expert that each is sent to.

    ``experts[i]`` is the expert of token i; ``per_gpu`` experts live on a GPU, and the tokens come in equal shares.
    """
    ax = axes_or_new(ax, (5.2, 0.34 * len(experts) + 0.8))
    order = np.argsort(experts, kind="stable")
    n_gpus = (max(experts) + per_gpu) // per_gpu
    share = len(experts) // n_gpus
    for row, token in enumerate(order):
        for x, place, gpu in ((0.0, token, token // share), (6.0, row, experts[token] // per_gpu)):
            top = place + 0.6 * gpu
            style = FILLS[experts[token]] | {"ec": INK, "lw": 0.8}
            ax.add_patch(Rectangle((x, top), 1.9, 0.8, **style))
            told: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "bbox": PLATE}
            ax.text(x + 0.95, top + 0.4, f"{token + 1} → {experts[token] + 1}", **told)
        start, end = token + 0.6 * (token // share) + 0.4, row + 0.6 * (experts[token] // per_gpu) + 0.4
        moved = token // share != experts[token] // per_gpu
        ax.plot([1.95, 5.95], [start, end], color=INK, lw=1.6 if moved else 0.7, ls="-" if moved else ":")
    for gpu in range(n_gpus):
        middle = gpu * (share + 0.6) + share / 2
        ax.text(-0.25, middle, f"GPU {gpu + 1}", ha="right", va="center", fontsize=9)
        of_gpu = [row for row, token in enumerate(order) if experts[token] // per_gpu == gpu]
        ax.text(8.15, sum(of_gpu) / len(of_gpu) + 0.6 * gpu + 0.4, f"GPU {gpu + 1}", ha="left", va="center", fontsize=9)
    ax.set(xlim=(-1.6, 9.6), ylim=(len(experts) + 0.8 * n_gpus, -0.2))
    ax.axis("off")
    return ax


def best_plans(plans: Mapping[int, Mapping[str, int]], told: Mapping[int, str], *, ax: Axes | None = None) -> Axes:
    """For each number of GPUs how it is shared out: a column, cut into factors, as long as their logarithms.

    ``plans[n]`` are the factors by name, whose product is n; ``told[n]`` stands above the column.
    """
    ax = axes_or_new(ax, (6.4, 3.4))
    names = list(dict.fromkeys(name for plan in plans.values() for name in plan))
    for column, (n, plan) in enumerate(plans.items()):
        bottom = 0.0
        for name, factor in plan.items():
            if factor > 1:
                style: dict[str, Any] = FILLS[names.index(name)] | {"ec": INK, "lw": 0.8}
                ax.bar(column, np.log2(factor), bottom=bottom, width=0.8, **style)
                middle = bottom + np.log2(factor) / 2
                ax.text(column, middle, str(factor), ha="center", va="center", fontsize=9, bbox=PLATE)
                bottom += np.log2(factor)
        ax.text(column, bottom + 0.15, told[n], ha="center", va="bottom", fontsize=8.5)
    ax.set_xticks(range(len(plans)), [f"{n:,}" for n in plans])
    ax.set_yticks([])
    ax.set(xlabel="GPUs", ylim=(0, np.log2(max(plans)) + 1.6))
    ax.spines[["top", "right", "left"]].set_visible(False)
    handles = [Patch(ec=INK, lw=0.8, label=name, **FILLS[i]) for i, name in enumerate(names)]
    ax.legend(handles=handles, loc="upper left", fontsize=9, frameon=False)
    return ax
