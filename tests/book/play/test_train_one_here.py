"""*Train one here* in the browser: a race by keyboard, its numbers beside the library's, and what it remembers."""

import json
import re

import pytest

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.pages import AXE, ROOT
from tests.book.play import small_gpt, train_one_here_runs
from tests.book.play.test_train_one_here_arithmetic import BASE
from tests.book.test_browser import UNNAMED, needs_axe, violations
from tests.book.test_reader import STORAGE

NAME = "train-one-here"
KEY = f"clearformer-play-{NAME}"
SIDES = [BASE | {"blocks": 1}, BASE]
GOOD = {"task": "rate", "sides": [BASE, BASE], "seed": 2, "reached": ["cheat"], "smallest": 3264, "guesses": [3, 4]}
NONSENSE = [
    "nonsense",
    "null",
    "3",
    "[]",
    "{}",
    json.dumps(GOOD | {"task": "toString"}),
    json.dumps(GOOD | {"sides": [BASE, BASE | {"blocks": 99}]}),
    json.dumps(GOOD | {"smallest": "<b>", "guesses": [9, 1]}),
]
ELEMENT = f"document.querySelector('{NAME}')"
AT_LEAST = "(n) => (document.querySelector('train-one-here').history.at(-1)?.step ?? -1) >= n"


@pytest.fixture
def shown(opened):
    return opened(NAME)


def control(element, name, option=None):
    chosen = "" if option is None else f"[data-option={option}]"
    return element.locator(f"[data-control={name}]{chosen}")


def predict(element, lower="right", below="nobody"):
    control(element, "lower", lower).click()
    control(element, "below", below).click()


def race_to(element, page, step):
    """Race until at least this step, then stop."""
    predict(element)
    control(element, "race").click()
    page.wait_for_function(AT_LEAST, arg=step)
    control(element, "race").click()
    page.wait_for_function(f"!{ELEMENT}.busy")


def says(element) -> str:
    return element.locator(".says").inner_text()


def tab_to(page, name, option=None):
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("[document.activeElement.dataset.control, document.activeElement.dataset.option]") == [
            name,
            option,
        ]:
            return
    raise AssertionError(f"{name} is not reached")


def habits(map_: list[float]) -> list[float]:
    """The mean weight one back, and five back from the first letter that is repeated to the last but one."""
    return [sum(map_[12 * n + n - 1] for n in range(1, 12)) / 11, sum(map_[12 * n + n - 5] for n in range(6, 11)) / 5]


def test_a_race_is_run_by_keyboard_alone_and_ends_as_it_is_stored(shown, window):
    """Catches a control that only a mouse reaches, a race that starts without a prediction, another end than in
    Node.js, a wrong judgement, and a goal that is not remembered.

    After 1,000 steps the last digits of exp and cos, which differ among browsers, have grown to hundredths.
    """
    keys, stored = window.keyboard, [train_one_here_runs.stored()[name][0] for name in ("one block", "base")]
    tab_to(window, "race")
    keys.press("Enter")
    assert says(shown) == "Predict first: answer both questions."
    assert window.evaluate("document.activeElement.dataset.control") == "lower"
    for key in ("Tab", "Enter"):
        keys.press(key)
    tab_to(window, "below", "nobody")
    keys.press("Space")
    tab_to(window, "race")
    keys.press("Enter")
    window.wait_for_function(AT_LEAST, arg=train_one_here_runs.STEPS)
    history = window.evaluate(f"""{ELEMENT}.history.slice(-5).map(({{ sides }}) => sides.map((side) => ({{ ...side,
        maps: side.maps.map((map) => Array.from(map)) }})))""")
    captions = []
    for i, end in enumerate(stored):
        reports = [sides[i] for sides in history]
        loss, repeated, fresh = (sum(it[key] for it in reports) / 5 for key in ("loss", "repeated", "fresh"))
        assert loss == pytest.approx(end["loss"], abs=0.1) and repeated == pytest.approx(end["repeated"], abs=0.05)
        assert float(shown.locator(f"[data-value=loss-{i}]").inner_text()) == pytest.approx(loss, abs=0.0051)
        for key, share in (("repeated", repeated), ("fresh", fresh)):
            text = shown.locator(f"[data-value={key}-{i}]").inner_text().removesuffix(" %")
            assert float(text) == pytest.approx(100 * share, abs=0.51)
        assert shown.locator(f"[data-value=count-{i}]").inner_text() == f"{end['count']:,}"
        captions += [habits(map_) for map_ in reports[-1]["maps"]]
    found = shown.locator(".map:not([hidden]) figcaption").all_inner_texts()
    told = [[float(number) for number in re.findall(r"\d\.\d\d", text)] for text in found]
    assert told == [pytest.approx(pair, abs=0.0051) for pair in captions]
    assert says(shown).startswith("Both predictions were right. Left has learned a part")
    assert "Right has learned to copy" in says(shown) and says(shown).endswith("The goal is reached.")
    assert window.evaluate(UNNAMED) == []
    kept = json.loads(window.evaluate(f"localStorage.getItem('{KEY}')"))
    assert kept["reached"] == ["blocks"] and kept["guesses"] == [2, 2] and kept["smallest"] == stored[1]["count"]
    tab_to(window, "step")
    keys.press("Home")
    assert shown.locator("[data-value=loss-0]").inner_text() == "–"
    keys.press("ArrowRight")
    assert "in step 10:" in shown.inner_text()
    assert window.complaints == []


