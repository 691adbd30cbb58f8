"""Pages under addresses that are no more, each of which leads to the page that has its contents now.

Whoever follows an old link with an anchor comes to the section, the equation or the figure, in whichever of the new
pages it is. Without JavaScript the first of the new pages opens, and links lead to the others.
"""

import html
import json
import os
import re
from pathlib import Path
from string import Template

from tools import ROOT

TEMPLATE = ROOT / "tools" / "site" / "moved.html"
ID = re.compile(r'\bid="([^"]+)"')
NUMBERED = re.compile(r"id\d+")  # of a citation, as Sphinx counts them: it means another on each page
TITLE = re.compile(r"<h1[^>]*>(.*?)(?:<a\b[^>]*headerlink.*?)?</h1>", re.DOTALL)
NO_TITLE = re.compile(r'<span class="section-number">.*?</span>|<[^>]+>', re.DOTALL)
FOLDERS = ("chapters/", "chapters/solutions/", "chapters/grader-proof/")

# An old page, and those that hold its contents now, the one that a link without an anchor leads to first.
MOVED = {
    **{f"{folder}16-what-comes-after": [f"{folder}16-todays-decoder", f"{folder}17-long-memory"] for folder in FOLDERS},
    **{f"{folder}17-assistant": [f"{folder}18-tuning", f"{folder}19-rewards"] for folder in FOLDERS},
    "chapters/closer/16-state-spaces": ["chapters/closer/17-state-spaces"],
}
MOVED["chapters/16-what-comes-after"].append("chapters/closer/16-fewer-passes")
RENAMED = {  # anchors that are called otherwise now
    "fig-16-recall": "fig-17-recall",
    "fig-16-kernels": "fig-17-kernels",
    "fig-17-gained": "fig-18-gained",
    "fig-17-attempts": "fig-19-attempts",
    "fig-17-rewards": "fig-19-rewards",
}


def write_moved_pages(app, exception) -> None:
    """Hook of Sphinx ("build-finished")."""
    if exception is None and app.builder.format == "html":
        built = [old for old, new in MOVED.items() if app.env.found_docs.issuperset(new)]  # all of them in this book
        for old in built:
            path = Path(app.outdir) / f"{old}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(moved_page(old, Path(app.outdir), app.config), encoding="utf8")


def moved_page(old: str, site: Path, config) -> str:
    """What stands under the old address. Raises: FileNotFoundError if a page that it leads to was not built."""
    new = {name: article(site / f"{name}.html") for name in MOVED[old]}
    relative = {name: f"{os.path.relpath(name, Path(old).parent).replace(os.sep, '/')}.html" for name in new}
    first, *others = new
    anchors = {name: [id for id in ID.findall(text) if not NUMBERED.fullmatch(id)] for name, text in new.items()}
    known = {id: name for name in (*reversed(others), first) for id in anchors[name]}
    places = {id: f"{relative[name]}#{id}" for id, name in known.items() if name != first}
    places |= {id: f"{relative[known[now]]}#{now}" for id, now in RENAMED.items() if now in known and id not in known}
    return Template(TEMPLATE.read_text(encoding="utf8")).substitute(
        project=config.project,
        title=", ".join(map(title, new.values())),
        canonical=f"{config.html_baseurl}{first}.html" if config.html_baseurl else relative[first],
        places=json.dumps(places),
        first=relative[first],
        links="\n".join(f'<li><a href="{relative[name]}">{title(text)}</a></li>' for name, text in new.items()),
    )


def article(path: Path) -> str:
    """What a page says, without its navigation."""
    text = path.read_text(encoding="utf8")
    return text[max(text.find("<article"), 0) : max(text.find("</article"), 0) or len(text)]


def title(text: str) -> str:
    found = TITLE.search(text)
    return html.escape(html.unescape(NO_TITLE.sub("", found[1])).strip(), quote=False) if found else ""


def setup(app) -> None:
    app.connect("build-finished", write_moved_pages)
