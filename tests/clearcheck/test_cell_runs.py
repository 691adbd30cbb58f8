"""What `check` says after a cell that failed, in a real IPython: the kernel still has the function of before."""

import json
import subprocess
import sys

import pytest
from inline_snapshot import snapshot

from .toy_notebook import MEANS, START

CHECK = 'check("means")'
PASSED = "✓ means — passed (6 of 6 points)"
OPEN = "○ means — not answered yet (0 of 6 points)"
IPYTHON = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

cells = json.load(sys.stdin)
shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
told = []
for cell in cells:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        told.append(repr(shell.run_cell(cell).result))
print(json.dumps(told))
"""


@pytest.fixture
def cards(course):
    """Run cells in an IPython of their own; gives what each of the calls of `check` among them says, by lines."""

    def run(*cells: str) -> list[list[str]]:
        asked = json.dumps([START, *cells])
        done = subprocess.run([sys.executable, "-c", IPYTHON], input=asked, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)[1:]
        return [text.splitlines() for cell, text in zip(cells, told, strict=True) if cell.endswith(CHECK)]

    return run


BROKEN = {
    MEANS.replace(":", ""): snapshot(
        "The cell with `column_means` was no Python when it was last run: SyntaxError (expected ':', line 1) in the line `def column_means(table)`. Mend that line. Then run the cell and check again."
    ),
    f"unit = “1”\n{MEANS}": snapshot(
        "The cell with `column_means` was no Python when it was last run: SyntaxError (invalid character '“' (U+201C), line 1) in the line `unit = “1”`. Type a straight quotation mark, \", in its place. Then run the cell and check again."
    ),
    f"return\n{MEANS}": snapshot(
        "The cell with `column_means` was no Python when it was last run: SyntaxError ('return' outside function, line 1) in the line `return`. Mend that line. Then run the cell and check again."
    ),
    f"from einstein import rearrange\n{MEANS}": snapshot(
        "The cell with `column_means` stopped above its definition when it was last run: ModuleNotFoundError (No module named 'einstein') in the line `from einstein import rearrange`. `einstein` is not installed here: the question can be answered without it, so leave its import out. Then run the cell and check again."
    ),
    f"1 / 0\n{MEANS}": snapshot(
        "The cell with `column_means` stopped above its definition when it was last run: ZeroDivisionError (division by zero) in the line `1 / 0`. Mend that line. Then run the cell and check again."
    ),
    f"raise KeyboardInterrupt\n{MEANS}": snapshot(
        "The cell with `column_means` stopped above its definition when it was last run, since you interrupted it: run it to its end and check again."
    ),
}


def test_a_cell_that_failed_after_a_right_one_does_not_pass(cards):
    """Would catch praise for the function that the kernel still has; and a failure that is told after it was mended."""
    cells = [cell for broken in BROKEN for cell in (MEANS, CHECK, broken, CHECK)]
    told = cards(*cells, MEANS, CHECK)
    assert [card[0] for card in told] == [PASSED, OPEN] * len(BROKEN) + [PASSED]
    assert {broken: card[1].strip() for broken, card in zip(BROKEN, told[1::2], strict=False)} == BROKEN


def test_a_cell_that_failed_before_anything_was_right_is_told(cards):
    """Would catch "define it in the answer cell", said to who has written it there."""
    [card] = cards(MEANS.replace(":", ""), CHECK)
    assert card[0] == OPEN and "no Python" in card[1]


def test_what_failed_elsewhere_is_not_told_of_the_question(cards):
    """Would catch a right answer refused for an error below it, in another cell, or mended in the cell of the check."""
    broken = MEANS.replace(":", "")
    told = cards(
        *(f"{MEANS}\n1 / 0", CHECK),
        *("print(column_means)\nprint(column_means == 1) +", CHECK),
        *(broken, f"{MEANS}\n{CHECK}", CHECK),
        *(broken, "from numpy import sort as column_means", CHECK),
    )
    assert [card[0] for card in told][:-1] == [PASSED] * 4
    assert "passed" not in told[-1][0] and "no Python" not in "".join(told[-1])


def test_a_name_whose_import_failed_is_told_with_its_module(cards):
    """Would catch a NameError that leaves open why the name is not there, where another cell has the import."""
    answer = "def column_means(table):\n    return average(table)"
    [card, mended] = cards("from einstein import mean as average", answer, CHECK, f"average = sum\n{answer}", CHECK)
    assert card[2].strip() == snapshot(
        "For an argument of shape (7, 5) your function raised NameError (name 'average' is not defined) in the line `return average(table)`. `average` comes from an import that failed. `einstein` is not installed here: the question can be answered without it, so leave its import out."
    )
    assert "einstein" not in "".join(mended)


def test_another_exercise_is_watched_in_place_of_the_first(cards):
    """Would catch two watchers after a second call of `exercise`, or none."""
    registered = "[len(get_ipython().events.callbacks[e]) for e in ('pre_run_cell', 'post_run_cell')]"
    again = START.splitlines()[-1]
    told = cards(f"n = {registered}", again, f"assert n == {registered}, n\n{MEANS}", CHECK)
    assert told[0][0] == PASSED