def test_the_curves_and_maps_are_the_library_s(shown, window):
    """Catches a worker that computes something else than Node.js did, and a mean over other steps than are drawn."""
    control(shown, "right-mask").select_option("after")
    race_to(shown, window, 20)
    history = window.evaluate(f"""{ELEMENT}.history.slice(0, 3).map((report) => ({{ ...report,
        sides: report.sides.map((side) => ({{ ...side, maps: side.maps.map((map) => Array.from(map)) }})) }}))""")
    assert window.evaluate(f"Boolean({ELEMENT}.trainer.worker)")
    for i, options in enumerate([SIDES[0], SIDES[1] | {"mask": "after"}]):
        expected = small_gpt.losses(options, 1, 20)
        for k in (1, 2):
            assert history[k]["sides"][i]["loss"] == pytest.approx(sum(expected[10 * k - 10 : 10 * k]) / 10, rel=1e-6)
        for mine, theirs in zip(
            history[0]["sides"][i]["maps"], small_gpt.maps(options, 1, history[0]["probe"]), strict=True
        ):
            assert mine == pytest.approx(theirs, abs=1e-6)
    assert window.complaints == []


def test_a_map_tells_how_much_looks_ahead(shown, window):
    """Catches a model without a mask whose map does not say that it looks at what it should predict."""
    control(shown, "left-mask").select_option("none")
    race_to(shown, window, 0)
    control(shown, "step").press("Home")
    probe = window.evaluate(f"{ELEMENT}.history[0].probe")
    (found,) = small_gpt.maps(SIDES[0] | {"mask": "none"}, 1, probe)
    ahead = sum(found[13 * n + 1] for n in range(11)) / 11
    captions = shown.locator(".map:not([hidden]) figcaption").all_inner_texts()
    assert captions[0].endswith(f", {ahead:.2f} on the letter that it should predict")
    assert not any("predict" in caption for caption in captions[1:])


def test_where_no_worker_is_the_page_itself_learns_the_same(opened, window):
    """Catches a page that stands still where workers are forbidden or fail, and one that computes otherwise then."""
    found = []
    for broken in (
        "window.Worker = undefined",
        "window.Worker = class { postMessage() { setTimeout(() => this.onerror("
        "new Event('error', { cancelable: true }))) } terminate() {} }",
        "",
    ):
        shown = opened(NAME, before=f"localStorage.clear(); {broken}")
        race_to(shown, window, 20)
        found.append(window.evaluate(f"{ELEMENT}.history[2].sides.map((side) => side.loss)"))
        assert window.complaints == []
    assert found[0] == found[1] == found[2]


def test_a_race_can_be_stopped_looked_at_and_goes_on(shown, window):
    """Catches a stop that loses what was learned, curves of old settings beside new ones, and a hidden tab that works
    on.
    """
    race_to(shown, window, 20)
    assert says(shown).startswith("Stopped.") and control(shown, "race").inner_text() == "Go on"
    shown.locator(".curves svg").click(position={"x": 31, "y": 100})
    assert "in step 0:" in shown.inner_text()
    control(shown, "race").click()
    window.wait_for_function(AT_LEAST, arg=60)
    steps = window.evaluate(f"{ELEMENT}.history.map((report) => report.step)")
    assert steps == list(range(0, 10 * len(steps), 10)) and "in step 0:" in shown.inner_text()
    window.evaluate("""Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
        document.dispatchEvent(new Event('visibilitychange')); delete document.hidden""")
    assert says(shown).startswith("Stopped.")
    control(shown, "left-norm").select_option("none")
    assert window.evaluate(f"{ELEMENT}.history.length") == 0 and control(shown, "race").inner_text() == "Race"
    assert shown.locator("[aria-pressed=true]").count() == 1  # the task
    assert shown.locator("tr.lit").count() == 2
    control(shown, "task", "rate").click()
    assert shown.locator("tr.lit").count() == 1 and "learning rate at which" in shown.inner_text()
    assert window.complaints == []


ENDS = {  # a task, what the two sides are, and whether that reaches the goal
    "one late mask": ("cheat", "base", "mask after", True),
    "no mask": ("cheat", "no mask", "base", True),
    "honest": ("cheat", "no norm", "one block", False),
    "thin": ("smallest", "thin", "one block", True),
    "the whole": ("smallest", "base", "one block", False),
    "too fast": ("rate", "fast, norm after", "fast, no norm", True),
    "too fast, both alike": ("rate", "fast, norm after", "one block", False),
    "one or two": ("blocks", "one block", "base", True),
}


