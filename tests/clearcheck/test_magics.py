"""Jupyter's own syntax in a cell is left out, and what only looks like it stays; lines end where Python ends them."""

import json
import time

import pytest
from clearcheck.notebooks.cells import lines_of, without_experiments
from clearcheck.notebooks.magics import without_magics
from inline_snapshot import snapshot

from .toy_notebook import MEANS

ENDS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"  # where `str.splitlines` ends a line, and Python none


@pytest.mark.parametrize(
    ("lines", "python"),
    [
        ("x = (\n 7\n % 5\n)", "x = (\n 7\n % 5\n)"),
        ("x = 7 \\\n % 5", "x = 7 \\\n % 5"),
        ("x = [  # it's (\n 7\n % 5]\n%time x", "x = [  # it's (\n 7\n % 5]\npass"),
        ("x = '''\n! dear\n'''", "x = '''\n! dear\n'''"),
        ('x = r"""\\"""\n%a (\n""" + f"""\n% b [\n"""\n!ls', 'x = r"""\\"""\n%a (\n""" + f"""\n% b [\n"""\npass'),
        ("x = '(', \"'[\", '\\'{'\n!ls", "x = '(', \"'[\", '\\'{'\npass"),
        ("if True:\n    %time x\n\t!ls", "if True:\n    pass\n\tpass"),
        ("x = !ls\ny = %sx ls", "x = None\ny = None"),
        ("!echo \"it's (\nx = 1\nx?", "pass\nx = 1\npass"),
        ("x = 1\r\n!ls\r\ny = 2", "x = 1\npass\ny = 2"),
    ],
)
def test_a_magic_begins_a_statement(lines, python):
    """Catches a line of an expression or of a text that is taken for a magic since its first sign is % or !."""
    assert without_magics(f"%matplotlib inline\n{lines}")[0] == f"pass\n{python}"
    assert without_magics(f"%%time\n{lines}")[0] == f"\n{python}"


def test_what_stays_is_what_jupyter_leaves():
    """Catches a rule of ours that is another than IPython's."""
    pytest.importorskip("nbclient")
    from IPython.core.inputtransformer2 import TransformerManager

    cell = "%time 1\nx = (\n7\n% 5\n)\ny = '''\n! dear\n'''\nz = 3 \\\n% 2\n"
    jupyter = TransformerManager().transform_cell(cell)
    assert without_magics(cell)[0].splitlines()[1:] == jupyter.splitlines()[1:]


@pytest.mark.parametrize("broken", ["x = (1\n", "x = '''\n", "def f(:\n", "x = )\n"])
def test_in_a_cell_with_an_error_of_its_own_the_magics_go_too(broken):
    """Catches a message about Jupyter's syntax instead of the learner's error, and magics that no note names."""
    assert without_magics(f"!ls\n{broken}%time x") == (f"pass\n{broken}pass", "`!ls`, `%time x`")


def test_an_answer_with_a_line_that_begins_with_a_percent_sign_counts(grade_cells):
    """Catches 0 points and a note that `% 5` works only in Jupyter."""
    grade = grade_cells(f"%matplotlib inline\nassert (\n 7\n % 5\n) == 2\n{MEANS}")
    assert grade.points == 6
    assert grade.notes == snapshot(["Code cell 2: `%matplotlib inline` works only in Jupyter and was left out."])


@pytest.mark.parametrize("many", ["!ls\n", "x = '''\n", "(\n", ")\n", "'\\\n", "x = !ls\n", "% \\\n"])
def test_a_cell_costs_its_length(many):
    """Catches a search that starts anew at each line."""
    began = time.thread_time()  # what was computed, which other programs do not lengthen
    without_magics(f"!ls\n{many * (200_000 // len(many))}")
    assert time.thread_time() - began < 5


def test_a_line_ends_where_python_ends_it():
    """Catches `str.splitlines`, which also ends lines within texts and comments."""
    assert lines_of(f"a{ENDS}\nb\r\nc\rd") == [f"a{ENDS}", "b", "c", "d"]
    source = f"x = 'a{ENDS}b'  # {ENDS}"
    assert without_experiments(source) == source and without_magics(f"{source}\n!ls")[0] == f"{source}\npass"
    assert without_experiments(f"{source}\nexperiment(\n    x\n)\ny = 2") == f"{source}\n\n\n\ny = 2"


def test_a_text_with_a_line_separator_in_it_costs_no_answer(grade_cells):
    """Catches "unterminated string literal" about a text that Python reads, and a wrong line in a message."""
    note = f"NOTE = 'a{ENDS}b'  # {ENDS}"
    assert grade_cells(f"{note}\n{MEANS}").points == 6
    grade = grade_cells(f"{note}\nimport nothing_here\n{MEANS}\n%time NOTE")
    assert grade.points == 6 and "in the line `import nothing_here`" in json.dumps(grade.notes)
