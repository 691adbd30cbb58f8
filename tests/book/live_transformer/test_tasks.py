"""The front page's questions beside the live model, in a page: answered by the shipped model and by the library."""

import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch
import yaml
from playwright.sync_api import expect

from tests.book.live_transformer.element import SHIPPED, logits, state, with_start
from tests.book.live_transformer.test_in_the_page import NO_AXE
from tests.book.pages import AXE, ROOT
from tests.book.test_browser import settle_page, violations
from tests.tools.test_front_page import BLOCK
from tools.extension import live_poster

NAME, TOLD = BLOCK[1], yaml.safe_load(BLOCK[4])
TASKS = [live_poster.checked(task, ROOT / "models" / NAME) for task in TOLD]
OF_KIND = {task["kind"]: task for task in TASKS}


def press(page, task: dict, value: str) -> None:
    """Guess, after the card is unfolded."""
    card = page.locator("details.task", has_text=task["title"])
    if card.get_attribute("open") is None:
        card.locator("summary").click()
    texts = {choice["value"]: choice["text"] for choice in task["choices"]}
    card.get_by_role("button", name=texts[value], exact=True).click()


def verdict(page, task: dict) -> str:
    """What the model tells, when it has done its work."""
    card = page.locator("details.task", has_text=task["title"])
    expect(card.get_by_role("button", name="Show me where")).to_be_visible(timeout=120_000)
    return card.locator(".answer").inner_text()


def right_answer(task: dict, own) -> str:
    """By the library."""
    if task["kind"] == "look":
        weights, tokens = live_poster.weights_of(NAME, task["text"], *task["head"], ROOT / "models")
        given = {choice["value"]: 0.0 for choice in task["choices"]}
        for token, weight in zip(tokens, weights[-1], strict=True):
            if token.strip() in given:
                given[token.strip()] += weight
        return max(given, key=given.__getitem__)
    count = {name: len(own.tokenizer.encode(task[name])) / len(task[name]) for name in ("beside", "text")}
    times = count["text"] / count["beside"]
    return "more" if times > 1.25 else "fewer" if times < 0.8 else "as many"


@pytest.mark.parametrize("kind", ["look", "pieces"])
def test_a_guess_is_judged_by_the_model(visit, models, kind):
    """Catches a verdict that is not what the library finds, and a right guess that is called wrong."""
    task, page = OF_KIND[kind], visit(NAME, tasks=TASKS)
    right = right_answer(task, models[NAME])
    for choice in task["choices"]:
        press(page, task, choice["value"])
        told = verdict(page, task)
        assert told.startswith("You were right." if choice["value"] == right else "You guessed otherwise."), told
        assert told.endswith(task["then"])
    assert state(page)["text"] == task["text"] and page.complaints == []
    if kind == "look":
        assert [state(page)["layer"], state(page)["head"]] == list(task["head"])


def test_the_likeliest_text_goes_round_and_leaves_the_settings(visit, models):
    """Catches a limit before the repetition, tokens that are not the likeliest, and a temperature that stays at 0."""
    task, page, own = OF_KIND["loop"], visit(NAME, tasks=TASKS), models[NAME]
    before = state(page)["settings"]
    press(page, task, "loops")
    told = verdict(page, task)
    assert told.startswith("You were right. It ends in a round of"), told
    found = state(page)
    assert found["settings"] == before and before["temperature"] > 0 and not found["running"]
    ids = with_start(own, task["text"])
    assert found["ids"][: len(ids)] == ids and len(found["ids"]) > len(ids) + 20
    for n in range(len(ids), len(found["ids"]), 9):
        scores = logits(own, found["ids"][:n])
        torch.testing.assert_close(scores[found["ids"][n]], scores.max(), atol=1e-3, rtol=0)
    length = int(re.search(r"a round of (\d+) tokens", told)[1])
    assert found["ids"][-length:] == found["ids"][-2 * length : -length] == found["ids"][-3 * length : -2 * length]


