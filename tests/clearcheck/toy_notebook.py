"""Notebooks that answer the toy exercise, as text: what tests of the grader and of class runs share."""

from pathlib import Path

from clearcheck.worker.limits import Limits

TOY = Path(__file__).parent / "toy"
SLUG = "01-columns"
SHORT = Limits(cell_seconds=3.0, grace_seconds=1.5)

IMPORTS = "import numpy as np\nfrom clearcheck.notebook import case, check, exercise, hint, progress, reset"
START = f'{IMPORTS}\n\nexercise("{SLUG}")'
MEANS = "def column_means(table):\n    return table.mean(axis=0)"
RANGES = "def column_ranges(table):\n    return table.min(axis=0), table.max(axis=0)"


def mark_solution(answer: str) -> str:
    head, *body = answer.splitlines()
    return "\n".join([head, "    ### BEGIN SOLUTION", *body, "    ### END SOLUTION"])


def notebook(*sources: str, **metadata) -> dict:
    cells: list[dict] = [
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
