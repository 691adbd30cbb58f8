"""What chapter 18 shows of stored numbers: a table, and models/austen/tuning.csv, from which it draws a figure.

python -m tests.claims.tables_18 writes the file anew and prints the table.
"""

from pathlib import Path

from tests.claims import stored
from tests.claims.chapter_18 import (
    FORGOTTEN,
    HEAD,
    LONGER,
    POINTS,
    REPLAY,
    RIGHT,
    TOKENS,
    longer,
    tuning,
    ways,
)
from tests.claims.chapter_18_controls import HEADS, heads
from tests.claims.pages import ROOT
from tests.claims.registry import Experiment, Numbers

FILE = Path("models/austen/tuning.csv")
HEADER = "method,rate,times,seed,right,forgotten"


def numbers(it: Experiment) -> Numbers:
    """What is stored of an experiment. Raises: ValueError where nothing is."""
    entry = stored.load(it)
    if entry is None:
        raise ValueError(stored.problem(it))
    return stored.numbers(entry)


def figure_file() -> str:
    """The file as it should be: a row for each point and seed."""
    found, further = numbers(tuning), {**numbers(heads), **numbers(longer), **numbers(ways)}
    heads_drawn = [(point, "the head alone", rate, 1) for point, rate in HEADS.items()]
    longer_drawn = [(point, *POINTS[point], 4) for point in LONGER] + [(HEAD, "the head alone", 4e-3, 4)]
    rows = [
        f'"{method}",{rate:g},{times},{seed},{right:.2f},{forgotten:.4f}'
        for point, (method, rate) in POINTS.items()
        for times in tuning.times
        for seed, right, forgotten in zip(
            tuning.seeds, found[point, RIGHT, times], found[point, FORGOTTEN, times], strict=True
        )
    ]
    rows += [
        f'"{method}",{rate:g},{times},{seed},{right:.2f},{forgotten:.4f}'
        for point, method, rate, times in heads_drawn + longer_drawn
        for seed, right, forgotten in zip(
            tuning.seeds, further[point, RIGHT, times], further[point, FORGOTTEN, times], strict=True
        )
    ]
    return "\n".join([HEADER, *rows]) + "\n"


def ways_table() -> str:
    """Right kinds in per cent, and bits forgotten, with and without replay and of the head alone."""
    found = numbers(ways)
    names = {"all weights, answers alone": TOKENS, "all weights, with replay": REPLAY, "the head alone": HEAD}
    head = "three seeds | right, 30 steps | forgotten | right, 120 steps | forgotten"
    rows = [f"| {head} |", "|---" * 5 + "|"]
    for shown, who in names.items():
        cells = []
        for times in ways.times:
            cells.append(", ".join(f"{it:.0f} %" for it in found[who, RIGHT, times]))
            cells.append(", ".join(f"{it:.2f}" for it in found[who, FORGOTTEN, times]))
        rows.append(f"| {shown} | {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    (ROOT / FILE).write_text(figure_file(), encoding="utf-8")
    print(ways_table())
