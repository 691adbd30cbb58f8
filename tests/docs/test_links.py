"""Links lead somewhere, and no address is made up; whether the rest of the web answers is asked weekly, in CI."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from tools.pages import reading

ROOT = Path(__file__).parents[2]
OUTSIDE = re.compile(
    r"\.(?!github|devcontainer|ci$).*|_build|build|dist|.*\.egg-info|__pycache__|tests|solutions|grader-proof"
)
READ = {
    ".md",
    ".ipynb",
    ".py",
    ".yml",
    ".yaml",
    ".toml",
    ".cff",
    ".bib",
    ".txt",
    ".js",
    ".css",
    ".html",
    ".json",
    ".sh",
}
CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$|(`+).+?\2|<!--.*?-->", re.M | re.S)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
LABEL = re.compile(r"^\(([\w:.-]+)\)=|\bid=\"([\w:.-]+)\"|\{#([\w:.-]+)\}", re.M)
ADDRESS = re.compile(r"https?://[^\s)>\]\"'`}|\\,]+")
MADE_UP = re.compile(
    r"://(?:[\w.-]+\.)?(?:example(?:\.(?:com|org|net|edu))?|[\w-]+\.(?:example|test|invalid))(?:[/:]|$)"
    r"|://(?:your|my)[-.]|/(?:OWNER|USER|ORG|your-?name|username|REPO)\b|TODO|FIXME"
)
SAMPLES = {"https://name.github.io/course/", "https://github.com/name/course"}  # in messages, for the form
SHAPES = {  # what the address of a source looks like; a slip in one of them leads to another paper
    "arxiv.org": re.compile(r"https://arxiv\.org/(?:abs|pdf)/(?:\d{4}\.\d{4,5}|[a-z-]+/\d{7})(?:v\d+)?"),
    "doi.org": re.compile(r"https://doi\.org/10\.\d{4,9}/\S+"),
    "github.com": re.compile(r"https://github\.com/[\w.-]+(?:/[\w.-]+(?:/\S*)?)?"),
}


@cache
def files() -> list[Path]:
    """The text files of the project, but neither what is built nor tests, which make up addresses to refuse them; the
    links of pages that are made with the site are looked at in it."""
    found = [*ROOT.iterdir()]
    for path in found:
        if path.is_dir() and not OUTSIDE.fullmatch(path.name):
            found += path.iterdir()
    return sorted(path for path in found if path.is_file() and path.suffix in READ)


@cache
def prose(path: Path) -> str:
    """The Markdown of a file, without code; of a notebook that of its cells."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return CODE.sub("", text)


@cache
def anchors(path: Path) -> set[str]:
    labels = {name for found in LABEL.findall(prose(path)) for name in found if name}
    return labels | set(headings(path))


def headings(path: Path) -> set[str]:
    if path.is_relative_to(reading.CHAPTERS):
        return set(reading.headings(path))
    titles = re.findall(r"^#{1,6} (.+)$", prose(path), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@cache
def labels_of_book() -> set[str]:
    """Labels of MyST, to which any page may link by name alone."""
    return {name for path in reading.pages().values() for name in anchors(path)}


def broken_links(path: Path) -> list[str]:
    """Links to a file or a section that is not there."""
    found = []
    for target in LINK.findall(prose(path)):
        name, _, section = target.removeprefix("path:").partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        file = (path.parent / name).resolve() if name else path
        known = anchors(file) if name and file.is_file() and file.suffix in (".md", ".ipynb") else labels_of_book()
        if not file.exists() or (section and file.suffix in (".md", ".ipynb") and section not in known | anchors(path)):
            found.append(target)
    return found


PAGES = [path for path in files() if path.suffix in (".md", ".ipynb") and "authoring" not in path.parts]
PAGES.append(ROOT / "tests" / "README.md")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_within_the_project_leads_somewhere(path):
    """Catches a file that was moved, and a section whose title has changed since."""
    assert broken_links(path) == []


def test_broken_links_are_noticed(tmp_path):
    """Catches a check that lets everything pass."""
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n[a](page.md#one) [b](#one) [c](page.md#two) [d](gone.md) [e](https://x.org) `[f](no.md)`\n"
    )
    assert broken_links(page) == ["page.md#two", "gone.md"]


def wrong_addresses(text: str) -> list[str]:
    """Addresses that are made up, or have not the form that addresses at this place have."""
    found = []
    for address in {match.rstrip(".;:*") for match in ADDRESS.findall(text)} - SAMPLES:
        host = address.split("/")[2]
        shape = SHAPES.get(host.removeprefix("www."))
        if MADE_UP.search(address) or (shape and "{" not in address and not shape.fullmatch(address)):
            found.append(address)
    return sorted(found)


def test_no_address_is_made_up():
    """Catches a placeholder that would be published, as https://clearformer.example was, and a mistyped arXiv number.

    The project's own addresses stand in no file: they come from SITE_URL and REPOSITORY_URL, which the extension of
    Sphinx reads (tools/extension/publish.py).
    """
    found = {path.relative_to(ROOT).as_posix(): wrong_addresses(path.read_text(encoding="utf8")) for path in files()}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


@pytest.mark.parametrize(
    "address",
    [
        "https://clearformer.example/x",
        "https://example.org",
        "https://github.com/OWNER/course",
        "https://your-site.org/",
        "https://arxiv.org/abs/1706.376",
        "https://arxiv.org/1706.03762",
        "https://doi.org/1706.03762",
    ],
)
def test_made_up_addresses_are_noticed(address):
    """Catches a pattern that no longer matches what it is for."""
    assert wrong_addresses(f"see {address}, or (https://arxiv.org/abs/1706.03762v5).") == [address]
