"""The proof of a grader, and that it can fail."""

import re

import numpy as np
import pytest
from clearcheck import RightSolutions, WrongSolutions, answers_to
from clearcheck.author.loading import load_exercise
from clearcheck.cli import main
from clearcheck.proof.mutate import count_mutants
from clearcheck.proof.notebooks import Notebooks, answer_text
from clearcheck.proof.page import page, proof_text
from clearcheck.proof.prove import not_graded, prove
from inline_snapshot import snapshot

from .toy_notebook import SLUG


def edit_file(course, name, old, new):
    path = course / "exercises" / "authoring" / SLUG / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_toy_exercise_is_proven(course, capsys):
    """Would catch an error in a proof that has none, and a page that is not the same twice."""
    assert main(["prove", SLUG, "--page", "a.md"]) == 0
    assert capsys.readouterr().out == snapshot("""\
Written: a.md
01-columns: right solutions accepted: 6 of 6; wrong solutions caught: 16 of 16, told their mistake: 16; errors: 0.
""")
    text = (course / "a.md").read_text()
    assert text == proof_text(SLUG).page
    mutants = count_mutants(SLUG)
    assert mutants.mutants > 50 and f"each of the {mutants.mutants:,} changed ones" in text
    assert f"\n# How this grader was tested: {load_exercise(SLUG).exercise.title}\n" in text
    assert "| right solutions (6) | 6 | 0 |\n| wrong solutions (16) | 0 | 16 |" in text
    assert "| `by_loop` | right | passed | 6 | – | – |" in text
    change = "in `by_method`: `- return table.mean(axis=0)`<br>`+ return table.mean(axis=1)`"
    assert f"| `over_rows` | wrong | partly right | 2 | The mean runs along the rows. | {change} |" in text
    sentence = "The caller's table is divided in place. | a function of its own |"
    assert re.search(rf"\| `in_place` \| wrong \| [a-z ]+ \| [0-9] \| {re.escape(sentence)}", text)


def test_what_is_not_graded_has_a_page_without_results(course):
    """Would catch solutions that count as accepted, or as caught, where nobody has graded them."""
    text = page(not_graded(load_exercise(SLUG)), "Not graded.")
    assert "| `by_loop` | right | – | – |" in text
    assert "| `over_rows` | wrong | The mean runs along the rows. |" in text
    assert "Not graded." in text and not re.search("passed|accepted|graded |points \\||Errors", text)


@pytest.fixture
def graded(monkeypatch) -> list[dict]:
    """The notebooks that a proof grades."""
    found = []
    grade = Notebooks.grade
    monkeypatch.setattr(Notebooks, "grade", lambda it, *given: found.append(given[0]) or grade(it, *given))
    return found


def test_one_question_is_proven_alone(course, capsys, graded):
    """Would catch a proof that goes through all questions, or that leaves out an answer of the one that is named."""
    edit_file(course, "means.py", "+ return np.median(table, axis=0)", "+ return np.mean(table, axis=0)")
    assert main(["prove", SLUG, "--question", "ranges"]) == 0
    rows = [row for row in not_graded(load_exercise(SLUG)).rows if row.question.id == "ranges"]
    right = sum(row.right for row in rows)
    assert f"right solutions accepted: {right} of {right}; wrong solutions caught: 8 of 8" in capsys.readouterr().out
    assert len(graded) == 4  # the first right one, the first wrong one, the author's notebook and the untouched one
    assert main(["prove", SLUG, "--question", "means"]) == 1
    assert "means: median is wrong, and accepted" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["lint", "prove"])
def test_an_unknown_question_is_told_with_those_that_there_are(course, capsys, command):
    """Would catch a traceback, or an exercise that is found in order since none of its questions was looked at."""
    assert main([command, SLUG, "--question", "medians"]) == 2
    assert capsys.readouterr().err == snapshot(
        '01-columns has no question "medians": choose one of "means", "ranges".\n'
    )


