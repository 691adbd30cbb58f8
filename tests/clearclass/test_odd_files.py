"""A class run over every odd file, an honest one before and behind each: it ends, and each of them has its row."""

import os
import re
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearcheck.notebooks.escaping import one_line

from .class_folder import table
from .odd_files import ODD_FILES, TEXT


def hand_in(course: Path) -> dict[str, str]:
    """Put each file into a folder of its own, with an honest one before it; gives the path of each as it is shown."""
    shown = {}
    for number, (row, odd) in enumerate(ODD_FILES.items()):
        folder = course / "work" / f"{number:02}"
        folder.mkdir(parents=True)
        (folder / "00-honest.ipynb").write_text(TEXT)
        path = Path(os.fsdecode(os.fsencode(folder) + b"/" + (odd.name or b"odd.ipynb")))
        odd.make(path)
        shown[row] = one_line(str(path.relative_to(course)))
    return shown


@pytest.mark.slow
def test_every_odd_file_has_its_row_and_costs_nobody_else_anything(course, capsys):
    """Catches a file that ends the run, has no row or a crooked one, or takes something from the files beside it."""
    shown = hand_in(course)
    assert main(["grade", "work", "--results", "out", "--seed", "5", "--exercise", "01-columns"]) == 2
    assert "Traceback" not in capsys.readouterr().err
    grades, files = table("out/grades.csv"), {row["file"]: row for row in table("out/files.csv")}
    wrong = []
    for name, odd in ODD_FILES.items():
        row = files.get(shown[name].lstrip("=")) or files.get(shown[name]) or files.get(f"'{shown[name]}")
        notes = next((it["notes"] for it in grades if row and it["file"] == row["file"]), "")
        points = "" if odd.points is None else str(odd.points)
        if not row or row["points"] != points or not re.search(odd.says, row["reason"] + notes):
            wrong.append(
                f"{name}: {shown[name][:60]}: {row}, {points or 'no'} points are right, {odd.says!r} in {notes}"
            )
    honest = [row for path, row in files.items() if path.endswith("00-honest.ipynb")]
    assert not wrong, "\n".join(wrong)
    assert len(honest) == len(ODD_FILES) and {row["points"] for row in honest} == {"9"}
    inside = [path for path in files if path.endswith("inside.txt")]  # of the folder that is called as a notebook
    assert len(files) - len(inside) == 2 * len(ODD_FILES)
