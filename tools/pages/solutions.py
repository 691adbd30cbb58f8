"""The solution pages, chapters/solutions/NN-slug.md, from exercises/authoring: for the site, git ignores them.

Each question has the answer of the author's notebook and, of the right solutions that prove the grader, the one that
is written most differently.
"""

import ast
import difflib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise, slugs_in
from clearcheck.author.mistakes import Solution
from clearcheck.author.release import BEGIN, END, read_source
from clearcheck.grading.question import Question
from clearcheck.notebooks.definitions import defined_names
from clearcheck.proof.notebooks import answer_text

from tools import ROOT
from tools.pages import reading
from tools.pages.chapters import chapter_number
from tools.takeaway.learners_copy import load

AUTHORING = ROOT / "exercises" / "authoring"
FOLDER = reading.CHAPTERS / "solutions"
INDEX = reading.CHAPTERS / "solutions.md"
UNSEARCHED = "---\nnosearch: true\n---\n\n"  # or a search would show answers
HEAD = """\
# Solutions: {title}

<!-- Made from exercises/authoring; edit that. -->

"""
OPENING = """\
These are answers to the [graded exercise](../../exercises/{slug}.ipynb) that goes with [{chapter}](../{page}). Each is closed until you open it, and the search of this book does not find what is inside.

Have you asked for the hints? `hint("{first}")` shows one of three, and a message that names your mistake is worth more than an answer that works. Other answers are right as well: the grader looks at what a function returns and never at how it is written. [How this grader was tested](../grader-proof/{slug}.md) names all that were tried, right and wrong.
"""  # noqa: E501


def slugs() -> list[str]:
    return slugs_in(AUTHORING)


def all_pages() -> dict[Path, str]:
    """The text of every solution page."""
    return {FOLDER / f"{slug}.md": page(load(slug, ROOT)) for slug in slugs()}


def listed() -> str:
    """The list of all solution pages, for the page that leads to them."""
    titles = ((slug, load(slug, ROOT).exercise.title) for slug in slugs())
    return "\n".join(f"- [{title}](solutions/{slug}.md)" for slug, title in titles)


def page(it: AuthoredExercise) -> str:
    """One exercise, as Markdown. Raises: ValueError, such as for a section that its chapter does not have."""
    exercise = it.exercise
    chapter = ROOT / f"{exercise.chapter}.ipynb"
    title = next(iter(reading.headings(chapter).values())).title
    first = exercise.questions[0].id
    opening = OPENING.format(
        slug=exercise.slug, chapter=f"chapter {chapter_number(exercise.slug)}, {title}", page=chapter.name, first=first
    )
    own = answers(read_source(it.folder / "source.ipynb"))
    blocks = [opening]
    for number, question in enumerate(exercise.questions, start=1):
        blocks += ["\n\n".join(lines(number, question, own[question.name], it.right.of(question.id), chapter)) + "\n"]
    return format_page(UNSEARCHED + HEAD.format(title=exercise.title) + "\n".join(blocks))


def format_page(text: str) -> str:
    """The page with its code cut to the width of a page, as `make lint` wants it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FOLDER / "page.md"), "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True, cwd=ROOT)
    return done.stdout.decode()


def answers(source: dict) -> dict[str, str]:
    """The author's answer cells, without their markers, by the names that they define."""
    cells = [cell["source"] for cell in source["cells"] if cell["cell_type"] == "code" and BEGIN in cell["source"]]
    plain = ["\n".join(line for line in text.splitlines() if line.strip() not in (BEGIN, END)) for text in cells]
    return {name: text for text in plain for name in defined_names(text)}


def lines(number: int, question: Question, own: str, right: list[Solution], chapter: Path) -> Iterator[str]:
    """The paragraphs of one question."""
    yield f"## {number}. {question.title}"
    section = reading.headings(chapter).get(question.section)
    if section is None:
        raise ValueError(f"{question.id}: {chapter.name} has no section {question.section!r}.")
    yield f"Why it works: [{section.title}](../{chapter.name}#{section.slug}). {describe_checks(question)}"
    other = most_different(own, right, question.name)
    yield dropdown(f"An answer: {question.name}", own)
    yield dropdown(f"Another answer: {other.name.replace('_', ' ')}", answer_text(other, question.name))


def describe_checks(question: Question) -> str:
    """What earns the points: results that are compared, and properties that are tested."""
    compared = [check for check in question.checks if hasattr(check, "cases")]
    kinds = {
        "your results are compared on fresh arguments": compared,
        "a property is tested": [check for check in question.checks if check not in compared],
    }
    said = [
        f"{kind} ({', '.join(f'*{check.name}* {check.points}' for check in checks)})"
        for kind, checks in kinds.items()
        if checks
    ]
    return f"For its {question.points} points {' and '.join(said)}."


def most_different(own: str, right: list[Solution], name: str) -> Solution:
    """The solution that shares the least with the author's own, as a program without its names of variables."""
    return min(right, key=lambda entry: likeness(own, answer_text(entry, name)))


def likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, shape(one), shape(other), autojunk=False).ratio()


def shape(code: str) -> list[str]:
    """The tokens of a program, all names that it binds alike, comments and docstrings left out."""
    tree = ast.parse(code)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return ["name" if text in bound else text for text in tokens(code) if not text.startswith('"""')]


def tokens(code: str) -> Iterator[str]:
    """The tokens of a program but for comments and white space; an f-string is one, on every Python.

    From 3.12 on `tokenize` takes f-strings apart, between a start and an end, which may hold others.
    """
    lines = [0, *accumulate(map(len, io.StringIO(code)))]  # where each begins
    starts: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            starts.append(lines[token.start[0] - 1] + token.start[1])
        elif kind == "FSTRING_END":
            start = starts.pop()
            if not starts:
                yield code[start : lines[token.end[0] - 1] + token.end[1]]
        elif not starts and kind != "COMMENT" and token.string.strip():
            yield token.string


def dropdown(title: str, code: str) -> str:
    code = re.sub(r"  # noqa.*", "", code)
    return f":::{{dropdown}} {title}\n```python\n{code}\n```\n:::"
