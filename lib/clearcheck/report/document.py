"""The frame of the pages that the grader writes: one file that loads nothing and runs no script."""

from collections.abc import Iterable
from html import escape

from clearcheck.grading.telling import points_of
from clearcheck.notebooks.escaping import html_text

STYLE = """
:root { --ink: #1b2430; --soft: #51606f; --line: #c9d2dc; --accent: #0b5fa5; --sheet: #fff; --desk: #eef1f5; }
:root { color-scheme: light dark; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --soft: #a9b6c4; --line: #3a4654; --accent: #7cb7ea; --sheet: #171d25; --desk: #0e1319; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--desk); color: var(--ink); }
body { font: 16px/1.5 "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 50rem; margin: 2rem auto; padding: 2.5rem 3rem; }
main { border: 1px solid var(--line); background: var(--sheet); }
h1, .total strong { font-family: Georgia, "Iowan Old Style", "DejaVu Serif", serif; font-weight: 600; }
h1 { margin: 0; font-size: 2.1rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
h3 { margin: 1.4rem 0 0.3rem; font-size: 1.05rem; overflow-wrap: anywhere; }
p, li { overflow-wrap: anywhere; }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
.of { margin: 0 0 0.3rem; color: var(--soft); }
.total { margin: 1.2rem 0; padding: 0.7rem 0; border: solid var(--accent); border-width: 3px 0 1px; }
.total { font-size: 1.15rem; }
.total strong { font-size: 1.7rem; line-height: 1; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.4rem; }
th, td { padding: 0.38rem 0.9rem 0.38rem 0; border-bottom: 1px solid var(--line); }
th, td { text-align: left; vertical-align: top; }
th { font-weight: 600; }
tbody th { font-weight: 400; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.bar { display: block; height: 0.7rem; min-width: 1px; background: var(--accent); }
.scroll { overflow-x: auto; margin-top: 1.4rem; }
.scroll thead th { white-space: normal; vertical-align: bottom; font-size: 0.85rem; }
.scroll :is(th, td) { padding-right: 0.6rem; }
.scroll th:first-child { min-width: 9rem; }
.wide { width: 50%; }
.quarter { width: 25%; }
.stack { display: flex; height: 0.9rem; border: 1px solid var(--accent); }
.stack .full { background: var(--accent); }
.stack .striped { background: repeating-linear-gradient(45deg, var(--accent) 0 2px, transparent 2px 5px); }
.stack .dotted { background: radial-gradient(var(--accent) 1px, transparent 1.4px) 0 0 / 5px 5px; }
tbody .short { white-space: nowrap; }
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


def document(title: str, body: str) -> str:
    """The whole HTML document; `body` is HTML, `title` is text."""
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def total(points: float, most: float) -> str:
    reached, _, rest = points_of(points, most).partition(" ")
    return f'<p class="total"><strong>{reached}</strong> {rest}</p>'


def html_table(caption: str, head: Iterable[str], rows: Iterable[str], foot: str = "") -> str:
    """A table whose first column names the row; the other headings stand above numbers."""
    first, *others = head
    cells = "".join(f'<th scope="col" class="number">{escape(word)}</th>' for word in others)
    return f"""<table>
<caption>{escape(caption)}</caption>
<thead><tr><th scope="col">{escape(first)}</th>{cells}</tr></thead>
<tbody>
{"".join(rows)}</tbody>
{f"<tfoot>{chr(10)}{foot}</tfoot>" if foot else ""}</table>"""


def row(title: str, *numbers: str) -> str:
    cells = "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
    return f'<tr><th scope="row">{escape(title)}</th>{cells}</tr>\n'


def html_list(items: Iterable[str]) -> str:
    """A list of texts, or nothing where there is none."""
    inside = "".join(f"<li>{html_text(item)}</li>" for item in items)
    return f"<ul>{inside}</ul>" if inside else ""
