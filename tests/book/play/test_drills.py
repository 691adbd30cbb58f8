"""The drills with fields: formulas and verdicts in Node against the library, and a walk by keyboard."""

import json
import shutil
import subprocess

import pytest
from clearbook.drills.drill import KINDS, drill

from tools.play import shape_drill
from tools.setup.bootstrap import ROOT

FORMULA = ROOT / "tools" / "site" / "play" / "shape-drill" / "formula.js"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
NONSENSE = ["", "null", "[]", '{"tried": -1, "right": 2}', '{"tried": "a"}', "{", '{"tried": 1e99, "right": {}}']


def in_node(body: str, data) -> object:
    """What the script returns of `data`; `drills` are the functions of formula.js."""
    script = f"const drills = require({json.dumps(str(FORMULA))}), data = {json.dumps(data)};\n{body}"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize("name", KINDS)
def test_answers_and_verdicts_are_the_librarys(name):
    """Catches a formula that is read otherwise than Python reads it, and a slip that is told as another."""
    kind = next(kind for kind in shape_drill.data()["kinds"] if kind["name"] == name)
    asked = [drill(name, seed) for seed in range(5)]
    for one in asked:
        found = in_node(
            "console.log(JSON.stringify(Object.fromEntries(Object.entries(data.formulas).map("
            "([name, formula]) => [name, drills.evaluate(formula, data.sizes)]))))",
            {"formulas": kind["formulas"], "sizes": one.sizes},
        )
        assert found == {name: list(it) if isinstance(it, tuple) else it for name, it in one.answers.items()}
        for asked_name, slips in kind["slips"].items():
            for formula, hint in slips.items():
                given = eval(formula, dict(one.sizes))
                told = in_node(
                    "console.log(JSON.stringify(drills.judge(data.given, data.right, data.slips, data.sizes)))",
                    {"given": given, "right": one.answers[asked_name], "slips": slips, "sizes": one.sizes},
                )
                assert told == hint.removesuffix(".") or given == one.answers[asked_name]


@needs_node
def test_sizes_differ_and_stay_in_their_ranges():
    """Catches a question in which one axis can pass for another."""
    body = "console.log(JSON.stringify(data.flatMap(k => Array.from({length: 40}, () => drills.draw(k, Math.random)))))"
    kinds = shape_drill.data()["kinds"]
    for i, sizes in enumerate(in_node(body, kinds)):
        kind = kinds[i // 40]
        assert len(set(sizes.values())) == len(sizes) == len(kind["ranges"]) + len(kind["derived"])
        assert all(sizes[letter] in range(*bounds) for letter, bounds in kind["ranges"].items())


@needs_node
@pytest.mark.parametrize(
    ("text", "is_shape", "meant"),
    [
        ("(2, 3)", True, [2, 3]),
        ("2 × 3 x 4", True, [2, 3, 4]),
        ("[12,7]", True, [12, 7]),
        ("2 by 3", True, None),
        ("1,234", False, 1234),
        ("12 345", False, 12345),
        ("-3", False, None),
        ("1.5", False, None),
        ("", True, None),
    ],
)
def test_what_is_typed_is_read(text, is_shape, meant):
    assert in_node("console.log(JSON.stringify(drills.read(...data)))", [text, is_shape]) == meant


def test_a_question_is_answered_by_keyboard(opened, window):
    """Catches fields without names, a verdict that gives the answer away, and a count that a second check raises."""
    element = opened("shape-drill")
    fields = element.locator(".fields input")
    sizes = element.evaluate("e => e.sizes")
    n, k, v = (sizes[letter] for letter in "nkv")
    for name, answer in {
        "Q": (n, k),
        "K": (k, n),
        "V": (n, v),
        "scores": (n, n),
        "weights": (n, n),
        "O": (n, v),
    }.items():
        element.locator(f"[data-control={name}]").fill(" × ".join(map(str, answer)))
    fields.last.press("Enter")
    assert element.locator(".says").inner_text() == "5 of 6 right."
    told = element.locator("[data-value=told-K]").inner_text()
    assert told == "✗ the right sizes in the wrong order" and f"{n} × {k}" not in told
    assert "0 of 1" in element.locator("[data-value=count]").inner_text()
    element.locator("[data-control=K]").fill(f"{n}, {k}")
    fields.last.press("Enter")
    assert "6 of 6 right" in element.locator(".says").inner_text()
    assert "0 of 1" in element.locator("[data-value=count]").inner_text()
    element.get_by_role("button", name="New numbers").press("Enter")
    assert element.evaluate("e => e.sizes") != sizes and fields.first.input_value() == ""
    element.get_by_role("combobox").select_option(label="cache")
    element.get_by_role("button", name="Show the answers").press("Enter")
    assert "from 2·M·B·G·N·K" in element.locator("[data-value=told-numbers]").inner_text()
    assert window.complaints == []


@pytest.mark.parametrize("kept", NONSENSE)
def test_a_count_that_a_stranger_wrote_is_no_trouble(opened, window, kept):
    element = opened("shape-drill", before=f"localStorage.setItem('clearformer-play-shape-drill', {json.dumps(kept)})")
    element.locator(".fields input").first.wait_for()
    assert element.locator("[data-value=count]").inner_text() == "" and window.complaints == []
