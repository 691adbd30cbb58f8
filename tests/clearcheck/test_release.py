"""From the author's notebook to the learner's."""

import json

import pytest
from clearcheck.author.loading import AuthoringError
from clearcheck.author.release import MISSING, learner_notebook, without_solution
from clearcheck.cli import main
from clearcheck.learner.answered_exercise import exercise_slug
from clearcheck.notebooks.submission import read_submission
from inline_snapshot import snapshot

from .toy_notebook import MEANS, SLUG, notebook


def test_solutions_become_stubs_indented_alike():
    """Would catch a solution line that stays, or a stub that does not parse."""
    solution = "        ### BEGIN SOLUTION\n        y = 1\n        return y\n        ### END SOLUTION\n"
    source = f"def f(x):\n    if x:\n{solution}    return 0"
    assert without_solution(source, "c") == f"def f(x):\n    if x:\n        {MISSING}\n    return 0"


@pytest.mark.parametrize(
    "source",
    ["### BEGIN SOLUTION\nx", "x\n### END SOLUTION", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION"],
)
def test_markers_without_a_partner_are_refused(source):
    """Would catch publishing a solution because one marker was forgotten."""
    with pytest.raises(AuthoringError, match='Cell "c-7"'):
        without_solution(source, "c-7")


def test_solution_cells_are_dropped_and_ids_and_metadata_kept():
    """Would catch ids that change with each release, and a solution in a cell of its own."""
    source = notebook("a = 1", "b = 2", "c = 3", kernelspec={"name": "python3"})
    source["cells"][1]["metadata"]["tags"] = ["solution"]
    made = learner_notebook(source, "02-x")
    assert [cell["id"] for cell in made["cells"]] == ["cell-0", "cell-2"]
    assert made["metadata"] == {"kernelspec": {"name": "python3"}, "clearcheck": {"exercise": "02-x"}}
    assert len(source["cells"]) == 3


def test_the_released_notebook_is_whole(course, capsys):
    """Would catch a release that leaks, fails to run, or is committed without outputs."""
    pytest.importorskip("nbclient")
    assert main(["release", SLUG]) == 0
    path = course / "exercises" / f"{SLUG}.ipynb"
    text = path.read_text()
    assert "mean(axis=0)" not in text and "SOLUTION" not in text
    cells = json.loads(text)["cells"]
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3, 4, 5, 6]
    shown = ["".join(output["data"]["text/plain"]) for cell in cells for output in cell["outputs"]]
    assert [line.splitlines()[0] for line in shown] == snapshot(
        [
            'Columns (2 questions, 9 points). Ask check("…"), case("…"), hint("…") or progress() at any time.',
            "○ means — not answered yet (0 of 6 points)",
            "○ ranges — not answered yet (0 of 3 points)",
            "Columns: 0 of 9 points",
        ]
    )
    path.rename(course / "renamed.ipynb")
    assert exercise_slug(read_submission(course / "renamed.ipynb")) == SLUG
    main(["release", SLUG])
    assert path.read_text() == text


def test_a_release_has_nothing_to_do_with_the_authors_own_record(record, run):
    """Would catch an author's points in every learner's notebook, and a release that writes points."""
    pytest.importorskip("nbclient")
    run(f'{MEANS}\ncheck("means")')
    before = record.read_bytes()
    assert main(["release", SLUG]) == 0
    assert "as last checked" not in (record.parents[1] / "exercises" / f"{SLUG}.ipynb").read_text()
    assert record.read_bytes() == before


def test_a_source_that_is_no_notebook(course, capsys):
    """Would catch a traceback for a wrong path."""
    assert main(["release", "nowhere.ipynb"]) == 2
    assert capsys.readouterr().err == snapshot(
        "A source notebook is expected: nowhere.ipynb is no file: pass the path of a notebook.\n"
    )
    assert main(["release", "99-nowhere"]) == 2
    assert "No exercise" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["nowhere/x.ipynb", "."])
def test_a_target_that_cannot_be_written(course, capsys, target):
    """Would catch a traceback for a folder that is not there, or that is named instead of a file."""
    pytest.importorskip("nbclient")
    assert main(["release", SLUG, target]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{target} cannot be written (") and "name a notebook to write" in said
