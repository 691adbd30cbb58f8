"""The built site: no warning, nothing published that should not be, every link and figure in order."""

import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.book.pages import FROM_ELSEWHERE, ROOT, anchors, broken_links, requests_elsewhere, soup, toc
from tests.exercises import leaks

PAGES = [f"{name}.html" for name in toc()]
GENERATED = {"genindex.html", "search.html", "py-modindex.html"}
SOLUTIONS = "chapters/solutions/"  # the pages that may tell answers


@pytest.fixture(scope="module")
def html(built):
    assert (built.pages / "index.html").exists(), built.log[-4000:]
    return built.pages


def test_the_build_has_no_warning(built):
    plain = re.sub(r"\x1b\[[\d;]*m", "", built.log)
    assert re.findall(r".*(?:WARNING|ERROR|CRITICAL|Error:).*", plain) == []
    assert built.ok, plain[-2000:]


def test_only_the_table_of_contents_is_published(html):
    pages = {str(path.relative_to(html)) for path in html.rglob("*.html") if "_static" not in path.parts}
    sources_of_library = {page for page in pages if page.startswith("_modules/")}
    assert pages - sources_of_library - GENERATED == set(PAGES)
    for page in sources_of_library - {"_modules/index.html"}:
        assert re.match(r"_modules/(clearformer|clearcheck)/[a-z0-9_/]+\.html$", page), page


def test_only_sources_of_published_pages_are_published(html):
    sources = {str(p.relative_to(html / "_sources")) for p in (html / "_sources").rglob("*") if p.is_file()}
    assert {source.rsplit(".", 1)[0] for source in sources} == set(toc())
    downloads = {path.name for path in (html / "_downloads").rglob("*") if path.is_file()}
    assert downloads <= {path.name for path in ROOT.glob("exercises/*.ipynb")}


def test_no_solution_is_published(html):
    for path in [*html.rglob("*.ipynb"), *html.rglob("*.md"), *html.rglob("*.html"), html / "searchindex.js"]:
        assert "### BEGIN SOLUTION" not in path.read_text(encoding="utf8"), path


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith(SOLUTIONS)])
def test_no_answer_is_published(html, page):
    """Catches what the sources do not hold: an answer that a directive or an extension brings in."""
    assert leaks.on_a_page(soup(html / page).get_text(), page.removesuffix(".html")) == []


def test_a_search_finds_no_solution_page(html):
    """Catches a word of an answer in the index, which a search for a function would show."""
    script = (html / "searchindex.js").read_text(encoding="utf8")
    index = json.loads(script[script.index("(") + 1 : script.rindex(")")])
    kept_out = {number for number, name in enumerate(index["docnames"]) if name.startswith(SOLUTIONS)}
    assert kept_out and all(index["titles"][number] == "" for number in kept_out)
    for words in (index["terms"], index["titleterms"]):
        found = {word: {pages} if isinstance(pages, int) else set(pages) for word, pages in words.items()}
        assert [word for word, pages in found.items() if pages & kept_out] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(html, page):
    assert broken_links(html, page) == []


@pytest.mark.parametrize("page", PAGES)
def test_images_have_alternative_text(html, page):
    for image in soup(html / page).select("main img"):
        alt = image.get("alt", "")
        assert len(alt.split()) >= 4, f"{image.get('src')} says {alt!r}"
        assert not re.search(r"_images|\.(svg|png)$", alt), f"{image.get('src')} says {alt!r}"


@pytest.mark.parametrize("page", PAGES)
def test_ids_are_unique(html, page):
    counts = Counter(tag["id"] for tag in soup(html / page).select("[id]"))
    assert [name for name, n in counts.items() if n > 1 and not name.startswith("MathJax")] == []


@pytest.mark.parametrize("page", [*PAGES, *sorted(GENERATED)])
def test_nothing_is_fetched_from_elsewhere(html, page):
    assert requests_elsewhere(html / page) <= {FROM_ELSEWHERE}


@pytest.mark.parametrize("page", PAGES)
def test_page_has_one_title_and_headings_in_order(html, page):
    levels = [int(tag.name[1]) for tag in soup(html / page).select("article h1, article h2, article h3, article h4")]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels)), levels


def test_every_page_has_a_browser_title_of_its_own(html):
    titles = {page: soup(html / page).title.text.strip() for page in PAGES}
    assert len(set(titles.values())) == len(titles)
    assert all(title.split(" — ")[0] != title.split(" — ")[-1] for title in titles.values()), titles


def labels(name: str) -> list[str]:
    """The labels of display equations in a page's source: $$ ... $$ (label)."""
    for path in (ROOT / f"{name}.ipynb", ROOT / f"{name}.md"):
        if path.exists():
            text = path.read_text(encoding="utf8")
            if path.suffix == ".ipynb":
                cells = json.loads(text)["cells"]
                text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
            return re.findall(r"\$\$ *\(([\w-]+)\)", text)
    raise FileNotFoundError(name)


@pytest.mark.parametrize("name", toc())
def test_every_labelled_equation_is_numbered(html, name):
    page = html / f"{name}.html"
    for label in labels(name):
        assert f"equation-{label}" in anchors(page), label
        equation = soup(page).find(id=f"equation-{label}")
        assert equation.select_one(".eqno"), label


def test_every_number_of_an_equation_stands_once(html):
    for page in PAGES:
        numbers = [tag.get_text()[:-1] for tag in soup(html / page).select(".eqno")]
        assert len(numbers) == len(set(numbers)), page


def test_the_page_offers_its_notebook_and_no_launch_button(html):
    page = soup(html / "chapters" / "03-self-attention.html")
    assert page.select_one(".btn-download-source-button")
    assert not page.select("[href*=binder], [href*=colab], [href*='github.com']")
