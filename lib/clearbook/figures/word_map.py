"""Words on a plane, in groups: a dot where each word is, and the names of a group in a column beside it."""

from collections.abc import Mapping, Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray

from clearbook.figures.labels import LINE_HEIGHT, kept_apart
from clearbook.figures.plots import COLOURS, axes_or_new

FONT_SIZE = 9.5
ASIDE = 0.03  # of the width, from the dots of a group to its names


def word_map(places: Float[ndarray, "words 2"], groups: Mapping[str, Sequence[str]], *, ax: Axes | None = None) -> Axes:
    """The words of all ``groups``, in their order, at their ``places``; a thin stroke joins a name to its dot.

    Raises: ValueError for more or fewer places than words.
    """
    n_words = sum(map(len, groups.values()))
    if n_words != len(places):
        raise ValueError(f"word_map: {len(places)} places for {n_words} words, expected one for each.")
    ax = axes_or_new(ax, (6.8, 5.6))
    low, high = places.min(axis=0), places.max(axis=0)
    span = high - low
    row = LINE_HEIGHT * FONT_SIZE / (72 * ax.get_position().height * ax.figure.get_size_inches()[1])  # type: ignore[union-attr]
    begin, ends = 0, [low[1], high[1]]
    for colour, words in zip(COLOURS, groups.values(), strict=False):
        dots = places[begin : begin + len(words)]
        begin += len(words)
        ax.plot(*dots.T, ".", color=colour, ms=5)
        aside = dots[:, 0].max() + ASIDE * span[0]
        heights = kept_apart(dots[:, 1].tolist(), [row * 1.1 * span[1]] * len(words))
        ends += heights
        for (x, y), word, height in zip(dots, words, heights, strict=True):
            ax.plot([x, aside], [y, height], color=colour, lw=0.5, alpha=0.5)
            ax.text(aside, height, f" {word}", color=colour, fontsize=FONT_SIZE, va="center")
    ax.set_xlim(low[0] - ASIDE * span[0], high[0] + 0.22 * span[0])
    ax.set_ylim(min(ends) - row * span[1], max(ends) + row * span[1])
    ax.set(xticks=[], yticks=[], xlabel="first direction", ylabel="second direction")
    return ax
