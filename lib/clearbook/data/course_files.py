"""Files of the course that chapters read, such as a model that was trained for longer."""

from pathlib import Path

PACKED = Path(__file__).resolve().parents[1] / "course"  # where a wheel of the course has them
CHECKOUT = Path(__file__).resolve().parents[3]


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
