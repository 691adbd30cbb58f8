"""A sentence above its translation, with a line from each word to what translates it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from clearbook.figures.plots import COLOURS, INK

LETTER, SPACE = 0.115, 0.16  # how wide, in inches
Pair = tuple[int, int]


def word_lines(pairs: Sequence[tuple[Sequence[str], Sequence[str], Sequence[Pair]]]) -> Sequence[Axes]:
    """One drawing for each (words above, words below, lines), where a line (i, j) joins word i to word j below it.

    A line that crosses another is thick and coloured.

    Raises: ValueError for a line to a word that is not there.
    """
    for above, below, lines in pairs:
        if wrong := [(i, j) for i, j in lines if not (0 <= i < len(above) and 0 <= j < len(below))]:
            raise ValueError(f"word_lines: the lines {wrong} leave {len(above)} words above or {len(below)} below.")
    widest = max(_middles(row)[1] for above, below, _ in pairs for row in (above, below))
    _, axes = plt.subplots(len(pairs), 1, figsize=(widest + 0.2, 1.25 * len(pairs)), squeeze=False)
    for ax, (above, below, lines) in zip(axes.flat, pairs, strict=True):
        ax.set(xlim=(-widest / 2 - 0.1, widest / 2 + 0.1), ylim=(-0.25, 1.25))
        ax.axis("off")
        (tops, _), (bottoms, _) = _middles(above), _middles(below)
        for words, middles, y in ((above, tops, 1.0), (below, bottoms, 0.0)):
            for word, x in zip(words, middles, strict=True):
                ax.text(x, y, word, ha="center", va="center", fontsize=11, style="normal" if y else "italic")
        for i, j in lines:
            crosses = any((i - k) * (j - m) < 0 for k, m in lines)
            look = {"color": COLOURS[1], "lw": 2.0} if crosses else {"color": INK, "lw": 1.0}
            ax.plot((tops[i], bottoms[j]), (0.84, 0.17), solid_capstyle="round", **look)
    return list(axes.flat)


def _middles(words: Sequence[str]) -> tuple[list[float], float]:
    """Where the middle of each word stands when the row is centred at 0, and how wide the row is."""
    widths = [LETTER * max(len(word), 1) for word in words]
    total = sum(widths) + SPACE * (len(words) - 1)
    starts = [sum(widths[:i]) + SPACE * i - total / 2 for i in range(len(words))]
    return [start + width / 2 for start, width in zip(starts, widths, strict=True)], total
