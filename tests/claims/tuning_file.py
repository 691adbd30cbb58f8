"""models/austen/tuning.csv, which chapter 18 draws its figure from: the stored numbers of one experiment as rows.

python -m tests.claims.tuning_file writes it anew.
"""

from pathlib import Path

from tests.claims import stored
from tests.claims.chapter_18 import FORGOTTEN, POINTS, RIGHT, tuning
from tests.claims.pages import ROOT

FILE = Path("models/austen/tuning.csv")
HEADER = "method,rate,times,seed,right,forgotten"


def text() -> str:
    """The file as it should be. Raises: ValueError without a stored run."""
    entry = stored.load(tuning)
    if entry is None:
        raise ValueError(f"{FILE}: {stored.problem(tuning)}")
    found = stored.numbers(entry)
    rows = [
        f'"{method}",{rate:g},{times},{seed},{right:.2f},{forgotten:.4f}'
        for point, (method, rate) in POINTS.items()
        for times in tuning.times
        for seed, right, forgotten in zip(
            tuning.seeds, found[point, RIGHT, times], found[point, FORGOTTEN, times], strict=True
        )
    ]
    return "\n".join([HEADER, *rows]) + "\n"


if __name__ == "__main__":
    (ROOT / FILE).write_text(text(), encoding="utf-8")
