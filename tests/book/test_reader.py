"""What a reader's browser remembers: answers and progress; and what the pages weigh."""

import json
import re

import pytest

from tests.book.pages import CHAPTERS

CHAPTER = CHAPTERS["self-attention"]
MODULE = "_modules/clearformer/attention/dot_product.html"
THROWS = "throw new DOMException('', 'QuotaExceededError')"
STORAGE = {  # what a browser does in which this keeps the site from storing
    "blocked": f"Object.defineProperty(window, 'localStorage', {{ configurable: true, get() {{ {THROWS} }} }})",
    "full": f"Storage.prototype.setItem = () => {{ {THROWS} }}",
    "hardly any room": f"""const real = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {{
            if (value.length > 20) {THROWS};
            real.call(this, key, value);
        }}""",
}


def test_an_answer_is_told_by_sign_and_remembered(visit):
    """Catches right and wrong told by colour alone, and answers that are lost when the page is loaded again."""
    page = visit(CHAPTER)
    first = page.locator(".quiz-question").first
    wrong, right = (first.locator(f"details[data-answer={kind}]").first for kind in ("wrong", "right"))
    for option, sign in ((wrong, "✗"), (right, "✓")):
        option.locator("summary").click()
        content = option.locator("summary").evaluate("s => getComputedStyle(s, '::before').content")
        assert sign in content, content
    assert "Not" in wrong.inner_text() and "Right" in right.inner_text()
    n_questions = page.locator(".quiz-question").count()
    assert page.locator(".quiz-score [role=status]").inner_text().startswith("Right at the first try: 0 of 1")
    page.reload(wait_until="load")
    assert wrong.evaluate("d => d.open") and not right.evaluate("d => d.open")
    assert "your answer" in wrong.inner_text() and "your answer" not in right.inner_text()
    for number in range(1, n_questions):
        page.locator(".quiz-question").nth(number).locator("details[data-answer=right] summary").focus()
        page.keyboard.press("Enter")
    assert f"{n_questions - 1} of {n_questions}" in page.locator(".quiz-score").inner_text()
    page.get_by_role("button", name="Answer again").click()
    assert page.locator("details.quiz[open]").count() == 0 and page.locator(".quiz-score:visible").count() == 0


def test_progress_is_kept_shown_and_forgotten(visit):
    """Catches a mark lost on the way to another page, one that a screen reader is not told, and data that stay."""
    page = visit(CHAPTER)
    assert re.match(r"Chapter 3 of \d+$", page.locator(".chapter-place").inner_text())
    page.get_by_role("button", name="Mark as read").focus()
    page.keyboard.press("Enter")
    assert page.locator(".mark-read").inner_text() == "✓ Read (undo)"
    page.evaluate("scrollTo(0, document.querySelector('article section section:nth-of-type(3)').offsetTop + 2000)")
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    page.goto(page.url.replace(CHAPTER, "index.html"), wait_until="load")
    links = page.locator(f".bd-sidebar-primary a[href*='{CHAPTER}']")
    assert "✓" in links.inner_text() and "(read)" in links.inner_text()
    resume = page.get_by_role("link", name="Continue where you left off")
    assert CHAPTER in resume.get_attribute("href") and "#" in resume.get_attribute("href")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget my progress").click()
    assert page.locator(".reader-mark, .reader-resume, .reader-forget").count() == 0
    assert page.evaluate("document.activeElement.closest('.bd-sidebar-primary') !== null")
    kept = json.loads(page.evaluate("localStorage.getItem('clearformer')"))
    assert not any(kept.values()), kept


def test_what_is_forgotten_does_not_come_back(visit):
    """Catches a place that is kept again when the reader leaves the page on which they have forgotten it."""
    page = visit(CHAPTER)
    page.get_by_role("button", name="Mark as read").click()  # at the end of the page
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget my progress").click()
    page.goto(page.url.replace(CHAPTER, "index.html"), wait_until="load")
    assert page.locator(".reader-mark, .reader-resume, .reader-forget").count() == 0


@pytest.mark.parametrize("storage", STORAGE)
def test_a_browser_that_stores_nothing_shows_the_page(reader, site, storage):
    """Catches a script that breaks off where storage is blocked or full, the theme's among them, and takes the contents
    of a phone, the switch of colours, quiz and button with it.
    """
    page = reader.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.add_init_script(STORAGE[storage])
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{site}/{CHAPTER}", wait_until="load")
    page.locator(".primary-toggle").click()
    page.locator("#pst-primary-sidebar-modal").get_by_role("link", name="Set-up").wait_for()
    page.keyboard.press("Escape")
    page.locator(".bd-header-article .theme-switch-button").click()
    assert page.evaluate("document.documentElement.dataset.mode") != "auto"
    page.locator("details.quiz summary").first.click()
    assert "1 answered" in page.locator(".quiz-score [role=status]").inner_text()
    page.locator(".mark-read").click()
    assert page.locator(".mark-read").inner_text() == "✓ Read (undo)"
    assert errors == []


def test_the_contents_of_a_page_follow_a_jump(visit):
    """Catches a mark in the contents on a section that is out of sight, after a link or a drag of the scroll bar."""
    page = visit(CHAPTER)
    # Of sections without others in them, the heading of which would be marked as soon as it stands high enough.
    whole = "[...document.querySelectorAll('article section section:not(:has(section)) > h2')]"
    ids = page.evaluate(f"{whole}.map(h => h.parentElement.id)")
    for name in (ids[4], ids[1], ids[-3]):
        page.evaluate("id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", name)
        page.wait_for_timeout(300)  # a wrong mark has time to come, a right one has more where the processor is busy
        marked = "[...document.querySelectorAll('.bd-sidebar-secondary [aria-current]')].map(l => l.hash).join()"
        page.wait_for_function(f"hash => {marked} === hash", arg=f"#{name}")


