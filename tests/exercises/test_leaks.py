"""No answer, expected value or seed in a learner's notebook or on a page; leaks.py says exactly what counts.

The searches are tried on copies with planted leaks, so that a search for nothing would be noticed.
"""

import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest
from clearcheck.grading.evaluate import generator

from tests.book.pages import toc
from tests.exercises import leaks
from tests.exercises.course_exercises import EXERCISES, SLUGS, comparisons, course_exercise, text_of

COURSE = EXERCISES.parent
PAGES = [name for name in toc() if not name.startswith("chapters/solutions/")]


def text(path: Path) -> str:
    return text_of(nbformat.read(path, as_version=4)) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")


def source(page: str, course: Path = COURSE) -> Path:
    return next(path for suffix in (".ipynb", ".md") if (path := course / f"{page}{suffix}").exists())


@pytest.mark.parametrize("slug", SLUGS)
def test_a_learners_notebook_gives_nothing_away(slug):
    """Catches a solution that the release left in, and prose, a given cell or an output that tells."""
    assert leaks.in_a_notebook(text(EXERCISES / f"{slug}.ipynb"), slug) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_gives_nothing_away(page):
    """Catches a chapter that comes to show an answer, and a page that prints a graded case."""
    assert leaks.on_a_page(text(source(page)), page) == []


@pytest.mark.parametrize("page", leaks.BROUGHT_ALONG)
def test_what_is_brought_along_stands_where_it_was_built(page):
    """Catches an allowance for every page that has outlived the line of its chapter."""
    assert {*leaks.BROUGHT_ALONG[page]} <= {*leaks.ALLOWED[page]}


@pytest.mark.parametrize("page", leaks.ALLOWED)
def test_what_a_page_is_allowed_it_says(page):
    """Catches an allowance that has outlived its line, and that a leak could hide behind."""
    nobodys = leaks.YOURS.sub("", text(source(page)))
    without = "\n".join(leaks.on_a_page(nobodys, "no page"))
    assert [what for what in leaks.ALLOWED[page] if what not in without] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_hints_and_diagnoses_give_nothing_away(slug):
    it = course_exercise(slug)
    told = [hint for question in it.exercise.questions for hint in question.hints]
    assert leaks.leaked_lines("\n".join(told + [entry.says for entry in it.wrong.entries])) == {}


def test_every_solution_has_lines_that_count():
    """Catches rules for plain lines that leave nothing to look for."""
    assert all(answer.lines for answer in leaks.answers())
    asked = {(slug, question.id) for slug in SLUGS for question in course_exercise(slug).exercise.questions}
    assert {(answer.slug, answer.question.removesuffix("-answer")) for answer in leaks.answers()} == asked


SLUG, PAGE, MARKDOWN = "03-self-attention", "chapters/concordance", "chapters/notation"
LINE = "return targets @ sources.T"


def graded_case() -> tuple[np.ndarray, np.ndarray]:
    """Scores that the grader draws, and the weights that it expects of them."""
    question = course_exercise(SLUG).exercise.questions[0]
    check = comparisons(question)[0]
    [((scores,), weights), *_] = check.results(generator(question, check.name, 0), question.call_request)
    return scores, weights


def as_output(value: str):
    def plant(notebook):
        cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
        cell.outputs = [*cell.outputs, nbformat.v4.new_output("stream", text=value)]

    return plant


def as_prose(value: str):
    return lambda notebook: notebook.cells.append(nbformat.v4.new_markdown_cell(value))


def as_code(value: str):
    return lambda notebook: notebook.cells.append(nbformat.v4.new_code_cell(value))


def expected_text(decimals: int, count: int) -> str:
    return " ".join(f"{number:.{decimals}f}" for number in graded_case()[1][0][:count])


