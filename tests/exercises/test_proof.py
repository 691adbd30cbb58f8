"""Each exercise is proven: right solutions accepted, wrong ones caught and told their mistake, on several seeds."""

import gc
import json
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor

import pytest
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.proof.page import proof_text
from clearcheck.proof.prove import SEEDS

from tests.exercises.course_exercises import EXERCISES, SLUGS, course_exercise

ROW = re.compile(r"^\| `(\w+)` \| (right|wrong) \| ([a-z ]+) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def prover():
    """A process of its own, as an author has one: the shape checks of the test run are not part of the grader."""
    rarely = {"initializer": gc.set_threshold, "initargs": (20_000, 20, 50)}  # little of what is loaded can be freed
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), **rarely) as pool:
        yield pool


@pytest.mark.parametrize("slug", SLUGS)
def test_the_grader_is_right_about_every_solution(prover, slug):
    """Catches a check that a mistake passes, a diagnosis that names another mistake, a stub that gets points, and a
    solution that the proof leaves out. With the first draw of the arguments.
    """
    proof_of(prover, slug, draws=1)


@pytest.mark.weekly
@pytest.mark.parametrize("slug", SLUGS)
def test_the_grader_is_right_with_every_draw(prover, slug):
    """Catches a check that only the first draw of the arguments makes right."""
    proof_of(prover, slug, draws=len(SEEDS))


def proof_of(prover, slug: str, draws: int) -> None:
    """The proof of an exercise has no errors, and a row for every solution, with the verdict that it has to get."""
    proof = prover.submit(proof_text, slug, draws).result(timeout=3600)
    assert not proof.errors, "\n".join([proof.summary, *proof.errors])
    rows = ROW.findall(proof.page)
    expected = [(entry.name, "right") for entry in course_exercise(slug).right.entries]
    expected += [(entry.name, "wrong") for entry in course_exercise(slug).wrong.entries]
    assert sorted((name, kind) for name, kind, _ in rows) == sorted(expected)
    assert {status == "passed" for _, kind, status in rows if kind == "right"} == {True}
    assert {"passed" in status for _, kind, status in rows if kind == "wrong"} == {False}


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
    cells = [cell for cell in course_exercise(slug).learner.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs and not [
        output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"
    ]


def without_outputs(cell: dict) -> tuple:
    return cell["id"], cell["cell_type"], "".join(cell["source"]), cell["metadata"]
