"""`bring()`: the learner's own functions as text, with what they use, and a clear sentence for each that is missing."""

import json
from dataclasses import replace

import pytest
from clearcheck import Exercise, Question, holds
from clearcheck import notebook as in_notebook
from clearcheck.learner.progress_file import read_record
from clearcheck.learner.reuse import brought_card, find
from inline_snapshot import snapshot

from .toy_notebook import MEANS, SLUG

EARLIER = {"doubled": "01-first", "scaled": "02-second"}
STUB = 'raise NotImplementedError("Write your answer here.")'


def write(folder, name, *cells, slug=None):
    """A notebook of the exercise after which it is named, unless `slug` says of which, or with "" of none."""
    slug = name.removesuffix(".ipynb") if slug is None else slug
    metadata = {"clearcheck": {"exercise": slug}} if slug else {}
    sources = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": sources}
    (folder / name).write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    first = "import numpy as np\nfrom clearcheck.notebook import check\nprint(1 / 0)"
    write(
        tmp_path,
        "01-first.ipynb",
        first,
        "def doubled(x):\n    return twice(x)",
        "def twice(x):\n    return np.add(x, x)",
    )
    write(tmp_path, "02-second.ipynb", "import numpy as np", "SIZE = 3\n\n\ndef scaled(x, by=SIZE):\n    return by * x")
    return tmp_path


def test_the_text_runs_alone(folder):
    """Catches a helper, a constant or an import that was left behind, and a cell that is run (it divides by 0)."""
    found = find(EARLIER, folder)
    scope = {}
    exec(found.cell, scope)
    assert scope["doubled"](4) == 8 and scope["scaled"](2) == 6
    assert found.brought == ["doubled", "scaled"]
    assert found.cell.count("import numpy as np") == 1 and "clearcheck" not in found.cell and "print" not in found.cell


def test_local_names_bring_nothing(folder):
    """Catches a scratch cell that comes along because a local variable has its name."""
    write(folder, "01-first.ipynb", "total = 1 / 0", "def doubled(x):\n    total = x + x\n    return total")
    assert find({"doubled": "01-first"}, folder).cell == "def doubled(x):\n    total = x + x\n    return total"


def test_a_chapter_of_the_same_name_is_no_exercise(folder):
    """Catches the book's own function brought as the learner's, where chapter and exercise lie in one folder."""
    (folder / "01-first.ipynb").rename(folder / "exercise-01-first.ipynb")
    write(folder, "01-first.ipynb", "def doubled(x):\n    return 'the book'", slug="")
    found = find({"doubled": "01-first"}, folder)
    assert "twice" in found.cell and "the book" not in found.cell
    assert found.sentences == ["doubled: found in exercise-01-first.ipynb."]
    (folder / "exercise-01-first.ipynb").unlink()
    assert 'does not call exercise("01-first")' in find({"doubled": "01-first"}, folder).sentences[0]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ((f"def doubled(x):\n    {STUB}",), "not answered yet in 01-first.ipynb"),
        (("def doubled(x:\n    return 2",), "code cell 1 of 01-first.ipynb has a syntax error"),
        (("x = 1",), "does not define it any more"),
        (
            (f"def half(x):\n    {STUB}", "def doubled(x):\n    return half(4 * x)"),
            "it calls half, which is not answered",
        ),
    ],
)
def test_what_is_missing_is_said(folder, cells, sentence):
    write(folder, "01-first.ipynb", *cells)
    found = find(EARLIER, folder)
    assert sentence in found.sentences[0] and found.brought == ["scaled"]


def test_no_notebook_and_a_renamed_one(folder):
    (folder / "01-first.ipynb").rename(folder / "mine.txt")
    assert find(EARLIER, folder).sentences[0] == snapshot(
        "doubled: there is no 01-first.ipynb beside this notebook; put it there, or write the function here."
    )
    write(folder, "anna.ipynb", "def doubled(x):\n    return x * 2", slug="01-first")
    assert "found in anna.ipynb" in find(EARLIER, folder).sentences[0]
    (folder / "01-first.ipynb").write_text("no JSON", encoding="utf-8")
    assert "01-first.ipynb is no notebook" in find(EARLIER, folder).sentences[0]


def test_two_helpers_of_one_name(folder):
    """Catches a helper of one notebook that silently takes the place of another's."""
    write(folder, "02-second.ipynb", "def twice(x):\n    return 3 * x", "def scaled(x):\n    return twice(x)")
    found = find(EARLIER, folder)
    assert found.brought == ["doubled"] and "a different twice" in found.sentences[1]


