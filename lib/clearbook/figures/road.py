"""The road from pretraining to rewards: what each step trains on, what its loss counts, and what comes out."""

from matplotlib.axes import Axes

from clearbook.figures.kit import draw_arrow, draw_box
from clearbook.figures.plots import COLOURS, INK, axes_or_new

STEPS = (  # name, what it needs, what counts, what comes out
    ("pretraining", "text", "every\nnext token", "a base model:\ngoes on"),
    ("examples\n(SFT)", "questions\nwith answers", "tokens of\nthe answers", "answers\nin form"),
    ("preferences\n(DPO, RLHF)", "pairs of\nanswers", "which of two\nis better", "answers\nthat please"),
    ("rewards\n(RLVR)", "problems\nand a check", "whole attempts\nof its own", "right answers\nmore often"),
    ("at use", "one problem", "nothing:\nweights rest", "more attempts,\nlonger ones"),
)
CARDS = (  # what comes to hand, the number of its step, and what it is good for there
    ("A chapter of a novel.", 0, "every next token counts, and nobody has to label anything."),
    ("“What is Bath?”, and below it “A place.”", 1, "somebody wrote the answer, and its tokens alone count."),
    ("Two replies to one letter. A reader finds the second kinder.", 2, "nobody has to write a kinder one."),
    ("“37 + 48 =”, and a program that knows the sum.", 3, "the model tries, and the program rewards what is right."),
    ("Sixty-four attempts at one sum, and a vote.", 4, "no weight changes. The model only tries more often."),
    ("All that a crawler finds on the web.", 0, "there is nothing of which more exists."),
    ("A thousand questions of customers, with the replies that were sent.", 1, "the replies are examples to follow."),
    ("A task for a programmer, and tests that the program should pass.", 3, "tests can be run as often as you like."),
    ("Two summaries. A judge says which one is clearer.", 2, "only the comparison is known."),
)
ROWS = ("needs", "counts", "gives")
WIDE, HIGH, APART = 2.5, 1.15, 3.0
TOPS = (0.0, 2.0, 3.5, 5.0)  # the middle of the boxes and of each row below them
TUNING, REWARDS = (1, 2), (2, 4)  # columns of chapter 18 and of chapter 19


def draw_road(*, here: int = 19, ax: Axes | None = None) -> Axes:
    """Five steps from left to right; below each what it needs, what its loss counts and what it gives.

    ``here`` is the chapter that shows the picture, 18 or 19.
    """
    ax = axes_or_new(ax, (8.6, 4.0))
    ax.set(xlim=(-3.0, 4 * APART + 1.6), ylim=(6.0, -2.0))
    ax.axis("off")
    for n, (name, *rows) in enumerate(STEPS):
        x = n * APART
        fill = ("white", "#e3eefa", "#fbe9e1")[0 if n == 0 else 1 if n < REWARDS[0] else 2]
        draw_box(ax, (x, TOPS[0]), WIDE, HIGH, fc=fill, ec=INK, lw=1.2)
        ax.text(x, TOPS[0], name, ha="center", va="center", fontsize=10, fontweight="bold")
        if n:
            draw_arrow(ax, (x - APART + WIDE / 2, TOPS[0]), (x - WIDE / 2, TOPS[0]))
        for y, text in zip(TOPS[1:], rows, strict=True):
            ax.text(x, y, text, ha="center", va="center", fontsize=9.5)
    for y, text in zip(TOPS[1:], ROWS, strict=True):
        ax.text(-1.45, y, text, ha="right", va="center", fontsize=10, fontstyle="italic")
        ax.plot([-2.9, 4 * APART + 1.4], [y - 0.75] * 2, color="#c9d0da", lw=0.8)
    for chapter, columns, color in ((18, TUNING, COLOURS[0]), (19, REWARDS, COLOURS[1])):
        _bracket(ax, columns, "this chapter" if chapter == here else f"chapter {chapter}", -1.15, color)
    return ax


def road_cards() -> dict[str, list]:
    """The steps with what counts at each, and the cards that belong to them, as the explorable wants them."""
    cards, homes, why = (list(column) for column in zip(*CARDS, strict=True))
    steps, counts = ([step[i].replace("\n", " ") for step in STEPS] for i in (0, 2))
    return {"steps": steps, "counts": counts, "cards": cards, "homes": homes, "why": why}


def _bracket(ax: Axes, columns: tuple[int, int], name: str, y: float, color: str) -> None:
    """A line over some columns, with a name above; the two of this page do not touch."""
    first, last = columns
    left = first * APART - WIDE / 2 + (0.0 if first == 1 else WIDE / 2 + 0.1)
    right = last * APART + (WIDE / 2 if last == 4 else -0.1)
    ax.plot([left, left, right, right], [y + 0.25, y, y, y + 0.25], color=color, lw=1.4)
    ax.text((left + right) / 2, y - 0.15, name, ha="center", va="bottom", fontsize=10, color=color)
