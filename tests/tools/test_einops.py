"""An answer may import einops, the habit of other courses: it is there wherever an answer runs."""

import re
import tomllib
from pathlib import Path

import pytest

from tools.takeaway import gradescope

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def words_of(place: str, folder: Path) -> list[str]:
    """What is installed at a place where answers run."""
    texts = {
        "the course and the wheel": " ".join(EXTRAS["notebooks"]),
        "the container": (ROOT / "tools" / "grader.Containerfile").read_text(encoding="utf-8"),
        "Gradescope": gradescope.packages(folder),
    }
    return re.findall(r"[\w.-]+", texts[place])


@pytest.mark.parametrize("place", ["the course and the wheel", "the container", "Gradescope"])
def test_einops_is_installed_wherever_answers_run(place, tmp_path):
    """Catches an answer that is right on the learner's machine and has no points in the grader."""
    assert "einops" in words_of(place, tmp_path)
    assert re.search(r"^einops==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M)
