"""The bibliography can be read, and has what the pages cite."""

import re

from pybtex.database import parse_file

from tools import ROOT

CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


def test_every_citation_has_an_entry():
    """Catches an entry that a merge left open, one that stands twice, and a key that is spelled otherwise."""
    entries = set(parse_file(str(ROOT / "chapters" / "references.bib")).entries)
    pages = [page for kind in ("*.ipynb", "*.md") for page in (ROOT / "chapters").rglob(kind)]
    cited = {
        (page.name, key.strip())
        for page in [*pages, ROOT / "index.md"]
        for keys in CITED.findall(page.read_text(encoding="utf-8"))
        for key in keys.split(",")
    }
    assert len(cited) > 100
    assert sorted((page, key) for page, key in cited if key not in entries) == []
