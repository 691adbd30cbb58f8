"""Where the course lies whose checks grade: in the wheel, in the checkout of the grader, or where the user says."""

import os
from pathlib import Path

PACKED = Path(__file__).resolve().with_name("course")  # where a wheel of the course has its exercises
CHECKOUT = PACKED if PACKED.is_dir() else Path(__file__).resolve().parents[2]
AUTHORING = Path("exercises") / "authoring"
COURSE_VARIABLE = "CLEARCHECK_COURSE"  # names another course than the one that the grader came with


def own_course() -> Path:
    """The folder of the course whose checks grade: the grader's own, never the one where a notebook happens to lie."""
    return Path(os.environ.get(COURSE_VARIABLE) or CHECKOUT).resolve()
