"""Every page as a reader sees it: wide and narrow, light and dark, by keyboard, and with axe, in one visit.

Pages with a layout of their own are read in every way. The chapters and closer looks share one: each is read wide and
light, and narrow and dark, and a few stand for all where the theme alone decides. What is generated, solutions, proofs,
lists and reference, is read once, as on a phone, and of solutions and proofs, which a template makes, the first two.
Not looked at are the other two readings of a chapter, what is generated in a wide window or in the dark, and a page
that is loaded narrow, unless it is generated.
"""

import pytest

from tests.book.pages import AXE, CHAPTERS, FROM_ELSEWHERE, PROOFS, UNLISTED, published_pages

PAGES = [f"{name}.html" for name in published_pages()]
SOLUTIONS = [page for page in PAGES if page.startswith("chapters/solutions/")]
LISTS = [f"chapters/{name}.html" for name in ("api", "bibliography", "claims", "concordance", "errata", "source-map")]
GENERATED = {*SOLUTIONS, *LISTS, *(f"{name}.html" for name in UNLISTED)}
ALIKE_MADE = {*SOLUTIONS[2:], *(f"{name}.html" for name in PROOFS[2:])}  # as the first two are
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no page may need another machine
]
NO_AXE = "needs axe-core (make test fetches it when npm is there)"
WIDTHS = {"wide": 1280, "narrow": 375}
AXE_RULES = {
    "light": "rules: {'empty-table-header': {enabled: false}}",  # all but this one: tables may have an empty corner
    "form": "rules: {'empty-table-header': {enabled: false}, 'color-contrast': {enabled: false}, "
    "'link-in-text-block': {enabled: false}}",
    "dark": "runOnly: ['color-contrast', 'link-in-text-block']",  # those that a change of colours can break
}
# quizzes, maps, tables, code, errata, wide formulas
FOR_ALL = [CHAPTERS[slug] for slug in ("self-attention", "encoder-decoder", "backward-by-hand")]
CLOSER = [page for page in PAGES if page.startswith("chapters/closer/")]
ALIKE = {*CHAPTERS.values(), *CLOSER} - set(FOR_ALL)


def readings(page: str) -> list[tuple[str, str]]:
    """The widths and colour schemes in which a page is read."""
    if page in GENERATED:
        return [("narrow", "light")]
    if page in ALIKE:
        return [("wide", "light"), ("narrow", "dark")]
    return [("wide", "light"), ("wide", "dark"), ("narrow", "dark"), ("narrow", "light")]  # one change at a time


ONE_TEMPLATE = {*CLOSER[3:], *ALIKE_MADE}  # what axe would find in these it finds in the first ones
# The theme decides on the contrast of what all chapters have; these show colours of their own, or stand for the others.
CONTRAST = {*FOR_ALL, *(CHAPTERS[slug] for slug in ("language-model", "pretrained", "tuning"))}
# axe goes through all that stands on a page, so what is alike stands there once or on a few pages: rows of a generated
# table, entries of the reference, the letters of formulas, the contents of the book, and pieces of code: each colour
# stands once on each ground.
FEW_ALIKE = """({ isGenerated, standsForAll }) => {
    const of = name => [...document.querySelectorAll(name)];
    of('mjx-container').forEach(formula => formula.replaceWith('formula'));
    if (isGenerated) {
        of('tbody > tr:nth-child(n + 4)').forEach(row => row.remove());
        of('dl.py').slice(12).forEach(entry => entry.remove());
    }
    if (!standsForAll) {
        of('.highlight pre').forEach(code => { code.textContent = code.textContent });
        of('.bd-links').forEach(contents => contents.remove());
        return;
    }
    const seen = new Set(), stays = new Set();  // all is looked at before anything is changed, which is much faster
    for (const code of of('.highlight pre').filter(code => code.checkVisibility())) {
        let under = code;
        while (getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)') under = under.parentElement;
        const ground = getComputedStyle(under).backgroundColor;
        for (const piece of code.querySelectorAll('span')) {
            const kind = piece.className + ground;
            if (!seen.has(kind) && piece.textContent.trim().length > 1) stays.add(piece) && seen.add(kind);
        }
    }
    const rest = of('.highlight pre span').filter(piece => !stays.has(piece));
    rest.forEach(piece => piece.replaceWith(...piece.childNodes));
    of('.highlight pre').forEach(code => code.normalize());
}"""

needs_axe = pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)


@pytest.fixture(scope="module")
def name(request) -> str:
    """A page: all tests of one come before the next."""
    return request.param


