"""The tables of chapter 19 that hold stored numbers, as the page has them."""

from tests.claims.chapter_19 import ONE, RIGHT, WRONG
from tests.claims.chapter_19_fooled import BEST, HELD, PLEASED, SCORE
from tests.claims.chapter_19_wrong import EARLY, LATE, MANY_PROBLEMS, START
from tests.claims.registry import Numbers


def starts(found: list[float]) -> str:
    return ", ".join(f"{it:.0f}" for it in found)


def wrong_table(numbers: Numbers, more: Numbers) -> str:
    """Right attempts in per cent, from two adders, after 50 and after 200 steps."""
    rows = ["| right attempts in %, three starts | early, 50 steps | 200 steps | late, 50 steps | 200 steps |"]
    rows.append("|---|---|---|---|---|")
    rows.append(f"| the adder as it began | {more[START, EARLY, 1][0]:.0f} | | | |")
    for name in (RIGHT, WRONG):
        cells = (starts(numbers[name, f"{start}, {ONE}", times]) for start in (EARLY, LATE) for times in (1, 4))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    cells = (starts(more[MANY_PROBLEMS, EARLY, times]) for times in (1, 4))
    rows.append(f"| the same, of eight times as many problems | {' | '.join(cells)} | | |")
    return "\n".join(rows)


def fooled_table(numbers: Numbers) -> str:
    """Texts that please in per cent, with three reward models."""
    rows = [
        "| texts that please in %, three reward models | 20 steps, best of 16 | 80 steps, best of 64 |",
        "|---|---|---|",
    ]
    for name in (SCORE, HELD, BEST):
        cells = (starts(numbers[name, PLEASED, times]) for times in (1, 4))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)