def test_what_is_typed_meanwhile_is_the_readers(visit):
    """Catches tokens that the model writes behind a reader's own text, and a verdict on it."""
    task, page = OF_KIND["loop"], visit(NAME, tasks=TASKS)
    press(page, task, "ends")
    page.wait_for_function("document.querySelector('live-transformer').writer.added.length > 3")
    page.get_by_role("textbox").press("!")
    page.get_by_text("The model was interrupted").wait_for()
    found = state(page)
    page.wait_for_timeout(100)
    assert found["text"].endswith("!") and not found["running"] and state(page)["text"] == found["text"]
    assert page.get_by_role("button", name="Show me where").count() == 0


def test_a_guess_is_kept_until_there_is_a_model(visit):
    """Catches a guess that is lost at the start, an answer to another question, and one that gets no word."""
    page = visit(NAME, start=False, tasks=TASKS)
    press(page, OF_KIND["look"], "Emma")
    press(page, OF_KIND["pieces"], "fewer")
    assert page.get_by_text("Your guess is kept. Press it once more").count() == 1
    page.get_by_role("button", name="Start the model").click()
    assert "takes" in verdict(page, OF_KIND["pieces"])
    assert state(page)["text"] == OF_KIND["pieces"]["text"]
    press(page, OF_KIND["look"], "Emma")
    assert "of its weight" in verdict(page, OF_KIND["look"])


@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
@pytest.mark.parametrize("width", [375, 1280])
def test_the_questions_leave_room_for_the_text(visit, width):
    """Catches cards that push the text off a phone's screen, are folded where there is room, or are hard to use."""
    page = visit(NAME, tasks=TASKS, viewport={"width": width, "height": 812})
    cards = page.locator("details.task")
    unfolded = cards.evaluate_all("all => all.map((card) => card.open)")
    assert unfolded == [width == 1280] * len(TASKS)
    top = page.locator("live-transformer").bounding_box()["y"]
    field = page.get_by_role("textbox").bounding_box()
    assert field["y"] + field["height"] - top < 812 * 0.75
    for task in TASKS:
        press(page, task, task["choices"][0]["value"])
        if width == 375:
            assert cards.evaluate_all("all => all.filter((card) => card.open).length") == 1
    verdict(page, TASKS[-1])
    page.get_by_role("button", name="Show me where").last.click()
    assert page.evaluate(
        "document.querySelector('live-transformer').shadowRoot.activeElement.closest('#chips') !== null"
    )
    page.add_script_tag(url=AXE.as_uri())
    assert violations(settle_page(page), "light") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_download_shows_how_far_it_is(visit):
    """Catches a wait without a sign, a sign that lies, and one that stays."""
    page = visit(SHIPPED[0], start=False)
    going_on, site = threading.Event(), page.site

    class Halting(SimpleHTTPRequestHandler):
        def copyfile(self, source, target):
            whole = source.read()
            half = len(whole) // 2 if self.path.endswith(f"{SHIPPED[0]}.js") else len(whole)
            target.write(whole[:half])
            target.flush()
            if half < len(whole):
                going_on.wait(300)
                target.write(whole[half:])

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Halting(*a, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/page.html")
        assert not page.get_by_role("progressbar").is_visible()
        page.get_by_role("button", name="Start the model").click()
        page.wait_for_function(
            "document.querySelector('live-transformer').shadowRoot.querySelector('progress').position > 0.45"
        )
        assert page.get_by_role("progressbar").evaluate("bar => bar.position") == pytest.approx(0.5, abs=0.02)
        going_on.set()
        page.get_by_role("button", name="Write on").wait_for()
        assert not page.get_by_role("progressbar").is_visible()
    finally:
        going_on.set()
        server.shutdown()
        server.server_close()
    page.get_by_role("button", name="One token").click()
    assert page.complaints == []
