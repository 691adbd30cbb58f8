"""A toy exercise in a folder of its own, and notebooks that answer it."""

import json
import shutil
from pathlib import Path

import pytest
from clearcheck.grade import grade
from clearcheck.sandbox import Limits

TOY = Path(__file__).parent / "toy"
SLUG = "01-columns"
SHORT = Limits(cell_seconds=3.0, grace_seconds=1.5)

START = f'import numpy as np\nfrom clearcheck.notebook import check, exercise, hint, progress\n\nexercise("{SLUG}")'
MEANS = "def column_means(table):\n    return table.mean(axis=0)"
RANGES = "def column_ranges(table):\n    return table.min(axis=0), table.max(axis=0)"


def solved(answer: str) -> str:
    head, *body = answer.splitlines()
    return "\n".join([head, "    ### BEGIN SOLUTION", *body, "    ### END SOLUTION"])


def notebook(*sources: str, **metadata) -> dict:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{i}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for i, source in enumerate(sources)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course folder with the toy exercise, as the working folder."""
    folder = tmp_path / "exercises" / "authoring" / SLUG
    shutil.copytree(TOY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    sources = [START, solved(MEANS), 'check("means")', solved(RANGES), 'check("ranges")', "progress()"]
    source = notebook(*sources, kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"})
    (folder / "source.ipynb").write_text(json.dumps(source))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def graded(course):
    """Grade a notebook made of these code cells, with short limits and a fixed seed."""

    def run(*sources: str, seed: int = 5):
        path = course / "answer.ipynb"
        path.write_text(json.dumps(notebook(START, *sources)))
        return grade(path, seed=seed, limits=SHORT)

    return run
