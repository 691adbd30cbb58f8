"""Files of the course that chapters read, such as a model that was trained for longer."""

import sys
from pathlib import Path

PACKED = Path(__file__).resolve().parents[1] / "course"  # where a wheel of the course has them
CHECKOUT = Path(__file__).resolve().parents[3]
KEPT = "chapters/transformer.py"  # typed in chapter 8, imported by the chapters after it


def course_file(name: str) -> Path:
    """A file or folder of the course by its name there, such as ``models/language``, wherever a notebook runs.

    Raises: FileNotFoundError if neither the checkout nor the installed course has it.
    """
    tried = [base / name for base in (PACKED, CHECKOUT)]
    for path in tried:
        if path.exists():
            return path
    raise FileNotFoundError(
        f"course_file: there is no {name!r}, looked for {tried[0]} and {tried[1]}. Install the course anew, or take "
        "its folder; models that are missing there are made by make models."
    )


def find_kept_files() -> None:
    """Let ``from transformer import Block`` find the course's file where no file of the reader's own comes first.

    That one lies beside the notebook, where Python looks first.
    """
    folder = str(course_file(KEPT).parent)
    if folder not in sys.path:
        sys.path.append(folder)
