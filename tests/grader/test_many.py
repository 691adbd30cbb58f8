"""Many notebooks in one call: one row for each, and a broken one stops none."""

import csv
import json

import pytest
from clearcheck.__main__ import main
from clearcheck.many import Outcome, write_csv

from .conftest import MEANS, RANGES, SLUG, START, notebook

HEAD = ["file", "exercise", "seed", "points", "max_points", "means", "ranges", "notes"]


@pytest.fixture
def folder(course):
    """Handed-in work: two good notebooks, one in a folder of its own, one broken, and what is no work."""
    work = {
        "ada/01.ipynb": json.dumps(notebook(START, MEANS, RANGES)),
        "bob.ipynb": json.dumps(notebook(START, RANGES, "1/0")),
        "cy.ipynb": "{",
        ".ipynb_checkpoints/bob-checkpoint.ipynb": "{",
        f"authoring/{SLUG}/checks.py": "",
        f"authoring/{SLUG}/source.ipynb": json.dumps(notebook(START, MEANS, RANGES)),
    }
    for name, text in work.items():
        path = course / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return course


def rows(path) -> list[list[str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_a_folder_into_a_table(folder, capsys):
    """Would catch a row that is missing or shifted, an author's solution or a hidden copy that is graded."""
    assert main(["grade", "work", "--csv", "class.csv", "--seed", "5"]) == 2
    head, *table = rows("class.csv")
    assert head == HEAD
    assert table[0] == ["work/ada/01.ipynb", SLUG, "5", "9", "9", "6", "3", ""]
    assert table[1][:7] == ["work/bob.ipynb", SLUG, "5", "3", "9", "0", "3"]
    assert "Code cell 3 stopped with ZeroDivisionError" in table[1][7]
    assert table[2][:7] == ["work/cy.ipynb", "", "", "", "", "", ""]
    assert "JSON text is expected" in table[2][7]
    assert len(table) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "work/ada/01.ipynb: 9 of 9 points (seed 5)"
    assert lines[2].startswith("Not graded: work/cy.ipynb is no notebook")


def test_all_get_the_same_inputs(folder, capsys):
    """Would catch one learner being graded on easier inputs than another."""
    assert main(["grade", "work/ada/01.ipynb", "work/bob.ipynb", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["seed"] == second["seed"]
    assert [first["points"], second["points"]] == [9, 3]


def test_json_has_a_line_for_a_broken_file(folder, capsys):
    """Would catch text between the objects."""
    assert main(["grade", "work", "--json"]) == 2
    *_, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert last["file"] == "work/cy.ipynb" and "JSON text is expected" in last["error"]


def test_the_table_grows_with_each_notebook(folder, monkeypatch, capsys):
    """Would catch hours of grading lost because it was stopped."""
    from clearcheck import __main__ as command

    def stopped(file, *arguments):
        if "bob" in str(file):
            raise KeyboardInterrupt
        return grade(file, *arguments)

    grade = command.grade
    monkeypatch.setattr(command, "grade", stopped)
    with pytest.raises(KeyboardInterrupt):
        main(["grade", "work", "--csv", "class.csv"])
    assert [row[0] for row in rows("class.csv")] == ["file", "work/ada/01.ipynb"]


@pytest.mark.parametrize("name", ["=cmd|x.ipynb", "+1.ipynb", "-1.ipynb", "@x.ipynb"])
def test_a_file_name_is_no_formula(tmp_path, name):
    """Would catch a learner's file name that a spreadsheet runs."""
    write_csv(tmp_path / "a.csv", [Outcome(name, error="broken")])
    assert rows(tmp_path / "a.csv")[1][0] == f"'{name}"


@pytest.mark.parametrize("name", ["work/cy.ipynb", "nowhere/class.csv"])
def test_the_table_cannot_replace_a_notebook(folder, capsys, name):
    """Would catch `--csv` before the wrong file name, and an error after the grading instead of before."""
    with pytest.raises(SystemExit):
        main(["grade", "work", "--csv", name])
    said = capsys.readouterr()
    assert "is expected" in said.err or "there is no folder nowhere" in said.err
    assert said.out == ""
    assert (folder / "work" / "cy.ipynb").read_text() == "{"
