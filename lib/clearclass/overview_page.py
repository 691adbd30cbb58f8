"""The page for the instructor: the class as a whole, and what has to be looked at."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from statistics import StatisticsError, correlation

from clearcheck.grading.evaluate import NOT_ANSWERED, NOT_RIGHT, PARTLY, PASSED
from clearcheck.notebooks.escaping import one_line
from clearcheck.report.document import document, html_list, html_table, row

from clearclass.standings import Entry, Standing, mistakes_by_frequency
from clearclass.tables import isolation_in_words

TENTHS = 10
STATUSES = (PASSED, PARTLY, NOT_RIGHT, NOT_ANSWERED)
PATTERNS = ("full", "striped", "dotted", "empty")  # of the bar that shows them


def overview_html(standings: list[Standing], entries: list[Entry], told: Mapping[str, list[str]]) -> str:
    """Points, questions and mistakes of each exercise, then what has no grade, and what else is told, by headings."""
    slugs = sorted({standing.counts.row.exercise for standing in standings} - {""})
    people = len({standing.learner.key for standing in standings})
    parts = [f'<h1>The class</h1>\n<p class="of">{_count(people, "learner")}, {_count(len(entries), "file")}</p>']
    parts += [_exercise([s for s in standings if s.counts.row.exercise == slug]) for slug in slugs]
    refused = [entry.row.error_with_file for entry in entries if entry.row.error]
    noticed = [
        f"{one_line(s.learner.name)}: {', '.join(map(one_line, s.counts.row.uses))}"
        for s in standings
        if s.counts.row.uses
    ]
    sections = {"Not graded": refused, "Calls that were noticed": noticed, **told}
    parts += [f"<h2>{title}</h2>\n{html_list(items)}" for title, items in sections.items() if items]
    return document("The class", "\n".join(parts))


def _exercise(standings: list[Standing]) -> str:
    first = standings[0].counts.row
    points = [standing.points for standing in standings]
    most = max(standing.max_points for standing in standings)
    mean = f"{sum(points) / len(points):.1f} of {most} points on average, {_count(len(points), 'learner')}"
    isolation = Counter(isolation_in_words(standing.counts.row.isolation) for standing in standings)
    kinds = "; ".join(f"{kind or 'not told'}: {n}" for kind, n in sorted(isolation.items()))
    parts = [
        f"<h2>{escape(first.exercise)}: {escape(first.title)}</h2>\n<p>{mean}. Isolation: {escape(kinds)}.</p>",
        _distribution(standings),
        _questions(standings),
        _mistakes(standings),
    ]
    return "\n".join(parts)


def _distribution(standings: list[Standing]) -> str:
    """How many got how large a part of the points, in tenths, with a bar beside the number."""
    shares = [standing.points / standing.max_points if standing.max_points else 0.0 for standing in standings]
    counts = Counter(min(max(int(share * TENTHS), 0), TENTHS - 1) for share in shares)
    most = max(counts.values())
    rows = []
    for i in range(TENTHS):
        bar = f'<span class="bar" style="width: {100 * counts[i] / most:.0f}%"></span>' if counts[i] else ""
        name = f'<th scope="row" class="short">{10 * i} to {10 * (i + 1)} %</th>'
        rows.append(f'<tr>{name}<td class="number">{counts[i]}</td><td class="wide">{bar}</td></tr>\n')
    head = '<th scope="col">Part of the points</th><th scope="col" class="number">Learners</th><td></td>'
    caption = "How many got how large a part of the points"
    return f"""<table>
<caption>{caption}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{"".join(rows)}</tbody>
</table>"""


def _questions(standings: list[Standing]) -> str:
    rows = []
    for id, asked in standings[0].counts.row.questions.items():
        results = [s.counts.row.questions[id] for s in standings if id in s.counts.row.questions]
        mean = sum(result.points for result in results) / len(results)
        status = Counter(result.status for result in results)
        counts = [str(status[name]) for name in STATUSES]
        rests = [
            s.counts.row.points - s.counts.row.questions[id].points for s in standings if id in s.counts.row.questions
        ]
        measured = _share(mean, asked.max_points), _discrimination([result.points for result in results], rests)
        line = row(f"{id}: {asked.title}", f"{mean:.1f} of {asked.max_points}", *measured, *counts)
        shares = [100 * status[name] / len(results) for name in STATUSES]
        rows.append(line.replace("</th>", f"{_stack(shares)}</th>"))
    names = [name.capitalize() for name in STATUSES]
    head = ("Question", "Mean points", "Difficulty", "Discrimination", *names)
    caption = "Points for each question"
    inside = html_table(caption, head, rows)
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">{inside}</div>'


def _stack(shares: list[float]) -> str:
    """The parts of the class with each status, from left to right, in patterns that need no colour."""
    parts = "".join(
        f'<span class="{name}" style="width: {share:.1f}%"></span>'
        for name, share in zip(PATTERNS, shares, strict=True)
    )
    return f'<span class="stack" aria-hidden="true">{parts}</span>'  # the numbers stand beside it


def _share(mean: float, most: float) -> str:
    """The difficulty of a question, as test theory has it: the part of its points that is reached on average."""
    return f"{100 * mean / most:.0f} %" if most else "–"


def _discrimination(points: Sequence[float], rests: Sequence[float]) -> str:
    """How far the points of a question go with those of all others: their correlation, which for a question that is
    right or wrong is the point-biserial one. None where all have the same.
    """
    try:
        return f"{correlation(points, rests):.2f}"
    except StatisticsError:
        return "–"


def _mistakes(standings: list[Standing]) -> str:
    """Each named mistake with a bar for the part of the class that made it, the most frequent first."""
    found, count = mistakes_by_frequency(standings), len(standings)
    if not found:
        return "<h3>Mistakes by frequency</h3>\n<p>None that has a name.</p>"
    rows = "".join(_mistake(100 * n / count, n, count, id, told) for n, id, told in found)
    head = '<th scope="col">Mistake</th><th scope="col" class="number">Learners</th><td></td>'
    inside = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>"
    return f"<table>\n<caption>Mistakes by frequency</caption>\n{inside}\n</table>"


def _mistake(percent: float, n: int, count: int, id: str, told: str) -> str:
    words = escape(one_line(f"{id}: {told.partition(': ')[2] or told}"))
    number = f'<td class="number">{percent:.0f} %, {n} of {count}</td>'
    return f'<tr><th scope="row">{words}</th>{number}<td class="quarter">{_bar(percent)}</td></tr>\n'


def _bar(percent: float) -> str:
    return f'<span class="bar" style="width: {percent:.0f}%"></span>'


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
