"""make pdf: build the site, and print its chapters as one PDF with contents, if Chromium is found.

The pages are those of the site, one after the other, printed with its own style sheet; only the title page, the
contents and what begins on a new page are added here. It is printed twice: the first print says where a chapter begins.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import yaml
from bs4 import BeautifulSoup, Tag

from tools import ROOT
from tools.book.build import build
from tools.extension.publish import PDF, link_the_pdf
from tools.pages import reading
from tools.setup.bootstrap import SetupProblem
from tools.takeaway.downloads import DIST, project

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]  # nothing is fetched from elsewhere
LEFT_OUT = re.compile(
    r"chapters/(setup|grading|instructor|solutions.*|drills|claims|source-map|api|play/.*)$"
)  # to use, not to read
SHEET = "book-to-print.html"
SCALE = 0.8  # of the letters on a screen: about 10 points
SECONDS = 600  # for a print of the whole book, formulas included
STYLE = """
@page { size: A4; margin: 18mm 17mm 20mm; }
.printed-book > *:not(:last-child):not(:has(+ .closer)) { break-after: page; }
.printed-book > .closer { margin-top: 2.5rem; padding-top: 1rem; border-top: 2px solid #bbb; }
.printed-book > .closer > section > h1 { font-size: 1.7rem; break-after: avoid; }
.printed-book .part-name { margin: 0; color: #444; font-size: 1.1rem; }
.printed-book .contents .part { margin-top: 0.8rem; font-weight: 600; list-style: none; }
.printed-book .contents .part::after { content: ""; }
.printed-book .answers li { break-inside: avoid; }
.printed-book .answers p { display: inline; }
.printed-book pre { font-size: 8pt; }
.printed-book > * { padding-top: 1px; } /* else the outline has the first heading of a page twice */
.printed-book * { box-shadow: none !important; } /* each would become a picture of its own */
.printed-book > .title { padding-top: 30vh; text-align: center; }
.printed-book .contents li { display: flex; gap: 0.6rem; break-inside: avoid; }
.printed-book .contents li::after { content: attr(data-page); margin-left: auto; }
"""
NUMBER = """pages => document.querySelectorAll('.contents li').forEach(
    item => { item.dataset.page = pages[item.dataset.name] ?? '' })"""
FOOTER = """<div style="width: 100%; font: 8px sans-serif; text-align: center"><span class="pageNumber"></span></div>"""


class NoPrint(RuntimeError):
    """The book cannot be printed on this machine; the text says what is missing."""


def main() -> int:
    try:
        site = build(ROOT)
        target = site / DIST / PDF
        n_pages = print_book(site, target)
        link_the_pdf(site)
        print(f"{target.relative_to(ROOT)}: {n_pages} pages, {target.stat().st_size / 1e6:.1f} MB")
    except NoPrint as problem:
        print(f"{problem} The site is complete without a PDF.")
    except SetupProblem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    return 0


def print_book(site: Path, target: Path, pages: list[str] | None = None) -> int:
    """Print pages of a built site (default: those of the book that are to be read) into one PDF; return its length.

    Raises: NoPrint where there is no Chromium, or no playwright to drive it.
    """
    chromium = find_chromium()
    if chromium is None:
        raise NoPrint("No Chromium is found: install it, or name it with CHROMIUM=/path/to/chromium.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoPrint("Printing needs playwright: run python tools/run.py setup.") from None
    sheet, book = site / SHEET, Book(site, pages or to_be_read())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            page = browser.new_page(color_scheme="light")
            page.set_default_timeout(SECONDS * 1000)
            sheet.write_text(book.text(), encoding="utf-8")
            page.goto(sheet.as_uri())
            page.evaluate("async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }")
            starts, _ = starting_pages(print_page(page))
            page.evaluate(NUMBER, {name: starts.get(anchor(name, "")) for name in book.pages})
            data = print_page(page)
        finally:
            browser.close()
            sheet.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return starting_pages(data)[1]


def find_chromium() -> str | None:
    """The one without windows first: it draws the same pages in half the time."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def print_page(page) -> bytes:
    """With an outline, for which Chromium needs the tags that a screen reader wants, too."""
    return page.pdf(
        outline=True,
        tagged=True,
        scale=SCALE,
        prefer_css_page_size=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
    )


def parts() -> dict[str, str]:
    """The caption of each part of the table of contents, by its first page that is to be read."""
    found = {}
    for part in yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]:
        names = [chapter.get("file", "") for chapter in part["chapters"]]
        if first := next((name for name in names if name and not LEFT_OUT.match(name)), None):
            found[first] = part["caption"]
    return found


def to_be_read() -> list[str]:
    """The pages of the table of contents that are for reading, without suffix."""
    return [name for name in reading.in_the_order_of_the_book() if not LEFT_OUT.match(name)]


@dataclass
class Book:
    """The articles of a built site on one page, their links and ids changed so that they still meet."""

    site: Path
    pages: list[str]

    def text(self) -> str:
        articles, captions = [self._article(name) for name in self.pages], parts()
        items = ""
        for name, article in zip(self.pages, articles, strict=True):
            if name in captions:
                items += f'<li class="part">{captions[name]}</li>'
                article.insert(0, BeautifulSoup(f'<p class="part-name">{captions[name]}</p>', "html.parser"))
            items += f'<li data-name="{name}"><a href="#{anchor(name, "")}">{article.h1.decode_contents()}</a></li>'
        answers = "".join(answers_of(article) for article in articles)
        if answers:
            answers = f'<section class="answers"><h1>Answers</h1>{answers}</section>'
        facts = project(ROOT)
        title = f"""<section class="title"><h1>Clearformer</h1><p>{escape(facts["description"])}</p>
<p>Version {facts["version"]}, printed on {date.today():%d %B %Y}. The chapters are notebooks, which run.</p></section>
<section class="contents"><h1>Contents</h1><ul>{items}</ul></section>"""
        body = f'<div class="printed-book">{title}{"".join(map(str, articles))}{answers}</div>'
        return f"""<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">
<title>Clearformer</title>{self._head()}<style>{STYLE}</style></head>
<body class="bd-article-container">{body}</body></html>"""

    def _head(self) -> str:
        """Style sheets and formulas, as a chapter loads them."""
        page = next(name for name in self.pages if re.match(r"chapters/\d", name))
        tags = []
        for tag in self._soup(page).head.find_all(["link", "script"]):
            sheet = "stylesheet" in tag.get("rel", [])
            if sheet or "mathjax" in (tag.get("src", "") + (tag.string or "")).lower():
                for key in ("href", "src"):
                    if key in tag.attrs:
                        tag[key] = self._path(page, tag[key])
                tags.append(str(tag))
        return "".join(tags)

    def _article(self, name: str) -> Tag:
        """A page's own text."""
        article = self._soup(name).select_one("article.bd-article")
        for tag in article.select("script, a.headerlink, button, template, link, .closer-looks"):
            tag.decompose()
        for tag in article.select("[id]"):
            tag["id"] = anchor(name, tag["id"])
        for tag in article.select("[src]"):
            tag["src"] = self._path(name, tag["src"])
        for tag in article.select("a[href]"):
            path, section = urldefrag(self._path(name, tag["href"]))
            other = unquote(path).removesuffix(".html")
            if other in self.pages:
                tag["href"] = f"#{anchor(other, unquote(section))}"
            elif not re.match(r"[a-z]+:", path):
                tag.unwrap()  # it led to a page that is not printed
        article["id"] = anchor(name, "")
        if "/closer/" in name:
            article["class"] = "closer"
            for tag in article.find_all("p"):
                if re.match(r"Back to\b", tag.get_text().strip()):
                    tag.decompose()  # it goes on right here
        return article

    def _soup(self, name: str) -> BeautifulSoup:
        return BeautifulSoup((self.site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")

    def _path(self, name: str, address: str) -> str:
        """An address on a page, as it is reached from the root of the site."""
        if re.match(r"[a-z]+:|//", address):
            return address
        return urljoin(f"/{name}.html", address).lstrip("/")


def answers_of(article: Tag) -> str:
    """The right answer to each question of a page, and why."""
    items = []
    for question in article.select(".quiz-question"):
        right = question.select_one("details[data-answer=right]")
        asked = question.find_previous_sibling()
        number = re.match(r"\s*(\d+)\.", asked.get_text() if asked else "")
        summary = right.summary.extract()
        place = f"{number[1]}. " if number else ""
        why = re.sub(r"<strong>Right\.</strong> *", "", right.decode_contents(), count=1)
        items.append(f"<li>{place}<strong>{summary.decode_contents()}.</strong> {why}</li>")
        right.insert(0, summary)
    return f"<h2>{article.h1.get_text().strip()}</h2><ul>{''.join(items)}</ul>" if items else ""


def anchor(name: str, id: str) -> str:
    """The place of an id in the printed book; without one that of the page."""
    return f"{name.replace('/', '-')}--{id}"


def starting_pages(data: bytes) -> tuple[dict[str, int], int]:
    """On which page each place begins that a link leads to, and how many pages there are."""
    objects = {int(n): text for n, text in re.findall(rb"(?<!\d)(\d+) 0 obj\b(.*?)\bendobj", data, re.S)}
    order = {n: number for number, n in enumerate(_in_order(objects), start=1)}
    places = re.findall(rb"/([^\s/\[\]<>()]+)\s*\[\s*(\d+) 0 R\s*/XYZ", data)
    starts = {unquote(name.decode().replace("#", "%")): order[int(n)] for name, n in places if int(n) in order}
    return starts, len(order)


def _in_order(objects: dict[int, bytes]) -> list[int]:
    """The numbers of the objects that are pages: the leaves of the tree of pages, from the first to the last."""
    lists = {n: re.search(rb"/Kids\s*\[(.*?)\]", text, re.S) for n, text in objects.items() if b"/Pages" in text}
    kids = {n: [int(kid) for kid in re.findall(rb"(\d+) 0 R", found[1])] for n, found in lists.items() if found}
    below = {kid for several in kids.values() for kid in several}

    def leaves(n: int) -> list[int]:
        return [leaf for kid in kids[n] for leaf in leaves(kid)] if n in kids else [n]

    return leaves(next(n for n in kids if n not in below))


if __name__ == "__main__":
    sys.exit(main())