PLANTED = {
    "a line in a sentence": (as_prose(f"Hint: `{LINE}` will do."), "is a line of 03-self-attention, ladder"),
    "a line with other spaces": (as_code("return targets@sources.T  # so"), "is a line of 03-self-attention, ladder"),
    "a line of another solution": (as_code("x = 1\nshares = torch.softmax(table, dim=-1)"), "module: StepByStep"),
    "a printed line": (as_output(f"    {LINE}\n"), "is a line of 03-self-attention, ladder"),
    "a graded result": (as_output(f"[[{expected_text(3, 4)}]]"), "stand side by side in a graded case"),
    "a graded argument": (
        as_prose(" ".join(f"{number:.4f}" for number in graded_case()[0][1][:3])),
        "stand side by side in a graded case",
    ),
}
ON_A_PAGE = {
    "a seed of the grader": (
        as_prose("Run `python -m clearcheck grade --seed 7 x.ipynb`."),
        "is a seed for the grader",
    ),
    "a seed of a check": (as_code('check("weights", seed=3)'), "is a seed for the grader"),
}
IN_A_NOTEBOOK = {
    "one expected value": (as_prose(f"The first weight is {expected_text(6, 1)}."), "is an expected value"),
    "a generator": (as_code("rng = np.random.default_rng(0)"), "may lead to the graded cases"),
    "a seed": (as_prose("The seed is 0."), "may lead to the graded cases"),
}


@pytest.fixture
def course(tmp_path):
    """A copy of one learner's notebook and two pages."""
    for name in (f"exercises/{SLUG}.ipynb", f"{PAGE}.ipynb", f"{MARKDOWN}.md"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(COURSE / name, target)
    return tmp_path


def text_with_leak(path: Path, plant) -> str:
    notebook = nbformat.read(path, as_version=4)
    plant(notebook)
    nbformat.write(notebook, path)
    return text(path)


@pytest.mark.parametrize("name", PLANTED | IN_A_NOTEBOOK)
def test_a_leak_in_a_notebook_is_found(course, name):
    plant, says = (PLANTED | IN_A_NOTEBOOK)[name]
    path = course / "exercises" / f"{SLUG}.ipynb"
    assert leaks.in_a_notebook(text(path), SLUG) == []
    assert any(says in leak for leak in leaks.in_a_notebook(text_with_leak(path, plant), SLUG))


@pytest.mark.parametrize("name", PLANTED | ON_A_PAGE)
def test_a_leak_in_a_chapter_is_found(course, name):
    plant, says = (PLANTED | ON_A_PAGE)[name]
    path = source(PAGE, course)
    assert leaks.on_a_page(text(path), PAGE) == []
    assert any(says in leak for leak in leaks.on_a_page(text_with_leak(path, plant), PAGE))


def test_a_leak_in_a_markdown_page_is_found(course):
    path = source(MARKDOWN, course)
    path.write_text(path.read_text() + f"\n```python\n{LINE}\n```\n")
    assert len(leaks.on_a_page(text(path), MARKDOWN)) == 1


def test_an_allowance_covers_its_page_and_its_line_alone(course):
    """Catches an exception that grows: the line on another page, and a whole answer made of allowed lines."""
    line, *_ = leaks.ALLOWED["chapters/09-language-model"]
    assert leaks.on_a_page(line, "chapters/09-language-model") == []
    assert len(leaks.on_a_page(line, "chapters/06-position")) == 1
    whole = next(answer for answer in leaks.answers() if answer.slug == "02-attention" and len(answer.lines) == 2)
    found = leaks.on_a_page("\n".join(whole.lines), "chapters/02-attention")
    assert any("this is the whole of" in leak for leak in found)


def test_the_source_notebook_is_full_of_leaks():
    """Catches a search that does not know the author's own answers."""
    for slug in SLUGS:
        told = leaks.leaked_lines(text_of(course_exercise(slug).source))
        lines = {
            line
            for answer in leaks.answers()
            if answer.slug == slug and answer.name == "the author's"
            for line in answer.lines
        }
        assert lines and lines <= set(told)
