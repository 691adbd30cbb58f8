"""Every notebook keeps the rules, and every rule can fail."""

import re
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.notebooks import lint
from tests.notebooks.exports import exported_names
from tools.pages.chapters import chapters

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted([*ROOT.glob("chapters/**/*.ipynb"), *ROOT.glob("exercises/*.ipynb")])
EXPORTS = frozenset({"softmax"})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_notebook_keeps_the_rules(path):
    assert lint.lint(path, exported_names(), chapter=path.is_relative_to(ROOT / "chapters")) == []


def test_there_are_notebooks_and_exports():
    assert len(NOTEBOOKS) >= 2
    assert {"softmax", "attend", "self_attention", "patchify"} <= exported_names()


def good_notebook():
    figure = {"image": {"alt": "A triangle of weights below the diagonal"}, "figure": {"caption": "No look ahead."}}
    drawing = new_output("display_data", data={"image/svg+xml": "<svg/>", "text/plain": "<Figure>"})
    option = '<details class="quiz"><summary>Rows</summary>\n\n**Right.** They do.\n\n</details>'
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Title\n\nWhat you will learn.", id="title"),
            new_code_cell("x = 1\nprint(x)", id="setup", execution_count=1, outputs=[new_output("stream", text="1\n")]),
            new_code_cell(
                "_ = draw()", id="weights-plot", execution_count=2, outputs=[drawing], metadata={"mystnb": figure}
            ),
            new_markdown_cell(f"**1. What sums to 1?**\n\n{option}", id="question-1"),
        ],
        metadata={"run_seconds_at_most": 10},
    )
    return notebook


@pytest.mark.parametrize(
    ("n_lines", "tags", "kept"),
    [
        (36, ["hide-input", "in-transformer-py"], True),
        (37, ["hide-input", "in-transformer-py"], False),
        (21, ["in-transformer-py"], False),
        (21, ["hide-input"], False),
        (20, [], True),
    ],
)
def test_a_class_of_a_file_that_a_reader_types_may_be_longer_where_it_is_folded(n_lines, tags, kept):
    """Catches a screen of code that is called a class, and a class that would have to be cut in two."""
    cell = new_code_cell("\n".join(["x = 1"] * n_lines), id="typed", metadata={"tags": tags})
    assert (not list(lint.length(new_notebook(cells=[cell]), EXPORTS))) == kept


def longest_is_right(source):
    """For each question whose options differ in length: whether no option is longer than the right one."""
    for question in re.split(r"^\*\*\d+\. ", source, flags=re.M)[1:]:
        options = [b for b in re.split(r"<details\b", question)[1:] if b.startswith(' class="quiz"')]
        lengths = [len(re.sub(r"<[^>]+>", "", re.search(lint.SUMMARY, option)[1])) for option in options]
        right = [length for length, option in zip(lengths, options, strict=True) if "**Right" in option]
        if len(set(lengths)) > 1:
            yield right == [max(lengths)]


def test_the_longest_option_gives_no_answer_away():
    """Catches quizzes that are passed by choosing the longest option, unread."""
    cells = [cell for path in chapters() for cell in nbformat.read(path, as_version=4).cells]
    found = [longest for c in cells if 'class="quiz"' in c.source for longest in longest_is_right(c.source)]
    assert len(found) >= 40
    assert sum(found) <= 0.4 * len(found)


def test_the_length_of_a_quiz_option_is_that_of_its_words():
    """Catches a count that takes tags for words, a tie of all options for a hint, or the explanation for the option."""
    quiz = (
        ("<code>f</code> is it", "**Right.** No."),
        ("g is longer", "**Not quite.** A sentence that is much longer than any of the options."),
    )
    blocks = [f'<details class="quiz"><summary>{words}</summary>\n\n{why}\n\n</details>' for words, why in quiz]
    same = [block.replace("g is longer", "g is it") for block in blocks]
    other = [block.replace("g is longer", "g") for block in blocks]
    text = "\n\n".join(["**1. One?**", *blocks, "**2. Two?**", *same, "**3. Three?**", *other])
    assert list(longest_is_right(text)) == [False, True]


def misfits(notebook, tmp_path, chapter=True):
    path = tmp_path / "notebook.ipynb"
    nbformat.write(notebook, path)
    return lint.lint(path, EXPORTS, chapter)


def test_a_good_notebook_has_no_misfit(tmp_path):
    assert misfits(good_notebook(), tmp_path) == []


def source(text):
    def change(notebook):
        notebook.cells[1].source = text

    return change


def option(text):
    def change(notebook):
        notebook.cells[3].source = text

    return change


def meta(cell, **values):
    def change(notebook):
        notebook.cells[cell].metadata = nbformat.from_dict(values)

    return change


def attribute(cell, name, value):
    def change(notebook):
        notebook.cells[cell][name] = value

    return change


def outputs(text):
    return attribute(1, "outputs", [new_output("stream", text=text)])


def drawing(text):
    return attribute(2, "outputs", [new_output("display_data", data={"image/svg+xml": f"<svg>{text}</svg>"})])