def test_what_a_notebook_holds_ready_is_no_answer(folder):
    """Catches a ready part that keeps the learner's own away, and one that is still called ready when it is not."""
    question = Question("q", "Q", "f", 1, 1, (holds("h", 1, lambda ask, rng: ask(1)),))
    exercise = Exercise("08-last", "Last", "chapters/08-last", (question,), brings=EARLIER)
    ready = {name: f"def {name}(x):\n    return 0" for name in EARLIER}
    write(folder, "08-last.ipynb", *ready.values())
    text = brought_card(exercise, dict.fromkeys(EARLIER, abs), folder, ready).text
    assert "2 of 2" in text and "def doubled" in text and "def scaled" in text and "ready" not in text
    (folder / "02-second.ipynb").unlink()
    text = brought_card(exercise, dict.fromkeys(EARLIER, abs), folder, ready).text
    assert "1 of 2" in text and "Until then the ready scaled above will do." in text
    write(folder, "08-last.ipynb", ready["doubled"], ready["scaled"], "def scaled(x):\n    return x")
    text = brought_card(exercise, dict.fromkeys(EARLIER, abs), folder, ready).text
    assert "scaled: already written" in text and "ready" not in text.split("written")[1]


def test_nothing_is_overwritten(folder):
    """A function that is there already, in the session or in the saved notebook, is not offered again."""
    question = Question("q", "Q", "f", 1, 1, (holds("h", 1, lambda ask, rng: ask(1)),))
    exercise = Exercise("08-last", "Last", "chapters/08-last", (question,), brings=EARLIER)
    text = brought_card(exercise, {"doubled": abs}, folder).text
    assert (
        "2 of 2" in text and "doubled: already written" in text and "def doubled" not in text and "def scaled" in text
    )
    write(folder, "08-last.ipynb", "def scaled(x):\n    return x")
    assert "def " not in brought_card(exercise, {"doubled": abs}, folder).text


def test_a_function_below_a_text_with_a_line_separator_is_whole(folder):
    """Catches `str.splitlines`, which counts more lines than Python: the wrong ones are brought."""
    write(folder, "01-first.ipynb", "NOTE = 'a\u2028b\x0c'\n\n\ndef doubled(x):\n    return NOTE and x + x")
    assert find({"doubled": "01-first"}, folder).cell == (
        "NOTE = 'a\u2028b\x0c'\n\n\ndef doubled(x):\n    return NOTE and x + x"
    )


def test_what_the_notebook_asks_for_itself_is_not_brought(folder):
    """Catches an older class that takes the place of the one that the notebook asks for, and its helpers left over."""
    cells = "def asked(x):\n    return helper(x)", "def helper(x):\n    return x", "def block(x):\n    return asked(x)"
    write(folder, "01-first.ipynb", *cells)
    found = find({"block": "01-first"}, folder, ["asked"])
    assert found.cell == "def block(x):\n    return asked(x)"
    check = holds("any", 1, lambda ask, rng: None)
    own = Question(id="asked", title="A", name="asked", minutes=5, difficulty=1, checks=(check,))
    card = brought_card(Exercise("03-third", "T", "c", (own,), brings={"block": "01-first"}), {}, folder)
    assert "def block" in repr(card) and "def helper" not in repr(card)


def test_what_is_found_says_whether_it_has_passed(record, run, learner):
    """Catches a part that is wrong, or that was never checked, offered as if it were right."""
    question = Question("q", "Q", "f", 1, 1, (holds("h", 1, lambda ask, rng: ask(1)),))
    exercise = Exercise("08-last", "Last", "chapters/08-last", (question,), brings={"column_means": SLUG})
    folder = learner(MEANS).parent
    told = [brought_card(exercise, {}, folder, record=read_record(record)).text.splitlines()[1]]
    for answer in (MEANS.replace("axis=0", "axis=1"), MEANS):
        run(f'{answer}\ncheck("means")')
        told.append(brought_card(exercise, {}, folder, record=read_record(record)).text.splitlines()[1])
    assert told == snapshot(
        [
            'column_means: found in 01-columns.ipynb; it was never checked there: run check("means") in that notebook first.',
            'column_means: found in 01-columns.ipynb; it has not passed its checks (2 of 6 points when last checked): see check("means") in that notebook.',
            "column_means: found in 01-columns.ipynb; it passed its checks when it was last checked.",
        ]
    )


def test_bring_reads_the_record(record, run, learner, monkeypatch):
    """Catches a record that `bring()` never looks at, and a damaged one in whose stead the parts are not offered."""
    monkeypatch.chdir(learner(MEANS).parent)
    chosen = in_notebook._session.authored
    later = replace(
        chosen.exercise, slug="08-last", brings={"column_means": SLUG}, questions=chosen.exercise.questions[1:]
    )
    monkeypatch.setattr(in_notebook._session, "authored", replace(chosen, exercise=later))
    monkeypatch.setattr(in_notebook, "given_in", lambda authored: {})
    assert "was never checked" in repr(run("from clearcheck.notebook import bring\nbring()"))
    record.parent.mkdir()
    record.write_text("no JSON", encoding="utf-8")
    assert "column_means: found in 01-columns.ipynb." in repr(run("bring()"))
