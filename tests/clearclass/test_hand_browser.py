"""The page to grade by hand in a browser: keys, saving at each of them, two windows, and who cannot see or point."""

import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from clearclass.hand_page.given import Given, GivenPoints
from clearclass.hand_page.works import read_works

from tests.book.pages import AXE, CHROMIUM, NO_CHROMIUM
from tests.book.test_browser import FLAGS

from .class_folder import grade
from .hand_class import PLOT

RUBRIC = '[[question]]\nid = "plot"\ntitle = "The plot"\nmax = 4\nlines = ["Axes have names: 1"]\n'
SAVED, NOT_SAVED = re.compile(r"^Saved\.$"), re.compile("^Not saved: ")
TOO_MANY = re.compile("^“5” is not between 0 and 4: these points are not saved")
A_THOUSAND = re.compile("^“1,000” may be a decimal or a thousand: write it without the comma")
COMMAND = [sys.executable, "-m", "clearclass", "hand", "out", "--rubric", "rubric.toml"]

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]


@pytest.fixture
def served(work):
    """The command as an instructor types it: its process and the address that it prints."""
    grade("--seed", "1")
    Path("rubric.toml").write_text(RUBRIC)
    process = subprocess.Popen(
        COMMAND,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a suite in the background ignores it
    )
    said = process.stdout.readline()
    assert "http://127.0.0.1:" in said, process.stderr.read()
    yield process, said.split()[5]
    process.kill()
    process.communicate()


@pytest.fixture
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def wait_until(page, said: re.Pattern[str]):
    page.locator("#state").filter(has_text=said).wait_for(state="attached")


def given() -> list[Given]:
    return list(GivenPoints(Path("out/hand.csv"), read_works(Path("out"))).all([PLOT]).values())


def assert_kept_by_a_killed(process, page):
    process.kill()
    process.wait()
    page.keyboard.press("0")
    wait_until(page, NOT_SAVED)
    assert "does not answer" in page.inner_text("#state") and page.input_value("#points") == "0"
    assert [it.points for it in given()] == ["2", "2", "", ""]


def test_a_class_is_graded_by_keys(served, browser):
    """Catches a key that does nothing or something else, a press that is not saved, a window that undoes another one's
    points, and points that a killed program loses or that do not come back.
    """
    process, address = served
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.click("#start")
    page.wait_for_url("**/0")
    page.keyboard.press("3")
    wait_until(page, SAVED)
    assert given()[0] == Given("3")
    page.keyboard.press("r")
    page.keyboard.type("just 2 jokes")
    wait_until(page, SAVED)
    assert given()[0] == Given("3", "just 2 jokes")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.wait_for_url("**/1")
    page.keyboard.type("4.5")
    wait_until(page, TOO_MANY)
    assert page.input_value("#points") == "5" and given()[1] == Given("4")
    page.keyboard.press("2")
    page.keyboard.press("k")
    page.wait_for_url("**/0")
    assert page.input_value("#points") == "3" and page.input_value("#remark") == "just 2 jokes"
    assert given()[1] == Given("2") and complaints == []

    other = browser.new_page()
    other.goto(f"{address}0")
    other.keyboard.press("1")
    wait_until(other, SAVED)
    page.keyboard.press("2")
    wait_until(page, NOT_SAVED)
    assert "has given 1 points" in page.inner_text("#state") and given()[0].points == "1"
    page.click("#mine")
    wait_until(page, SAVED)
    assert given()[0].points == "2"

    page.click("#title")
    assert_kept_by_a_killed(process, page)


def test_a_thousand_with_a_comma_is_refused_on_the_page(served, browser):
    """Catches a page that says "Saved." of 1,000 and keeps 1 point, or that lets its reader leave before it is mended."""
    _, address = served
    page = browser.new_page()
    page.goto(f"{address}0")
    page.fill("#points", "1,000")
    wait_until(page, A_THOUSAND)
    assert page.get_attribute("#points", "aria-invalid") == "true" and given()[0].points == ""
    page.click("#next")
    wait_until(page, A_THOUSAND)
    assert page.url == f"{address}0"
    page.fill("#points", "1,5")
    wait_until(page, SAVED)
    assert given()[0].points == "1.5"


def test_ctrl_c_ends_it_and_a_second_one_is_refused(served):
    """Catches two programs that serve one table, and a program that ends without saying where the points are."""
    process, _ = served
    second = subprocess.run(COMMAND, capture_output=True, text=True)
    assert second.returncode == 2 and "Another program serves out" in second.stderr
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate()
    assert process.returncode == 0 and complained == ""
    assert "0 of 4 have points, kept in out/hand.csv" in said


def test_everybody_can_use_the_pages(served, browser):
    """Catches a field without a label, what no key reaches, weak contrast in light or dark, and a page wider than a
    phone.
    """
    _, address = served
    found = []
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 320, "height": 700}, color_scheme=scheme)
        for name in ("", "0", "3"):
            page.goto(address + name)
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, (name, scheme)
            if AXE.exists():
                page.evaluate(AXE.read_text(encoding="utf-8"))  # the page's policy lets no script in
                found += page.evaluate("async () => (await axe.run()).violations")
    assert not [(it["help"], [node["html"] for node in it["nodes"]]) for it in found]
    page.goto(f"{address}0")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"points", "remark", "next", "keys"} <= reached
    page.uncheck("#keys")
    page.click("#title")
    page.keyboard.press("3")
    assert page.input_value("#points") == ""
