"""The whole machine: every number beside the library, every slope beside autograd, and a walk by keyboard."""

import json
import shutil
import subprocess

import pytest
import torch
import torch.nn.functional as F

from tests.book.explorables.test_in_the_page import STYLE, THEME
from tests.book.test_browser import AXE, UNNAMED, needs_axe, violations
from tools import ROOT
from tools.models import machine
from tools.play.the_whole_machine import data

NAME = "the-whole-machine"
SOURCES = ROOT / "tools" / "site" / "play" / NAME
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
INPUTS = [((0, 2, 4), 6), ((1, 3, 4), 7), ((6, 6, 1), 0)]  # ids, and what comes next
SETUP = """
for (const name of ["kinds", "boxes", "run", "names", "sums", "guess"]) require(`${process.argv[1]}/${name}.js`);
const M = globalThis.machine, given = JSON.parse(process.argv[2]);
const weights = M.unpack(given.weights), words = given.words;
const flat = (numbers) => JSON.parse(JSON.stringify(numbers, (_, x) => (x === -Infinity ? "-inf" : x)));
console.log(JSON.stringify((() => { BODY })()));
"""
NONSENSE = [
    "",
    "{",
    "null",
    "[]",
    '{"open": {"q": 3}, "guess": null, "words": [0, 1, 2], "next": 0}',
    '{"open": {"toString": 1}, "guess": 0, "words": [0, 1, 2], "next": 0}',
    '{"open": {}, "guess": 7, "words": [0, 1, 99], "next": -1}',
]


