"""Reset of one question: the released cell comes back, the old answer is kept, the rest of the file stays."""

import json

import pytest
from clearcheck import files
from clearcheck.cli import main
from clearcheck.report.grade import grade
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, SHORT, SLUG, START, notebook

RELEASED = 'def column_means(table):\n    raise NotImplementedError("Write your answer here.")'
FILE, BACKUP = f"exercises/{SLUG}.ipynb", f"exercises/{SLUG}.means.before-reset-1.py"


def as_jupyter(made: dict) -> str:
    cells = [{**cell, "source": cell["source"].splitlines(keepends=True)} for cell in made["cells"]]
    return json.dumps({**made, "cells": cells}, indent=1, ensure_ascii=False) + "\n"


LAYOUTS = {
    "Jupyter's": as_jupyter,
    "indented by 2, ends at once": lambda made: json.dumps(made, indent=2, ensure_ascii=False),
    "one line, ASCII": json.dumps,
    "Windows": lambda made: "\ufeff" + as_jupyter(made).replace("\n", "\r\n"),
}


def with_outputs(made: dict) -> dict:
    """Every cell with an output, with letters beyond ASCII, and keys in an order of their own."""
    for number, cell in enumerate(made["cells"], start=1):
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"№ {number} — x̄\n"]}]
        cell["execution_count"] = number
    return {"metadata": made["metadata"], **made}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_only_the_answer_cell_changes(learner, capsys, layout):
    """Would catch lost outputs, a file that is laid out anew, or an answer that is lost."""
    path = learner(MEANS, RANGES)
    made = with_outputs(json.loads(path.read_text()))
    path.write_bytes(layout(made).encode())
    assert main(["reset", FILE, "means"]) == 0
    made["cells"][1].update(source=RELEASED, outputs=[], execution_count=None)
    assert path.read_bytes() == layout(made).encode()
    assert path.with_name("01-columns.means.before-reset-1.py").read_text() == MEANS
    out = capsys.readouterr().out
    assert f"kept in {BACKUP}\n" in out and "reload it from disk" in out


def test_the_points_of_that_question_go_and_the_others_stay(learner):
    """Would catch a cell that looks reset but still answers, or a reset of its neighbour."""
    path = learner(MEANS, RANGES)
    assert main(["reset", str(path), "means"]) == 0
    assert [result.points for result in grade(path, limits=SHORT).questions] == [0, 3]


def test_no_backup_is_overwritten_and_nothing_to_do_is_said(course, learner, capsys):
    """Would catch losing the first answer with the second reset, and a backup of the stub."""
    for answer in (MEANS, MEANS + " + 1"):
        learner(answer)
        assert main(["reset", FILE, "means"]) == 0
    assert main(["reset", FILE, "means"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == snapshot(
        'The answer cell of "means" in exercises/01-columns.ipynb is as it was released: nothing was changed.'
    )
    kept = {path.name[-4]: path.read_text() for path in (course / "exercises").glob("*.py")}
    assert kept == {"1": MEANS, "2": MEANS + " + 1"}


@pytest.mark.parametrize("answer", [MEANS, MEANS.replace("):", ")")])
def test_a_cell_without_its_id_is_found_by_what_it_defines(course, answer):
    """Would catch a notebook from an editor that drops ids, and an answer with a slip in its syntax."""
    made = notebook(START, answer, RANGES)
    for cell in made["cells"]:
        del cell["id"]
    (course / FILE).write_text(json.dumps(made))
    assert main(["reset", FILE, "means"]) == 0
    sources = [cell["source"] for cell in json.loads((course / FILE).read_text())["cells"]]
    assert sources == [START, RELEASED, RANGES]


def test_another_definition_is_mentioned(course, learner, capsys):
    """Would catch a learner left wondering why the old answer still counts."""
    made = json.loads(learner(MEANS).read_text())
    made["cells"].append({**made["cells"][1], "id": "again"})
    (course / FILE).write_text(json.dumps(made))
    assert main(["reset", FILE, "means"]) == 0
    assert capsys.readouterr().out == snapshot("""\
The answer cell of "means" in exercises/01-columns.ipynb is as it was released. Your old answer is kept in exercises/01-columns.means.before-reset-1.py
If the notebook is open in Jupyter, reload it from disk (File menu) before you go on.
`column_means` is also defined in code cell 7, which stayed as it is.
""")


def without_ids(*sources: str) -> str:
    made = notebook(*sources)
    return json.dumps({**made, "cells": [{**cell, "id": f"own-{n}"} for n, cell in enumerate(made["cells"])]})


REFUSED = {
    "unknown question": (without_ids(START, MEANS), "mean", 'has no question "mean": choose one of "means", "ranges"'),
    "no exercise": (without_ids("x = 1"), "means", None),
    "no notebook": ("text", "means", "JSON text is expected"),
    "answer deleted": (without_ids(START, RANGES), "means", "none defines `column_means`"),
    "answer twice": (without_ids(START, MEANS, MEANS), "means", "code cells 2 and 3 define `column_means`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_reset_is_left_alone_with_a_reason(course, capsys, name):
    """Would catch a traceback, a guess, or a file changed in spite of the error."""
    data, question, says = REFUSED[name]
    file = course / "exercises" / "mine.ipynb"
    file.write_text(data)
    assert main(["reset", "exercises/mine.ipynb", question]) == 2
    assert (says or "does not say which exercise it answers") in capsys.readouterr().err
    assert file.read_text() == data
    assert sorted(path.name for path in file.parent.iterdir()) == ["authoring", "mine.ipynb"]
    assert main(["reset", "nowhere.ipynb", "means"]) == 2
    assert "is no file" in capsys.readouterr().err


def test_a_disk_that_is_full_costs_nothing(learner, capsys, monkeypatch):
    """Would catch a notebook cut in half."""
    path = learner(MEANS)
    before = path.read_bytes()

    def raise_disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", raise_disk_full)
    assert main(["reset", str(path), "means"]) == 2
    assert f"No space left on device): {path} " in capsys.readouterr().err
    assert path.read_bytes() == before


def test_in_plain_python_the_notebook_offers_the_text(run, monkeypatch):
    """Would catch an exception where there is no front end, and a reset of what the learner wrote."""
    monkeypatch.setattr("IPython.get_ipython", lambda: None)  # another test of this process may have made a shell
    card = run(f'{MEANS}\nreset("means")')
    assert repr(card).replace(RELEASED, "THE RELEASED CELL") == snapshot("""\
Below is the answer cell of means as it was released. Your own cell stays as it is, since a notebook that is open cannot safely be rewritten while you work in it. Delete the one of the two that you no longer want: the last definition that runs counts.
Copy this text.
THE RELEASED CELL\
""")
    assert "<details open>" in card._repr_html_()
    assert repr(run('check("means")')).startswith("✓ means — passed")
    assert 'choose one of "means", "ranges"' in repr(run('reset("mean")'))


def test_in_a_kernel_the_released_cell_comes_as_the_next_cell(learner):
    """Would catch a call that IPython ignores, or that replaces the cell of the call."""
    pytest.importorskip("nbclient")
    from jupyter_client.manager import run_kernel

    path = learner(MEANS)
    with run_kernel(cwd=str(path.parent)) as client:
        for source in (START, MEANS):
            assert client.execute_interactive(source, timeout=60)["content"]["status"] == "ok"
        content = client.execute_interactive('reset("means")', timeout=60, output_hook=lambda _: None)["content"]
    assert content["payload"] == [{"source": "set_next_input", "text": RELEASED, "replace": False}]
