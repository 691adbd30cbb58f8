"""The built site: no warning, nothing published that should not be, every link and figure in order."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.book.pages import (
    CHAPTERS,
    FROM_ELSEWHERE,
    PROOFS,
    ROOT,
    UNLISTED,
    anchors,
    broken_links,
    published_pages,
    requests_elsewhere,
    soup,
)
from tests.exercises import leaks
from tools.extension.lean_pages import NAMED, WORD, lean_sheet
from tools.extension.moved_pages import MOVED, RENAMED

PAGES = [f"{name}.html" for name in published_pages()]
GENERATED = {"genindex.html", "search.html", "py-modindex.html"}
FOR_VISITORS = {"404.html"}
OLD_ADDRESSES = {f"{name}.html" for name in MOVED}
A_PAGE_OF_EACH_KIND = ["index.html", CHAPTERS["tokens"], "chapters/setup.html", "chapters/api.html", "search.html"]
SOLUTIONS = ("chapters/solutions/", "chapters/grader-proof")  # the pages that may tell answers


@pytest.fixture(scope="module")
def html(book_build):
    assert (book_build.pages / "index.html").exists(), book_build.log[-4000:]
    return book_build.pages


def test_the_build_has_no_warning(book_build):
    plain = re.sub(r"\x1b\[[\d;]*m", "", book_build.log)
    assert re.findall(r".*(?:WARNING|ERROR|CRITICAL|Error:).*", plain) == []
    assert book_build.ok, plain[-2000:]


@pytest.mark.parametrize("page", CHAPTERS.values())
def test_the_bar_of_a_folded_cell_says_what_is_in_it(html, page):
    """Catches a theme that words its bars anew, so that all are called alike, on the page or by a screen reader."""
    bars = soup(html / page).select("details.hide > summary")
    assert bars and not [bar.text for bar in bars if bar.get("aria-label") or "code cell" in bar.p.text]
    assert any("Show the imports" in bar.text for bar in bars)


def test_only_the_table_of_contents_and_what_it_leads_to_is_published(html):
    pages = {str(path.relative_to(html)) for path in html.rglob("*.html") if "_static" not in path.parts}
    sources_of_library = {page for page in pages if page.startswith("_modules/")}
    assert pages - sources_of_library - GENERATED - FOR_VISITORS - OLD_ADDRESSES == set(PAGES)
    assert not list((html / "_static").rglob("*macros.html")), "raw templates of the theme"
    for page in sources_of_library - {"_modules/index.html"}:
        assert re.match(r"_modules/clear(former|book|tape|check|class)/[a-z0-9_/]+\.html$", page), page


def test_only_sources_of_published_pages_are_published(html):
    sources = {str(p.relative_to(html / "_sources")) for p in (html / "_sources").rglob("*") if p.is_file()}
    assert {source.rsplit(".", 1)[0] for source in sources} == set(published_pages())
    downloads = {path.name for path in (html / "_downloads").rglob("*") if path.is_file()}
    assert downloads <= {
        "transformer.py",
        "gpt.py",
        "decoder_2026.py",
        "backward_pass.py",
        "two_processes.py",
        *(f"exercise-{path.name}" for path in ROOT.glob("exercises/*.ipynb")),
    }


def test_no_solution_is_published(html):
    for path in [*html.rglob("*.ipynb"), *html.rglob("*.md"), *html.rglob("*.html"), html / "searchindex.js"]:
        assert "### BEGIN SOLUTION" not in path.read_text(encoding="utf8"), path


def test_an_unlisted_page_is_linked_and_in_no_contents(html):
    """Catches thousands of rows among the chapters in the navigation, and a page that nobody can reach."""
    inside = {tag["href"] for tag in soup(html / "chapters/grading.html").select("main a[href]")}
    assert "grader-proof.html" in inside
    listed = {tag["href"] for tag in soup(html / "chapters/grader-proof.html").select("main a[href]")}
    for name in UNLISTED:
        assert name not in PROOFS or f"grader-proof/{Path(name).name}.html" in listed
        assert not soup(html / "index.html").select(f"nav a[href*='{name.removeprefix('chapters/')}']")


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


def test_the_sections_that_can_be_found_are_those_that_may(html):
    """Catches a solution page or the trials in the index of the search, and sections that are not there."""
    script = (html / "_static" / "search-data.js").read_text(encoding="utf8")
    index = json.loads(script[script.index("{") : script.rindex("}") + 1])
    pages = [page for page, *_ in index["pages"]]
    assert not [page for page in pages if page.startswith(SOLUTIONS)] and set(CHAPTERS.values()) <= set(pages)
    for number, anchor, title, *_ in index["sections"]:
        assert title and (not anchor or anchor in anchors(html / pages[number])), (pages[number], anchor)
    names = {term for term, *_ in index["terms"]}
    for term, _, _, place in index["terms"]:
        assert place is None or not place[1] or place[1] in anchors(html / pages[place[0]]), term
    assert set(index["synonyms"].values()) <= names


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(html, page):
    assert broken_links(html, page) == []


@pytest.mark.parametrize("page", sorted(OLD_ADDRESSES))
def test_an_old_address_leads_to_pages_and_sections_that_are_there(html, page):
    """Catches a page that moved again, an anchor that is gone, and the sections of a second page lost on the first."""
    assert broken_links(html, page) == [] and soup(html / page).select("li a[href]")
    [first] = re.findall(r'content="0; url=([^"]+)"', (html / page).read_text(encoding="utf8"))
    assert (html / page).parent.joinpath(first).resolve().is_file()
    [places] = re.findall(r"^const places = (.*)$", (html / page).read_text(encoding="utf8"), re.MULTILINE)
    for anchor, place in json.loads(places).items():
        target, _, id = place.partition("#")
        assert id in anchors((html / page).parent.joinpath(target).resolve()) and RENAMED.get(anchor, anchor) == id


def test_old_sections_are_found_on_the_page_that_has_them_now(html):
    """Catches an anchor of the old chapter that leads to the wrong one of the new ones."""
    text = (html / "chapters/16-what-comes-after.html").read_text(encoding="utf8")
    places = json.loads(re.search(r"^const places = (.*)$", text, re.MULTILINE)[1])
    assert places["a-state-that-can-overwrite"] == "17-long-memory.html#a-state-that-can-overwrite"
    assert places["fig-16-recall"] == "17-long-memory.html#fig-17-recall"
    assert places["equation-eq-residual-law"] == "closer/16-fewer-passes.html#equation-eq-residual-law"
    assert "a-smaller-cache" not in places and "check-yourself" not in places  # of the first page


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


@pytest.mark.parametrize("name", published_pages())
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
    page = soup(html / CHAPTERS["self-attention"])
    assert page.select_one(".btn-download-source-button")
    assert not page.select_one(".bd-header-article").select("[href*=binder], [href*=colab], [href*='github.com']")


@pytest.mark.parametrize("page", A_PAGE_OF_EACH_KIND)
def test_icons_are_drawn_in_the_page(html, page):
    """Catches an icon that the theme has added and that nothing draws, now that its script of 1.5 MB is left out."""
    text = (html / page).read_text(encoding="utf8")
    assert "fontawesome" not in text and not soup(html / page).select(":not(svg)[class*='fa-']")
    assert len(soup(html / page).select("svg.svg-inline--fa path")) >= 4


def test_formulas_bring_mathjax_and_nothing_else_does(html):
    """Catches 1.2 MB of MathJax on pages without a formula, and a formula on a page without MathJax."""
    for page in PAGES:
        text = (html / page).read_text(encoding="utf8")
        assert ("MathJax" in text) == bool(soup(html / page).select("article .math")), page


def test_our_style_sheet_is_about_what_is_there(html):
    """Catches a rule that stays when what it dressed is gone; what a rule has in brackets is not looked at."""
    known = {name for path in html.rglob("*.html") for name in " ".join(NAMED.findall(path.read_text("utf8"))).split()}
    for script in ("reader.js", "search.js", "copybutton.js"):
        known.update(WORD.findall((html / "_static" / script).read_text("utf8")))
    sheet = (html / "_static" / "clearformer.css").read_text("utf8")
    kept, whole = (lean_sheet(sheet, names).splitlines() for names in (known, {*WORD.findall(sheet)}))
    assert [rule for rule in whole if rule not in kept] == []


@pytest.mark.parametrize("page", A_PAGE_OF_EACH_KIND)
def test_a_page_can_be_shared(html, page):
    """Catches a page without description or picture, with two viewports, or with an unused setting of the theme."""
    head = soup(html / page).head
    assert len(head.select("meta[name=viewport]")) == 1 and not head.select("meta[name^=docsearch]")
    for name in ("title", "description", "image", "type"):
        (tag,) = head.select(f"meta[property='og:{name}']")
        assert tag["content"].strip(), name
    assert (html / "_static/card.png").stat().st_size <= 60 * 1024
    assert (html / head.select_one("link[rel=apple-touch-icon]")["href"].replace("../", "")).exists()


def test_descriptions_are_sentences_of_their_own(html):
    """Catches a description that is missing, doubled, cut by a search engine, or full of TeX."""
    found = {}
    for page in PAGES:
        (tag,) = soup(html / page).head.select("meta[name=description]")
        found[page] = tag["content"]
        assert 40 <= len(tag["content"]) <= 210 and "\\" not in tag["content"], (page, tag["content"])
    assert len(set(found.values())) == len(found)


def test_who_is_lost_finds_back(html):
    """Catches a 404 page that needs a file beside it, which at another depth is not there; and no word to robots."""
    page = soup(html / "404.html")
    assert not page.select("script, link, img") and page.select_one("a[href$='index.html']")
    assert "User-agent: *" in (html / "robots.txt").read_text()


def quiz(html, page: str) -> list[list[str]]:
    """For each question of a page, its options: right or wrong."""
    groups = soup(html / page).select(".quiz-question")
    return [[option["data-answer"] for option in group.select("details.quiz")] for group in groups]


def test_no_place_is_right_more_often_than_others(html):
    """Catches a key that can be guessed: one place over a chapter or over the book, or the longest option."""
    places, n_longest, n_questions = Counter(), 0, 0
    for page in CHAPTERS.values():
        questions = quiz(html, page)
        right = Counter(options.index("right") for options in questions)
        assert all(options.count("right") == 1 for options in questions) and len(questions) >= 3, page
        assert max(right.values()) <= max(2, len(questions) // 2), (page, right)
        places += Counter(options.index("right") for options in questions if len(options) == 3)
        for group in soup(html / page).select(".quiz-question"):
            lengths = {d["data-answer"]: [] for d in group.select("details")}
            for option in group.select("details"):
                lengths[option["data-answer"]].append(len(option.summary.get_text()))
            n_longest += lengths["right"][0] > max(lengths["wrong"])
            n_questions += 1
    assert max(places.values()) - min(places.values()) <= len(CHAPTERS), places
    assert max(places.values()) <= 0.4 * sum(places.values()), places
    assert n_longest <= 0.4 * n_questions, f"the longest option is right in {n_longest} of {n_questions} questions"


def test_cells_below_a_quiz_are_folded(html):
    """Catches a cell that shows, or prints, the answers below the questions."""
    for page in CHAPTERS.values():
        section = soup(html / page).select_one("section#check-yourself")
        assert section.select(".quiz-question"), page
        for cell in section.select("div.cell"):
            assert all(box.find_parent("details", class_="hide") for box in cell.select("pre")), page


def test_code_in_options_is_set_as_code(html):
    """Catches the tags of code shown as text."""
    options = [option for page in CHAPTERS.values() for option in soup(html / page).select("details.quiz > summary")]
    assert any(option.select("code") for option in options)
    assert not [option for option in options if "<code" in option.get_text() or "`" in option.get_text()]


def test_punctuation_stays_with_its_formula(html):
    """Catches a line that begins with the comma of the formula before it."""
    for page in map(CHAPTERS.get, ("tokens", "attention", "self-attention")):
        formulas = soup(html / page).select("article p > span.math")
        assert formulas and not [f for f in formulas if re.match(r"[,.;:]", str(f.next_sibling or ""))], page


def test_a_chapter_says_which_it_is(html):
    said = [soup(html / page).select_one("article .chapter-place").get_text() for page in CHAPTERS.values()]
    numbers = [re.match(r"chapters/0?(\w+)-", page)[1] for page in CHAPTERS.values()]
    assert said == [f"Chapter {number} of {numbers[-1]}" for number in numbers]
    titled = [soup(html / page).select_one("article h1").get_text() for page in CHAPTERS.values()]
    assert [title.partition(". ")[0] for title in titled] == numbers
    assert not soup(html / "index.html").select(".chapter-place")