@pytest.fixture(scope="module")
def load(browser, site):
    """Load a page of the site into the one window and wait for its formulas; page.complaints holds its complaints.

    The next page finds the window's process, and what it has fetched, but nothing that a reader has done.
    """
    page = browser.new_page(color_scheme="light")
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: page.complaints.append(f"failed: {request.url}"))
    page.add_init_script("localStorage.clear()")

    def load_it(name: str, width: str):
        page.evaluate("document.documentElement.style.display = 'none'")  # nobody looks at the page before
        page.complaints.clear()
        turn(page, width, "light")
        page.goto(f"{site}/{name}", wait_until="load")
        page.evaluate("async () => { await window.MathJax?.startup?.promise }")
        return page

    yield load_it
    page.close()


@pytest.fixture(scope="module")
def loaded_page(name, load):
    """The page, loaded once for all its tests."""
    return load(name, "narrow" if name in GENERATED else "wide")


@pytest.fixture
def show(loaded_page):
    """The loaded page at one of the widths, in one of the colour schemes."""

    def show_it(width: str = "wide", scheme: str = "light"):
        turn(loaded_page, width, scheme)
        return settle_page(loaded_page)

    return show_it


def turn(page, width: str, scheme: str) -> None:
    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
    page.emulate_media(color_scheme=scheme)


def settle_page(page):
    """What is to be drawn is drawn, and colours that fade into each other are at their end."""
    page.evaluate(SETTLE)
    return page


def has_mathjax(built) -> bool:
    return (built.pages / "mathjax").exists()


def for_each_page(pages: list[str]):
    """A test of each page, in the order of the file: what changes the page stands last."""
    return pytest.mark.parametrize("name", pages, indirect=True)


@for_each_page([page for page in PAGES if page not in ALIKE_MADE])
def test_page_reads_well(show, book_build, name):
    for width, scheme in readings(name):
        page, read = show(width, scheme), (width, scheme)
        complaints = page.complaints
        if not has_mathjax(book_build):
            complaints = [text for text in complaints if FROM_ELSEWHERE not in text and "net::ERR" not in text]
        assert complaints == [], read
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.evaluate(BROKEN_IMAGES) == [], read
        assert page.evaluate(STICKING_OUT) == [], read
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
        assert page.evaluate(LOST_SCROLLERS) == [], read
        assert width == "narrow" or page.evaluate(CUT_FORMULAS) == [], read
        assert page.evaluate(CUT_IN_LINES) == [], read
        assert page.evaluate(SMALL_LETTERS) == [], read
        assert page.evaluate(UNNAMED) == [], read
    # What stands on a page is the same in every reading.
    if has_mathjax(book_build):
        assert page.locator("mjx-merror").count() == 0
        assert page.locator(".math mjx-container").count() >= page.locator(".math").count()
    # A formula that Markdown has not recognised stays as text.
    assert page.evaluate(RAW_FORMULAS) is None


SETTLE = """async () => {
    const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    await drawn();
    const fading = document.getAnimations().filter(a => a.effect.getComputedTiming().endTime !== Infinity);
    fading.forEach(a => a.finish());
    if (fading.length) await drawn();
}"""
BROKEN_IMAGES = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
RAW_FORMULAS = r"""(() => {
    const text = document.querySelector('article').cloneNode(true);
    text.querySelectorAll('pre, code, mjx-container, .math').forEach(e => e.remove());
    return text.textContent.match(/\$\$|\\(frac|mathbf|sum|sqrt)/g);
})()"""
STICKING_OUT = """(() => {
    const mayStickOut = 'mjx-container, .math, pre, .pst-scrollable-table-container, figure, .cell_output', found = [];
    const { SHOW_ELEMENT, FILTER_ACCEPT, FILTER_REJECT } = NodeFilter;  // most elements are letters of formulas
    const seen = e => e.matches(mayStickOut) ? FILTER_REJECT : FILTER_ACCEPT;
    const walker = document.createTreeWalker(document.body, SHOW_ELEMENT, seen);
    while (walker.nextNode()) {
        const e = walker.currentNode;
        if (e.getBoundingClientRect().right > innerWidth + 1 && e.parentElement.closest('article')) found.push(e);
    }
    return found.map(e => e.outerHTML.slice(0, 150));
})()"""
LOST_SCROLLERS = """[...document.querySelectorAll('article *')].filter(
    e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
    && !e.closest('[tabindex="0"]') && !e.querySelector('[tabindex="0"], a, button')
).map(e => e.outerHTML.slice(0, 150))"""
CUT_FORMULAS = """[...document.querySelectorAll('article div.math mjx-container')].filter(
    e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
).map(e => e.parentElement.id || e.parentElement.textContent)"""
CUT_IN_LINES = """[...document.querySelectorAll('article .math mjx-container:not([display])')].filter(
    e => e.checkVisibility() && !e.closest('.pst-scrollable-table-container')
    && e.getBoundingClientRect().right > document.querySelector('article').getBoundingClientRect().right + 1
).map(e => e.textContent)"""
SMALL_LETTERS = """[...document.querySelectorAll('article svg text')].filter(e => e.checkVisibility()).filter(e => {
    const { a, b } = e.getScreenCTM();
    return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b) < 10;
}).map(e => e.textContent)"""
UNNAMED = """[...document.querySelectorAll('button, a[href], input:not([type=hidden]), summary')].filter(
    e => e.checkVisibility({ visibilityProperty: true }) && !(
    e.getAttribute('aria-label') || e.textContent.trim()
    || e.title || e.placeholder || e.querySelector('img')?.alt
    || (e.id && document.querySelector(`label[for="${e.id}"]`)?.innerText))
).map(e => e.outerHTML.slice(0, 200))"""


