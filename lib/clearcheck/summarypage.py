"""The summary of a course on one page: self-contained HTML for the screen and for one sheet of A4."""

from html import escape

from clearcheck.course import Course, Row
from clearcheck.records import in_words

OWN_RECORD = (
    "This is the learner’s own record, made by a program on the learner’s own computer. It is no attestation: "
    "nobody has checked who wrote the answers."
)

STYLE = """
:root { --ink: #1b2430; --soft: #51606f; --line: #c9d2dc; --accent: #0b5fa5; color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #eef1f5; color: var(--ink); }
body { font: 16px/1.5 "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 50rem; margin: 2rem auto; padding: 2.5rem 3rem; border: 1px solid var(--line); background: #fff; }
h1 { margin: 0; font: 600 2.1rem/1.2 Georgia, "Iowan Old Style", "DejaVu Serif", serif; overflow-wrap: anywhere; }
.of { margin: 0 0 0.3rem; color: var(--soft); }
.total { margin: 1.2rem 0; padding: 0.7rem 0; border: solid var(--accent); border-width: 3px 0 1px; }
.total { font-size: 1.15rem; }
.total strong { font: 600 1.7rem/1 Georgia, "Iowan Old Style", "DejaVu Serif", serif; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.4rem; }
th, td { padding: 0.38rem 0.9rem 0.38rem 0; border-bottom: 1px solid var(--line); }
th, td { text-align: left; vertical-align: top; }
th { font-weight: 600; }
tbody th { font-weight: 400; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr > :last-child { padding-right: 0; }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; margin: 1.6rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.own { margin: 1.6rem 0 0; padding: 0.7rem 1rem; border: 1px solid var(--ink); }
@media (max-width: 40rem) { main { margin: 0; padding: 1.2rem; border: 0; } th, td { padding-right: 0.5rem; } }
@page { size: A4; margin: 16mm 18mm; }
@media print {
  body { background: none; font-size: 10.5pt; line-height: 1.4; }
  main { max-width: none; margin: 0; padding: 0; border: 0; }
  tr, .own, dl { break-inside: avoid; }
}
"""


def page(course: Course, name: str = "") -> str:
    """The whole HTML document; it loads nothing and runs no script."""
    heading = escape(name.strip() or "Exercises of the course")
    of = '<p class="of">Summary of exercises</p>' if name.strip() else ""
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{f"{heading}: summary of exercises" if name.strip() else "Summary of exercises"}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{of}
<h1>{heading}</h1>
<p class="total"><strong>{course.points}</strong> of {course.max_points} points</p>
{_table(course)}
<p class="own">{escape(OWN_RECORD)}</p>
{_details(course)}
</main>
</body>
</html>
"""


def _table(course: Course) -> str:
    asked = sum(len(row.exercise.questions) for row in course.rows)
    passed = sum(row.passed for row in course.rows)
    head = "".join(f'<th scope="col" class="number">{word}</th>' for word in ("Passed", "Points"))
    return f"""<table>
<caption>What was graded: questions passed and points</caption>
<thead><tr><th scope="col">Exercise</th>{head}</tr></thead>
<tbody>
{"".join(_row(row) for row in course.rows)}</tbody>
<tfoot>
{_cells("Together", f"{passed} of {asked}", f"{course.points} of {course.max_points}")}</tfoot>
</table>"""


def _row(row: Row) -> str:
    number = row.exercise.slug.partition("-")[0]
    title = f"{number} {row.exercise.title}" if number.isdecimal() else row.exercise.title
    passed = f"{row.passed} of {len(row.exercise.questions)}" if row.grade else "not graded"
    return _cells(title, passed, f"{row.points} of {row.exercise.points}")


def _cells(title: str, *numbers: str) -> str:
    cells = "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
    return f'<tr><th scope="row">{escape(title)}</th>{cells}</tr>\n'


def _details(course: Course) -> str:
    facts = {
        "Graded on": in_words(course.when),
        "Course": course.version,
        "Seed of the inputs": str(course.seed),
        "To repeat it": f"python -m clearcheck report --seed {course.seed}",
    }
    return f"<dl>{''.join(f'<dt>{key}</dt><dd>{escape(value)}</dd>' for key, value in facts.items())}</dl>"
