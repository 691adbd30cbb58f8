"""Every page as a reader sees it: wide and narrow, light and dark, by keyboard, and with axe.

Pages with a layout of their own are read in every way. The chapters and closer looks share one: each is loaded once and
read at both widths, and a few stand for all where the theme alone decides. What is generated, solutions, proofs and
reference, is read once, as on a phone.
"""

import json
import re

import pytest

from tests.book.pages import CHROMIUM, FROM_ELSEWHERE, NO_CHROMIUM, ROOT, UNLISTED, published

PAGES = [f"{name}.html" for name in published()]
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d\d-", page)]
SOLUTIONS = [page for page in PAGES if page.startswith("chapters/solutions/")]
GENERATED = {*SOLUTIONS, "chapters/api.html", *(f"{name}.html" for name in UNLISTED)}
AXE = ROOT / ".cache" / "axe.min.js"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no page may need another machine
]
NO_AXE = "needs axe-core (make test fetches it when npm is there)"
NO_MATHJAX = "needs MathJax in the site (make test fetches it when npm is there)"
WIDTHS = {"wide": 1280, "narrow": 375}
SCHEMES = ("light", "dark")
AXE_RULES = {
    "light": "rules: {'empty-table-header': {enabled: false}}",  # all but this one: tables may have an empty corner
    "form": "rules: {'empty-table-header': {enabled: false}, 'color-contrast': {enabled: false}}",
    "dark": "runOnly: ['color-contrast', 'link-in-text-block']",  # those that a change of colours can break
}
FOR_ALL = [CHAPTERS[2], CHAPTERS[7], CHAPTERS[12]]  # quizzes, maps, tables, code, errata, wide formulas


ALIKE = {page for page in PAGES if re.match(r"chapters/(\d\d-|closer/)", page)} - set(FOR_ALL)


def readings(page: str) -> list[tuple[str, str]]:
    """The widths and colour schemes in which a page is read."""
    if page in GENERATED:
        return [("narrow", "light")]
    if page in ALIKE:
        return [("wide", "light"), ("narrow", "light")]
    return [(width, scheme) for width in WIDTHS for scheme in SCHEMES]


READINGS = [(page, *reading) for page in PAGES for reading in readings(page)]
CLOSER = [page for page in PAGES if page.startswith("chapters/closer/")]
ONE_TEMPLATE = {*CLOSER[3:], *SOLUTIONS[2:]}  # what axe would find in these it finds in the first ones
AXE_READINGS = [
    reading
    for reading in READINGS
    if reading[1] == ("narrow" if reading[0] in GENERATED else "wide") and reading[0] not in ONE_TEMPLATE
]
# Rows of a generated table are alike, and so are the entries of the reference: axe looks at the first ones.
FEW_ALIKE = """() => {
    document.querySelectorAll('tbody > tr:nth-child(n + 4)').forEach(row => row.remove());
    [...document.querySelectorAll('dl.py')].slice(12).forEach(entry => entry.remove());
}"""
# The theme decides on the contrast of what all chapters have; these show colours of their own, or stand for the others.
CONTRAST = {*FOR_ALL, CHAPTERS[8], CHAPTERS[11], CHAPTERS[16]}
# Formulas and thousands of pieces of coloured code, alike on all pages: axe looks at the code of those for all.
AXE_LEAVES = {True: ["mjx-container"], False: ["mjx-container", ".highlight pre"]}

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]
needs_axe = pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)


@pytest.fixture(scope="module")
def name(request) -> str:
    """A page: all tests of one come before the next."""
    return request.param


@pytest.fixture(scope="module")
def readers(browser) -> dict:
    """One reader for each width, who keeps what was fetched before."""
    return {
        width: browser.new_context(viewport={"width": pixels, "height": 900}, color_scheme="light")
        for width, pixels in WIDTHS.items()
    }