@for_each_page([page for page in PAGES if page not in GENERATED])
def test_nothing_sticks_out_beside_one_side_bar(loaded_page, name):
    """Catches what only overflows where the theme has its first side bar and little else: margin notes did."""
    loaded_page.set_viewport_size({"width": 1000, "height": 900})
    needed = loaded_page.evaluate("document.documentElement.scrollWidth")
    assert needed <= 1000, f"{name} is {needed} pixels wide in a window of 1000"


@for_each_page(list(CHAPTERS.values()))
def test_nothing_below_a_quiz_tells_its_answers(loaded_page):
    """Catches the output of a cell that computes the answers, in sight of who has not answered."""
    assert loaded_page.evaluate(BELOW_A_QUIZ) == []


BELOW_A_QUIZ = """[...document.querySelectorAll('#check-yourself .cell pre')].filter(
    e => e.checkVisibility()).map(e => e.innerText)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_reader_finds_the_colours_of_their_system(browser, site, scheme):
    """Catches a page that starts in the wrong scheme, or in none until the theme's script has come; the other tests
    switch the scheme of a page that is loaded.
    """
    page = browser.new_page(color_scheme=scheme)
    page.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
    page.goto(f"{site}/index.html", wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.unroute("**/pydata-sphinx-theme.js*")
    page.reload(wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.close()
    still = browser.new_page(color_scheme=scheme, java_script_enabled=False)
    still.goto(f"{site}/index.html", wait_until="load")
    assert still.locator("html").get_attribute("data-theme") == "light"  # a scheme that the style sheets know
    still.close()


@for_each_page(FOR_ALL[1:2])
def test_every_quiz_option_opens_by_keyboard(loaded_page):
    page = loaded_page
    options = page.locator("details.quiz > summary")
    assert options.count() >= 6
    for number in range(options.count()):
        option = options.nth(number)
        option.focus()
        page.keyboard.press("Enter" if number % 2 else "Space")
        details = option.locator("..")
        assert details.evaluate("d => d.open"), option.inner_text()
        says = details.inner_text()
        assert "Right" in says or "Not" in says, option.inner_text()
    ring = options.nth(0).evaluate(
        "s => { s.focus(); const c = getComputedStyle(s); return c.outlineStyle + c.outlineWidth }"
    )
    assert ring.startswith("solid") and ring != "solid0px"


@for_each_page(SOLUTIONS[:1])
def test_no_answer_shows_on_arrival(show):
    page = show("narrow")
    assert page.locator("article details").count() >= 10 and page.locator("article pre:visible").count() == 0


@for_each_page(SOLUTIONS[:1])
def test_an_answer_is_opened_by_key(loaded_page):
    """Catches one that only a mouse can open, or that opens another."""
    answers = loaded_page.locator("article details")
    for number in (0, 1, answers.count() - 1):
        answers.nth(number).locator("summary").focus()
        loaded_page.keyboard.press("Enter" if number else "Space")
        assert answers.nth(number).locator("pre").is_visible()
    assert loaded_page.locator("article pre:visible").count() == 3


@needs_axe
@for_each_page([page for page in PAGES if page not in ONE_TEMPLATE])
def test_axe_finds_nothing(loaded_page, show, site, name):
    """In the dark again, for contrast alone, where the page is read in every way."""
    few = {"isGenerated": name in GENERATED, "standsForAll": name in FOR_ALL}
    loaded_page.evaluate(FEW_ALIKE, few)  # before the page is turned: what is not there is not laid out again
    page = show(*readings(name)[0])
    page.add_script_tag(url=f"{site}/{AXE.name}")
    assert violations(page, "form" if name in ALIKE - CONTRAST else "light") == []
    if name not in ALIKE | GENERATED:
        assert violations(show("wide", "dark"), "dark") == []


def violations(page, rules: str) -> list[str]:
    """What axe finds with some of its rules: each with the first of the elements that break it, and their number."""
    return page.evaluate(f"""async () => {{
        axe.configure({{ noHtml: true }});  // of each element that it looks at, most of the page for some
        const options = {{ elementRef: true, resultTypes: ['violations'], {AXE_RULES[rules]} }};
        return (await axe.run(options)).violations.map(({{ id, nodes }}) =>
            `${{id}}: ${{nodes[0].element.outerHTML.slice(0, 200)}} (${{nodes.length}})`);
    }}""")
