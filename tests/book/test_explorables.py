"""The explorables as a reader moves them: every number they show beside what the library computes.

They stand here on a page of their own, opened as a file, with the data that the chapters have stored; how they stand
in the book's pages is read by test_browser.py with everything else.
"""

import itertools
import json
import math
import re
from decimal import Decimal
from functools import cache
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from clearbook.explorable import DATA
from clearformer.attention.blockwise import online_attention
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from clearformer.reference.attention import attend, attention_weights, causal_mask
from clearformer.reference.functions import softmax
from clearformer.reference.positions import sinusoidal

from tests.book.pages import CHAPTERS, ROOT, soup
from tests.book.test_browser import AXE, UNNAMED, needs_axe, pytestmark, violations  # noqa: F401
from tests.lazily import Lazily

extension = Lazily("tools.extension.hooks")

# The chapter in which each explorable stands.
HOME = {
    "soft-lookup": CHAPTERS["attention"],
    "attention-walk": CHAPTERS["self-attention"],
    "view-transpose": CHAPTERS["multi-head"],
    "rotary-clock": CHAPTERS["position"],
    "causal-mask": CHAPTERS["encoder-decoder"],
    "kv-cache": CHAPTERS["encoder-decoder"],
    "online-softmax": CHAPTERS["cost"],
    "cost-calculator": CHAPTERS["gpt3"],
}
TAGS = sorted(HOME)
KILOBYTE = 1024


