"""Each exercise is proven: right solutions accepted, wrong ones caught and told their mistake, on several seeds."""

import gc
import json
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor

import pytest
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.proof.page import Told, in_all, told
from clearcheck.proof.prove import SEEDS

from tests.exercises.authored import EXERCISES, SLUGS, authored

PAGE = EXERCISES.parent / "chapters" / "grader-proof.md"
COMMAND = f"python -m clearcheck prove {' '.join(SLUGS)} --page chapters/grader-proof.md"
STALE = f"chapters/grader-proof.md does not tell what the grader does: {COMMAND}"


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

    With the first draw of the arguments; the page tells what came of all of them.
    """
    proof = proven(prover, slug, draws=1)
    committed = rows_of(section_of_the_page(slug))
    for at, row in rows_of(proof.section).items():
        assert at in committed and agree(row, committed[at]), f"{STALE}\n{row}"


@pytest.mark.weekly
@pytest.mark.parametrize("slug", SLUGS)
def test_the_page_tells_what_came_of_every_draw(prover, slug):
    """Catches a check that only the first draw of the arguments makes right, and a page that tells of other points."""
    assert proven(prover, slug, draws=len(SEEDS)).section.strip() == section_of_the_page(slug), STALE


def proven(prover, slug: str, draws: int) -> Told:
    """The proof of an exercise, without errors and with a row for every solution."""
    proof = prover.submit(told, slug, draws).result(timeout=3600)
    assert not proof.errors, "\n".join([proof.summary, *proof.errors])
    names = sorted(name for _, name in rows_of(proof.section))
    assert names and names == sorted(entry.name for entry in entries(slug))
    return proof


def section_of_the_page(slug: str) -> str:
    sections = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title = f"## {authored(slug).exercise.title}\n"
    return next(section.strip() for section in sections if section.startswith(title))


def rows_of(section: str) -> dict[tuple[str, str], list[str]]:
    """The cells of a row for each solution, by the title of its question and its name."""
    rows, question = {}, ""
    for line in section.splitlines():
        question = line if line.startswith("### ") else question
        if line.startswith("| `"):
            cells = re.split(r"(?<!\\) \| ", line.strip("| "))
            rows[question, cells[0].strip("`")] = cells
    return rows


def agree(one: list[str], all_draws: list[str]) -> bool:
    """Whether what one draw gave is among what all of them gave; what is told and the mistake are the same."""
    _, kind, status, points, *rest = one
    _, its_kind, statuses, span, *its_rest = all_draws
    least, *most = map(int, span.split(" to "))
    within = least <= int(points) <= (most or [least])[0]
    return (kind, rest) == (its_kind, its_rest) and status in statuses.split(" or ") and within


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
