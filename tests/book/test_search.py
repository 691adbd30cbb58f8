"""The search of the book: what is found first, on its page and below the field of Ctrl-K."""

import re
import tomllib
import urllib.request

import pytest

from tests.book.pages import CHAPTERS, ROOT

CHAPTER = CHAPTERS["self-attention"]
# The query, and the pages of which one has to come first: the one that teaches it.
TAUGHT = {
    "softmax": ["self-attention"],
    "causal mask": ["self-attention", "encoder-decoder"],
    "LayerNorm": ["residual-norm"],
    "layer normalization": ["residual-norm"],
    "layer norm": ["residual-norm"],
    "RoPE": ["position"],
    "positional encoding": ["position"],
    "byte-pair encoding": ["tokens"],
    "KV cache": ["encoder-decoder"],
    "flash attention": ["cost"],
    "multihead": ["multi-head"],
    "nucleus sampling": ["language-model"],
    "queries keys values": ["attention", "self-attention"],
    "warmup": ["closer/07-warm-up"],
}


@pytest.fixture(scope="module")
def find(browser, site):
    page = browser.new_page()
    page.goto(f"{site}/search.html?q=attention", wait_until="load")
    page.wait_for_function("() => Boolean(window.CLEARFORMER_SEARCH)")  # the index comes with the first query
    yield lambda query: page.evaluate(
        """q => CLEARFORMER_SEARCH(q).hits.map(([page, anchor]) => CLEARFORMER_INDEX.pages[page][0] + '#' + anchor)""",
        query,
    )
    page.close()


@pytest.mark.parametrize("query", TAUGHT)
def test_the_chapter_that_teaches_a_word_comes_first(find, query):
    """Catches a search that sends to the reference, or to a chapter that only uses the word; and to no section."""
    hits = find(query)
    pages = [CHAPTERS.get(place, f"chapters/{place}.html") for place in TAUGHT[query]]
    assert hits[0].partition("#")[0] in pages, hits[:5]
    assert hits[0].split("#")[1], hits[0]


def test_the_search_finds_the_library_and_no_generated_page(find):
    """Catches identifiers cut into words, and thousands of trials or an answer among the hits."""
    assert any(hit.partition("#")[0] in CHAPTERS.values() for hit in find("scaled_dot_product_attention")[:3])
    for query in ("attend", "softmax", "solution", "mistake", "wrong"):
        assert not [hit for hit in find(query) if re.search("grader-proof|solutions/|genindex", hit)]


QUERIES = tomllib.loads((ROOT / "tests" / "book" / "search_queries.toml").read_text(encoding="utf8"))
# With room for new chapters: of 62, of 66 (before stems and aliases 30 and 28) and of 101, when the last were new.
FIRST = {"first": 42, "second": 40, "fresh": 59}


def rank(found: list[str], right: list[str]) -> int:
    """The place of the first hit that is right, from 1; 0 if none is."""
    short = [hit.removeprefix("chapters/").replace(".html", "", 1) for hit in found]
    fits = [any(hit == it or (it.endswith("*") and hit.startswith(it[:-1])) for it in right) for hit in short]
    return fits.index(True) + 1 if True in fits else 0


@pytest.mark.parametrize("half", QUERIES)
def test_what_readers_type_is_found(find, half):
    """Catches a change that finds one thing better and ten things worse."""
    ranks = {query: rank(find(query), right) for query, right in QUERIES[half].items()}
    assert sum(place == 1 for place in ranks.values()) >= FIRST[half], {q: n for q, n in ranks.items() if n != 1}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("attenion", "attention"), ("teecher forcing", "teacher forcing"), ("beeam search", "beam search")],
)
def test_a_slip_of_the_finger_is_told(visit, typed, meant):
    """Catches hits for another word than the one that was typed, without a sentence."""
    page = visit(f"search.html?q={typed}")
    page.locator(".search-hits a").first.wait_for()
    assert f"this is for “{meant}”" in page.locator("#search-status").inner_text()


def test_the_field_of_ctrl_k_answers_below_itself(visit):
    """Catches a search that needs another page, and an index that is loaded by whoever does not search."""
    page = visit(CHAPTER)
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.keyboard.press("Control+k")
    field = page.locator("#pst-search-dialog input[name=q]")
    field.wait_for()
    assert not [url for url in loaded if "search-data" in url]
    field.fill("layer norm")
    hits = page.locator("#pst-search-dialog .search-hits a")
    hits.first.wait_for()
    assert hits.count() == 8 and [url for url in loaded if "search-data" in url]
    assert "residual-norm" in hits.first.get_attribute("href")
    assert page.locator("#pst-search-dialog .search-all").get_attribute("href").endswith("search.html?q=layer%20norm")
    hits.first.press("Enter")
    page.wait_for_url("**/07-residual-norm.html#*")


def test_an_index_that_does_not_arrive_is_told_and_asked_for_again(visit):
    """Catches a field that stays silent on a broken line, and one that never recovers."""
    page = visit(CHAPTER)
    page.route("**/search-data.js", lambda route: route.abort())
    page.keyboard.press("Control+k")
    field, status = page.locator("#pst-search-dialog input[name=q]"), page.locator("#pst-search-dialog [role=status]")
    field.fill("softmax")
    page.get_by_text("did not arrive").wait_for()
    page.unroute("**/search-data.js")
    field.press("Space")
    page.locator("#pst-search-dialog .search-hits a").first.wait_for()
    assert "did not arrive" not in status.inner_text()


def test_a_section_with_a_quiz_is_found_without_its_answers(site, find):
    """Catches sections that are left out for a quiz within them, and excerpts that tell the answers."""
    hits = find("arithmetic or memory roofline")
    assert any(hit.endswith("14-cost.html#arithmetic-or-memory") for hit in hits[:3])
    data = urllib.request.urlopen(f"{site}/_static/search-data.js").read().decode()
    assert "Not quite." not in data


def test_a_search_is_used_by_keyboard(visit):
    """Catches a search that needs a button, hits without address, and a definition that is not shown."""
    page = visit("search.html")
    page.keyboard.type("layer normalization")
    page.locator(".search-hits a").first.wait_for()
    assert "layer normalisation" in page.locator(".search-definition").inner_text()
    page.locator(".search-page-form input").fill("qqqqxyz")
    page.get_by_text("Nothing found").wait_for()
    page.goto(page.url.split("?")[0] + "?q=%3Cb%3Esoftmax", wait_until="load")
    assert page.locator(".search-hits li").count() >= 5
    first = page.locator(".search-hits a").first
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#*")
    assert page.evaluate("document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null")


def test_every_section_that_a_search_counts_is_within_reach(visit):
    """Catches hits that are counted and not shown, and a focus that is lost with the button."""
    page = visit("search.html?q=attention")
    counted = int(page.locator("#search-status").inner_text().split()[0])
    shown = page.locator(".search-hits li").count()
    assert shown < counted
    page.get_by_role("button", name=f"Show the other {counted - shown}").focus()
    page.keyboard.press("Enter")
    links = page.locator(".search-hits a")
    assert links.count() == len(set(links.evaluate_all("a => a.map(l => l.href)"))) == counted
    assert links.nth(shown).evaluate("a => a === document.activeElement")
    assert page.get_by_role("button", name="Show the other").count() == 0


def test_the_search_works_from_a_folder(browser, book_build):
    """Catches an index that has to be fetched: a browser fetches nothing from a disk."""
    page = browser.new_page()
    page.goto(f"{(book_build.pages / 'search.html').as_uri()}?q=softmax", wait_until="load")
    assert page.locator(".search-hits li").count() >= 5
    page.close()
