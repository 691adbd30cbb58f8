"""Each exercise is proven: right solutions accepted, wrong ones caught and told their mistake, on several seeds."""

import gc
import json
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor

import pytest
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.proof.page import in_all, told

from tests.exercises.authored import EXERCISES, SLUGS, authored

PAGE = EXERCISES.parent / "chapters" / "grader-proof.md"
COMMAND = f"python -m clearcheck prove {' '.join(SLUGS)} --page chapters/grader-proof.md"


@pytest.fixture(scope="module")
def prover():
    """A process of its own, as an author has one: the shape checks of the test run are not part of the grader."""
    rarely = {"initializer": gc.set_threshold, "initargs": (20_000, 20, 50)}  # little of what is loaded can be freed
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), **rarely) as pool:
        yield pool


@pytest.mark.parametrize("slug", SLUGS)
def test_the_grader_is_right_about_every_solution(prover, slug):
    """Catches a check that a mistake passes, a diagnosis that names another mistake, a stub that gets points, and a
    page "How this grader was tested" that tells of another grader.
    """
    proof = prover.submit(told, slug).result(timeout=3600)
    assert not proof.errors, "\n".join([proof.summary, *proof.errors])
    rows = re.findall(r"^\| `(\w+)` \| (?:right|wrong) \|", proof.section, flags=re.MULTILINE)
    assert rows and sorted(rows) == sorted(entry.name for entry in entries(slug))
    stale = f"chapters/grader-proof.md does not tell what the grader does: {COMMAND}"
    assert proof.section.strip() in PAGE.read_text(encoding="utf-8"), stale


def test_the_page_counts_its_solutions():
    """Catches a sum that was typed, or one of another day."""
    text = PAGE.read_text(encoding="utf-8")
    counted = [
        sum(len(part(authored(slug)).entries) for slug in SLUGS) for part in (lambda a: a.right, lambda a: a.wrong)
    ]
    assert in_all(text) in text
    assert "In all these are {:,} right and {:,} wrong solutions.".format(*counted) in text


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