def unnumbered_questions():
    """A question without a number, one in the running text, and a second one with which counting starts anew."""
    answers = '<details class="quiz"><summary>Rows</summary>\n\n**Right.** They do.\n\n</details>'
    first = f"**1. What sums to 1?**\n\n{answers}"
    yield f"**What sums to 1?**\n\n{answers}"
    yield f"*A quick question.* What sums to 1?\n\n{answers}"
    yield f"{first}\n\n{first}"


BAD = {
    "magic": [
        source("%matplotlib inline"),
        source("x = 1\n!ls"),
        source("print?"),
        source("files = !ls"),
        source("%%time\nx = 1"),
    ],
    "semicolon": [source("x = 1;"), source("draw(); \ny = 2")],
    "execution_counts": [attribute(1, "execution_count", None), attribute(1, "execution_count", 3)],
    "no_error": [attribute(1, "outputs", [new_output("error", ename="E", evalue="v", traceback=[])])],
    "ids": [
        attribute(1, "id", "9f3a01bc"),
        attribute(1, "id", "7d5d42f5-1d0a-4f1e-9c52-0f5d27a3c1aa"),
        attribute(1, "id", "Setup"),
        attribute(1, "id", "weights-plot"),
    ],
    "length": [source("x = 1\n" * 21)],
    "redefined_names": [
        source("def softmax(x): ..."),
        source("softmax = 1"),
        source("if True:\n    class softmax: ..."),
        source("for softmax in []: ..."),
        source("a, (b, softmax) = 1, (2, 3)"),
    ],
    "paths": [outputs("saved to /tmp/x.png"), outputs("File /home/ada/course.py"), outputs(r"C:\Users\ada")],
    "tags": [meta(1, tags=["skip-execution"]), meta(1, tags=["nbval-skip"]), meta(1, tags=["raises-exception"])],
    "quiz": [
        option("<details>\n\nbody\n\n</details>"),
        option("<details><summary></summary>\n\nbody\n\n</details>"),
        option("<details><summary>a</summary>\n\nbody"),
        option('<details class="quiz"><summary>a</summary>\n\nBecause.\n\n</details>'),
        option('<details class="quiz"><summary>f(x, axis=0)</summary>\n\n**Right.**\n\n</details>'),
    ],
    "quiz_numbers": [option(text) for text in unnumbered_questions()],
    "letters": [drawing('<g transform="translate(7.2 9.5) scale(0.11 -0.11)"/><g transform="scale(0.075 -0.075)"/>')],
    "alt_text": [
        meta(2),
        meta(2, mystnb={"image": {"alt": "a plot"}, "figure": {"caption": "c"}}),
        meta(2, mystnb={"image": {"alt": "A triangle of weights below the diagonal"}}),
    ],
    "title": [attribute(0, "source", "## Section"), attribute(3, "source", "# Another title")],
    "run_time": [
        lambda notebook: notebook.metadata.clear(),
        lambda notebook: notebook.metadata.update(run_seconds_at_most=70),
    ],
}


def test_every_rule_has_a_notebook_that_breaks_it():
    assert BAD.keys() == lint.RULES.keys()


@pytest.mark.parametrize(("rule", "number"), [(rule, i) for rule, bad in BAD.items() for i in range(len(bad))])
def test_rule_can_fail(rule, number, tmp_path):
    notebook = deepcopy(good_notebook())
    BAD[rule][number](notebook)
    assert list(lint.RULES[rule](notebook, EXPORTS)) != []


@pytest.mark.parametrize("harmless", ["y = [softmax for softmax in (1, 2)]", "y = softmax(1)", "y = 7 % 2", "y = {}\n"])
def test_rules_leave_good_code_alone(harmless, tmp_path):
    notebook = good_notebook()
    source(harmless)(notebook)
    assert misfits(notebook, tmp_path) == []


def test_a_chapter_may_write_what_the_library_has_and_show_that_it_is_the_same(tmp_path):
    """Catches a rule that forbids to build FeedForward on the page, and one that takes the import alone for a proof."""
    theirs = "from clearformer.reference.functions import softmax as library_softmax\n"
    mine, compared = "def softmax(x): ...\n", "torch.testing.assert_close(softmax(x), library_softmax(x))"
    for text, allowed in ((theirs + mine + compared, True), (theirs + mine, False), (mine + compared, False)):
        notebook = good_notebook()
        source(text)(notebook)
        assert (misfits(notebook, tmp_path) == []) is allowed, text


def test_a_learners_notebook_may_define_names_of_the_library(tmp_path):
    notebook = good_notebook()
    source("def softmax(x): ...")(notebook)
    assert misfits(notebook, tmp_path, chapter=False) == []


@pytest.mark.parametrize("text", ["", "{}", "not a notebook", '{"cells": 3}'])
def test_what_is_no_notebook_is_said_to_be_none(text, tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"broken\.ipynb is not a valid notebook"):
        lint.lint(path, EXPORTS)
