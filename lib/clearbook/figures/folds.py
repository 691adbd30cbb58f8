"""What a small network does to a plane of tokens: its folds, where they lead, and its output."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy import ndarray

from clearbook.figures.plots import COLOURS, INK, WEIGHTS, axes_or_new

LOW, HIGH = -0.45, 1.45  # the stretch of the plane that is drawn
AREAS = ListedColormap(["#ffffff", "#dbe8f4", "#aecbe6"])  # no unit on, one, two
WHO_IS_ON = {
    (False, False): "off",
    (True, False): "unit 1 on",
    (False, True): "unit 2 on",
    (True, True): "both on",
}
LINES = ((0, (6, 3)), (0, (1, 1.5)))  # a dash a unit, so that they are told apart without colour


def token_plane(
    W_1: Float[ndarray, "2 2"],
    b_1: Float[ndarray, "2"],
    tokens: Float[ndarray, "N 2"],
    wanted: Bool[ndarray, "N"],
    *,
    ax: Axes | None = None,
) -> Axes:
    """The plane of all tokens with two features: the fold of each of two ReLUs, shaded by how many of them are on."""
    ax = axes_or_new(ax, (3.0, 3.0))
    ticks = np.linspace(LOW, HIGH, 241)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    before = plane @ W_1.T + b_1
    ax.imshow((before > 0).sum(-1), cmap=AREAS, vmin=0, vmax=2, origin="lower", extent=(LOW, HIGH, LOW, HIGH))
    for unit, line in enumerate(LINES):
        ax.contour(ticks, ticks, before[..., unit], [0], colors=COLOURS[1], linestyles=[line], linewidths=2)
    for on, words in WHO_IS_ON.items():
        rows, columns = np.nonzero(((before > 0) == on).all(-1))
        if len(rows):
            ax.text(ticks[columns].mean(), ticks[rows].mean(), words, ha="center", va="center", fontsize=10)
    _dots(ax, tokens, wanted)
    ax.set(xlabel="switch 1", ylabel="switch 2", xticks=[0, 1], yticks=[0, 1])
    return ax


def hidden_plane(
    W_1: Float[ndarray, "2 2"],
    b_1: Float[ndarray, "2"],
    tokens: Float[ndarray, "N 2"],
    wanted: Bool[ndarray, "N"],
    cut: tuple[Float[ndarray, "2"], float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Where two ReLUs put the plane of ``token_plane``, and the straight line on which w · h is a number: ``cut``."""
    ax = axes_or_new(ax, (3.0, 3.0))
    ticks = np.linspace(LOW, HIGH, 20)
    for unit in range(2):  # the square grid of the plane, after the folds
        for fixed in ticks:
            line = np.stack([np.full(97, fixed), np.linspace(LOW, HIGH, 97)][:: 1 - 2 * unit], axis=-1)
            ax.plot(*np.maximum(line @ W_1.T + b_1, 0).T, color="#aecbe6", lw=5, zorder=1, solid_capstyle="round")
    hidden = np.maximum(tokens @ W_1.T + b_1, 0)
    _dots(ax, hidden, wanted)
    w, level = cut
    ends = np.array([-0.6, 1.9])
    ax.plot((level - w[1] * ends) / w[0], ends, color=INK, lw=1.6, ls="-.", zorder=2)
    ax.set(xlabel="unit 1", ylabel="unit 2", xlim=(-0.4, 2.6), ylim=(-0.5, 1.6), xticks=[0, 1, 2], yticks=[0, 1])
    ax.set_aspect("equal")
    return ax


def lamp_surface(burns: Callable[[ndarray], ndarray], *, title: str = "", ax: Axes | None = None) -> Axes:
    """How likely a lamp is on, as a shade, for every position of two switches; ``burns`` takes points × 2."""
    ax = axes_or_new(ax, (2.2, 2.3))
    ticks = np.linspace(LOW, HIGH, 61)
    plane = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    shades: dict[str, Any] = {
        "cmap": WEIGHTS,
        "vmin": 0,
        "vmax": 1.4,
        "origin": "lower",
        "extent": (LOW, HIGH, LOW, HIGH),
    }
    ax.imshow(burns(plane).reshape(61, 61), **shades)
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    _dots(ax, corners, corners[:, 0] != corners[:, 1])
    ax.set(title=title, xticks=[0, 1], yticks=[0, 1], xlabel="switch 1")
    return ax


def name_tokens(ax: Axes, tokens: Float[ndarray, "N 2"], names: Sequence[str], rise: int = 9) -> None:
    """Write a name so many points above each place; places that agree share a line of names."""
    for place in dict.fromkeys(map(tuple, tokens.tolist())):
        shared = [name for token, name in zip(tokens.tolist(), names, strict=True) if tuple(token) == place]
        ax.annotate(" and ".join(shared), place, (0, rise), textcoords="offset points", ha="center", fontsize=10)


def _dots(ax: Axes, tokens: ndarray, wanted: ndarray) -> None:
    """A full dot where the lamp should burn, an empty one where it should not."""
    for (x, y), on in zip(tokens.tolist(), wanted.tolist(), strict=True):
        ax.plot(x, y, "o", ms=10, mfc=INK if on else "white", mec=INK, zorder=4, clip_on=False)