@cache
def stored(tag: str) -> str:
    """The HTML that the chapter's notebook has stored for it."""
    notebook = nbformat.read((ROOT / HOME[tag]).with_suffix(".ipynb"), as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    found = [output.data["text/html"] for output in outputs if f"<{tag}" in output.get("data", {}).get("text/html", "")]
    assert len(found) == 1, f"{HOME[tag]} holds {len(found)} of <{tag}>"
    return found[0]


def stored_data(tag: str) -> dict:
    return json.loads(BeautifulSoup(stored(tag), "html.parser").script.string)


@pytest.fixture(scope="module")
def site_files(tmp_path_factory):
    """The files of the explorables as the build publishes them."""
    folder = tmp_path_factory.mktemp("explorables")
    extension.publish_elements(SimpleNamespace(outdir=str(folder), builder=SimpleNamespace(format="html")))
    return folder


@pytest.fixture(scope="module")
def window(browser):
    """The page that shows one explorable after the other."""
    page = browser.new_page()
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    page.close()


@pytest.fixture
def show(window, site_files):
    """One explorable on a page of its own, opened as a file; its data may be changed before."""

    def show_it(tag, change=lambda html: html, page=window):
        files = extension.elements()[tag]
        styles = "".join(f'<link rel="stylesheet" href="{file}">' for file in files if file.endswith(".css"))
        scripts = "".join(f'<script defer src="{file}"></script>' for file in files if file.endswith(".js"))
        (site_files / "page.html").write_text(
            f'<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf8"><title>x</title>'
            f'<meta name="viewport" content="width=device-width">{styles}{scripts}</head>'
            f"<body><main><h1>x</h1>{change(stored(tag))}</main></body></html>",
            encoding="utf8",
        )
        window.complaints.clear()
        page.set_viewport_size({"width": 800, "height": 900})
        page.goto((site_files / "page.html").as_uri(), wait_until="load")
        return Shown(page, tag)

    return show_it


# As the browser does it for a reader who moves a slider, fills a field or presses a button, at once: that each can be
# reached and moved by hand is another test.
REACHED = "c => { if (!c.checkVisibility() || c.disabled) throw new Error(`${c.dataset.control} cannot be moved`) }"
SET = f"""(e, values) => Object.entries(values).forEach(([name, value]) => {{
    const control = e.querySelector(`[data-control="${{name}}"]`);
    ({REACHED})(control);
    control.value = value;
    for (const kind of ['input', 'change']) control.dispatchEvent(new Event(kind, {{ bubbles: true }}));
}})"""
PRESS = f"c => {{ ({REACHED})(c); c.click() }}"


class Shown:
    """An explorable in the browser: its controls by name, its numbers by name."""

    def __init__(self, page, tag):
        self.page, self.element = page, page.locator(tag)

    def control(self, name, option=None):
        chosen = "" if option is None else f'[data-option="{option}"]'
        return self.element.locator(f'[data-control="{name}"]{chosen}')

    def set(self, **values):
        self.element.evaluate(SET, {name.replace("_", "-"): str(value) for name, value in values.items()})

    def press(self, name, option=None):
        self.control(name, option).evaluate(PRESS)

    def texts(self, *names) -> list[str]:
        """What stands under these names, all of it asked for at once."""
        read = "(e, names) => names.map(name => e.querySelector(`[data-value='${name}']`).innerText)"
        return [text.replace("−", "-").replace(",", "") for text in self.element.evaluate(read, names)]

    def text(self, name) -> str:
        return self.texts(name)[0]

    @property
    def says(self) -> str:
        return self.element.locator(".says").inner_text()

    def agrees(self, expected: dict) -> None:
        """Every number shown under these names is the expected one, to the digits that are shown."""
        shown = dict(zip(expected, self.texts(*expected), strict=True))
        wrong = {name: (shown[name], x) for name, x in expected.items() if not close(shown[name], float(x))}
        assert not wrong, f"shown and expected: {wrong}"

    def agrees_with(self, name, expected) -> None:
        self.agrees({f"{name}-{i}": x for i, x in enumerate(np.ravel(expected))})


def close(text: str, exact: float) -> bool:
    """Whether a shown number is the exact one, rounded to as many digits."""
    try:
        unit = 10.0 ** Decimal(text).as_tuple().exponent
    except ArithmeticError:
        return text == "NaN" and math.isnan(exact)
    return abs(float(text) - exact) <= 0.5001 * unit + 1e-9 * abs(exact)


def column(rows) -> np.ndarray:
    """Vectors of tokens, one a row in the data, as the reference keeps them."""
    return np.array(rows, dtype=float).T


def city_vector(word: str, pairs: list[str]) -> np.ndarray:
    """As chapter 2 makes it: pairs of neighbouring letters, counted, to length 1."""
    padded = f" {word.lower()} "
    counts = np.array([sum(padded[i : i + 2] == pair for i in range(len(padded))) for pair in pairs], dtype=float)
    return counts / max(np.linalg.norm(counts), 1.0)


@pytest.mark.parametrize("typed", [False, True])
def test_soft_lookup_answers_as_a_softmax_does(show, typed):
    """Catches weights of another temperature, a word read otherwise than in the chapter, an answer off the map."""
    data, shown = stored_data("soft-lookup"), show("soft-lookup")
    keys, values = column(data["keys"]), column(data["values"])
    for word, exponent in itertools.product(["Wien", "Paris-Lisbon", ""] if typed else data["words"], (-2, -1, 0, 0.5)):
        shown.set(word=word) if typed else shown.press("sample", word)
        shown.set(temperature=exponent)
        scores = keys.T @ city_vector(word, data["pairs"])
        weights = softmax(scores / 10**exponent, axis=0)
        shown.agrees({"temperature": 10**exponent})
        shown.agrees_with("score", scores)
        shown.agrees_with("weight", weights)
        shown.agrees_with("answer", values @ weights)
    shown.set(word="Oslo", temperature=-2)
    assert "no way to say “not found”" in shown.says
    shown.set(word="Bern")
    assert "answered with Berlin" in shown.says


def walk_agrees(shown, q, K, V, root):
    weights = attend(q, K, V)[1] if root else attention_weights(K.T @ q)
    scores = K.T @ q / (math.sqrt(len(q)) if root else 1)
    shown.agrees_with("score", scores)
    shown.agrees_with("exp", np.exp(scores))
    shown.agrees_with("weight", weights)
    shown.agrees_with("product", V * weights.T)
    shown.agrees({"exp-sum": np.exp(scores).sum(), "weight-sum": 1, "output": (V @ weights).item()})


def test_walk_takes_every_target_with_and_without_the_root(show):
    """Catches a step that is not attention's, or a root that divides the wrong thing."""
    data, shown = stored_data("attention-walk"), show("attention-walk")
    Q, K, V = column(data["queries"]), column(data["keys"]), np.array([data["values"]])
    shown.agrees({"output": 0.284, "exp-sum": 61.3, "weight-2": 0.0163})
    for root in (False, True):
        for n in (0, 1, 2, 3):
            shown.press("target", n)
            walk_agrees(shown, Q[:, [n]], K, V, root)
        shown.control("root").set_checked(not root)
    for step, word in ((1, "makes a query"), (2, "meets every key"), (3, "divided by their sum"), (4, "takes")):
        shown.press("step", step)
        assert word in shown.says and shown.element.locator("tr.lit").count() >= 1


def test_walk_follows_what_is_moved(show):
    """Catches a slider or a drag that moves another vector, and a start that cannot be found again."""
    data, shown = stored_data("attention-walk"), show("attention-walk")
    Q, K, V = column(data["queries"]), column(data["keys"]), np.array([data["values"]])
    q, moved_K, moved_V = Q[:, [2]].copy(), K.copy(), V.copy()
    shown.set(part_0=-1.5, part_1=2)
    q[:, 0] = -1.5, 2
    walk_agrees(shown, q, K, V, False)
    shown.control("part").select_option("key 3")
    shown.set(part_0=0.5, part_1=-0.5)
    moved_K[:, 3] = 0.5, -0.5
    shown.control("part").select_option("value 1")
    assert shown.control("part-1").is_disabled()
    shown.set(part_0=2)
    moved_V[0, 1] = 2
    walk_agrees(shown, q, moved_K, moved_V, False)
    shown.press("target", 0)
    shown.press("step", 2)
    shown.control("root").set_checked(True)
    shown.press("reset")
    walk_agrees(shown, Q[:, [2]], K, V, False)
    assert "takes" in shown.says  # the step of the start
    shown.control("part").select_option("query")
    plane = shown.element.locator("svg").last
    box = plane.bounding_box()
    plane.drag_to(plane, source_position={"x": 120, "y": 120}, target_position={"x": 0.75 * box["width"], "y": 30})
    q[:, 0] = float(shown.text("part-0")), float(shown.text("part-1"))
    assert q[0, 0] > 1 and q[1, 0] > 1
    walk_agrees(shown, q, K, V, False)


def test_heads_are_cut_as_torch_cuts_them(show):
    """Catches entries in another place than torch puts them, for every size that can be chosen."""
    shown = show("view-transpose")
    for N, H, K in itertools.product((2, 3, 4), (1, 2, 3), (1, 2, 3)):
        shown.set(tokens=N, heads=H, width=K)
        q = torch.tensor([[10 * n + d for d in range(H * K)] for n in range(1, N + 1)])
        for way, heads in (("transpose", q.unflatten(-1, (H, K)).transpose(0, 1)), ("view", q.view(H, N, K))):
            shown.press("way", way)
            cells = shown.element.locator('[data-value^="head-"]')
            read = cells.evaluate_all("all => all.map(e => [e.dataset.value.split('-')[1], e.innerText])")
            assert read == [[str(h), str(x)] for h, head in enumerate(heads.tolist()) for row in head for x in row]
    shown.set(tokens=3, heads=2, width=2, entry=6)
    assert "nothing of 3. The framed number is in head 0" in shown.says
    assert shown.element.locator('td[style*="outline"]').all_inner_texts() == ["21", "21"]


def turned_hands(width, base, place):
    hands = torch.cat((torch.ones(1, 1, 1, width // 2), torch.zeros(1, 1, 1, width // 2)), dim=-1).double()
    return Rotary(width, 100, base=base, dtype=torch.float64)(hands, slice(place, place + 1)).flatten()


def clock_score(width, base, late, n, s):
    if late:
        P = sinusoidal(100, width, first_pair=1)
        return P[:, n] @ P[:, s]
    return (turned_hands(width, base, n) @ turned_hands(width, base, s)).item()


def test_the_hands_of_the_clocks_turn_as_the_library_turns_them(show):
    """Catches hands that turn the other way round or shrink, which a score of two of them does not show."""
    shown = show("rotary-clock")
    shown.press("width", 8)
    shown.set(base=4, query=5, key=2, both=1)
    ends = "e => [...e.querySelectorAll('svg line.thick')].map(l => [l.x2.baseVal.value, -l.y2.baseVal.value])"
    drawn = np.array(shown.element.evaluate(ends)).reshape(4, 2, 2)  # pair, key and query, x and y
    for hand, place, length in ((0, 3, 34), (1, 6, 28)):
        expected = turned_hands(8, 10_000.0, place).view(2, 4).T.numpy()
        np.testing.assert_allclose(drawn[:, hand], length * expected, atol=1e-4)


def test_rotary_scores_know_the_distance_alone(show):
    """Catches hands turned by other angles than the library's, and a score that moves when both tokens do."""
    shown = show("rotary-clock")
    for width, base, late in ((2, 4, False), (8, 4, False), (16, 4, False), (16, 4, True), (4, 1.5, False)):
        shown.press("width", width)
        shown.set(base=base)
        shown.control("late").set_checked(late)
        for n, s in ((2, 1), (0, 5), (20, 0)):
            scores = set()
            for both in (0, 47):
                shown.set(query=n, key=s, both=both)
                expected = clock_score(width, 10.0**base, late, n + both, s + both)
                shown.agrees({"score": expected, "mean": 2 * expected / width, "distance": n - s, "base": 10**base})
                scores.add(shown.text("score"))
                pairs = list(map(float, shown.texts(*(f"pair-{i}" for i in range(width // 2)))))
                assert abs(sum(pairs) - expected) < 0.0006 * len(pairs)
            assert len(scores) == 1


def test_a_rotary_score_of_the_chapter_comes_back(show):
    """Catches a start from which the chapter's cos 1 = 0.54 and 6.137 cannot be found."""
    shown = show("rotary-clock")
    shown.press("width", 2)
    assert round(float(shown.text("score")), 2) == 0.54
    shown.press("width", 16)
    assert round(float(shown.text("mean")), 2) == 0.94
    shown.set(query=4)
    assert round(float(shown.text("mean")), 2) == 0.69
    shown.set(query=6)
    shown.agrees({"score": 6.137})


def mask_agrees(shown, data, mask, where, nudge):
    C, values = np.array(data["scores"]), np.array(data["values"])
    both = []
    for change in (nudge, 0):
        changed = C.copy()
        changed[-1] += change
        late = attention_weights(changed)
        both.append({"before": attention_weights(changed, mask), "after": late * mask, "none": late}[where])
    weights = both[0]
    outputs = [values @ A for A in both]
    seen = mask | (where == "none")
    shown.agrees({f"weight-{s}-{n}": weights[s, n] for s, n in np.argwhere(seen)})
    assert set(shown.texts(*(f"weight-{s}-{n}" for s, n in np.argwhere(~seen)))) <= {"×"} and not weights[~seen].any()
    shown.agrees_with("sum", weights.sum(axis=0))
    shown.agrees_with("output", outputs[0])
    shown.agrees_with("moved", outputs[0] - outputs[1])


def test_a_mask_hides_the_future_before_the_softmax_only(show):
    """Catches weights of another mask, and a leak that is not told, or told where there is none."""
    data, shown = stored_data("causal-mask"), show("causal-mask")
    for where, nudge in itertools.product(("before", "after", "none"), (-4, 0, 2)):
        shown.press("where", where)
        shown.set(nudge=nudge)
        mask_agrees(shown, data, causal_mask(5), where, nudge)
        assert ("A leak: outputs 1, 2, 3, 4 may" in shown.says) == (where == "after" and nudge != 0)
        assert ("No leak" in shown.says) == (where == "before" and nudge != 0)


def test_a_mask_can_be_painted(show):
    """Catches a cell that opens another one, and a target without any source."""
    data, shown = stored_data("causal-mask"), show("causal-mask")
    mask = causal_mask(5)
    shown.set(nudge=2)
    for s, n in ((4, 1), (0, 0), (2, 3), (0, 2)):
        shown.press(f"cell-{s}-{n}")
        mask[s, n] = not mask[s, n]
        mask_agrees(shown, data, mask, "before", 2)
    assert not mask[:, 0].any() and "outputs 1, 3, 4 may not see token 5" in shown.says
    shown.press("causal")
    mask_agrees(shown, data, causal_mask(5), "before", 2)


def test_a_cache_gives_what_attention_gives(show):
    """Catches weights or counts of another step, and outputs that depend on whether keys and values are kept."""
    data, shown = stored_data("kv-cache"), show("kv-cache")
    Q, K, V = (column(data[name]) for name in ("queries", "keys", "values"))
    outputs, _ = attend(Q, K, V, causal_mask(Q.shape[1]))
    for cached in ("true", "false"):
        shown.press("cache", cached)
        for n in range(1, Q.shape[1] + 1):
            shown.set(step=n)
            weights = attend(Q[:, [n - 1]], K[:, :n], V[:, :n])[1]
            shown.agrees_with("weight", weights)
            numbers = [float(x) for x in shown.text("output").strip("()").split()]
            np.testing.assert_allclose(numbers, outputs[:, n - 1], atol=0.00501)
            made = [3 if cached == "true" else 3 * i for i in range(1, n + 1)]
            kept = n * (len(K) + len(V)) if cached == "true" else 0
            shown.agrees({"now": made[-1], "so-far": sum(made), "kept": kept})
            states = shown.element.locator('[data-value^="query-"], [data-value^="key-"], [data-value^="value-"]')
            assert sum("made" in text for text in states.all_inner_texts()) == made[-1]
    shown.set(step=1)
    shown.press("next")
    assert shown.text("step") == "2"


def tiles_agree(shown, scores, values, n_tiles, size):
    read = min(n_tiles * size, len(scores))
    c, v = np.array(scores[:read]), np.array(values[:read], dtype=float)
    y, denominator = online_attention(torch.ones(1, 1, 1).double(), *(torch.tensor(x)[None, :, None] for x in (c, v)))
    assert y.item() == pytest.approx(softmax(c, axis=0) @ v)
    shown.agrees({"y": y.item(), "m": c.max()})
    shown.agrees_with("weight", softmax(c, axis=0))
    shown.agrees({"l": math.exp(denominator.item() - c.max()), "o": np.exp(c - c.max()) @ v})
    before = np.max(scores[: (n_tiles - 1) * size], initial=-np.inf)
    if n_tiles > 1:
        shown.agrees({"shrink": math.exp(min(before - c.max(), 0))})


@pytest.mark.parametrize("example", [0, 1])
def test_online_softmax_agrees_after_every_tile(show, example):
    """Catches a state that is not shrunk, or not enough, and tiles that end elsewhere."""
    data, shown = stored_data("online-softmax"), show("online-softmax")
    scores, values = data["scores"][example], data["values"][example]
    shown.press("example", example)
    shown.agrees({"whole": softmax(np.array(scores), axis=0) @ np.array(values)})
    for size in (1, 2, 3, 4):
        shown.set(size=size)
        for n_tiles in range(1, math.ceil(len(scores) / size) + 1):
            shown.press("next")
            tiles_agree(shown, scores, values, n_tiles, size)
        assert "Nothing is left to read" in shown.says and shown.control("next").is_disabled()
        assert shown.text("y") == shown.text("whole") == shown.text("naive")


def test_online_softmax_holds_large_scores_and_changed_ones(show):
    """Catches an overflow in what should survive it, none in what should not, and a score that stays."""
    data, shown = stored_data("online-softmax"), show("online-softmax")
    scores, values = list(data["scores"][0]), data["values"][0]
    shown.set(step=3)
    shown.agrees({"y": 15, "l": 1.75, "o": 26.25, "shrink": 1})
    shown.control("token").select_option("1")
    shown.set(changed=-2.5)
    scores[1] = -2.5
    tiles_agree(shown, scores, values, 3, 1)
    shown.control("large").check()
    tiles_agree(shown, [c + 1000 for c in scores], values, 3, 1)
    assert shown.text("naive") == "NaN"


@cache  # a hundred layers without a number in them still take a second
def gpt(n_vocab, n_positions, d_model, n_heads, n_layers, n_kv_heads):
    with torch.device("meta"):
        return GPT(GPTConfig(n_vocab, n_positions, d_model, n_heads, n_layers, n_kv_heads=n_kv_heads))


def calculator_agrees(shown, model, n_kv_heads, bits, sequences=1):
    D = model["H"] * model["K"]
    net = gpt(model["V"], model["N"], D, model["H"], model["M"], n_kv_heads)
    P = sum(p.numel() for p in net.parameters())
    cache = net.new_cache(sequences, model["N"])
    cached = sum(layer.k.numel() + layer.v.numel() for layer in cache.layers)
    per_number = max(bits / 8, 1)
    matrices = sum(p.numel() for name, p in net.named_parameters() if p.dim() == 2 and "positions" not in name)
    counted = 6 * matrices + 12 * model["M"] * D * model["N"]
    seconds = 6 * P * 300e9 / (64 * 989e12 * 0.4)
    shown.agrees(
        {
            "parameters": P,
            "operations": 6 * P * 300e9,
            "counted": counted * 300e9,
            "crossover": P * bits / 8 / (cached * per_number / sequences / model["N"]),
            "days": seconds / 86400,
            "cost": seconds / 3600 * 64 * 2,
        }
    )
    for name, size in (("weights", P * bits / 8), ("cache", cached * per_number), ("training-memory", 16 * P)):
        number, unit = shown.text(name).split()
        assert close(number, size / {"MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]), (name, number, unit, size)
    texts = shown.element.locator('[data-value^="part-"]').all_text_contents()  # in details that may be closed
    assert len(texts) == 5 and sum(int(text.replace(",", "")) for text in texts) == P


def test_the_calculator_counts_published_models(show):
    """Catches a part of a model that is left out or counted twice."""
    data, shown = stored_data("cost-calculator"), show("cost-calculator")
    known = {"GPT-3": 174_604_259_328, "GPT-2": 124_439_808}
    for i, model in enumerate(data["models"]):
        shown.press("model", i)
        for bits in (4, 8, 16):
            shown.press("bits", bits)
            calculator_agrees(shown, model, model["H"], bits)
        if model["name"] in known:
            assert shown.text("parameters") == str(known.pop(model["name"]))
    assert not known


def test_the_calculator_follows_every_size(show):
    """Catches a slider or a field that changes nothing, or something else, and heads that share keys and values."""
    shown = show("cost-calculator")
    shown.element.locator("summary").first.click()
    model = {"N": 4096, "M": 7, "H": 12, "K": 40, "V": 1234}
    shown.set(N=12, M=7, H=12, K=40, V=1234, sequences=5)
    for index, n_kv_heads in enumerate((12, 6, 4, 3, 2, 1)):
        shown.set(G=index)
        assert shown.text("G") == str(n_kv_heads)
        calculator_agrees(shown, model, n_kv_heads, 16, sequences=5)
    shown.set(G=0, sequences=100000)
    assert "times as large as the model" in shown.says
    for field, factor in (("tokens", 3), ("machines", 1 / 2), ("teraflops", 1 / 2), ("utilisation", 1 / 2)):
        before, value = float(shown.text("days")), float(shown.control(field).input_value())
        shown.set(**{field: value * factor})
        assert float(shown.text("days")) == pytest.approx(before * (factor if factor > 1 else 1 / factor), rel=0.01)
    before = int(shown.text("cost"))
    shown.set(price=6)
    assert int(shown.text("cost")) == pytest.approx(3 * before, abs=2)
    for wrong in ("", "0", "1.5", "-3"):
        shown.set(V=wrong)
        assert shown.says == "vocabulary: give a whole number from 1 to 10,000,000."
        assert shown.control("V").get_attribute("aria-invalid") == "true" and shown.text("days") == "–"
        assert shown.control("V").locator("xpath=..").inner_text().endswith("from 1 to 10,000,000.")
    shown.set(V=1234)
    assert shown.control("V").get_attribute("aria-invalid") == "false" and shown.text("days") != "–"
    assert shown.element.locator("[data-control=model][aria-pressed=true]").count() == 0  # no model has these sizes
    shown.press("model", 0)
    assert shown.element.locator("[data-control=model][aria-pressed=true]").count() == 1


def test_no_number_of_the_online_softmax_runs_into_the_next(show):
    """Catches columns that are narrower than their numbers, on a phone and with eight large scores."""
    shown = show("online-softmax")
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.press("example", 1)
    shown.control("large").set_checked(True)
    shown.set(step=8)
    narrow = "cells => cells.filter(c => c.scrollWidth > c.clientWidth).map(c => c.innerText)"
    assert shown.element.locator(".live table td").evaluate_all(narrow) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 375


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
def test_the_still_form_stays_without_scripts_and_on_paper(show, unscripted, tag):
    """Catches an empty frame where no script runs, and controls that are printed."""
    still = show(tag, page=unscripted).element
    assert still.locator(".still td").first.is_visible() and still.locator(".note").is_visible()
    shown = show(tag)
    assert shown.element.locator(".live").is_visible() and not shown.element.locator(".still").is_visible()
    shown.page.emulate_media(media="print")
    assert shown.element.locator(".still td").first.is_visible() and not shown.element.locator(".live").is_visible()
    shown.page.emulate_media(media="screen")


@pytest.fixture(scope="module")
def unscripted(browser):
    page = browser.new_page(java_script_enabled=False)
    yield page
    page.close()


def without(name):
    def change(html):
        data = json.loads(BeautifulSoup(html, "html.parser").script.string)
        del data[name]
        return re.sub(r'(json">).*?(</script>)', lambda m: m[1] + json.dumps(data) + m[2], html, flags=re.DOTALL)

    return change


BROKEN = [(tag, f"“{name}” is missing from its data", without(name)) for tag in TAGS for name in DATA[tag]] + [
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
    assert 0 < sum(size.values()) <= 45 * KILOBYTE
    for chapter in set(HOME.values()):
        needed = [file for tag in TAGS if HOME[tag] == chapter for file in extension.elements()[tag]]
        files = {file for file in needed if file.endswith(".js")}
        assert sum(size[file] for file in files) <= 15 * KILOBYTE, chapter


def test_a_page_loads_the_scripts_that_it_needs_and_no_others(built):
    """Catches scripts in the head of every page, and an element that a page never brings to life."""
    for page in CHAPTERS.values():
        path = built.pages / page
        loaded = {tag["src"].split("/")[-1].split("?")[0] for tag in soup(path).select("script[src*='explorables/']")}
        standing = [tag for tag in TAGS if HOME[tag] == page]
        needed = {file.split("/")[-1] for tag in standing for file in extension.elements()[tag] if file.endswith(".js")}
        assert loaded == needed, path.name
        assert [tag for tag in TAGS if soup(path).find(tag)] == standing


@pytest.mark.parametrize("chapter", sorted(set(HOME.values())))
def test_they_live_in_the_pages_of_the_book_opened_as_files(built, browser, chapter):
    """Catches what the real page does to them: a script that needs a server, an extension that hides a control."""
    page = browser.new_page()
    page.goto((built.pages / chapter).as_uri(), wait_until="load")
    page.evaluate("document.querySelectorAll('.explorable details').forEach(d => { d.open = true })")
    standing = [tag for tag in TAGS if HOME[tag] == chapter]
    assert page.locator(".explorable.alive .says:visible").count() == len(standing)
    controls = page.locator(".explorable [data-control]")
    assert controls.evaluate_all("all => all.filter(e => !e.checkVisibility()).map(e => e.outerHTML)") == []
    bars = page.locator(".explorable .bar")
    assert bars.evaluate_all("all => all.filter(e => e.clientWidth < 40).length") == 0
    page.close()
