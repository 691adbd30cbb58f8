"""Results as plain text and as HTML: the same words in both, and a sign beside each so that colour says nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from clearcheck.grading.evaluate import NOT_ANSWERED, PARTLY, PASSED, CheckResult, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.telling import points_of, told
from clearcheck.learner.progress_file import Record, in_words
from clearcheck.worker.limits import KEPT_PRINTED

SIGNS = {PASSED: "✓", PARTLY: "◐", NOT_ANSWERED: "○"}
NOT_YET = "✗"


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
    html = [f"<p><strong>{escape(headline(result))}</strong></p>", *_details_html(exercise, result)]
    text, shown = question_text(exercise, result), printed[:KEPT_PRINTED].rstrip()
    if shown:
        text += "\n".join(["\n  While it was checked, your code printed:", *(f"    {x}" for x in shown.splitlines())])
        html.append(f"<p>While it was checked, your code printed:</p><pre>{escape(shown)}</pre>")
    return Card(text, f'<div class="clearcheck">{"".join(html)}</div>')


def question_text(exercise: Exercise, result: QuestionResult) -> str:
    return "\n".join([headline(result), *(f"  {line}" for line in _details(exercise, result))])


def headline(result: QuestionResult) -> str:
    """ "○ weights — not answered yet (0 of 12 points)" """
    words = f"{result.status} yet" if result.status == NOT_ANSWERED else result.status
    sign = SIGNS.get(result.status, NOT_YET)
    return f"{sign} {result.question.id} — {words} ({points_of(result.points, result.question.points)})"


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


def course_card(record: Record, slugs: list[str]) -> Card:
    """One line for each exercise of the course, with the points that are on record."""
    title, none = "The course, as last checked on this computer:", ("not started", "")
    known = {slug: (points_of(kept.points, kept.max_points), in_words(kept.when)) for slug, kept in record.items()}
    listed = [(slug, *known.get(slug, none)) for slug in slugs]
    lines = [f"  {slug}: {points}{when and f' ({when})'}" for slug, points, when in listed]
    rows = "".join(f"<tr>{''.join(f'<td>{escape(word)}</td>' for word in row)}</tr>" for row in listed)
    head = "<tr><th>Exercise</th><th>Points</th><th>Last checked</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return Card("\n".join([title, *lines]), f'<div class="clearcheck"><p><strong>{title}</strong></p>{table}</div>')


def notice(title: str, text: str) -> Card:
    """One remark that is no result: a hint, a welcome, a mistake in the call."""
    html = f'<div class="clearcheck"><p><strong>{escape(title)}</strong> {escape(text)}</p></div>'
    return Card(f"{title} {text}", html)


def section_path(exercise: Exercise, section: str) -> str:
    """A section of the exercise's chapter, from the top of the course's folder."""
    return f"{exercise.chapter}.ipynb#{section}" if section else f"{exercise.chapter}.ipynb"


def to_read(exercise: Exercise, result: QuestionResult) -> list[str]:
    """Where to read on: the sections of the mistakes that were told, else the question's own; none when passed."""
    named = [check.diagnosis.section for check in result.checks if check.diagnosis]
    sections = [] if result.status == PASSED else list(dict.fromkeys(named or [result.question.section]))
    return [section_path(exercise, section) for section in sections]


def _details(exercise: Exercise, result: QuestionResult) -> list[str]:
    if result.status == NOT_ANSWERED:
        return [result.checks[0].message]
    lines = []
    for check, *sentences in _told(result):
        lines += [_check_line(check), *(f"  {text}" for text in sentences if text)]
    lines += [f"Note: {remark}" for remark in result.remarks]
    return lines + [f"Read {path}" for path in to_read(exercise, result)]


def _details_html(exercise: Exercise, result: QuestionResult) -> list[str]:
    if result.status == NOT_ANSWERED:
        return [f"<p>{escape(result.checks[0].message)}</p>"]
    items = []
    for check, named, rest in _told(result):
        mistake = [f"<strong>{escape(named)}</strong>"] if named else []
        message = [escape(rest)] if rest else []
        items.append(f"<li>{'<br>'.join([escape(_check_line(check)), *mistake, *message])}</li>")
    paths = [escape(path) for path in to_read(exercise, result)]
    # Exercise notebooks stand beside the folder of the chapters.
    links = [f'<p>Read <a href="../{path}">{path}</a></p>' for path in paths]
    notes = [f"<p>Note: {escape(remark)}</p>" for remark in result.remarks]
    return [f"<ul>{''.join(items)}</ul>", *notes, *links]


def _told(result: QuestionResult) -> Iterator[tuple[CheckResult, str, str]]:
    """Each check with the sentences to tell, the known mistake first."""
    pairs = ((check.diagnosis.sentence if check.diagnosis else "", check.message) for check in result.checks)
    for check, (mistake, message) in zip(result.checks, told(pairs), strict=True):
        yield check, mistake, message


def _check_line(check: CheckResult) -> str:
    return f"{'✓' if check.passed else NOT_YET} {check.name} ({points_of(check.points, check.max_points)})"
