"""The page for one learner: what was right, what was not, and where to read on. Nothing in it tells the seed."""

from html import escape

from clearcheck.grading.telling import feedback_on
from clearcheck.notebooks.escaping import html_text, one_line
from clearcheck.report.document import document, html_list, html_table, row, total
from clearcheck.worker.worker_process import BUBBLEWRAP, PROCESS

from clearclass.hand import Mark
from clearclass.standings import Standing

BY_HAND = "Graded by a person"
PLACES = {  # of what is told of the isolation
    BUBBLEWRAP: "a sandbox (bubblewrap): without network, and with no other file than your notebook",
    PROCESS: "a process of its own",
}


def feedback_html(standings: list[tuple[Standing, dict]]) -> str:
    """All exercises of one learner, each with the record of the file that counts."""
    learner = standings[0][0].learner
    name = one_line(learner.name)
    body = [f'<p class="of">Feedback on your exercises</p>\n<h1>{escape(name)}</h1>']
    body += [_exercise(standing, record) for standing, record in standings]
    return document(f"{name}: feedback", "\n".join(body))


def _exercise(standing: Standing, record: dict) -> str:
    if "error" in record:
        sentence = html_text(standing.without_folders(standing.counts.row.error_for_learner))
        parts = [f"<h2>Not graded</h2>\n<p>{sentence}</p>", _by_hand(standing)]
        return "\n".join(filter(None, parts))
    read = record["page"]["read"]
    notes = [standing.without_folders(note) for note in standing.notes]
    parts = [
        f"<h2>{escape(record['page']['title'])}</h2>\n{total(standing.points, standing.max_points)}",
        f"<p>{escape(standing.late)}</p>" if standing.late else "",
        *(_question(question, read.get(question["id"], [])) for question in record["questions"]),
        _by_hand(standing),
        f"<h3>Notes</h3>\n{html_list(notes)}" if notes else "",
        _facts(standing),
    ]
    return "\n".join(filter(None, parts))


def _question(question: dict, read: list[str]) -> str:
    """A heading with a sign and the status in words, the checks, and where to read on."""
    feedback = feedback_on(question, read)
    title = f"{escape(question['title'])}: {escape(feedback.verdict)}"
    head = f'<h3><span aria-hidden="true">{feedback.sign}</span> {title}</h3>'
    if feedback.first:
        head += f"\n<p>{html_text(one_line(feedback.first))}</p>"
    if feedback.reason:
        return f"{head}\n<p>{html_text(one_line(feedback.reason))}</p>"
    checks = ([check.outcome, *check.sentences] for check in feedback.checks)
    items = [f"<li>{'<br>'.join(html_text(one_line(line)) for line in lines)}</li>" for lines in checks]
    notes = [f"<p>{html_text(one_line(note))}</p>" for note in feedback.notes]
    return f"{head}\n<ul>{''.join(items)}</ul>{''.join(notes)}"


def _by_hand(standing: Standing) -> str:
    marks = [row(one_line(mark.name), _points_by_hand(mark)) for mark in standing.marks]
    comments = [f"<p>{escape(one_line(given.comment))}</p>" for given in standing.hand if given.comment]
    shown_table = [html_table(BY_HAND, ("What", "Points"), marks)] if marks else []
    return "\n".join([*shown_table, *comments])


def _points_by_hand(mark: Mark) -> str:
    return f"{mark.points} of {mark.max_points}" if mark.max_points else f"{mark.points} on top"


def _facts(standing: Standing) -> str:
    counted = standing.counts.row
    facts = {
        "File": one_line(standing.counts.file.path.name),
        "Run in": ", in ".join(PLACES.get(part, part) for part in counted.isolation.split(", ")),
        "Calls": ", ".join(map(one_line, counted.uses)),
    }
    return f"<dl>{''.join(f'<dt>{k}</dt><dd>{escape(v)}</dd>' for k, v in facts.items() if v)}</dl>"