@pytest.mark.parametrize("command", ["lint", "prove"])
def test_an_edit_that_fits_nowhere_names_question_mistake_and_line(course, capsys, command):
    """Would catch an author who has to look for the edit that no longer matches its right answer."""
    edit_file(course, "means.py", "- return table.mean(axis=0)", "- return table.mean(axis=7)")
    assert main([command, SLUG, "--question", "ranges"]) == 2
    says = 'Question "means", mistake over_rows: by_method has 0 places that read\nreturn table.mean(axis=7)'
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("option", [("--question", "means"), ("--page", "a.md")])
def test_what_belongs_to_one_exercise_is_refused_for_two(course, capsys, option):
    """Would catch a page of the first exercise that passes for one of both."""
    with pytest.raises(SystemExit):
        main(["prove", SLUG, SLUG, *option])
    assert f"{option[0]} is for one exercise" in capsys.readouterr().err


def test_the_rules_are_told_by_a_command(course, capsys):
    """Would catch an exit code that hides a misfit, and misfits of a question that is not the one that is named."""
    edit_file(course, "means.py", '@wrong("The caller\'s table is divided in place.")\n', "")
    says = "means: 7 wrong solutions; at least 8 are expected."
    assert main(["lint", SLUG]) == 1
    every = capsys.readouterr().out.splitlines()
    assert says in every and any(line.startswith("ranges: ") for line in every)
    assert main(["lint", SLUG, "--question", "ranges"]) == 1
    assert capsys.readouterr().out.splitlines() == [line for line in every if line.startswith("ranges: ")]


def test_a_question_without_misfits_is_told_as_such(course, capsys, monkeypatch):
    """Would catch an author who cannot tell a question that is in order from one that was not looked at."""
    monkeypatch.setattr("clearcheck.author.lint.OF_A_QUESTION", (lambda subject, question: iter(()),))
    assert main(["lint", SLUG, "--question", "ranges"]) == 0
    assert capsys.readouterr().out == "ranges: the rules are kept.\n"


PLANTED = {
    "a wrong solution that is accepted": (
        ("means.py", "+ return np.median(table, axis=0)", "+ return np.mean(table, axis=0)"),
        "means: median is wrong, and accepted (seed 0)",
    ),
    "a right solution that is rejected": (
        ("ranges.py", "return [np.min(table, axis=0), ", "return [np.max(table, axis=0), "),
        "ranges: as_a_list is right, and not accepted",
    ),
    "a mistake that is not told, since another has the same result": (
        ("ranges.py", "+ return table.max(axis=0) - table.min(axis=0)", "+ return table[0], table[-1]"),
        'ranges: first_and_last is not told "The first and the last row are returned."',
    ),
    "a wrong value that differs by rounding alone": (
        ("means.py", "+ return table.sum(axis=0) / (len(table) - 1)", "+ return table.mean(axis=0) + 9e-8"),
        "means: one_row_too_few differs by only",
    ),
    "a source notebook without full points": (
        ("source.ipynb", "return table.min(axis=0), table.max(axis=0)", "return table.min(axis=0)"),
        "The source notebook gets 6 of 9 points",
    ),
    "a mistake that a notebook does not make": (
        ("means.py", "+ return table.mean(axis=1)", '+ return table.mean(axis=int(__name__ != "__main__"))'),
        "means: over_rows is graded [('values', 4, None)",
    ),
    "too few solutions": (
        ("means.py", '@wrong("The caller\'s table is divided in place.")\n', ""),
        "means: 7 wrong solutions, at least 8 are expected.",
    ),
    "a check that a stub passes, since it swallows what the stub raises": (
        (
            "means.py",
            "    gap = ask(table + 2.0) - ask(table)\n",
            "    try:\n        gap = ask(table + 2.0) - ask(table)\n    except Exception:\n        return None\n",
        ),
        "means: the untouched notebook is graded partly right.",
    ),
}


