"""Results as plain text and as HTML: the same words in both, and a sign beside each so that colour says nothing."""

import os
from dataclasses import dataclass
from html import escape

from clearcheck.grading.evaluate import QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.reading import Reading
from clearcheck.grading.telling import NOT_YET, SIGNS, Feedback, feedback_on, points_of, to_read, verdict_of
from clearcheck.learner.progress_file import Record, in_words
from clearcheck.notebooks.escaping import html_text
from clearcheck.worker.limits import KEPT_PRINTED


@dataclass(frozen=True)
class Card:
    """Something a notebook shows as HTML and a terminal as text."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    def __add__(self, other: "Card") -> "Card":
        return Card("\n".join(filter(None, (self.text, other.text))), self.html + other.html)


NOTHING = Card("", "")


def question_card(exercise: Exercise, result: QuestionResult, printed: str = "") -> Card:
    """With the beginning of what the answer `printed` while it was checked."""
    sections = to_read(exercise, result)
    html = [
        f"<p><strong>{escape(headline(result))}</strong></p>",
        *_feedback_html(_feedback(result, sections), sections),
    ]
    text, shown = question_text(exercise, result), printed[:KEPT_PRINTED].rstrip()
    if shown:
        text += "\n".join(["\n  While it was checked, your code printed:", *(f"    {x}" for x in shown.splitlines())])
        html.append(f"<p>While it was checked, your code printed:</p><pre>{escape(shown)}</pre>")
    return Card(text, f'<div class="clearcheck">{"".join(html)}</div>')


def question_text(exercise: Exercise, result: QuestionResult) -> str:
    feedback = _feedback(result, to_read(exercise, result))
    return "\n".join([headline(result), *(f"  {line}" for line in feedback.lines)])


def headline(result: QuestionResult) -> str:
    """ "○ weights — not answered yet (0 of 12 points)" """
    sign = SIGNS.get(result.status, NOT_YET)
    return f"{sign} {result.question.id} — {verdict_of(result.status, result.points, result.question.points)}"


def _exercise_link(slug: str) -> str:
    return f'<a href="{slug}.ipynb">{escape(slug)}</a>'


SITE = os.environ.get("CLEARFORMER_SITE", "http://localhost:8000/")  # as make serve shows it, unless told
LEFT = 'style="text-align: left"'  # Jupyter would set words to the right


def progress_card(exercise: Exercise, results: list[QuestionResult]) -> Card:
    points = sum(result.points for result in results)
    total = f"{exercise.title}: {points_of(points, exercise.points)}"
    core = [result for result in results if result.question.id in exercise.core]
    if core:
        total += f"; core: {sum(r.points for r in core)} of {sum(r.question.points for r in core)}"
    marks = [" · core" if result in core else "" for result in results]
    lines = [total, *(f"  {headline(result)}{mark}" for result, mark in zip(results, marks, strict=True))]
    rows = "".join(
        f"<tr><td>{SIGNS.get(result.status, NOT_YET)} {escape(result.status)}</td>"
        f"<td>{escape(result.question.id)}</td><td>{escape(result.question.title)}{mark}</td>"
        f"<td>{points_of(result.points, result.question.points)}</td></tr>"
        for result, mark in zip(results, marks, strict=True)
    )
    head = "<tr><th>Status</th><th>Question</th><th>Title</th><th>Points</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return Card("\n".join(lines), f'<div class="clearcheck"><p><strong>{escape(total)}</strong></p>{table}</div>')


def course_card(record: Record, slugs: list[str], site: str = SITE) -> Card:
    """One line for each exercise of the course, with the points that are on record, and a link that marks them on the
    `site`: the points stand in the address, behind #, which a browser keeps to itself.
    """
    title, none = "The course, as last checked on this computer:", ("not started", "")
    known = {slug: (points_of(kept.points, kept.max_points), in_words(kept.when)) for slug, kept in record.items()}
    listed = [(slug, *known.get(slug, none)) for slug in slugs]
    lines = [f"  {slug}: {points}{when and f' ({when})'}" for slug, points, when in listed]
    rows = "".join(
        "<tr>"
        + "".join(f"<td {LEFT}>{cell}</td>" for cell in (_exercise_link(slug), escape(points), escape(when)))
        + "</tr>"
        for slug, points, when in listed
    )
    head = "".join(f"<th {LEFT}>{name}</th>" for name in ("Exercise", "Points", "Last checked"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    kept = ",".join(
        f"{slug}:{round(record[slug].points)}/{round(record[slug].max_points)}" for slug in slugs if slug in record
    )
    link = f"{site}#progress={kept}"
    told = (
        "To see these points in the contents of the site, open this link. They go into your browser and nowhere else:"
    )
    html = f'<p>{told} <a href="{escape(link)}">mark them there</a></p>' if kept else ""
    text = [title, *lines, *([told, link] if kept else [])]
    return Card("\n".join(text), f'<div class="clearcheck"><p><strong>{title}</strong></p>{table}{html}</div>')


def notice(title: str, text: str) -> Card:
    """One remark that is no result: a hint, a welcome, a mistake in the call."""
    html = f'<div class="clearcheck"><p><strong>{html_text(title)}</strong> {html_text(text)}</p></div>'
    return Card(f"{title} {text}", html)


def _feedback(result: QuestionResult, sections: list[Reading]) -> Feedback:
    return feedback_on(result.as_json(), [section.words for section in sections])


def _feedback_html(feedback: Feedback, sections: list[Reading]) -> list[str]:
    first = [f"<p>{html_text(feedback.first)}</p>"] if feedback.first else []
    if feedback.reason:
        return [*first, f"<p>{html_text(feedback.reason)}</p>"]
    items = []
    for check in feedback.checks:
        mistake = [f"<strong>{html_text(check.mistake)}</strong>"] if check.mistake else []
        message = [html_text(check.message)] if check.message else []
        items.append(f"<li>{'<br>'.join([escape(check.outcome), *mistake, *message])}</li>")
    notes = [f"<p>Note: {html_text(remark)}</p>" for remark in feedback.remarks]
    # Exercise notebooks stand beside the folder of the chapters.
    links = [f'<p>Read <a href="../{escape(one.path)}">{html_text(one.words)}</a></p>' for one in sections]
    return [*first, f"<ul>{''.join(items)}</ul>", *notes, *links]
