"""The live transformer as it writes: what it draws, what it shows of it, and how it is driven by keyboard."""

import pytest
import torch

from tests.book.live_transformer.element import drawn_from, logits, state, with_element, with_start


def test_writing_draws_by_the_settings_and_appends_what_it_drew(visit, models):
    """Catches a button that writes another token than was drawn, a text unlike its tokens, a slider unheard."""
    own, page = models["characters"], visit("characters", prompt="Beautiful")
    with_element(page, "e.writer.random = () => 0.5")
    page.get_by_text("More settings").click()
    page.get_by_label("temperature").fill("1.5")
    page.get_by_label("top-k").fill("2")
    page.get_by_label("top-p").fill("0.9")
    ids = with_start(own, "Beautiful")
    for _ in range(12):
        p = drawn_from(logits(own, ids)[None].double(), 1.5, 3, 0.9)[0]
        order = p.argsort(descending=True)
        ids.append(int(order[(p[order].cumsum(0) > 0.5).nonzero()[0, 0]]))
        page.get_by_role("button", name="One token").click()
    found = state(page)
    assert found["ids"] == ids
    end = own.model.config.n_vocab - 1
    assert found["text"] == "".join("\n\n" if i == end else own.tokenizer.decode([i]) for i in ids[1:])


def test_running_writes_until_it_is_stopped(visit):
    """Catches a run that cannot be stopped, that stops by itself, or that a key in the text does not end."""
    page = visit("characters", prompt="Now")
    with_element(page, "ClearformerLive.draw = ({ order }) => order.find((id) => id !== e.writer.model.end)")
    for stop in ("button", "key"):
        length = len(state(page)["ids"]) + state(page)["dropped"]
        page.get_by_role("button", name="Write on").click()
        page.wait_for_function(f"document.querySelector('live-transformer').writer.ids.length > {length + 20}")
        if stop == "button":
            page.get_by_role("button", name="Stop").click()
        else:
            page.get_by_role("textbox").press("!")
        page.get_by_role("button", name="Write on").wait_for()
    found = state(page)
    page.wait_for_timeout(100)
    assert not found["running"] and found["text"].endswith("!") and state(page)["text"] == found["text"]


def test_an_end_is_told_and_the_model_goes_on(visit):
    """Catches a model that writes past its end token without a word, or is stuck behind it."""
    page = visit("pairs", prompt="Now")
    page.get_by_label("temperature").fill("0")
    body = """e.whole = e.writer.reading.logits;
        const length = e.writer.model.end + 1;
        e.writer.reading.logits = () => Float32Array.from({ length }, (_, id) => Number(id === e.writer.model.end))"""
    with_element(page, body)
    page.get_by_role("button", name="Write on").click()
    page.get_by_text("The model has ended its text").wait_for()
    ids = state(page)["ids"]
    assert ids == [*ids[:-1], ids[0]]
    with_element(page, "e.writer.reading.logits = e.whole")
    page.get_by_role("button", name="One token").click()
    assert state(page)["ids"][:-1] == ids


def test_shown_numbers_are_the_models(visit, models):
    """Catches bars, chips and cells that show another token's numbers, or hide that something was cut."""
    own, page = models["pairs"], visit("pairs", prompt="Beautiful is better than")
    page.get_by_text("More settings").click()
    page.get_by_label("top-k").fill("1")
    found = state(page)
    likeliest = sorted(range(len(found["before"])), key=lambda i: -found["before"][i])[:10]
    bars = page.get_by_role("list").get_by_role("button")
    assert bars.count() == 10
    for bar, id in zip(bars.all(), likeliest, strict=True):
        assert int(bar.get_attribute("data-id")) == id
        kept = found["probabilities"][id]
        assert bar.locator(".value").inner_text() == (
            f"{100 * kept:.1f} %" if kept else f"cut, {100 * found['before'][id]:.1f} %"
        )
        assert bar.locator(".before").is_visible() == (kept == 0)
    page.get_by_role("button", name="layer 2, head 1").click()
    chip = page.get_by_role("toolbar", name="Tokens of the text").get_by_role("button").nth(4)
    chip.click()
    found = state(page)
    assert (found["chosen"], found["layer"], found["head"]) == (4, 1, 0)
    torch.testing.assert_close(torch.tensor(found["logits"]), logits(own, found["ids"][:5]), atol=1e-3, rtol=0)
    chips = page.get_by_role("toolbar", name="Tokens of the text").get_by_role("button").all()
    shades = [float(chip.evaluate("c => c.style.getPropertyValue('--w')")) for chip in chips]
    row = found["attention"][1][0][4]
    assert shades == pytest.approx(row + [0] * (len(shades) - 5), abs=6e-4)
    bars.first.click()  # another ending, from the chosen token on
    assert state(page)["ids"][:-1] == found["ids"][:5]


def test_every_part_is_reached_and_moved_by_keyboard(visit):
    """Catches a part that only a mouse can use."""
    page = visit("pairs", start=False)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("textbox").wait_for()
    for _ in range(20):
        if focused_id(page) == "text":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("Now is better")
    page.keyboard.press("Control+Enter")
    length = len(state(page)["ids"])
    assert length > 3
    reached = {}
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.setdefault(focused_id(page))
        if focused_id(page) == "chips":
            page.keyboard.press("Home")
            page.keyboard.press("ArrowRight")
            assert state(page)["chosen"] == 1
            page.keyboard.press("End")
            assert state(page)["chosen"] == length - 1
        if focused_id(page) == "heads":
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowRight")
            assert (state(page)["layer"], state(page)["head"]) == (1, 1)
        if focused_id(page) == "map":
            for _ in range(length):
                page.keyboard.press("ArrowUp")
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowDown")
            weight = state(page)["attention"][1][1][length - 1][1]
            assert page.locator("#cell").inner_text().endswith(f"with weight {weight:.3f}.")
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("Enter")
            assert state(page)["chosen"] == length - 2
        if focused_id(page) == "temperature":
            page.keyboard.press("Home")
            assert state(page)["settings"]["temperature"] == 0
            page.keyboard.press("End")
        if focused_id(page) == "more":
            page.keyboard.press("Enter")
    settings = ("temperature", "more", "top-k", "top-p", "cache")
    assert list(reached)[:13] == ["run", "step", "back", "clear", "bars", *settings, "chips", "heads", "map"]
    page.get_by_role("list").get_by_role("button").first.focus()
    page.keyboard.press("Enter")  # another token after the chosen one
    assert len(state(page)["ids"]) == length and state(page)["chosen"] == length - 1


def focused_id(page) -> str:
    """The id of the part of the element that has the focus."""
    return with_element(page, "const at = e.shadowRoot.activeElement; return at && (at.id || at.closest('[id]').id)")
