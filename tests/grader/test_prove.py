"""The proof of a grader, and that it can fail."""

import numpy as np
import pytest
from clearcheck import Solutions, WrongSolutions
from clearcheck.__main__ import main
from clearcheck.proofpage import page
from clearcheck.prove import prove
from clearcheck.sheets import answer_text

from .conftest import SHORT, SLUG


def edited(course, name, old, new):
    path = course / "exercises" / "authoring" / SLUG / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def errors() -> str:
    return "\n".join(prove(SLUG, SHORT, seeds=[0]).errors)


def test_the_toy_exercise_is_proven(course, capsys):
    """Would catch an error in a proof that has none, and a page that is not the same twice."""
    assert main(["prove", SLUG, "--page", "a.md"]) == 0
    assert (
        "right solutions accepted: 6 of 6; wrong solutions caught: 16 of 16, told their mistake: 16; errors: 0."
        in capsys.readouterr().out
    )
    text = (course / "a.md").read_text()
    assert text == page([prove(SLUG)])
    assert text.startswith("# How this grader was tested\n")
    assert "| right solutions (6) | 6 | 0 |\n| wrong solutions (16) | 0 | 16 |" in text
    assert "| `by_loop` | right | passed | 6 | – |" in text
    assert "| `over_rows` | wrong | partly right | 2 | The mean runs along the rows. |" in text


PLANTED = {
    "a wrong solution that is accepted": (
        ("wrong.py", "return np.median(table, axis=0)", "return table.mean(axis=0)"),
        "means: median is wrong, and accepted (seed 0)",
    ),
    "a right solution that is rejected": (
        ("solutions.py", "return ordered[0], ordered[-1]", "return ordered[-1], ordered[0]"),
        "ranges: by_sorting is right, and not accepted",
    ),
    "a mistake that is not told, since another has the same result": (
        ("wrong.py", "return table.max(axis=0) - table.min(axis=0)", "return table[0], table[-1]"),
        'ranges: first_and_last is not told "The first and the last row are returned."',
    ),
    "a wrong value that differs by rounding alone": (
        ("wrong.py", "return table.sum(axis=0) / (len(table) - 1)", "return table.mean(axis=0) + 9e-8"),
        "means: one_row_too_few differs by only",
    ),
    "a source notebook without full points": (
        ("source.ipynb", "return table.min(axis=0), table.max(axis=0)", "return table.min(axis=0)"),
        "The source notebook gets 6 of 9 points",
    ),
}


def test_each_planted_fault_is_an_error(course, capsys):
    """Would catch a proof that cannot fail: every planted fault has to be reported, and nothing else."""
    for edit, _ in PLANTED.values():
        edited(course, *edit)
    found = prove(SLUG, SHORT, seeds=[0]).errors
    for name, (_, says) in PLANTED.items():
        assert sum(says in error for error in found) == 1, name
    assert len(found) == len(PLANTED)


def test_too_few_solutions_fail_the_command(course, capsys):
    """Would catch a proof by two examples, and an exit code that hides its errors."""
    edited(course, "wrong.py", '@wrong("means", says="The median', '@wrong("ranges", says="The median')
    assert main(["prove", SLUG]) == 1
    assert "means: 7 wrong solutions, at least 8 are expected." in capsys.readouterr().out


def test_points_for_the_untouched_notebook_are_an_error(course):
    """Would catch a check that a stub passes, since it swallows what the stub raises."""
    swallowing = "    try:\n        gap = ask(table + 2.0) - ask(table)\n    except Exception:\n        return None\n"
    edited(course, "checks.py", "    gap = ask(table + 2.0) - ask(table)\n", swallowing)
    assert "means: the untouched notebook is graded partly right." in errors()


def test_only_the_solutions_own_name_is_replaced():
    """Would catch a renamed attribute, keyword or text that happens to be spelt alike."""
    right = Solutions()

    @right("means")
    def median(table):
        return np.median(table, axis=0) + dict(median=0)["median"]

    assert answer_text(right.entries[0], "column_means").splitlines() == [
        "def column_means(table):",
        '    return np.median(table, axis=0) + dict(median=0)["median"]',
    ]


def test_a_solution_is_renamed_and_loses_its_decorator():
    """Would catch a notebook that refers to the catalogue's own names."""
    wrong = WrongSolutions()

    @wrong(
        "means",
        says="x",
    )
    def countdown(n):
        return [n] + (countdown(n - 1) if n else [])

    expected = "def count(n):\n    return [n] + (count(n - 1) if n else [])"
    assert answer_text(wrong.entries[0], "count") == expected


def test_an_unknown_exercise(course, capsys):
    """Would catch a traceback for a misspelt name."""
    assert main(["prove", "99-nowhere"]) == 2
    assert "Known here: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["solutions.py", "wrong.py"])
def test_a_missing_file_is_named(course, capsys, name):
    """Would catch an exercise that is half written passing for a proven one."""
    (course / "exercises" / "authoring" / SLUG / name).unlink()
    assert main(["prove", SLUG]) == 2
    assert f"{name}: this file is missing" in capsys.readouterr().err
