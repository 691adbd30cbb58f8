"""What the front page shows that is computed: a grade as the grader gives it, the map of the model, hours, counts; and
the plan of the course on the page for instructors.
"""

import csv
import datetime
import html
import json
import math
import re
import statistics
import tomllib
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from tools import ROOT
from tools.extension import live_poster
from tools.pages.chapters import chapter_number, chapters
from tools.pages.lengths import TIME

AFTERNOON = ("2", "3", "4")  # attention, self-attention, several heads
ROADMAP = tuple(map(str, range(1, 9)))
WRITER = (*ROADMAP, "9")  # and a language model
LETTERS = {  # values of the page, and the contenders whose losses they are
    "letters_without": "no layer",
    "letters_attention": "attention",
    "letters_undivided": "attention, not divided by √K",
}


def substitutions(root: Path = ROOT) -> dict[str, str]:
    """Values by name, for `{{ name }}` in a page."""
    from clearcheck.author.loading import slugs_in

    from tools.takeaway.learners_copy import load

    minutes = chapter_minutes(root)
    exercises = [load(slug, root).exercise for slug in slugs_in(root / "exercises" / "authoring")]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "chapters": str(len(minutes)),
        "questions": str(sum(len(exercise.questions) for exercise in exercises)),
        "hours_afternoon": hours(minutes[n][0] for n in AFTERNOON),
        "hours_roadmap": hours(sum(minutes[n]) for n in ROADMAP),
        "hours_writer": hours(sum(minutes[n]) for n in WRITER),
        "hours_all": hours(map(sum, minutes.values())),
        "austen_minutes": str(round(last_row(root / "models" / "austen" / "log.csv")["processor_seconds"] / 120)),
        **letters_losses(root),
        "version": project["version"],
        "date": f"{datetime.date.today():%B %Y}",
    }


def chapter_minutes(root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """By number of the chapter, the minutes to read and to practise that its first lines name.

    Raises: ValueError for a chapter that names none.
    """
    found = {}
    for path in chapters(root):
        first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        if not (told := TIME.search(first)):
            raise ValueError(f"{path.name}: its first cell has no '*Time:* … minutes to read, … minutes to practise'.")
        found[chapter_number(path.stem)] = int(told[1]), int(told[2])
    return found


def last_row(log: Path) -> dict[str, float]:
    """What the log of a training says at its end."""
    *_, row = csv.DictReader(log.read_text(encoding="utf-8").splitlines())
    return {name: float(value) for name, value in row.items()}


def letters_losses(root: Path = ROOT) -> dict[str, str]:
    """What the first rungs of the letters end at, in the median of the stored runs of chapter 3's claim."""
    stored = json.loads((root / "tests" / "claims" / "results" / "03-self-attention.json").read_text(encoding="utf-8"))
    found = stored["03-self-attention/letters"]["found"]
    return {
        name: f"{statistics.median(map(float, found[contender]['']['1'].split())):.2f}"
        for name, contender in LETTERS.items()
    }


def hours(minutes) -> str:
    """Rounded up to whole hours: whoever plans with it should not come too late."""
    return str(math.ceil(sum(minutes) / 60))


class TransformerMap(Directive):
    """The map of the whole model, whose boxes lead to the chapters."""

    def run(self):
        from clearbook.figures.transformer_map import transformer_map

        return [nodes.raw("", transformer_map("chapters/"), format="html")]


class LiveTransformer(Directive):
    """A model in the page, with a beginning to go on from: `{live-transformer} austen It was raining, for she`.

    The option `head` says what the head does that is shown first; the tasks for the reader stand below, in YAML.
    """

    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"head": directives.unchanged_required}

    def run(self):
        model, *prompt = self.arguments
        shown = live_poster.poster(model, "".join(prompt), self.options["head"], "\n".join(self.content))
        return [nodes.raw("", shown, format="html")]


class CoursePlan(Directive):
    """A row for each chapter: what it takes, what its exercise gives, and which chapters have to come before it."""

    def run(self):
        return [nodes.raw("", course_plan(), format="html")]


def course_plan(root: Path = ROOT) -> str:
    """Raises: ValueError for a chapter that names no time."""
    from tools.takeaway.learners_copy import load

    minutes, rows = chapter_minutes(root), []
    for path in chapters(root):
        number, first = chapter_number(path.stem), json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
        title, text = first[0].removeprefix("# ").strip(), "".join(first)
        before = re.search(r"^\*Before you start:\*.*", text, flags=re.MULTILINE)
        needed = [n.lstrip("0") for n in sorted(set(re.findall(r"\]\((\d\d[a-z]?)-", before[0] if before else "")))]
        practice = (0, 0)  # of a chapter without an exercise
        if (root / "exercises" / "authoring" / path.stem).is_dir():
            exercise = load(path.stem, root).exercise
            practice = len(exercise.questions), exercise.points
        rows.append((number, path.stem, title, *minutes[number], *practice, needed))
    lines = [
        f'<tr><td>{number}. <a href="{stem}.html">{html.escape(title)}</a></td>'
        + "".join(f"<td>{value}</td>" for value in (*numbers, ", ".join(needed) or "–"))
        + f'<td><a href="{stem}.html?present">slides</a>, <a href="{stem}.html?handout">sheet</a></td></tr>'
        for number, stem, title, *numbers, needed in rows
    ]
    sums = "".join(f"<td>{sum(column)}</td>" for column in list(zip(*rows, strict=True))[3:7])
    return PLAN.format(rows="\n".join(lines), sums=sums)


PLAN = """\
<div class="pst-scrollable-table-container"><table class="table">
<thead><tr><th style="min-width: 9rem">chapter</th><th>minutes to read</th><th>to practise</th>
<th>questions</th><th>points</th><th>comes after</th><th>in class</th></tr></thead>
<tbody>
{rows}
<tr><td>all</td>{sums}<td></td><td></td></tr>
</tbody>
</table></div>
"""


class GraderCard(Directive):
    """The card that a mistake of an exercise gets: `{grader-card} 03-self-attention weights softmax_over_queries`."""

    required_arguments = 3

    def run(self):
        return [nodes.raw("", grader_card(*self.arguments), format="html")]


def grader_card(slug: str, question_id: str, mistake: str) -> str:
    """Raises: KeyError for a mistake that the question does not know."""
    from clearcheck.grading.diagnose import reply_of
    from clearcheck.grading.evaluate import evaluate
    from clearcheck.learner.cards import question_card

    from tools.takeaway.learners_copy import load

    authored = load(slug, ROOT)
    known = authored.wrong.of(question_id)
    function = {solution.name: solution.function for solution in known}[mistake]
    question = authored.exercise.question(question_id)
    result = evaluate(question, lambda asked, packed: reply_of(function, asked, packed), 0, known)
    card = question_card(authored.exercise, result).html
    return re.sub(r'href="\.\./(chapters/[\w-]+)\.ipynb', r'href="\1.html', card)


def setup(app):
    app.add_directive("transformer-map", TransformerMap)
    app.add_directive("course-plan", CoursePlan)
    app.add_directive("grader-card", GraderCard)
    app.add_directive("live-transformer", LiveTransformer)
    app.connect("config-inited", lambda app, config: config.myst_substitutions.update(substitutions()), priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
