"""One layer of attention as a flow of matrices to scale: tokens, queries, keys, values, scores, weights, outputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, WEIGHTS, axes_or_new

WIDTH, TARGETS, SOURCES = 6, 4, 5  # D, N and S of the drawing; S = N where both come from one sequence
GAP = 2.6  # from one row of matrices to the next, in cells
ROOM = 1.6  # more above the queries of several heads, for the edges of their frames
LEFT, MIDDLE, RIGHT = 0.0, 9.8, 19.6  # where queries, keys and values stand
OUTPUT = 14.6  # where the outputs stand
INCH = 0.18  # of a cell
MAPS = {False: ("$U_q$", "$U_k$", "$U_v$", "$W_O$"), True: ("query", "key", "value", "out")}
EDGE, MASKED = "#8a93a3", "#dfe3ea"
MAX_FRAMES = 3  # of a stack of heads


@dataclass(frozen=True)
class Station:
    """A matrix of the drawing: its middle, its top, and its size in cells."""

    x: float
    top: float
    width: int
    height: int

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True)
class Layout:
    """The matrices of one head; without a second sequence ``memory`` is ``tokens``."""

    tokens: Station
    memory: Station
    q: Station
    k: Station
    v: Station
    scores: Station
    weights: Station
    y: Station


def attention_flow(
    *, heads: int = 1, causal: bool = False, two_sources: bool = False, rows: bool = False, ax: Axes | None = None
) -> Axes:
    """Self-attention from top to bottom, every matrix with its name and its shape.

    Several ``heads`` are a stack of frames whose outputs are joined and mixed by W_O; ``causal`` blanks what a target
    may not see; with ``two_sources`` the queries come from one sequence and keys and values from another; ``rows``
    puts a token in a row, as in PyTorch, and names the maps as the classes do.

    Source: turner-v2, eq. 5 and figure 4; COMP 336, "Self-Attention: Putting it all together".
    """
    at = _layout(heads=heads, two_sources=two_sources, rows=rows)
    floor = at.y.bottom + (0 if heads == 1 else 3.2 + GAP + 2 * at.tokens.height)
    right = 26.8 if heads == 1 else 28.4
    ax = axes_or_new(ax, ((right + 4.2) * INCH, (floor + 1.8) * INCH))
    ax.set(xlim=(-4.2, right), ylim=(floor + 0.4, -1.4), aspect="equal")
    ax.axis("off")
    if heads > 1:
        _frames(ax, at.q.top - 2.0, at.y.bottom + 0.9, heads)
    _steps(ax, at, heads=heads, rows=rows)
    _matrices(ax, at, heads=heads, causal=causal, two_sources=two_sources, rows=rows)
    if heads > 1:
        shapes = _shape("HK", "N", rows=rows), _shape("D", "N", rows=rows)
        _draw_joined_heads(ax, at.y, at.tokens, MAPS[rows][3], shapes, code=rows)
    return ax


def _layout(*, heads: int, two_sources: bool, rows: bool) -> Layout:
    """Where every matrix stands, from top to bottom."""
    n_targets, n_sources = TARGETS, SOURCES if two_sources else TARGETS
    narrow = WIDTH // 2 if heads == 1 else max(1, WIDTH // heads)

    def station(x: float, top: float, features: int, tokens: int) -> Station:
        return Station(x, top, *((features, tokens) if rows else (tokens, features)))

    tokens = station(LEFT if two_sources else MIDDLE, 0.0, WIDTH, n_targets)
    memory = station((MIDDLE + RIGHT) / 2, 0.0, WIDTH, n_sources) if two_sources else tokens
    q = station(LEFT, tokens.bottom + GAP + (ROOM if heads > 1 else 0), narrow, n_targets)
    k, v = (station(x, q.top, narrow, n_sources) for x in (MIDDLE, RIGHT))
    scores = station((LEFT + MIDDLE) / 2, max(q.bottom, k.bottom) + GAP, n_sources, n_targets)
    weights = station(scores.x, scores.bottom + GAP, n_sources, n_targets)
    y = station(OUTPUT, weights.bottom + GAP, narrow, n_targets)
    return Layout(tokens, memory, q, k, v, scores, weights, y)


def _steps(ax: Axes, at: Layout, *, heads: int, rows: bool) -> None:
    """The arrows from matrix to matrix, with what each of them does."""
    maps = zip((at.tokens, at.memory, at.memory), (at.q, at.k, at.v), MAPS[rows][:3], strict=True)
    for start, end, name in maps:
        _step(ax, start, end, name, code=rows, along=0.5 if heads == 1 else 0.72, above=start.x != end.x)
    _step(ax, at.q, at.scores)
    _step(ax, at.k, at.scores, r"products $\div\,\sqrt{K}$")
    _step(ax, at.scores, at.weights, f"softmax {'along each row' if rows else 'down each column'}")
    _step(ax, at.weights, at.y, "average of the values", below=True)
    _step(ax, at.v, at.y)


def _matrices(ax: Axes, at: Layout, *, heads: int, causal: bool, two_sources: bool, rows: bool) -> None:
    """The matrices of one head, with names and shapes."""

    def shape(features: str, tokens: str) -> str:
        return _shape(features, tokens, rows=rows)

    source = "S" if two_sources else "N"
    _matrix(ax, at.tokens, "targets $X$" if two_sources else "tokens $X$", shape("D", "N"))
    if two_sources:
        _matrix(ax, at.memory, "sources $Z$", shape("D", "S"))
    _matrix(ax, at.q, "queries $Q$", shape("K", "N"))
    _matrix(ax, at.k, "keys", shape("K", source))
    _matrix(ax, at.v, "values $V$", shape("K", source))
    allowed = _allowed_cells(at.scores, causal=causal, rows=rows)
    note = "\nlater ones −∞" if causal else ""
    _matrix(ax, at.scores, "scores $C$", shape(source, "N") + note, allowed=allowed, blank="−∞")
    numbers = _weights(allowed, axis=1 if rows else 0)
    _matrix(ax, at.weights, "weights $A$", shape(source, "N"), allowed=allowed, blank="0", numbers=numbers)
    _matrix(ax, at.y, "outputs $Y$" if heads == 1 else "output $Y_h$", shape("K", "N"))


def _shape(features: str, tokens: str, *, rows: bool) -> str:
    return f"{tokens} × {features}" if rows else f"{features} × {tokens}"


def _frames(ax: Axes, top: float, bottom: float, heads: int) -> None:
    """The heads as sheets of paper, the first in front."""
    for i in reversed(range(min(heads, MAX_FRAMES))):
        centre = (11.6 + 0.5 * i, (top + bottom) / 2 - 0.5 * i)
        fill = "#f7f9fc" if i == 0 else "white"
        draw_box(ax, centre, 31.0, bottom - top + 0.4, corner=0.2, fc=fill, ec=EDGE, lw=1.2, zorder=-2 - i)
    ax.text(26.5, bottom - 0.4, f"{heads} heads", ha="right", va="bottom", fontsize=12, weight="bold")


def _draw_joined_heads(
    ax: Axes, y: Station, tokens: Station, name: str, shapes: tuple[str, str], *, code: bool
) -> None:
    """What becomes of the outputs of all heads: side by side, then through one matrix."""
    joined = Station(y.x, y.bottom + 3.2, tokens.width, tokens.height)
    out = Station(y.x, joined.bottom + GAP, tokens.width, tokens.height)
    _step(ax, y, joined, "join the heads")
    _step(ax, joined, out, name, code=code)
    _matrix(ax, joined, "joined", shapes[0])
    _matrix(ax, out, "outputs $Y$", shapes[1])


def _allowed_cells(scores: Station, *, causal: bool, rows: bool) -> np.ndarray:
    """True where a target may look, in the drawing's own orientation."""
    everywhere = np.ones((scores.height, scores.width), dtype=bool)
    if not causal:
        return everywhere
    return np.tril(everywhere) if rows else np.triu(everywhere)


