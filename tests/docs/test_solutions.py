"""The solution pages are what the exercises give, and a reader meets no answer by chance."""

import ast
import re

import pytest
from clearcheck import RightSolutions
from clearcheck.notebooks.definitions import defined_names

from tools.pages import reading, solutions
from tools.takeaway.learners_copy import load

pytestmark = pytest.mark.slow  # all exercises are loaded, and all their right answers compared
SLUGS = solutions.slugs()
OPENED = re.compile(r"^:::\{dropdown\} .*\n```python\n.*?\n```\n:::$", re.M | re.S)


@pytest.fixture(scope="module")
def written_solutions() -> dict:
    """The pages as the generator writes them, which takes seconds."""
    return solutions.all_pages()


def test_every_exercise_has_a_page_and_stands_in_the_list(written_solutions):
    """Catches an exercise whose solutions nobody can find."""
    assert list(written_solutions) == [solutions.FOLDER / f"{slug}.md" for slug in SLUGS]
    titles = [load(slug, solutions.ROOT).exercise.title for slug in SLUGS]
    assert solutions.listed().splitlines() == [
        f"- [{title}](solutions/{slug}.md)" for slug, title in zip(SLUGS, titles, strict=True)
    ]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_question_has_two_answers_behind_a_click(written_solutions, slug):
    """Catches code outside a dropdown, one that is open from the start, and the same answer twice."""
    text = written_solutions[solutions.FOLDER / f"{slug}.md"]
    sections = text.split("\n## ")[1:]
    asked = load(slug, solutions.ROOT).exercise.questions
    assert [section.splitlines()[0] for section in sections] == [
        f"{number}. {question.title}" for number, question in enumerate(asked, start=1)
    ]
    for section, question in zip(sections, asked, strict=True):
        one, other = re.findall(r"```python\n(.*?)\n```", section, re.S)
        assert question.name in defined_names(one) and question.name in defined_names(other)
        assert solutions.shape(one) != solutions.shape(other)
        assert ast.parse(one) and ast.parse(other)
    closed = OPENED.sub("", text)
    assert "```" not in closed and "def " not in closed and ":open:" not in text


@pytest.mark.parametrize("slug", SLUGS)
def test_the_learners_notebook_names_the_page_and_no_more(slug):
    """Catches a notebook that sends nobody to its solutions, and one that opens them with a single click."""
    text = (solutions.ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8")
    assert text.count(f"*Solutions: {load(slug, solutions.ROOT).exercise.title}*") == 1
    assert "solutions/" not in text and "solutions.md" not in text


@pytest.mark.parametrize("slug", SLUGS)
def test_the_search_leaves_the_page_out(written_solutions, slug):
    """Catches a page whose head says no longer that it is not to be searched; the built index is tested in book/."""
    assert written_solutions[solutions.FOLDER / f"{slug}.md"].startswith("---\nnosearch: true\n---\n")


def test_the_other_answer_is_the_one_that_shares_least():
    """Catches a second answer that is the first one with other names."""
    own = "def f(x):\n    y = x.sum(axis=0)\n    return y / len(x)"
    right = RightSolutions("q")

    @right
    def renamed(table):
        """The same."""
        total = table.sum(axis=0)  # of the rows
        return total / len(table)

    @right
    def by_loop(x):
        return [sum(column) / len(column) for column in x.T]

    assert solutions.most_different(own, right.of("q"), "f").name == "by_loop"
    assert solutions.shape(solutions.answer_text(right.entries[0], "f")) == solutions.shape(own)


def test_a_section_that_is_gone_is_named(monkeypatch):
    it = load(SLUGS[0], solutions.ROOT)
    monkeypatch.setattr(reading, "headings", lambda path: {"x": reading.Heading("p", "t", "x")})
    with pytest.raises(ValueError, match="has no section"):
        solutions.page(it)


def test_an_f_string_is_one_token_on_every_python():
    """Catches pages that come out otherwise from Python 3.12 on, where `tokenize` takes an f-string apart."""
    code = 'x = f\'é{a["b"]!r:{width}}\' + rf"""\n{\n1}"""  # f\'{\'\ny = \'f\''
    assert list(solutions.tokens(code)) == [
        *("x", "=", "f'é{a[\"b\"]!r:{width}}'", "+", 'rf"""\n{\n1}"""', "y", "=", "'f'")
    ]
