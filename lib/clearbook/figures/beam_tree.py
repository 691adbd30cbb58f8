"""A beam search as a tree: what is kept in each step, and what is thrown away."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from clearbook.figures.kit import draw_box
from clearbook.figures.plots import COLOURS, INK, axes_or_new

PALE, KEPT, BEST = "#f3f5f9", "#9cc3e4", "#f6d58f"
WIDTH, HEIGHT, STEP = 0.98, 0.62, 1.75  # of a box; from one step to the next

Text = tuple[str, ...]


def beam_tree(following: Mapping[Text, Mapping[str, float]], n_beams: int, *, ax: Axes | None = None) -> Axes:
    """Left to right, a step of the search in each column; a box holds a token and the probability of its whole text.

    ``following`` maps a text, beginning with the empty one, to the next tokens and their probabilities. What is kept
    says so, with its rank; what is dropped has a dashed frame; the winner has thick frames and edges.
    """
    levels: list[dict[Text, float]] = []
    kept: dict[Text, float] = {(): 1.0}
    while any(text in following for text in kept):
        texts = {(*t, w): kept[t] * p for t in kept if t in following for w, p in following[t].items()}
        levels.append(texts)
        kept = {text: texts[text] for text in sorted(texts, key=texts.__getitem__)[::-1][:n_beams]}
    winner = max(kept, key=kept.__getitem__)
    tallest = max(map(len, levels))
    ax = axes_or_new(ax, (STEP * (len(levels) + 1) * 0.98, 0.78 * tallest + 0.5))
    ax.set(xlim=(-0.7, STEP * len(levels) + 0.65), ylim=(-0.6, tallest - 0.35))
    ax.axis("off")
    places: dict[Text, tuple[float, float]] = {(): (0.0, (tallest - 1) / 2)}
    _text_box(ax, places[()], "start", KEPT, best=True)
    for column, texts in enumerate(levels, 1):
        ranked = sorted(texts, key=texts.__getitem__)[::-1]
        top = (tallest + len(texts)) / 2 - 1
        for i, text in enumerate(texts):
            places[text] = (STEP * column, top - i)
            on_way, rank = winner[:column] == text, ranked.index(text) + 1
            stays = rank <= n_beams
            edge: dict[str, Any] = {"color": COLOURS[1] if on_way else INK, "lw": 2.6 if on_way else 1.0, "zorder": 1}
            (x, y), (x0, y0) = places[text], places[text[:-1]]
            ax.plot([x0 + WIDTH / 2, x - WIDTH / 2], [y0, y], ls="-" if stays else (0, (3, 2)), **edge)
            label = f"{text[-1]}  {texts[text]:.2g}\n" + (f"kept, no. {rank}" if stays else "dropped")
            colour = (BEST if on_way else KEPT) if stays else PALE
            _text_box(ax, places[text], label, colour, best=on_way, dashed=not stays)
    return ax


def _text_box(ax: Axes, centre: tuple, label: str, colour: str, *, best: bool = False, dashed: bool = False) -> None:
    x, y = centre
    edge: dict[str, Any] = {"ec": COLOURS[1], "lw": 2.4} if best else {"ec": INK, "lw": 1.0}
    dashes = (0, (3, 2)) if dashed else "-"
    draw_box(ax, centre, WIDTH, HEIGHT, corner=0.04, fc=colour, ls=dashes, zorder=2, **edge)
    _ = ax.text(x, y, label, ha="center", va="center", fontsize=9.5, zorder=3)
    plt.setp(ax.texts[-1], linespacing=1.15)
