"""The instructor's page, followed command by command in a copy of the course."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.setup.bootstrap import STAMP, fingerprint

from .test_docs import ROOT, commands

PAGE = "chapters/instructor.md"
# What needs a network, a cluster or an engine for containers, or serves until it is stopped; tests/clearclass tries all
# but the first in miniature.
NOT_TRIED = re.compile(
    r"make setup$|.* -m pip install |podman build |.*/dask |.*--executor dask:|.*--container$|.* clearclass hand "
)
COPIED = ("lib", "exercises", "tools", "Makefile", "README.md", "pyproject.toml", "constraints.txt")


@pytest.fixture
def course(tmp_path) -> Path:
    """A copy of the course, with this Python as its environment."""
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(
            ROOT / name, tmp_path / name, **({"ignore": ignored} if (ROOT / name).is_dir() else {})
        )
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}/lib" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".venv" / STAMP).write_text(fingerprint(tmp_path), encoding="utf-8")  # nothing is to be set up
    return tmp_path


def rows(path: Path) -> dict[str, dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return {row["learner"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_every_command_works_in_order(course):
    """Catches a command that was renamed, a file that the page names and nothing writes, grades other than promised;
    a table of results that promises too much, or has forgotten a file.
    """
    other = course / "canvas" / "dee_2718_31415_a.ipynb"  # as Canvas names them; the page has Moodle's alone
    other.parent.mkdir()
    shutil.copy(course / "exercises" / "03-self-attention.ipynb", other)
    tried = [command for command in commands(PAGE) if not NOT_TRIED.match(command)]
    assert len(tried) >= 7 and len(commands(PAGE)) - len(tried) == 8
    told = []
    for command in tried:
        done = subprocess.run(["bash", "-c", command], cwd=course, capture_output=True, text=True, env=os.environ)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, f"{command}\n{done.stderr}"
        told.append(done.stderr)
    grades = rows(course / "results" / "grades.csv")
    names = ("Ada Lovelace", "Bob Ray", "Cy Doe", "Dee Fox")
    assert [grades[name]["id"] for name in names] == ["12", "13", "14", "15"]
    ada, most = grades["Ada Lovelace"], float(grades["Ada Lovelace"]["max_points"])
    assert (most - float(ada["points_before"]), ada["plot (by hand)"]) == (1, "3")
    assert float(ada["late"]) == pytest.approx(-most / 10)  # who was ten hours late
    assert [grades[name]["points"] for name in names[1:]] == ["1", "", "0"]
    assert grades["Bob Ray"]["late"] == "" and float(grades["Dee Fox"]["max_points"]) == most
    assert "is no notebook" in grades["Cy Doe"]["notes"]
    assert "3 of 3 files were graded before" in "".join(told)
    grade = next(command for command in tried if "--hand" in command).partition("grade submissions")[2]
    both = f".venv/bin/python -m clearcheck grade submissions canvas{grade}"
    subprocess.run(["bash", "-c", both], cwd=course, check=True, capture_output=True, env=os.environ)
    table = (ROOT / PAGE).read_text(encoding="utf-8").split("## What you get")[1].split("## ")[0]
    listed = {
        name.rstrip("/") for cell in re.findall(r"^\| (`.+?) \|", table, re.M) for name in re.findall(r"`(.+?)`", cell)
    }
    assert listed == {path.name for path in (course / "results").iterdir() if not path.name.startswith(".")}
