"""How the element stands in a page: what it asks for, what it weighs, and what is there where it cannot run."""

import pytest

from tests.book.live import STATIC
from tests.book.live_transformer.element import SHIPPED, ZEN, with_element
from tests.book.test_browser import AXE, settle_page, violations

NO_AXE = "needs axe-core (make test fetches it when npm is there)"


def test_nothing_is_asked_for_but_the_sites_own_files(visit):
    """Catches an address elsewhere, and weights that come without a click."""
    page = visit("pairs", start=False)
    page.wait_for_timeout(200)
    scripts = [page.site / "page.html", page.site / "live" / "live-transformer.js"]
    assert page.asked == [path.as_uri() for path in scripts]
    page.get_by_role("button", name="Start the model").click()
    page.get_by_role("button", name="One token").click()
    assert page.asked == [path.as_uri() for path in (*scripts, page.site / "live" / "pairs.js")]
    assert page.complaints == []


def test_what_is_loaded_weighs_what_is_said(visit):
    """Catches a promise about the download that the file does not keep."""
    page = visit(SHIPPED[0], start=False)
    size = (page.site / "live" / f"{SHIPPED[0]}.js").stat().st_size
    assert page.get_by_text(f"{size / 1e6:.1f} MB").is_visible()


def test_a_text_is_there_again_after_another_page(visit):
    """Catches a text that is lost by a look at another page, and one that comes back in another model."""
    page = visit("pairs", prompt="Now")
    address = page.url
    page.get_by_role("textbox").fill("Simple is better")
    page.goto("about:blank")
    page.goto(address)
    page.get_by_role("button", name="Start the model").click()
    page.get_by_role("button", name="Write on").wait_for()
    assert page.get_by_role("textbox").input_value() == "Simple is better"
    page = visit("characters", prompt="Now")
    assert page.get_by_role("textbox").input_value() == "Now"


def test_weights_that_cannot_be_loaded_leave_the_picture(visit):
    """Catches a click that ends in nothing."""
    page = visit("pairs", start=False)
    (page.site / "live" / "pairs.js").unlink()
    page.get_by_role("button", name="Start the model").click()
    page.get_by_text("The weights could not be loaded").wait_for()
    assert page.get_by_text(STATIC).is_visible()


def test_the_picture_stands_where_the_model_cannot_run(visit):
    """Catches a page without script, on paper, or in an old browser, that shows nothing in the place of the model."""
    assert visit("pairs", start=False, java_script_enabled=False).get_by_text(STATIC).is_visible()
    old = visit("pairs", start=False, before="delete window.customElements")
    assert old.get_by_text("too old").is_visible() and old.get_by_text(STATIC).is_visible()
    page = visit("pairs")
    assert not page.get_by_text(STATIC).is_visible()
    page.emulate_media(media="print")
    assert page.get_by_text(STATIC).is_visible() and not page.get_by_role("textbox").is_visible()


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_nothing_is_wider_than_the_window(visit, width):
    """Catches a map, a bar or a token that makes a phone's page scroll sideways."""
    page = visit("characters", prompt=ZEN[:300].replace("\n", " "), viewport={"width": width, "height": 800})
    page.get_by_role("textbox").fill("x" * 500)
    settle_page(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    body = """return Array.from(e.shadowRoot.querySelectorAll(".lab *"))
        .filter((x) => x.getBoundingClientRect().right > innerWidth + 1 && !x.closest(".heads"))
        .map((x) => x.outerHTML.slice(0, 99))"""
    assert with_element(page, body) == []


@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing_in_the_element(visit, width):
    """Catches controls without names, colours without contrast, in the dark too, roles that are not kept."""
    page = visit("pairs", prompt="Beautiful is better", viewport={"width": width, "height": 800})
    colours = "--pst-color-text-base:#ced6dd;--pst-color-text-muted:#9ca4af;--pst-color-background:#14181e;"
    colours += (
        "--cf-accent:#7db8ec;--cf-warm:#f2a47c;--cf-soft:#1c2330;--cf-line:#394457;background:#14181e;color:#ced6dd"
    )
    page.get_by_text("More settings").click()
    page.get_by_label("top-k").fill("1")
    page.add_script_tag(url=AXE.as_uri())
    for scheme, style in (("light", ""), ("dark", colours)):
        page.evaluate(f"document.documentElement.setAttribute('style', '{style}')")
        assert violations(settle_page(page), scheme) == []
