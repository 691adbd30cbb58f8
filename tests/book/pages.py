"""Which pages the book has, and how to read them."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import yaml
from bs4 import BeautifulSoup
from clearcheck.author.loading import slugs_in

from tools import ROOT
from tools.book.pdf import find_chromium
from tools.pages.chapters import chapter_slug, is_chapter

CHROMIUM = find_chromium()
AXE = ROOT / ".cache" / "axe.min.js"
NO_CHROMIUM = "needs Chromium (install it, or name it with CHROMIUM=/path/to/chromium)"
LOADING = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
# Half of all tags: colours of code, and cells that hold words alone. Of formulas the words are kept.
IDLE = re.compile(r'<span class="[a-z]{1,3}[0-9]?">([^<]*)</span>|<td[^>]*><p>([^<]*)</p></td>')
FORMULA = re.compile(r"<mjx-container.*?</mjx-container>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
FROM_ELSEWHERE = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-mml-chtml.js"  # when the site was built without npm


SLUGS = slugs_in(ROOT / "exercises" / "authoring")
PROOFS = tuple(f"chapters/grader-proof/{slug}" for slug in SLUGS)
UNLISTED = ("chapters/grader-proof", *PROOFS)  # built and linked, but in no table of contents and in no search
MADE = ("chapters/solutions/", "chapters/grader-proof/")  # how the pages begin that a build writes, and git ignores


def published_pages() -> list[str]:
    """Every page of the site that is written or generated here, without suffix."""
    return [*toc(), *UNLISTED]


@cache
def toc() -> tuple[str, ...]:
    """The pages that _toc.yml names, in order, without suffix."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return contents["root"], *(file for part in contents["parts"] for file in _files(part["chapters"]))


def chapters() -> dict[str, str]:
    """The page of each chapter by its slug, in order: `gpt3` is chapters/15-gpt3.html."""
    return {chapter_slug(name): f"{name}.html" for name in toc() if is_chapter(name)}


def _files(entries: list[dict]) -> list[str]:
    """Each entry, and behind it those of its sections; a glob stands for a page of each exercise."""
    found = []
    for entry in entries:
        named = [entry["glob"].replace("*", slug) for slug in SLUGS] if "glob" in entry else [entry["file"]]
        found += [*named, *_files(entry.get("sections", []))]
    return found


CHAPTERS = chapters()


@cache
def soup(path: Path) -> BeautifulSoup:
    """A page without tags that no test asks for."""
    text = IDLE.sub(r"\1\2", path.read_text(encoding="utf8"))
    return BeautifulSoup(FORMULA.sub(lambda formula: TAG.sub("", formula[0]), text), "html.parser")


@cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(tag.get("id") or tag.get("name") for tag in soup(path).select("[id], a[name]"))


def broken_links(site: Path, page: str) -> list[str]:
    """Links of a page to files or anchors of the site that are not there."""
    broken = []
    for tag in soup(site / page).select("a[href]"):
        target = urlsplit(urljoin(f"/{page}", tag["href"]))
        if target.scheme or target.netloc:
            continue
        file = site / unquote(target.path).lstrip("/")
        if not file.is_file() or (
            file.suffix == ".html" and target.fragment and unquote(target.fragment) not in anchors(file)
        ):
            broken.append(f"{tag['href']} ({tag.get_text(strip=True)[:40]!r})")
    return broken


def requests_elsewhere(path: Path) -> set[str]:
    """Addresses outside the site that a browser fetches when it shows the page."""
    found = (tag.get(LOADING[tag.name], "") for tag in soup(path).find_all(list(LOADING)))
    return {address for address in found if address.startswith(("http:", "https:", "//"))}