@pytest.mark.parametrize("which", ENDS)
@pytest.mark.parametrize("seed", range(3))
def test_goals_are_reached_from_every_start_and_not_otherwise(shown, window, which, seed):
    """Catches a goal that luck decides, and one that something else reaches, with what the races have really given."""
    task, *names, reached = ENDS[which]
    runs, stored = train_one_here_runs.RUNS, train_one_here_runs.stored()
    found = window.evaluate(
        """([task, sides, ends]) => {
            const { REACHED, TASKS, verdict } = clearformer.race;
            const judged = ends.map((end) => ({ ...end, verdict: verdict(end, clearformer.line) }));
            return REACHED[task](sides, judged, clearformer.small.count(TASKS.smallest.start[1]));
        }""",
        [task, [BASE | runs[name] for name in names], [stored[name][seed] for name in names]],
    )
    assert found is reached


def test_the_still_form_says_what_the_races_have_given():
    """Catches a number on paper that is not that of the stored races: the smallest and the largest of three starts."""
    page = (ROOT / "chapters" / "play" / f"{NAME}.md").read_text(encoding="utf-8")
    stored = train_one_here_runs.stored()
    rows = {
        "two blocks": "base",
        "one block": "one block",
        "mask after the softmax": "mask after",
        "no mask": "no mask",
    }
    for label, name in rows.items():
        shares = sorted(round(100 * run["repeated"]) for run in stored[name])
        losses = sorted(run["loss"] for run in stored[name])
        row = next(line for line in page.splitlines() if line.startswith(f"| {label} |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1:] == [f"{losses[0]:.2f} to {losses[-1]:.2f}", f"{shares[0]} to {shares[-1]} %"]


@pytest.mark.parametrize("kind", STORAGE)
def test_storage_that_keeps_nothing_stops_nothing(opened, window, kind):
    """Catches a page that needs the storage: what is remembered lasts as long as the page."""
    shown = opened(NAME, before=STORAGE[kind])
    control(shown, "task", "cheat").click()
    control(shown, "left-mask").select_option("none")
    assert window.evaluate(f"{ELEMENT}.memory.sides[0].mask") == "none"
    race_to(shown, window, 10)
    assert window.complaints == []


@pytest.mark.parametrize("text", NONSENSE)
def test_storage_with_nonsense_is_as_good_as_none(opened, window, text):
    """Catches a page that trusts what stands there."""
    shown = opened(NAME, before=f"localStorage.clear(); localStorage.setItem('{KEY}', {json.dumps(text)})")
    assert "Goals reached: 0 of 4." in shown.inner_text()
    assert control(shown, "left-blocks").input_value() == "1" and window.complaints == []


def test_storage_brings_back_what_was_set(opened, window):
    """Catches a memory that is written and never read."""
    shown = opened(NAME, before=f"localStorage.setItem('{KEY}', {json.dumps(json.dumps(GOOD))})")
    assert (
        "Goals reached: 1 of 4. Predictions right: 3 of 4. Your smallest model that copies: 3,264" in shown.inner_text()
    )
    assert control(shown, "seed").input_value() == "start 2" and control(shown, "left-blocks").input_value() == "2"
    assert control(shown, "task", "rate").get_attribute("aria-pressed") == "true" and window.complaints == []


@needs_axe
def test_axe_finds_nothing(shown, window):
    race_to(shown, window, 10)
    window.add_script_tag(url=AXE.as_uri())
    window.add_style_tag(url=STYLE)
    for scheme, style in THEME.items():
        window.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        window.add_style_tag(content=style)
        assert violations(window, scheme) == []


@pytest.mark.parametrize("width", [375, 320])
def test_width_of_a_phone_is_enough(shown, window, width):
    """Catches what is wider than a phone, letters of drawings below 10 pixels, and controls too low for a finger."""
    window.set_viewport_size({"width": width, "height": 900})
    race_to(shown, window, 10)
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    small = """all => all.filter((e) => e.checkVisibility()).map((e) => {
        const scale = e.ownerSVGElement.getBoundingClientRect().width / (e.ownerSVGElement.viewBox.baseVal?.width
            || e.ownerSVGElement.width.baseVal.value);
        return [e.textContent, scale * parseFloat(getComputedStyle(e).fontSize)];
    }).filter(([, size]) => size < 10)"""
    assert shown.locator("svg text").evaluate_all(small) == []
    heights = "all => all.filter((e) => e.type !== 'range').map((e) => e.getBoundingClientRect().height)"
    assert min(shown.locator("[data-control]").evaluate_all(heights)) > 31.9


def test_still_form_stands_without_scripts(opened, browser):
    page = browser.new_page(java_script_enabled=False)
    assert opened(NAME, page=page).locator(".still p").is_visible()
    assert page.locator(".live").count() == 0
    page.close()
