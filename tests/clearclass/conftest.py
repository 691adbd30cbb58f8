"""The toy course that is also clearcheck's, and a class that has handed in its work."""

from pathlib import Path

import pytest

from tests.clearcheck.conftest import course  # noqa: F401
from tests.clearcheck.toy_notebook import MEANS, RANGES

from .class_folder import ADA, WRONG, put


@pytest.fixture
def work(course) -> Path:  # noqa: F811
    """Handed-in work as three systems export it, with a learner who handed in twice and one whose file is broken."""
    put(f"moodle/{ADA}/nb.ipynb", MEANS, RANGES)
    put("canvas/bobby_LATE_77_8899_nb.ipynb", WRONG, RANGES)
    put("canvas/bobby_77_8890_nb.ipynb", WRONG)
    put("plain/cy.ipynb", WRONG, "1/0")
    (course / "work" / "plain" / "dee.ipynb").write_text("{")
    return course
