"""Every page as a reader sees it: wide and narrow, light and dark, by keyboard, and with axe."""

import os
import re
import shutil

import pytest

from tests.book.pages import FROM_ELSEWHERE, ROOT, toc

PAGES = [f"{name}.html" for name in toc()]
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d\d-", page)]
AXE = ROOT / ".cache" / "axe.min.js"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # no page may need another machine
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
NO_CHROMIUM = "needs Chromium (install it, or name it with CHROMIUM=/path/to/chromium)"
NO_AXE = "needs axe-core (make test fetches it when npm is there)"
NO_MATHJAX = "needs MathJax in the site (make test fetches it when npm is there)"
WIDTHS = {"wide": 1280, "narrow": 375}
AXE_RULES = {
    "light": "rules: {'empty-table-header': {enabled: false}}",  # all but this one: tables may have an empty corner
    "dark": "runOnly: ['color-contrast', 'link-in-text-block']",  # those that a change of colours can break
}

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=PAGES)
def name(request) -> str:
    """Every page in turn: all tests of one page come before the next."""
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
    """The page at both widths, loaded once for all tests that leave it as it is."""
    pages = {width: load(name, width) for width in WIDTHS}
    yield pages
    for page in pages.values():
        page.close()


@pytest.fixture
def show(loaded):
    """The loaded page at one of the widths, in one of the colour schemes."""

    def show_it(width: str = "wide", scheme: str = "light"):
        page = loaded[width]
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_page_reads_well(show, built, width, scheme):
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
UNNAMED = """[...document.querySelectorAll('button, a[href], input:not([type=hidden]), summary')].filter(
    e => e.checkVisibility({ visibilityProperty: true }) && !(
    e.getAttribute('aria-label') || e.textContent.trim()
    || e.title || e.placeholder || e.querySelector('img')?.alt
    || (e.id && document.querySelector(`label[for="${e.id}"]`)?.innerText))
).map(e => e.outerHTML.slice(0, 200))"""


def test_nothing_sticks_out_at_the_widths_between(show, name):
    """Catches what only overflows while the theme has one of its side bars: margin notes did, at 1000 pixels."""
    page = show()
    for width in (600, 800, 1000, 1190, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        needed = page.evaluate("document.documentElement.scrollWidth")
        assert needed <= width, f"{name} is {needed} pixels wide in a window of {width}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_reader_finds_the_colours_of_their_system(browser, site, scheme):
    """Catches a page that starts in the wrong scheme; the other tests switch the scheme of a page that is loaded."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(f"{site}/index.html", wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.close()


@pytest.mark.parametrize("fresh", CHAPTERS, indirect=True)
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


@pytest.mark.parametrize("fresh", [page for page in PAGES if page.startswith("chapters/solutions/")], indirect=True)
def test_an_answer_is_closed_until_it_is_opened_by_key(fresh):
    """Catches an answer that shows on arrival, and one that only a mouse can open."""
    page = fresh
    answers = page.locator("article details")
    assert answers.count() >= 10 and page.locator("article details pre:visible").count() == 0
    for number in (0, 1, answers.count() - 1):
        answers.nth(number).locator("summary").focus()
        page.keyboard.press("Enter" if number else "Space")
        assert answers.nth(number).locator("pre").is_visible()
    assert page.locator("article pre:visible").count() == 3


@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
@pytest.mark.parametrize("scheme", AXE_RULES)
def test_axe_finds_nothing(show, scheme):
    page = show("wide", scheme)
    page.add_script_tag(path=AXE)
    options = f"{{resultTypes: ['violations'], {AXE_RULES[scheme]}}}"
    violations = page.evaluate(f"async () => (await axe.run({{exclude: ['mjx-container']}}, {options})).violations")
    assert [f"{v['id']}: {v['nodes'][0]['html'][:200]} ({len(v['nodes'])})" for v in violations] == []
