"""A class that is graded without a sandbox: only where somebody says so, and every table says what it is worth."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearcheck.worker.launch import VARIABLE
from clearclass.class_run import TRUST_VARIABLE

from tests.clearcheck.toy_notebook import MEANS

from .class_folder import WRONG, put, table

NOT_APART = "process (nothing kept the notebooks of this run apart: each could have changed any grade in it)"
GRADE = ["grade", "work", "--results", "out", "--seed", "5", "--jobs", "1"]


@pytest.fixture
def two(course, monkeypatch) -> Path:
    """The journal of a class of two, of which nothing is graded yet."""
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    put("ada.ipynb", MEANS)
    put("bob.ipynb", WRONG)
    return course / "out" / "journal.jsonl"


def without_sandbox(*options: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "clearcheck", *GRADE, *options]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, VARIABLE: "process"}, timeout=300)


def test_without_a_sandbox_a_class_is_graded_where_it_is_trusted(two, capsys):
    """Catches a class graded unprotected without a word, a table that does not say so, and a record that says more."""
    refused = without_sandbox()
    assert refused.returncode == 2 and refused.stdout == "" and "pass --trust" in refused.stderr.splitlines()[-1]
    assert [json.loads(line) for line in two.read_text().splitlines()] == [{"seed": 5}]
    trusted = without_sandbox("--trust")
    assert trusted.returncode == 0 and "ada.ipynb: 6 of 9 points" in trusted.stdout
    assert {row["isolation"] for row in table("out/grades.csv")} == {NOT_APART}
    assert NOT_APART in (two.parent / "overview.html").read_text()
    two.write_text(two.read_text().replace('"isolation": "process"', '"isolation": "bubblewrap"'))
    assert '"bubblewrap"' in two.read_text()
    assert main([*GRADE, "--trust"]) == 0
    assert "2 of 2 files were graded before with --trust: any notebook could have changed" in capsys.readouterr().err
    assert {row["isolation"] for row in table("out/grades.csv")} == {NOT_APART}
    assert main(GRADE) == 2
    assert "out was graded with --trust, and what it keeps could have been changed" in capsys.readouterr().err


@pytest.mark.skipif("not __import__('shutil').which('bwrap')", reason="needs bubblewrap and user namespaces")
def test_what_a_sandbox_graded_is_not_taken_for_a_trusted_run(two, capsys):
    """Catches a line of the journal that a notebook of a later run, without a sandbox, could have written."""
    assert main(GRADE) == 0
    assert {row["isolation"] for row in table("out/grades.csv")} == {"bubblewrap"}
    capsys.readouterr()
    assert main([*GRADE, "--trust"]) == 0
    assert "graded before" not in capsys.readouterr().err
    assert {row["isolation"] for row in table("out/grades.csv")} == {NOT_APART}