def test_contents_that_lie_over_a_page_give_way(visit):
    """Catches a panel that stays over the section that was chosen in it, that Esc does not close, and a lost focus."""
    page = visit(CHAPTER)
    page.set_viewport_size({"width": 375, "height": 800})
    toggle, panel = page.locator(".secondary-toggle"), page.locator("#pst-secondary-sidebar-modal")
    toggle.click()
    panel.locator("a[href^='#']").nth(3).click()
    panel.wait_for(state="hidden")  # it is drawn for a moment longer, and the page glides to the section
    page.wait_for_function("scrollY > 800")
    toggle.click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    page.wait_for_function("document.activeElement.matches('.secondary-toggle')")


LIMITS = {"index.html": 1000, CHAPTERS["attention"]: 2200, "chapters/setup.html": 1000, "chapters/notation.html": 2200}


@pytest.mark.parametrize("name", LIMITS)
def test_a_page_weighs_little(browser, site, name):
    """Catches scripts, fonts or styles that every page loads and few need (kilobytes, as they are on the disk)."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, loaded = context.new_page(), {}
    page.on("response", lambda answer: loaded.update({answer.url: len(answer.body())}))
    page.goto(f"{site}/{name}", wait_until="networkidle")
    context.close()
    assert sum(loaded.values()) <= 1024 * LIMITS[name], sorted(((n, u) for u, n in loaded.items()), reverse=True)[:8]


def test_printed_pages_are_black_on_white(reader, site):
    """Catches pale text on paper, printed from the dark, bars that open what paper cannot, and a class left out."""
    page = reader.new_page()
    page.emulate_media(color_scheme="dark")
    page.goto(f"{site}/{CHAPTER}", wait_until="load")
    page.emulate_media(media="print", color_scheme="dark")
    pale = page.evaluate("""() => [...document.querySelectorAll('article :is(p, h1, h2, li, summary, pre span)')]
        .filter(e => e.checkVisibility()).filter(e => {
            const [r, g, b] = getComputedStyle(e).color.match(/[\\d.]+/g).map(Number);
            return 0.299 * r + 0.587 * g + 0.114 * b > 130;
        }).map(e => e.outerHTML.slice(0, 100))""")
    assert pale == []
    assert page.locator("details.hide > summary:visible").count() == 0
    assert page.locator("pre:visible", has_text="softmax(dim=-1) @ v").count() == 1  # folded on a screen
    assert page.locator(".chapter-place:visible").count() == 1


def test_lines_are_at_most_80_characters_long(visit):
    """Catches lines that the eye loses on a wide screen."""
    page = visit(CHAPTER)
    for width in (1280, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert 60 <= page.evaluate(LONGEST_LINE) <= 80, width


LONGEST_LINE = r"""() => {
    const longest = p => {
        const lines = {}, range = document.createRange();
        const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            for (const word of walker.currentNode.data.matchAll(/\S+\s*/g)) {
                range.setStart(walker.currentNode, word.index);
                range.setEnd(walker.currentNode, word.index + 1);
                const line = Math.round(range.getBoundingClientRect().bottom / 12);
                lines[line] = (lines[line] || 0) + word[0].length;
            }
        }
        return Math.max(...Object.values(lines));
    };
    const texts = [...document.querySelectorAll('article section > p')].filter(
        p => p.checkVisibility() && !p.querySelector('.math, code') && p.textContent.length > 200);
    const counts = texts.map(longest).sort((a, b) => a - b);
    return counts[Math.floor(0.9 * counts.length)]; // a line full of i and l may have a few more
}"""


@pytest.mark.parametrize(
    ("name", "width"), [("index.html", 320), ("index.html", 375), ("genindex.html", 375), (MODULE, 375)]
)
def test_nothing_is_cut_on_a_phone(browser, site, name, width):
    """Catches a page wider than the phone, and a link to the next page whose title has no room."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{site}/{name}", wait_until="load")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".prev-next-area a").evaluate_all("a => a.every(l => l.scrollWidth <= l.clientWidth)")
    page.close()


def test_details_of_the_style_hold(visit):
    """Catches a command broken over two lines, an option that runs under its circle, and figures in two whites."""
    page = visit("chapters/repository.html")
    heights = page.locator("td:first-child code").evaluate_all("c => c.map(e => e.getClientRects().length)")
    assert heights and set(heights) == {1}
    page.goto(page.url.replace("chapters/repository.html", CHAPTER), wait_until="load")
    page.emulate_media(color_scheme="dark")
    whites = page.locator("article figure img").evaluate_all("i => i.map(e => getComputedStyle(e).backgroundColor)")
    assert whites and set(whites) == {"rgb(255, 255, 255)"}
    page.set_viewport_size({"width": 375, "height": 800})
    starts = page.locator("details.quiz > summary").first.evaluate("""s => {
        const range = document.createRange();
        range.selectNodeContents(s);
        return [...range.getClientRects()].map(r => r.left - s.getBoundingClientRect().left);
    }""")
    assert min(starts) > 30
