"""A class that has handed in, and its results: what tests of class runs share."""

import csv
import json
from pathlib import Path

from clearcheck.cli import main

from tests.clearcheck.toy_notebook import MEANS, START, notebook

WRONG = MEANS.replace("axis=0", "axis=1")
ADA = "Ada Lovelace_12_assignsubmission_file_"
FOLDERS = ["work/moodle", "work/canvas", "work/plain"]  # as three systems export them
SEED = "918273645"


def put(name: str, *sources: str):
    path = Path("work") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(START, *sources)))


def table(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def grade(*options: str, code: int = 2):
    assert main(["grade", *FOLDERS, "--results", "out", *options]) == code


def same_files(one: Path, other: Path) -> bool:
    """Whether two folders of results hold the same files with the same bytes."""
    first, second = files_below(one), files_below(other)
    return len(first) > 5 and first == second


def files_below(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