@pytest.mark.parametrize(("options", "draws"), [((), 2), (("--draws", "1"), 1), (("--draws", "3"), 3)])
def test_every_solution_gets_as_many_draws_as_are_wanted(course, monkeypatch, options, draws):
    """Would catch an option that is not handed on, and a solution that is graded with fewer draws."""
    proofs = []
    monkeypatch.setattr("clearcheck.proof.page.prove", lambda *a, **k: proofs.append(prove(*a, **k)) or proofs[-1])
    assert main(["prove", SLUG, *options]) == 0
    assert {len(row.results) for row in proofs[0].rows} == {draws}


def test_no_number_of_draws(course, capsys):
    with pytest.raises(SystemExit):
        main(["prove", SLUG, "--draws", "0"])
    *_, said = capsys.readouterr().err.splitlines()  # above it argparse lists the options, as each Python likes
    assert said.partition(": error: ")[2] == snapshot(
        "argument --draws: '0' is no number of draws: a whole number from 1 on is expected"
    )


def test_each_planted_fault_is_an_error(course, monkeypatch, capsys):
    """Would catch a proof that cannot fail, and an exit code that hides it: each planted fault, and nothing else."""
    for edit, _ in PLANTED.values():
        edit_file(course, *edit)
    assert main(["prove", SLUG, "--draws", "1"]) == 1  # with more some are told again
    said = capsys.readouterr().out
    assert {name: said.count(says) for name, (_, says) in PLANTED.items()} == dict.fromkeys(PLANTED, 1)
    assert said.endswith(f"errors: {len(PLANTED)}.\n")


def test_only_the_solutions_own_name_is_replaced():
    """Would catch a renamed attribute, keyword or text that happens to be spelt alike."""
    right = RightSolutions("means")

    @right
    def median(table):
        return np.median(table, axis=0) + dict(median=0)["median"]

    assert answer_text(right.entries[0], "column_means").splitlines() == snapshot(
        [
            "def column_means(table):",
            '    return np.median(table, axis=0) + dict(median=0)["median"]',
        ]
    )


def test_a_solution_is_renamed_and_loses_its_decorator():
    """Would catch a notebook that refers to the catalogue's own names."""
    wrong = WrongSolutions("means")

    @wrong(
        "x",
    )
    def countdown(n):
        return [n] + (countdown(n - 1) if n else [])

    expected = "def count(n):\n    return [n] + (count(n - 1) if n else [])"
    assert answer_text(wrong.entries[0], "count") == expected


def test_a_decorator_of_the_answers_own_stays(course):
    """Would catch an answer that is tried without its `@torch.no_grad()`, which is a part of it."""
    right, wrong = answers_to(load_exercise(SLUG).exercise.question("means"))

    @right
    @np.errstate(all="ignore")
    def median(table):
        return np.median(table, axis=0)

    wrong.edits('# median\n## loud: It warns.\n- @np.errstate(all="ignore")\n+ @np.errstate(all="warn")')
    text = '@np.errstate(all="{}")\ndef {}(table):\n    return np.median(table, axis=0)'
    assert answer_text(right.entries[0], "column_means") == text.format("ignore", "column_means")
    assert wrong.entries[0].source == text.format("warn", "loud")
    assert wrong.entries[0].function(np.ones((3, 2))).tolist() == [1, 1]


def test_an_unknown_exercise(course, capsys):
    """Would catch a traceback for a misspelt name."""
    assert main(["prove", "99-nowhere"]) == 2
    assert "Known here: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["means.py", "ranges.py"])
def test_a_missing_file_is_named(course, capsys, name):
    """Would catch an exercise that is half written passing for a proven one."""
    (course / "exercises" / "authoring" / SLUG / name).unlink()
    assert main(["prove", SLUG]) == 2
    assert f"cannot import name '{name[:-3]}'" in capsys.readouterr().err
