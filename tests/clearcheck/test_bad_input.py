"""Files that cannot be graded: one sentence, exit code 2, and one JSON object where JSON is asked for."""

import json
import os
import subprocess
import sys

import pytest
from clearcheck.cli import main
from clearcheck.learner.answered_exercise import exercise_slug
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import read_submission
from clearcheck.report.grade import grade
from inline_snapshot import snapshot

from .toy_notebook import MEANS, START, notebook

FILES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "no JSON": (b"def f(): pass", "JSON text is expected"),
    "a picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "JSON text is expected"),
    "a number": (b"3", "JSON without the key nbformat"),
    "other JSON": (b'{"points": 100}', "JSON without the key nbformat"),
    "half a file": (json.dumps(notebook(START)).encode()[:60], "JSON text is expected"),
    "nested too deeply": (b"[" * 200_000, "JSON text is expected"),
    "format 3": (b'{"nbformat": 3, "worksheets": []}', "format 3, format 4 is expected"),
    "format text": (b'{"nbformat": "x", "cells": []}', "format 4 is expected"),
    "no cells": (b'{"nbformat": 4}', "its list of cells is missing"),
    "cells of text": (b'{"nbformat": 4, "cells": ["x"]}', "cell 1 has no source text"),
    "source of numbers": (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [3]}]}', "cell 1 has no source"),
    "no code": (json.dumps(notebook("  ")).encode(), "holds no code"),
    "no exercise": (json.dumps(notebook("x = 1")).encode(), "pass --exercise, for instance --exercise 01-columns"),
    "unknown exercise": (json.dumps(notebook('exercise("99-nowhere")')).encode(), 'No exercise "99-nowhere"'),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_graded_gets_one_sentence(course, capsys, name):
    """Would catch a traceback, a wrong exit code, or text around the JSON object."""
    data, says = FILES[name]
    path = course / "homework.ipynb"
    path.write_bytes(data)
    assert main(["grade", str(path)]) == 2
    assert says in capsys.readouterr().err
    assert main(["grade", str(path), "--json"]) == 2
    assert says in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(("path", "says"), [("nowhere.ipynb", "is no file"), (".", "holds no notebook")])
def test_a_missing_file_and_an_empty_folder(course, capsys, path, says):
    """Would catch an OSError reaching the user."""
    assert main(["grade", path]) == 2
    assert says in capsys.readouterr().err


def test_the_command_itself(course):
    """Would catch a package that works from tests alone: the exit code and the streams of the real command."""
    command = [sys.executable, "-m", "clearcheck", "grade", "nowhere.ipynb", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "is no file" in json.loads(done.stdout)["error"]
    assert done.stderr == ""


def test_a_terminal_without_our_signs_and_a_reader_that_leaves(course):
    """Would catch UnicodeEncodeError on an old terminal, and a traceback under `| head -1`."""
    path = course / "01-columns.ipynb"
    path.write_text(json.dumps(notebook(START, MEANS)))
    command = [sys.executable, "-m", "clearcheck", "grade", str(path)]
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=narrow)
    assert "\\u2713 means \\u2014 passed (6 of 6 points)" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""


def slug_of(course, name, *sources, **metadata):
    path = course / name
    path.write_text(json.dumps(notebook(*sources, **metadata)))
    return exercise_slug(read_submission(path))


def test_the_exercise_is_found_in_metadata_source_and_file_name(course):
    """Would catch a renamed file or stripped metadata losing the exercise, and another one graded than the notebook
    itself has checked.
    """
    noted = {"clearcheck": {"exercise": "02-other"}}
    assert slug_of(course, "a.ipynb", MEANS, **noted) == "02-other"
    assert slug_of(course, "a.ipynb", START, **noted) == "01-columns"
    result = grade(course / "a.ipynb", seed=1)
    assert result.notes[0] == snapshot("The notebook says that it answers 02-other; it was graded as 01-columns.")
    assert slug_of(course, "a.ipynb", "x = 1", START) == "01-columns"
    assert slug_of(course, "a.ipynb", START + "\n)") == "01-columns"
    assert slug_of(course, "Ada 01-columns (2).ipynb", MEANS) == "01-columns"
    with pytest.raises(NotANotebook, match="--exercise"):
        slug_of(course, "a.ipynb", MEANS)


@pytest.mark.parametrize("name", ["../../evil", "/etc", "a/b", 7, ["01-columns"], None])
def test_a_notebook_cannot_name_a_folder_outside(course, name):
    """Would catch a submission that makes the grader import the submission's own checks."""
    assert slug_of(course, "01-columns.ipynb", MEANS, clearcheck={"exercise": name}) == "01-columns"
    assert slug_of(course, "01-columns.ipynb", f"{MEANS}\nexercise({name!r})") == "01-columns"


def test_many_and_long_names_of_exercises_are_not_kept(course):
    """Would catch a sentence about a notebook as long as what stands in it."""
    calls = [f'exercise("{name}")' for name in ("a" * 100_000, *(f"0{number}-other" for number in range(20)))]
    (course / "a.ipynb").write_text(json.dumps(notebook(*calls)))
    assert read_submission(course / "a.ipynb").slugs == ["00-other", "01-other", "02-other", "03-other", "04-other"]


@pytest.mark.parametrize("metadata", [None, 3, [], {"clearcheck": "x"}])
def test_odd_metadata_does_no_harm(course, metadata):
    """Would catch a crash on metadata of an unexpected type."""
    path = course / "a.ipynb"
    path.write_text(json.dumps({**notebook(START), "metadata": metadata}))
    assert exercise_slug(read_submission(path)) == "01-columns"


def test_sources_may_be_lists_of_lines_and_start_with_a_byte_order_mark(course, capsys):
    """Would catch reading only one of the two forms that Jupyter writes, or failing on what Windows adds."""
    book = notebook(START, MEANS)
    for cell in book["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    path = course / "a.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(book).encode())
    assert main(["grade", str(path), "--json", "--seed", "3"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["points"], result["max_points"], result["seed"]) == (6, 9, 3)