def _weights(allowed: np.ndarray, axis: int) -> np.ndarray:
    """Shares to colour the weights with, the same in every drawing."""
    pattern = np.where(allowed, np.exp(2 * np.sin(2.4 * np.arange(allowed.size) + 1)).reshape(allowed.shape), 0)
    return pattern / pattern.sum(axis=axis, keepdims=True)


def _matrix(
    ax: Axes,
    at: Station,
    name: str,
    shape: str,
    *,
    allowed: np.ndarray | None = None,
    blank: str = "",
    numbers: np.ndarray | None = None,
) -> None:
    """Cells to scale with the name and the shape beside them; cells that are not allowed are grey and say so."""
    left = at.x - at.width / 2
    for i, j in np.ndindex(at.height, at.width):
        blanked = allowed is not None and not allowed[i, j]
        shade = 0.0 if numbers is None else float(numbers[i, j])
        colour = MASKED if blanked else WEIGHTS(shade) if numbers is not None else "white"
        ax.add_patch(Rectangle((left + j, at.top + i), 1, 1, fc=colour, ec=EDGE, lw=0.8, zorder=2))
        if blanked:
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7.5, "color": INK, "zorder": 3}
            ax.text(left + j + 0.5, at.top + i + 0.5, blank, **style)
    outline: dict[str, Any] = {"fill": False, "ec": INK, "lw": 1.4, "zorder": 3}
    ax.add_patch(Rectangle((left, at.top), at.width, at.height, **outline))
    middle = at.top + at.height / 2
    ax.text(left + at.width + 0.4, middle - 0.1, name, ha="left", va="bottom", fontsize=11)
    ax.text(left + at.width + 0.4, middle + 0.1, shape, ha="left", va="top", fontsize=10, color=COLOURS[5])


def _step(
    ax: Axes,
    start: Station,
    end: Station,
    text: str = "",
    *,
    code: bool = False,
    along: float = 0.5,
    above: bool = False,
    below: bool = False,
) -> None:
    """An arrow from the lower edge of one matrix to the upper edge of the next, with what happens on the way.

    The text stands right of the arrow, ``along`` says how far down; on a slanted arrow ``above`` or ``below`` it.
    """
    begin, finish = (start.x, start.bottom), (end.x, end.top)
    draw_arrow(ax, begin, finish, color=COLOURS[0], lw=1.5, gaps=(1, 1), zorder=4)
    if text:
        x, y = (1 - along) * np.array(begin) + along * np.array(finish)
        to_the_left = below or (above and finish < begin)
        place: dict[str, Any] = {
            "ha": "right" if to_the_left else "left",
            "va": "top" if below else "bottom" if above else "center",
        }
        offset = -0.4 if to_the_left else 0.5
        label = ax.text(x + offset, y, text, fontsize=10, family="monospace" if code else None, zorder=5, **place)
        label.set_path_effects([withStroke(linewidth=3, foreground="white")])
