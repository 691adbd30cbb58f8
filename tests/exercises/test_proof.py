"""Each exercise is proven: right solutions accepted, wrong ones caught and told their mistake, on five seeds."""

import json
import re
import subprocess
import sys

import pytest
from clearcheck.proofpage import OPENING
from clearcheck.release import learner_notebook, read_source

from tests.exercises.authored import EXERCISES, SLUGS, authored

PAGE = EXERCISES.parent / "chapters" / "grader-proof.md"
COMMAND = f"python -m clearcheck prove {' '.join(SLUGS)} --page chapters/grader-proof.md"


@pytest.mark.parametrize("slug", SLUGS)
def test_the_grader_is_right_about_every_solution(slug, tmp_path):
    """Catches a check that a mistake passes, a diagnosis that names another mistake, a stub that gets points, and a
    page "How this grader was tested" that tells of another grader.

    In a process of its own, as its author runs it: the shape checks of the test run are not part of the grader.
    """
    fresh = tmp_path / "page.md"
    command = [sys.executable, "-m", "clearcheck", "prove", slug, "--page", fresh]
    done = subprocess.run(command, cwd=EXERCISES.parent, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    told = fresh.read_text(encoding="utf-8").removeprefix(OPENING).strip()
    rows = re.findall(r"^\| `(\w+)` \| (?:right|wrong) \|", told, flags=re.MULTILINE)
    assert rows and sorted(rows) == sorted(entry.name for entry in entries(slug))
    stale = f"chapters/grader-proof.md does not tell what the grader does: {COMMAND}"
    assert told in PAGE.read_text(encoding="utf-8"), stale


@pytest.mark.parametrize("slug", SLUGS)
def test_the_learner_notebook_follows_from_its_source(slug):
    """Catches a source that was edited without a release, and a learner's notebook that was edited by hand."""
    expected = learner_notebook(read_source(EXERCISES / "authoring" / slug / "source.ipynb"), slug)
    committed = json.loads((EXERCISES / f"{slug}.ipynb").read_text(encoding="utf-8"))
    assert committed["metadata"] == expected["metadata"]
    assert [without_outputs(cell) for cell in committed["cells"]] == [
        without_outputs(cell) for cell in expected["cells"]
    ]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_untouched_notebook_runs(slug):
    """Catches a released notebook that was not run to its end, or stopped at an unanswered question."""
    cells = [cell for cell in authored(slug).learner.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs and not [
        output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"
    ]


def without_outputs(cell: dict) -> tuple:
    return cell["id"], cell["cell_type"], "".join(cell["source"]), cell["metadata"]


def entries(slug: str) -> list:
    return [*authored(slug).right.entries, *authored(slug).wrong.entries]