@pytest.fixture(scope="module")
def load(readers, site):
    """Load a page of the site and wait for its formulas; its complaints are collected in page.complaints."""

    def load_it(name: str, width: str = "wide"):
        page = readers[width].new_page()
        page.complaints = []
        page.on("console", lambda m: page.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("requestfailed", lambda request: page.complaints.append(f"failed: {request.url}"))
        page.goto(f"{site}/{name}", wait_until="load")
        page.evaluate("async () => { await window.MathJax?.startup?.promise }")
        return settled(page)

    return load_it


@pytest.fixture(scope="module")
def loaded(name, load):
    """The page, loaded once at each width that is asked for, for all tests that leave it as it is."""
    pages = {}
    yield lambda width: pages.get(width) or pages.setdefault(width, load(name, width))
    for page in pages.values():
        page.close()


@pytest.fixture
def show(loaded, name):
    """The loaded page at one of the widths, in one of the colour schemes."""

    def show_it(width: str = "wide", scheme: str = "light"):
        page = loaded("wide" if name in ALIKE else width)
        page.set_viewport_size({"width": WIDTHS[width], "height": 900})
        page.emulate_media(color_scheme=scheme)
        return settled(page)

    return show_it


@pytest.fixture
def fresh(request, load):
    """A page loaded for one test alone, which may open, focus and fill what it likes."""
    page = load(request.param)
    yield page
    page.close()


def settled(page):
    """What is to be drawn is drawn, and colours that fade into each other are at their end."""
    page.evaluate(TWO_FRAMES)
    page.evaluate(FINISH)
    page.evaluate(TWO_FRAMES)
    return page


def has_mathjax(built) -> bool:
    return (built.pages / "mathjax").exists()


def each(names: str, values: list):
    """Parameters of a test that begin with the page."""
    return pytest.mark.parametrize(names, values, indirect=["name"], scope="module")


@each("name, width, scheme", READINGS)
def test_page_reads_well(show, built, name, width, scheme):
    page = show(width, scheme)
    complaints = page.complaints
    if not has_mathjax(built):
        complaints = [text for text in complaints if FROM_ELSEWHERE not in text and "net::ERR" not in text]
    assert complaints == []
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.evaluate(BROKEN_IMAGES) == []
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    assert page.evaluate(LOST_SCROLLERS) == []
    assert width == "narrow" or name in GENERATED or page.evaluate(CUT_FORMULAS) == []
    assert page.evaluate(UNNAMED) == []
    if has_mathjax(built):
        assert page.locator("mjx-merror").count() == 0
        assert page.locator(".math mjx-container").count() >= page.locator(".math").count()
    # A formula that Markdown has not recognised stays as text.
    assert page.evaluate(RAW_FORMULAS) is None


TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FINISH = """() => document.getAnimations().forEach(
    a => { if (a.effect.getComputedTiming().endTime !== Infinity) a.finish() })"""
BROKEN_IMAGES = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
RAW_FORMULAS = r"""(() => {
    const text = document.querySelector('article').cloneNode(true);
    text.querySelectorAll('pre, code, mjx-container, .math').forEach(e => e.remove());
    return text.textContent.match(/\$\$|\\(frac|mathbf|sum|sqrt)/g);
})()"""
STICKING_OUT = """[...document.querySelectorAll('article *')].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1
    && !e.closest('mjx-container, .math, pre, .pst-scrollable-table-container, figure, .cell_output')
).map(e => e.outerHTML.slice(0, 150))"""
LOST_SCROLLERS = """[...document.querySelectorAll('article *')].filter(
    e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
    && !e.closest('[tabindex="0"]') && !e.querySelector('[tabindex="0"], a, button')
).map(e => e.outerHTML.slice(0, 150))"""
CUT_FORMULAS = """[...document.querySelectorAll('article div.math mjx-container')].filter(
    e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
).map(e => e.parentElement.id || e.parentElement.textContent)"""
UNNAMED = """[...document.querySelectorAll('button, a[href], input:not([type=hidden]), summary')].filter(
    e => e.checkVisibility({ visibilityProperty: true }) && !(
    e.getAttribute('aria-label') || e.textContent.trim()
    || e.title || e.placeholder || e.querySelector('img')?.alt
    || (e.id && document.querySelector(`label[for="${e.id}"]`)?.innerText))
).map(e => e.outerHTML.slice(0, 200))"""


@each("name", [page for page in PAGES if page not in GENERATED])
def test_nothing_sticks_out_at_the_widths_between(show, name):
    """Catches what only overflows while the theme has one of its side bars: margin notes did, at 1000 pixels."""
    page = show()
    for width in (800, 1000, 1190):
        page.set_viewport_size({"width": width, "height": 900})
        needed = page.evaluate("document.documentElement.scrollWidth")
        assert needed <= width, f"{name} is {needed} pixels wide in a window of {width}"


@each("name", CHAPTERS)
def test_nothing_below_a_quiz_tells_its_answers(show):
    """Catches the output of a cell that computes the answers, in sight of who has not answered."""
    assert show().evaluate(BELOW_A_QUIZ) == []


BELOW_A_QUIZ = """[...document.querySelector('.quiz-question').closest('section').querySelectorAll('.cell pre')].filter(
    e => e.checkVisibility()).map(e => e.innerText)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_reader_finds_the_colours_of_their_system(browser, site, scheme):
    """Catches a page that starts in the wrong scheme; the other tests switch the scheme of a page that is loaded."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{site}/index.html", wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.close()


@pytest.mark.parametrize("fresh", FOR_ALL, indirect=True)
def test_every_quiz_option_opens_by_keyboard(fresh):
    page = fresh
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


@each("name", SOLUTIONS)
def test_no_answer_shows_on_arrival(show):
    page = show("narrow")
    assert page.locator("article details").count() >= 10 and page.locator("article pre:visible").count() == 0


@pytest.mark.parametrize("fresh", SOLUTIONS[:1], indirect=True)
def test_an_answer_is_opened_by_key(fresh):
    """Catches one that only a mouse can open, or that opens another."""
    answers = fresh.locator("article details")
    for number in (0, 1, answers.count() - 1):
        answers.nth(number).locator("summary").focus()
        fresh.keyboard.press("Enter" if number else "Space")
        assert answers.nth(number).locator("pre").is_visible()
    assert fresh.locator("article pre:visible").count() == 3


@needs_axe
@each("name, width, scheme", AXE_READINGS)
def test_axe_finds_nothing(show, name, width, scheme):
    page = show(width, scheme)
    page.add_script_tag(path=AXE)
    if page.url.endswith(tuple(GENERATED)):
        page.evaluate(FEW_ALIKE)
    rules = AXE_RULES["form" if name in ALIKE - CONTRAST else scheme]
    options = f"{{resultTypes: ['violations'], {rules}}}"
    context = json.dumps({"exclude": AXE_LEAVES[page.url.endswith(tuple(FOR_ALL))]})
    violations = page.evaluate(f"async () => (await axe.run({context}, {options})).violations")
    assert [f"{v['id']}: {v['nodes'][0]['html'][:200]} ({len(v['nodes'])})" for v in violations] == []
