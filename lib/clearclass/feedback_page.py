"""The page for one learner: what was right, what was not, and where to read on. Nothing in it tells the seed."""

from collections.abc import Iterator
from html import escape

from clearcheck.grading.evaluate import NOT_ANSWERED
from clearcheck.grading.telling import points_of, told
from clearcheck.learner.cards import NOT_YET, SIGNS
from clearcheck.notebooks.shown import shown
from clearcheck.report.document import document, listed, row, table

from clearclass.hand import Mark
from clearclass.standings import Standing

BY_HAND = "Graded by a person"


def feedback_html(standings: list[tuple[Standing, dict]]) -> str:
    """All exercises of one learner, each with the record of the file that counts."""
    learner = standings[0][0].learner
    name = shown(learner.name)
    body = [f'<p class="of">Feedback on your exercises</p>\n<h1>{escape(name)}</h1>']
    body += [_exercise(standing, record) for standing, record in standings]
    return document(f"{name}: feedback", "\n".join(body))


def question_lines(question: dict) -> list[str]:
    """What is told of a question, as text; a mistake told once is only pointed to afterwards."""
    if question["status"] == NOT_ANSWERED:
        return [question["checks"][0]["message"]]
    return [line for lines in _check_lines(question) for line in lines]


def _exercise(standing: Standing, record: dict) -> str:
    if "error" in record:
        parts = [f"<h2>Not graded</h2>\n<p>{escape(shown(record['error']))}</p>", _by_hand(standing)]
        return "\n".join(filter(None, parts))
    reached, _, most = points_of(standing.points, standing.max_points).partition(" ")
    points = f"<strong>{reached}</strong> {most}"
    read = record["page"]["read"]
    parts = [
        f'<h2>{escape(record["page"]["title"])}</h2>\n<p class="total">{points}</p>',
        *(_question(question, read.get(question["id"], [])) for question in record["questions"]),
        _by_hand(standing),
        f"<h3>Notes</h3>\n{listed(standing.notes)}" if standing.notes else "",
        _facts(standing),
    ]
    return "\n".join(filter(None, parts))


def _question(question: dict, read: list[str]) -> str:
    """A heading with a sign and the status in words, the checks, and where to read on."""
    sign, status = SIGNS.get(question["status"], NOT_YET), question["status"]
    points = points_of(question["points"], question["max_points"])
    head = f'<h3><span aria-hidden="true">{sign}</span> {escape(question["title"])}: {escape(status)} ({points})</h3>'
    if question["status"] == NOT_ANSWERED:
        return f"{head}\n<p>{escape(shown(question['checks'][0]['message']))}</p>"
    items = [f"<li>{'<br>'.join(escape(shown(line)) for line in lines)}</li>" for lines in _check_lines(question)]
    more = f"<p>Read {escape(', '.join(read))}</p>" if read else ""
    return f"{head}\n<ul>{''.join(items)}</ul>{more}"


def _check_lines(question: dict) -> Iterator[list[str]]:
    """For each check its points, the known mistake and the message, as far as there are any to tell."""
    checks = question["checks"]
    pairs = ((check["diagnosis"]["message"] if check["diagnosis"] else "", check["message"]) for check in checks)
    for check, sentences in zip(checks, told(pairs), strict=True):
        sign = "✓" if check["passed"] else NOT_YET
        first = f"{sign} {check['name']} ({points_of(check['points'], check['max_points'])})"
        yield [first, *filter(None, sentences)]


def _by_hand(standing: Standing) -> str:
    marks = [row(shown(mark.name), _given(mark)) for mark in standing.marks]
    comments = [f"<p>{escape(shown(given.comment))}</p>" for given in standing.hand if given.comment]
    shown_table = [table(BY_HAND, ("What", "Points"), marks)] if marks else []
    return "\n".join([*shown_table, *comments])


def _given(mark: Mark) -> str:
    return f"{mark.points} of {mark.max_points}" if mark.max_points else f"{mark.points} on top"


def _facts(standing: Standing) -> str:
    counted = standing.counts.row
    facts = {
        "File": shown(standing.counts.file.path.name),
        "Run in": counted.isolation,
        "Calls": ", ".join(map(shown, counted.uses)),
    }
    return f"<dl>{''.join(f'<dt>{k}</dt><dd>{escape(v)}</dd>' for k, v in facts.items() if v)}</dl>"