def in_node(body: str, **more):
    script = SETUP.replace("BODY", body)
    done = subprocess.run(
        ["node", "-e", script, str(SOURCES), json.dumps(data() | more)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_heads(x):
    """Rows of torch as the page has them: heads, features, tokens."""
    return x.reshape(3, 2, 2).permute(1, 2, 0)


class Library:
    """The same numbers from the library's GPT, each box a tensor whose gradient is kept."""

    def __init__(self, ids, following):
        model = machine.stored()
        block, N = model.decoder.blocks[0], 3
        kept = self.kept = {}

        def keep(name, x):
            kept[name] = x if x.requires_grad else x.requires_grad_()
            x.retain_grad()
            return x

        ids = torch.tensor(ids)
        embed = keep("embed", model.tokens(ids).detach())
        place = keep("place", model.positions(slice(0, N)).detach())
        x = keep("x", embed + place)
        normed = keep("norm1", block.attention_norm(x))
        q, k, v = (
            keep(name, by_heads(part))
            for name, part in zip("qkv", block.attention.qkv(normed).chunk(3, 1), strict=True)
        )
        scores = keep("scores", k.mT @ q / 2**0.5)  # heads, sources, targets
        masked = keep("masked", scores.masked_fill(torch.ones(N, N, dtype=torch.bool).tril(-1), -torch.inf))
        weights = keep("weights", masked.softmax(1))
        heads = keep("heads", v @ weights)
        joined = keep("joined", block.attention.out(heads.permute(2, 0, 1).reshape(N, 4)))
        x1 = keep("x1", x + joined)
        hidden = keep("hidden", block.feed_forward.up(keep("norm2", block.feed_forward_norm(x1))))
        out = keep("out", block.feed_forward.down(keep("gelu", F.gelu(hidden))))
        logits = keep("logits", model.head(keep("norm3", model.decoder.norm(keep("x2", x1 + out)))))
        loss = keep("loss", -keep("shares", logits.softmax(1))[-1, following].log())
        torch.testing.assert_close(logits, model(ids[None])[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(block(x[None], causal=True)[0], kept["x2"], rtol=0, atol=1e-12)
        loss.backward(retain_graph=True)

    def like_the_page(self, name, numbers):
        """As head × row × column."""
        return numbers if numbers.ndim == 3 else numbers.reshape(1, 1, 1) if numbers.ndim == 0 else numbers.mT[None]


@pytest.fixture(scope="module")
def computed():
    body = """return given.inputs.map(([ids, next]) => {
        const m = { weights, ids, next }, run = M.run(m), measured = {}, tokens = {};
        for (const box of M.BOXES) M.eachOf(box, (address) => {
            measured[M.key(address)] = M.measure(m, address).slope;
            tokens[M.key(address)] = M.trace(run.wires, address).tokens;
        });
        return { values: flat(run.values), gradients: run.gradients, measured, tokens };
    });"""
    return in_node(body, inputs=INPUTS)


def tensor(numbers):
    return torch.tensor([[[float(x) for x in row] for row in head] for head in numbers], dtype=torch.float64)


@needs_node
@pytest.mark.parametrize("i", range(len(INPUTS)))
def test_values_and_slopes_are_the_librarys(computed, i):
    """Catches a product turned round, a mask after the softmax, a norm over tokens, and a slope that is off."""
    library = Library(*INPUTS[i])
    assert library.kept.keys() == computed[i]["values"].keys()
    for name, exact in library.kept.items():
        value, slope = (tensor(computed[i][what][name]) for what in ("values", "gradients"))
        torch.testing.assert_close(value, library.like_the_page(name, exact.detach()), rtol=0, atol=1e-9)
        torch.testing.assert_close(slope, library.like_the_page(name, exact.grad), rtol=0, atol=1e-9)


@needs_node
@pytest.mark.parametrize("i", range(len(INPUTS)))
def test_a_nudge_measures_what_the_way_back_computes(computed, i):
    assert len(computed[i]["measured"]) == 319
    for name, slope in computed[i]["measured"].items():
        box, *where = name.split("/")
        exact = tensor(computed[i]["gradients"][box])[tuple(map(int, where))]
        assert slope == pytest.approx(exact.item(), abs=1e-5), name


@needs_node
def test_a_number_lights_up_the_tokens_that_can_change_it(computed):
    """Catches a token that shines through the mask, and one that stays dark although the number depends on it."""
    library = Library(*INPUTS[0])
    embedded = library.kept["embed"]
    for name, tokens in computed[0]["tokens"].items():
        box, *where = name.split("/")
        number = library.like_the_page(box, library.kept[box])[tuple(map(int, where))]
        if box == "place" or number.isinf():
            assert tokens == [False] * 3
            continue
        (slope,) = torch.autograd.grad(number, embedded, retain_graph=True, allow_unused=True)
        changes = [False] * 3 if slope is None else (slope.abs().sum(1) > 0).tolist()
        assert changes == tokens or number == 1, name  # the first token's weight on itself is 1 whatever its score


@needs_node
def test_the_sums_that_are_written_out_are_right():
    """Catches a sign lost between two terms, and a factor that is not the one computed with."""
    written = in_node("""
        const run = M.run({ weights, ids: [0, 2, 4], next: 6 }), found = {};
        for (const box of M.BOXES) M.eachOf(box, (address) => {
            const forward = M.forwardSum(run, address, ["she", "reads", "her"]);
            found[M.key(address)] = [forward, M.backwardSum(run, address), box.kind];
        });
        return found;""")
    n_checked = 0
    for name, (forward, back, kind) in written.items():
        if kind in ("linear", "add", "average", "scores"):
            assert evaluated(forward.rsplit(" = ", 1)[0]) == pytest.approx(result(forward), abs=0.01), (name, forward)
            n_checked += 1
        if " = " in back and "slope" in back:
            terms, given = back.split(": ", 1)[1].rsplit(" = ", 1)
            assert evaluated(terms) == pytest.approx(evaluated(given), abs=0.01), (name, back)
            n_checked += 1
    assert n_checked > 250


def evaluated(text: str) -> float:
    return eval(text.replace("−", "-").replace("·", "*").replace("√2", "2**0.5"))


def result(text: str) -> float:
    return evaluated(text.rsplit(" = ", 1)[1])


@needs_node
@pytest.mark.parametrize(
    ("box", "typed", "told"),
    [
        ("x", "4 × 3", ""),
        ("x", "(4, 3)", ""),
        ("x", "4 by 3", ""),
        ("q", "K x N", ""),
        ("x", "3x4", "turned round"),
        ("q", "2 × 2 × 3", "one head"),
        ("hidden", "8", "two numbers"),
        ("logits", "8 × 8", "rows are right"),
        ("logits", "4 × 3", "columns are right"),
        ("scores", "4 × 4", "neither"),
        ("scores", "three", "two whole numbers"),
        ("scores", "", "two whole numbers"),
        ("loss", "1", ""),
        ("loss", "scalar", ""),
        ("loss", "8", "smaller"),
    ],
)
def test_a_shape_is_read_and_judged(box, typed, told):
    found = in_node("return M.judge(M.BY_NAME[given.box], given.typed)", box=box, typed=typed)
    assert told in found and bool(told) == bool(found)


def test_the_stored_model_has_learned_its_sentences():
    """Catches weights that are not those of the script: the losses come close to the entropy of the sentences."""
    losses = machine.loss(machine.stored(), machine.sentences())
    torch.testing.assert_close(losses, torch.tensor([0.6931, 0.5623, 0.5623]).double(), rtol=0, atol=3e-3)


def test_by_keyboard_every_box_opens_and_the_flow_turns(opened, window):
    """Catches a box that no key opens, a number that no key chooses, and slopes that show before the guess."""
    element = opened(NAME)
    assert window.evaluate(UNNAMED) == []
    shapes = {box: element.evaluate(f"() => clearformer.machine.BY_NAME['{box}'].shape") for box in boxes(element)}
    element.locator("[data-control=shape-embed]").focus()
    for _ in range(22):
        name = window.evaluate("document.activeElement.dataset.control").removeprefix("shape-")
        window.keyboard.type(" × ".join(map(str, shapes[name])) or "1")
        window.keyboard.press("Enter")
    assert "22 of 22" in element.locator("[data-value=count]").inner_text()
    assert "whole machine is open" in element.locator(".says").inner_text()
    library = Library(*INPUTS[0])
    assert_shown(element, {name: exact.detach() for name, exact in library.kept.items()}, library)
    element.locator("[data-value='heads/0/0/0']").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        window.keyboard.press(key)
    assert "depends on tokens 1 and 2, not on token 3" in element.locator(".says").inner_text()
    assert element.locator("[data-value=seen-2]").inner_text().strip() == "○ dark"
    assert element.locator("td.direct").count() == 4 and element.locator("td.chosen").count() == 1
    element.locator("[data-option=back]").press("Enter")
    assert element.locator("[data-value='x/0/0/0']").inner_text() == "−0.48"
    window.keyboard.press("Tab")
    window.keyboard.press("Enter")
    assert element.locator(".says").inner_text().startswith("Right")
    assert_shown(element, {name: exact.grad for name, exact in library.kept.items()}, library)
    element.locator("[data-value='v/1/0/1']").press(" ")
    element.locator("[data-control=measure]").press("Enter")
    assert "both say the same" in element.locator(".says").inner_text()
    assert "= −0.14016" in element.locator("[data-value=measured]").inner_text()
    assert window.complaints == []


def boxes(element):
    return element.locator("[data-box]").evaluate_all("all => all.map(e => e.dataset.box)")


def assert_shown(element, numbers, library):
    shown = dict(
        element.locator("td[data-value]").evaluate_all("all => all.map(e => [e.dataset.value, e.textContent])")
    )
    assert len(shown) == 319
    for name, text in shown.items():
        box, *where = name.split("/")
        exact = library.like_the_page(box, numbers[box])[tuple(map(int, where))].item()
        assert float(text.replace("−", "-").replace("∞", "inf")) == pytest.approx(exact, abs=0.00501), name


def test_a_hint_comes_after_two_wrong_tries_and_boxes_stay_open(opened, window):
    element = opened(NAME)
    field, hint = element.locator("[data-control=shape-q]"), element.locator("[data-value=hint-q]")
    for typed, told in (("3 × 2", False), ("4 × 3", True)):
        field.fill(typed)
        field.press("Enter")
        assert ("K = D / H" in hint.inner_text()) == told
    field.fill("2 × 3")
    field.press("Enter")
    assert element.locator("[data-value='q/1/1/2']").inner_text() == "0.59"
    element.locator("[data-control=word-0]").select_option("he")
    window.reload()
    assert (
        "1 of 22" in element.locator("[data-value=count]").inner_text() or window.evaluate("localStorage.length") == 0
    )


def test_storage_keeps_boxes_and_words(opened, window):
    kept = json.dumps({"open": {"q": 1, "loss": 2}, "guess": 1, "words": [1, 3, 5], "next": 7})
    element = opened(NAME, before=f"localStorage.setItem('clearformer-play-{NAME}', {json.dumps(kept)})")
    assert element.locator("[data-value=count]").inner_text() == "2 of 22 boxes open, 1 of them for you."
    assert element.locator("[data-control=word-1]").input_value() == "3"
    element.locator("[data-option=back]").click()
    assert element.locator("[data-value='loss/0/0/0']").inner_text() == "1.00"
    element.locator("[data-control=again]").click()
    assert "0 of 22" in element.locator("[data-value=count]").inner_text()
    assert json.loads(window.evaluate(f"localStorage.getItem('clearformer-play-{NAME}')"))["open"] == {}


@pytest.mark.parametrize(
    "before",
    [
        *[f"localStorage.setItem('clearformer-play-{NAME}', {json.dumps(kept)})" for kept in NONSENSE],
        "localStorage.clear(); Storage.prototype.setItem = () => { throw new Error('full') }",
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked') } })",
    ],
)
def test_storage_that_is_odd_full_or_blocked_is_no_trouble(opened, window, before):
    element = opened(NAME, before=before)
    assert "0 of 22" in element.locator("[data-value=count]").inner_text()
    element.locator("[data-control=shape-x]").fill("4 × 3")
    element.locator("[data-control=open-x]").click()
    assert "1 of 22" in element.locator("[data-value=count]").inner_text() and window.complaints == []


@needs_axe
def test_axe_finds_nothing(opened, window):
    element = opened(NAME)
    element.evaluate(
        "e => { document.head.insertAdjacentHTML('beforeend', `<link rel=stylesheet href='" + STYLE + "'>`) }"
    )
    element.locator("[data-control=shape-q]").fill("9")
    element.locator("[data-control=open-q]").click()
    window.add_script_tag(url=AXE.as_uri())
    for step in ("shut", "open"):
        for scheme, style in THEME.items():
            window.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
            window.add_style_tag(content=style)
            assert violations(window, scheme) == [], step
        window.evaluate("document.documentElement.dataset.theme = 'light'")
        element.locator("[data-control=rest]").click()
        element.locator("[data-value='heads/1/0/1']").click()
        element.locator("[data-option=back]").click()


LETTERS = """e => [...e.querySelectorAll('.live *')].filter(n => n.checkVisibility() && [...n.childNodes].some(
    t => t.nodeType === 3 && t.data.trim())).map(n => parseFloat(getComputedStyle(n).fontSize))"""
CUT = """e => [...e.querySelectorAll('.box :is(td, th)')].filter(n => n.scrollWidth > n.clientWidth + 1)
    .map(n => n.outerHTML)"""


@pytest.mark.parametrize("width", [320, 375, 1000, 1280])
def test_width_leaves_every_number_whole(opened, window, width):
    """Catches sideways scrolling, letters too small to read, and numbers that are cut off."""
    element = opened(NAME)
    window.set_viewport_size({"width": width, "height": 900})
    for _ in range(2):
        assert window.evaluate("document.documentElement.scrollWidth") <= width
        assert min(element.evaluate(LETTERS)) >= 10
        element.locator("[data-control=rest]").click()
    assert element.evaluate(CUT) == []
    assert element.locator("svg.wires").is_visible() == (width >= 1000)


def test_still_form_stands_without_scripts(opened, browser):
    page = browser.new_page(java_script_enabled=False)
    assert opened(NAME, page=page).locator(".still").is_visible()
    page.close()
