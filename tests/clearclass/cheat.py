"""A row of the table of cheats: a hostile notebook of the toy exercise, and what it gets.

It has the cells of a notebook, its points in the sandbox and with `--trust`, and a pattern that stands somewhere in its
record: in a note, in what a check says, among what it `uses`, or in the sentence for a file without a grade. A right
answer is worth 6 points for `means` and 3 for `ranges`.
"""

from dataclasses import dataclass

from tests.clearcheck.toy_notebook import MEANS, RANGES


@dataclass(frozen=True)
class Cheat:
    cells: tuple[str, ...]
    points: int
    says: str = ""
    trusted: int | None = None  # None: the same
    trusted_says: str | None = None
    in_sandbox_alone: bool = False  # since it would harm whoever runs the tests
    slow: bool = False


def lies(result: str, says: str = "", before: str = "", points: int = 3) -> Cheat:
    """An answer for `means` that gives this, beside a right one for `ranges`."""
    return Cheat((f"{before}\ndef column_means(table):\n    return {result}", RANGES), points, says)


def does(body: str, says: str = "", points: int = 3, **options) -> Cheat:
    """An answer for `means` that does this, beside a right one for `ranges`."""
    lines = body.strip("\n").replace("\n", "\n    ")
    return Cheat((f"def column_means(table):\n    {lines}", RANGES), points, says, **options)


def cell(source: str, says: str = "", points: int = 9, **options) -> Cheat:
    """A cell that does this, before two right answers."""
    return Cheat((source, MEANS, RANGES), points, says, **options)
