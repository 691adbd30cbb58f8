"""Figures of attention and of caches at work: tiles one by one, pages in a pool, a ring of slots, and who waits."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from clearbook.figures.cost_plots import FILLS
from clearbook.figures.plots import COLOURS, INK, axes_or_new

GREY = "#8a93a3"
SMALL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9}


class Piece(NamedTuple):
    """What a machine does from one moment to another: a kind of work, the same for all pieces of one filling."""

    start: float
    stop: float
    kind: str


def tiles(n: int = 4, *, row: int = 1, axes: Iterable[Axes] | None = None) -> Iterable[Axes]:
    """The square of scores in n × n tiles while one row of tiles is gone through, a frame for each live tile.

    Targets run down the side, sources along the top. Tiles that were used and forgotten are dotted, the live one is
    hatched in a thick frame, and m, l and o stand beside their row.

    Source: Dao 2023, section 3, the order of the loops.
    """
    if axes is None:
        _, axes = plt.subplots(1, n, figsize=(1.75 * n, 2.3))
    for live, ax in enumerate(axes):
        for i in range(n):
            ax.add_patch(Rectangle((-1, i + 0.06), 0.7, 0.88, fc=FILLS[0]["fc"] if i == row else "white", ec=GREY))
            ax.add_patch(Rectangle((i + 0.06, -1), 0.88, 0.7, fc=FILLS[0]["fc"] if i == live else "white", ec=GREY))
            for j in range(n):
                _tile(ax, i, j, gone=i < row or (i == row and j < live), live=(i, j) == (row, live))
        ax.text(-0.15, -0.65, "k, v", ha="right", va="center", fontsize=9)
        ax.text(-0.65, n + 0.35, "q", **SMALL)
        ax.text(n + 0.2, row + 0.5, "m, ℓ, o", ha="left", va="center", fontsize=9, weight="bold")
        if row:
            ax.text(n + 0.2, row / 2, "y, L", ha="left", va="center", fontsize=9)
        ax.set(xlim=(-1.1, n + 1.9), ylim=(n + 0.7, -1.1), aspect="equal")
        ax.set_title(f"tile {live + 1}", loc="center", fontsize=10)
        ax.axis("off")
    return axes


def _tile(ax: Axes, i: int, j: int, *, gone: bool, live: bool) -> None:
    style: dict[str, Any] = {"fc": "white", "ec": GREY, "lw": 0.7}
    if live:
        style = FILLS[1] | {"ec": INK, "lw": 2.2, "zorder": 3}
    elif gone:
        style |= {"ls": ":"}
        ax.plot([j + 0.5], [i + 0.5], ".", color=GREY, ms=4)
    ax.add_patch(Rectangle((j + 0.04, i + 0.04), 0.92, 0.92, **style))


def page_table(
    tables: Mapping[str, Sequence[int]],
    lengths: Mapping[str, int],
    *,
    n_pages: int,
    size: int,
    ax: Axes | None = None,
) -> Axes:
    """Texts with the lists of their pages, above the pool: in each place the number of its token, from 0.

    A page that several texts point to has a thick frame. Free pages are empty.
    """
    n_rows, width = len(tables), n_pages * (size + 0.6)
    ax = axes_or_new(ax, (0.2 * width, 0.42 * n_rows + 1.5))
    floor = n_rows + 1.1
    shared = [page for page in range(n_pages) if sum(page in pages for pages in tables.values()) > 1]
    for page in range(n_pages):
        left = page * (size + 0.6)
        for place in range(size):
            ax.add_patch(Rectangle((left + place, floor), 1, 1, fc="white", ec=GREY, lw=0.7, zorder=1))
        ax.text(left + size / 2, floor + 1.45, str(page), **SMALL)
        ax.text(left + size / 2, floor - 0.4, ", ".join(name for name in tables if page in tables[name]), **SMALL)
        if page in shared:
            ax.add_patch(Rectangle((left, floor), size, 1, fc="none", ec=INK, lw=2.4, zorder=4))
    ax.text(-0.5, floor + 1.45, "page", ha="right", va="center", fontsize=9)
    for row, (name, pages) in enumerate(tables.items()):
        ax.text(-0.5, row + 0.4, f"text {name}", ha="right", va="center", fontsize=10)
        for k, page in enumerate(pages):
            left, fill = page * (size + 0.6), FILLS[row]
            ax.add_patch(Rectangle((k * 1.6, row), 1.3, 0.8, ec=INK, lw=0.8, **fill))
            ax.text(k * 1.6 + 0.65, row + 0.4, str(page), bbox={"fc": "white", "ec": "none", "pad": 0.8}, **SMALL)
            for place in range(min(size, lengths[name] - k * size)):
                if page not in shared or name == _first(tables, page):
                    ax.add_patch(Rectangle((left + place, floor), 1, 1, ec=GREY, lw=0.7, zorder=2, **fill))
                    number = {"bbox": {"fc": "white", "ec": "none", "pad": 0.6}, "zorder": 5, **SMALL}
                    ax.text(left + place + 0.5, floor + 0.5, str(k * size + place), **number)
    ax.set(xlim=(-4, width), ylim=(floor + 1.9, -0.2))
    ax.axis("off")
    return ax


def _first(tables: Mapping[str, Sequence[int]], page: int) -> str:
    return next(name for name, pages in tables.items() if page in pages)


def ring_of_slots(n_tokens: int, width: int, *, ax: Axes | None = None) -> Axes:
    """A cache with room for ``width`` tokens, a row for each token that comes: which token lies in which slot then."""
    ax = axes_or_new(ax, (0.6 * width + 2.4, 0.36 * n_tokens + 0.9))
    for newest in range(n_tokens):
        for slot in range(width):
            token = newest - (newest - slot) % width
            fresh = token == newest
            style = (FILLS[1] if fresh else FILLS[0]) if token >= 0 else {"fc": "white"}
            ax.add_patch(Rectangle((slot, newest), 0.94, 0.8, ec=INK, lw=2.2 if fresh else 0.7, **style))
            if token >= 0:
                box = {"fc": "white", "ec": "none", "pad": 0.8}
                ax.text(slot + 0.47, newest + 0.4, str(token), bbox=box, **SMALL)
        ax.text(-0.2, newest + 0.4, f"after token {newest}", ha="right", va="center", fontsize=9)
    for slot in range(width):
        ax.text(slot + 0.47, -0.4, f"slot {slot}", **SMALL)
    ax.set(xlim=(-2.6, width), ylim=(n_tokens, -0.8))
    ax.axis("off")
    return ax


def waiting(
    rows: Mapping[str, Sequence[Piece]],
    tokens: Mapping[str, Sequence[float]],
    first: Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """A row for each machine: what it does when, in milliseconds, with a fill and a hatch for each kind of work.

    ``tokens`` are the moments at which the others get one, a dot each below their row; ``first`` is when the new text
    gets its first, a star.
    """
    ax = axes_or_new(ax, (6.4, 0.72 * len(rows) + 1.1))
    kinds = list(dict.fromkeys(piece.kind for pieces in rows.values() for piece in pieces))
    for y, (name, pieces) in enumerate(rows.items()):
        for piece in pieces:
            style = FILLS[kinds.index(piece.kind)] | {"ec": INK, "lw": 0.6}
            ax.add_patch(Rectangle((piece.start, y - 0.32), piece.stop - piece.start, 0.5, **style))
        moments = list(tokens.get(name, ()))
        ax.plot(moments, [y + 0.32] * len(moments), "o", color=COLOURS[0], ms=3.5, ls="")
        if name in first:
            ax.plot([first[name]], [y - 0.46], "*", color=COLOURS[1], ms=10, clip_on=False)
    handles: list[Any] = [Patch(ec=INK, lw=0.6, label=kind, **FILLS[i]) for i, kind in enumerate(kinds)]
    handles += [ax.plot([], [], "o", color=COLOURS[0], ms=3.5, ls="", label="a token for each of the others")[0]]
    handles += [ax.plot([], [], "*", color=COLOURS[1], ms=10, ls="", label="first token of the new text")[0]]
    ax.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.4, 1.02), ncols=2, fontsize=9)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(ylim=(len(rows) - 0.5, -0.65), xlabel="ms")
    return ax


def reading_and_writing(read: float, write: float, n: int, *, ax: Axes | None = None) -> Axes:
    """How long n tokens take in seconds when they are read at once and when each is written alone, to one scale."""
    ax = axes_or_new(ax, (6.4, 1.5))
    for y, seconds in enumerate((read, write)):
        ax.add_patch(Rectangle((0, y - 0.3), seconds, 0.6, ec=INK, lw=0.8, **FILLS[y]))
        label = f"{1000 * seconds / n:.2f} ms a token"
        ax.text(seconds + 0.02 * max(read, write), y, label, va="center", fontsize=9.5)
    ax.set_yticks((0, 1), [f"{n} tokens, read", f"{n} tokens, written"])
    ax.set(xlim=(0, 1.3 * max(read, write)), ylim=(1.5, -0.5), xlabel="seconds")
    return ax
