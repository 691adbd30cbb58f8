"""The way back through LayerNorm for a token of three features, as a picture."""

import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from clearbook.figures.plots import COLOURS, INK

SHIFT = np.ones(3) / math.sqrt(3)  # all features grow alike
ONE, TWO = np.array([1, -1, 0]) / math.sqrt(2), np.array([1, 1, -2]) / math.sqrt(6)  # the plane of mean 0
OUTWARDS, ROUND = 0.6 * ONE + 0.8 * TWO, 0.8 * ONE - 0.6 * TWO
TOKEN = math.sqrt(3) * OUTWARDS  # normalised: mean 0, length √3
LEFT, STRETCH, LIFT = 1.2 * ROUND, 0.8 * OUTWARDS, 0.8 * SHIFT  # what the gradient is the sum of
VIEW = np.stack([ONE, 0.42 * TWO + 0.9 * SHIFT])  # from a little above the plane


def norm_plane(ax: Axes | None = None) -> Axes:
    r"""A gradient at a normalised token, without the shift, and then without the stretch.

    The circle holds the tokens of mean 0 and length √3; what is left of the gradient is a tangent of it.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(5.4, 3.6))
    turn = np.linspace(0, 2 * math.pi, 100)[:, None]
    ax.plot(*(VIEW @ (math.sqrt(3) * (np.cos(turn) * ONE + np.sin(turn) * TWO)).T), color=INK, lw=1)
    g, level, tangent = TOKEN + LEFT + STRETCH + LIFT, TOKEN + LEFT + STRETCH, TOKEN + LEFT
    for start, end, ls, colour, lw, text, aside in (
        (np.zeros(3), TOKEN, "-", INK, 1.8, r"$\hat{\mathbf{x}}$", (-14, 4)),
        (TOKEN, g, "-", COLOURS[0], 1.8, r"$\mathbf{g}$", (-16, 2)),
        (g, level, ":", INK, 1.4, "without the shift", (6, -3)),
        (level, tangent, ":", INK, 1.4, "without the stretch", (8, -6)),
        (TOKEN, tangent, "-", COLOURS[1], 3.0, "what is left", (4, -26)),
    ):
        style = {"arrowstyle": "-|>", "ls": ls, "color": colour, "lw": lw, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tuple(VIEW @ end), tuple(VIEW @ start), arrowprops=style)
        middle = VIEW @ (start + end) / 2
        ax.annotate(text, tuple(middle), aside, textcoords="offset points", fontsize=10, color=INK)
    ax.set(xlim=(-2.0, 4.4), ylim=(-1.2, 2.4), aspect="equal")
    ax.axis("off")
    return ax
