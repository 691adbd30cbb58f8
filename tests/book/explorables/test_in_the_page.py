"""How an explorable stands in a page: by keyboard, on a phone, on paper, without scripts, and its weight."""

import json
import re

import pytest
from bs4 import BeautifulSoup
from clearbook.explorable import DATA

from tests.book.explorables.shown import HOME, extension
from tests.book.pages import CHAPTERS, ROOT, soup
from tests.book.test_browser import AXE, UNNAMED, needs_axe, violations

TAGS = sorted(HOME)
KILOBYTE = 1024
NAME_OF_A_CONTROL = "e => [e.dataset.control, e.dataset.option].join()"


@pytest.mark.parametrize("tag", TAGS)
def test_every_control_is_reached_and_moved_by_keyboard(show, tag):
    """Catches a control that only a mouse can reach, or that has no name, and one that moves nothing."""
    shown = show(tag)
    for summary in shown.element.locator("details:not([open]) > summary").all():
        summary.press("Enter")
    enabled = "[data-control]:not([disabled])"
    controls = shown.element.locator(enabled).count()
    reached = []
    for _ in range(controls + 10):
        shown.page.keyboard.press("Tab")
        reached.append(shown.page.evaluate(f"({NAME_OF_A_CONTROL})(document.activeElement)"))
    names = shown.element.locator(enabled).evaluate_all(f"controls => controls.map({NAME_OF_A_CONTROL})")
    assert set(names) <= set(reached)
    assert shown.page.evaluate(UNNAMED) == []
    slider = shown.element.locator("input[type=range]:not([disabled])").first
    before = slider.get_attribute("aria-valuetext")
    slider.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") != before or slider.get_attribute("max") == slider.input_value()
    assert shown.page.complaints == []


@pytest.mark.parametrize("tag", TAGS)
@needs_axe
def test_axe_finds_nothing(show, tag):
    """Catches lost names, roles and contrasts once everything that opens is open; contrasts in the dark, too."""
    page = show(tag, lambda html: f'<link rel="stylesheet" href="{STYLE}">{html}').page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    page.add_script_tag(url=AXE.as_uri())
    for scheme, style in THEME.items():
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        page.add_style_tag(content=style)
        assert violations(page, scheme) == []


STYLE = (ROOT / "_static" / "clearformer.css").as_uri()
THEME = {  # of sphinx-book-theme, as far as an explorable uses it
    "light": "html { --pst-color-background: #fff; --pst-color-text-base: #222832; --pst-color-text-muted: #48566b; }",
    "dark": "html { --pst-color-background: #14181e; --pst-color-text-base: #ced6dd; --pst-color-text-muted: #9ca4af; }"
    "body { background: #14181e; color: #ced6dd; }",
}


@pytest.mark.parametrize("tag", TAGS)
def test_nothing_is_wider_than_a_phone(show, tag):
    """Catches a table or a drawing that makes the page scroll sideways at 375 and at 320 pixels."""
    page = show(tag).page
    for width in (375, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("tag", TAGS)
def test_the_still_form_stays_without_scripts_and_on_paper(show, page_without_scripts, tag):
    """Catches an empty frame where no script runs, and controls that are printed."""
    still = show(tag, page=page_without_scripts).element
    assert still.locator(".still td").first.is_visible() and still.locator(".note").is_visible()
    shown = show(tag)
    assert shown.element.locator(".live").is_visible() and not shown.element.locator(".still").is_visible()
    shown.page.emulate_media(media="print")
    assert shown.element.locator(".still td").first.is_visible() and not shown.element.locator(".live").is_visible()
    shown.page.emulate_media(media="screen")


@pytest.fixture(scope="module")
def page_without_scripts(browser):
    page = browser.new_page(java_script_enabled=False)
    yield page
    page.close()


def drop_entry(name):
    def change(html):
        data = json.loads(BeautifulSoup(html, "html.parser").script.string)
        del data[name]
        return re.sub(r'(json">).*?(</script>)', lambda m: m[1] + json.dumps(data) + m[2], html, flags=re.DOTALL)

    return change


BROKEN = [(tag, f"“{name}” is missing from its data", drop_entry(name)) for tag in TAGS for name in DATA[tag]] + [
    ("kv-cache", "its data are not in the page", lambda html: re.sub(r"<script.*?</script>", "", html)),
    ("kv-cache", "its data are not readable", lambda html: html.replace('"keys"', '"keys')),
    ("kv-cache", "have the lengths 4, 4, 1", lambda html: re.sub(r'("values": ).*?\]\]', r"\1[[1]]", html)),
    ("kv-cache", "“keys” in its data should be a list of", lambda html: html.replace('"keys": [[', '"keys": [["x",')),
    ("cost-calculator", "“M” is missing from the sizes of GPT-3", lambda html: html.replace('"M":', '"X":')),
]


@pytest.mark.parametrize(("tag", "told", "change"), BROKEN, ids=[f"{tag}: {told}" for tag, told, _ in BROKEN])
def test_what_is_missing_is_told_in_its_place(show, tag, told, change):
    """Catches a blank, or numbers made of nothing, where a datum got lost."""
    shown = show(tag, change)
    assert told in shown.element.locator(".trouble").inner_text()
    assert shown.element.locator(".still td").first.is_visible() and shown.element.locator(".live").count() == 0


def test_scripts_are_small(site_files):
    """Catches a library that crept in: every page of a chapter gets at most 15 KB of them."""
    size = {path.relative_to(site_files).as_posix(): path.stat().st_size for path in site_files.rglob("*.js")}
    assert size
    for chapter in set(HOME.values()):
        needed = [file for tag in TAGS if HOME[tag] == chapter for file in extension.elements()[tag]]
        files = {file for file in needed if file.endswith(".js")}
        assert sum(size[file] for file in files) <= 15 * KILOBYTE, chapter


def test_a_page_loads_the_scripts_that_it_needs_and_no_others(book_build):
    """Catches scripts in the head of every page, and an element that a page never brings to life."""
    for page in CHAPTERS.values():
        path = book_build.pages / page
        loaded = {tag["src"].split("/")[-1].split("?")[0] for tag in soup(path).select("script[src*='explorables/']")}
        standing = [tag for tag in TAGS if HOME[tag] == page]
        needed = {file.split("/")[-1] for tag in standing for file in extension.elements()[tag] if file.endswith(".js")}
        assert loaded == needed, path.name
        assert [tag for tag in TAGS if soup(path).find(tag)] == standing


@pytest.mark.parametrize("chapter", sorted(set(HOME.values())))
def test_they_live_in_the_pages_of_the_book_opened_as_files(book_build, browser, chapter):
    """Catches what the real page does to them: a script that needs a server, an extension that hides a control."""
    page = browser.new_page()
    page.goto((book_build.pages / chapter).as_uri(), wait_until="load")
    page.evaluate("document.querySelectorAll('.explorable details').forEach(d => { d.open = true })")
    standing = [tag for tag in TAGS if HOME[tag] == chapter]
    assert page.locator(".explorable.alive .says:visible").count() == len(standing)
    controls = page.locator(".explorable [data-control]")
    assert controls.evaluate_all("all => all.filter(e => !e.checkVisibility()).map(e => e.outerHTML)") == []
    bars = page.locator(".explorable .bar")
    assert bars.evaluate_all("all => all.filter(e => e.clientWidth < 40).length") == 0
    page.close()
