"""Each exercise is proven: right solutions accepted, wrong ones caught and told their mistake, on five seeds."""

import json

import pytest
from clearcheck.proofpage import OPENING, page
from clearcheck.prove import prove
from clearcheck.release import learner_notebook, read_source

from tests.exercises.authored import EXERCISES, SLUGS, authored

PAGE = EXERCISES.parent / "chapters" / "grader-proof.md"
COMMAND = f"python -m clearcheck prove {' '.join(SLUGS)} --page chapters/grader-proof.md"


@pytest.mark.parametrize("slug", SLUGS)
def test_the_grader_is_right_about_every_solution(slug):
    """Catches a check that a mistake passes, a diagnosis that names another mistake, a stub that gets points, and a
    page "How this grader was tested" that tells of another grader."""
    proof = prove(slug)
    assert not proof.errors, "\n".join(proof.errors)
    assert len(proof.rows) == len(authored(slug).right.entries) + len(authored(slug).wrong.entries)
    stale = f"chapters/grader-proof.md does not tell what the grader does: {COMMAND}"
    told = page([proof]).removeprefix(OPENING).strip()
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
