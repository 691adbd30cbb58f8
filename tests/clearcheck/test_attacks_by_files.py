"""Files that are made to harm who reads them: what they hold, what they are, and how they are called."""

import json
import os
import shutil
from pathlib import Path

import pytest
from clearcheck.notebooks.file import NotANotebook
from clearcheck.report import grade as grading

from .toy_notebook import MEANS, SLUG, START, notebook


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"nbformat": 4, "cells": [' + b"9" * 5000 + b"]}", "is no notebook"),
        (b"[" * 300_000, "is no notebook"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "' + b"a\\n" * 10**6 + b'"}]}', "of code"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is no notebook"),
        (b"\xff\xfe\x00", "is no notebook"),
    ],
)
def test_a_file_that_is_made_to_break_the_reader_is_told(course, isolation, data, says):
    path = course / "odd.ipynb"
    path.write_bytes(data)
    with pytest.raises(NotANotebook, match=says):
        grading.grade(path, SLUG, 1)


def test_a_line_of_spaces_costs_no_time_that_grows_with_its_square(grade_cells, isolation):
    """Catches a pattern that can match one text in many ways, by what is left of the limit for reading."""
    grade = grade_cells("x = (" + " " * 900_000 + "!", MEANS)
    assert grade.points == 6


def test_a_file_that_is_no_plain_file_is_not_opened(course, isolation):
    os.mkfifo(course / "pipe.ipynb")
    with pytest.raises(NotANotebook, match="is no file"):
        grading.grade(course / "pipe.ipynb", SLUG, 1)
    (course / "zero.ipynb").symlink_to("/dev/zero")
    with pytest.raises(NotANotebook, match="is no file"):
        grading.grade(course / "zero.ipynb", SLUG, 1)


@pytest.mark.parametrize("name", ["a\nforged: 9 of 9", "\x1b[31mred", "turned\u202eround"])
def test_a_name_deceives_no_terminal(course, name):
    path = course / f"{name}.ipynb"
    path.write_text(json.dumps(notebook(START, MEANS)))
    told = grading.grade(path, SLUG, 1).file
    assert told.isprintable() and name not in told and told.endswith(".ipynb")


def test_a_name_that_is_no_utf8_is_told(course):
    path = os.fsencode(course) + b"/M\xfcller.ipynb"
    with open(path, "w") as file:
        json.dump(notebook(START, MEANS), file)
    assert grading.grade(Path(os.fsdecode(path)), SLUG, 1).file.endswith("M\\xfcller.ipynb")


def test_checks_that_lie_beside_a_notebook_are_not_run(course, tmp_path_factory, monkeypatch):
    """Catches a student's whole folder, handed in, whose own exercises/authoring is run in the grader."""
    student = tmp_path_factory.mktemp("student")
    folder = student / "exercises" / "authoring" / SLUG
    shutil.copytree(course / "exercises" / "authoring" / SLUG, folder)
    for file in folder.glob("*.py"):
        file.write_text(f"import pathlib\npathlib.Path({str(student / 'ran')!r}).touch()\n" + file.read_text())
    path = student / "exercises" / f"{SLUG}.ipynb"
    path.write_text(json.dumps(notebook(START, MEANS)))
    monkeypatch.chdir(student)
    grading._load_once.cache_clear()
    assert grading.grade(path, None, 1).points == 6
    assert not (student / "ran").exists()
