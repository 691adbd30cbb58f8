"""The pages to grade by hand: a table of all that there is to grade, and a page for each question of each learner."""

from dataclasses import dataclass
from html import escape

from clearcheck.notebooks.escaping import one_line
from clearcheck.report.document import html_list

from clearclass.hand_page.given import Given
from clearclass.hand_page.rubric import RubricQuestion
from clearclass.hand_page.shown import work_html
from clearclass.hand_page.works import Work

KEYS = {
    "0": "to",
    "9": "points",
    "Backspace": "take a digit back",
    "r": "write a remark",
    "Escape": "leave it",
    "j": "next",
    "k": "previous",
}


@dataclass(frozen=True)
class Sheet:
    """One question of one learner's work, which the table of points holds under the number of the work."""

    work: Work
    number: int
    question: RubricQuestion

    @property
    def key(self) -> tuple[int, str]:
        return self.number, self.question.id


def sheets_of(works: list[Work], questions: list[RubricQuestion]) -> list[Sheet]:
    """All learners for the first question, then all for the second, so that each is judged by one measure."""
    return [
        Sheet(work, number, question)
        for question in questions
        for number, work in enumerate(works)
        if not (question.exercise and work.exercise and question.exercise != work.exercise)
    ]


def all_html(sheets: list[Sheet], given: dict[tuple[int, str], Given]) -> str:
    """Every sheet with its points, and where to begin."""
    done = [bool(given[sheet.key].points) for sheet in sheets]
    start = "<p>Everything has points. End the program with Ctrl-C, and grade the class again.</p>"
    if not all(done):
        start = f'<p><a id="start" href="{done.index(False)}">Begin with the first that has no points</a></p>'
    rows = [_row(place, sheet, given[sheet.key]) for place, sheet in enumerate(sheets)]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Question", "Learner", "Exercise", "Points"))
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{''.join(rows)}</tbody></table>"
    region = f'<div class="scroll" tabindex="0" role="region" aria-label="All that is graded by hand">{table}</div>'
    body = f"<h1>Grading by hand</h1>\n<p>{sum(done)} of {len(sheets)} have points.</p>\n{start}\n{region}"
    return _frame("Grading by hand", body)


def sheet_html(sheets: list[Sheet], place: int, given: Given) -> str:
    """A question, what the learner handed in for it, and the form for points and a remark."""
    sheet = sheets[place]
    name = escape(one_line(sheet.work.learner))
    title = f"{one_line(sheet.question.title)}: {one_line(sheet.work.learner)}"
    heading = f"""<p class="of">{place + 1} of {len(sheets)} · {escape(sheet.work.exercise or "not graded")}</p>
<h1 id="title" tabindex="-1">{escape(one_line(sheet.question.title))}</h1>
<p>{name}</p>"""
    work = f'<section aria-label="Submission">{work_html(sheet.work, sheet.question.shown)}</section>'
    body = f'{_links(place, len(sheets))}\n{heading}\n<div class="beside">\n{work}\n{_form(sheet, given)}\n</div>'
    return _frame(title, body, '<script src="page.js" defer></script>')


def _row(place: int, sheet: Sheet, given: Given) -> str:
    points = f"{given.points} of {sheet.question.max_points:g}" if given.points else "–"
    link = f'<a href="{place}">{escape(one_line(sheet.work.learner))}</a>'
    cells = (link, escape(sheet.work.exercise or "not graded"), escape(points))
    title = escape(one_line(sheet.question.title))
    return f'<tr><th scope="row">{title}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'


def _links(place: int, count: int) -> str:
    before = f'<a id="previous" rel="prev" href="{place - 1}">Previous</a>' if place else ""
    after = f'<a id="next" rel="next" href="{place + 1}">Next</a>' if place + 1 < count else ""
    switch = '<label><input type="checkbox" id="keys" checked> Single keys</label>'
    return f'<nav aria-label="Sheets"><a href="./">All</a>{before}{after}{switch}</nav>'


def _form(sheet: Sheet, given: Given) -> str:
    question, most = sheet.question, f"{sheet.question.max_points:g}"
    data = f'data-number="{sheet.number}" data-question="{escape(question.id)}" data-most="{most}"'
    rubric = (
        f'<p class="label">What to look for</p>{html_list(map(one_line, question.lines))}' if question.lines else ""
    )
    remark = escape(given.remark)
    return f"""<form id="form" {data} autocomplete="off">
<label for="points">Points (0 to {most})</label>
<input id="points" inputmode="decimal" aria-describedby="state" value="{escape(given.points)}">
{rubric}
<label for="remark">Remark to the learner</label>
<textarea id="remark" aria-describedby="state">
{remark}</textarea>
<p id="state" role="status"></p>
<p id="conflict" hidden><button type="button" id="take">Take what stands there</button>
<button type="button" id="mine">Keep mine</button></p>
<p class="of">{" ".join(f"<kbd>{key}</kbd> {does}" for key, does in KEYS.items())}</p>
</form>"""


def _frame(title: str, body: str, script: str = "") -> str:
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="stylesheet" href="page.css">
<link rel="icon" href="data:,">
{script}
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
