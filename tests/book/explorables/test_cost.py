"""The online softmax and the calculator of costs: every number beside what the library computes."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from clearformer.attention.blockwise import online_attention
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.reference.functions import softmax

from tests.book.explorables.shown import close, stored_data


def tiles_agree(shown, scores, values, n_tiles, size):
    read = min(n_tiles * size, len(scores))
    c, v = np.array(scores[:read]), np.array(values[:read], dtype=float)
    y, denominator = online_attention(torch.ones(1, 1, 1).double(), *(torch.tensor(x)[None, :, None] for x in (c, v)))
    assert y.item() == pytest.approx(softmax(c, axis=0) @ v)
    shown.verify({"y": y.item(), "m": c.max()})
    shown.agrees_with("weight", softmax(c, axis=0))
    shown.verify({"l": math.exp(denominator.item() - c.max()), "o": np.exp(c - c.max()) @ v})
    before = np.max(scores[: (n_tiles - 1) * size], initial=-np.inf)
    if n_tiles > 1:
        shown.verify({"shrink": math.exp(min(before - c.max(), 0))})


@pytest.mark.parametrize("example", [0, 1])
def test_online_softmax_agrees_after_every_tile(show, example):
    """Catches a state that is not shrunk, or not enough, and tiles that end elsewhere."""
    data, shown = stored_data("online-softmax"), show("online-softmax").guess()
    scores, values = data["scores"][example], data["values"][example]
    shown.press("example", example)
    shown.verify({"whole": softmax(np.array(scores), axis=0) @ np.array(values)})
    for size in (1, 2, 3, 4):
        shown.set(size=size)
        for n_tiles in range(1, math.ceil(len(scores) / size) + 1):
            shown.press("next")
            tiles_agree(shown, scores, values, n_tiles, size)
        assert "Nothing is left to read" in shown.says and shown.control("next").is_disabled()
        assert shown.text("y") == shown.text("whole") == shown.text("naive")


def test_online_softmax_holds_large_scores_and_changed_ones(show):
    """Catches an overflow in what should survive it, none in what should not, and a score that stays."""
    data, shown = stored_data("online-softmax"), show("online-softmax").guess()
    scores, values = list(data["scores"][0]), data["values"][0]
    shown.set(step=3)
    shown.verify({"y": 15, "l": 1.75, "o": 26.25, "shrink": 1})
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
    shown.verify(
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
    data, shown = stored_data("cost-calculator"), show("cost-calculator").guess()
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
    shown = show("cost-calculator").guess()
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
    shown = show("online-softmax").guess()
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.press("example", 1)
    shown.control("large").set_checked(True)
    shown.set(step=8)
    narrow = "cells => cells.filter(c => c.scrollWidth > c.clientWidth).map(c => c.innerText)"
    assert shown.element.locator(".live table td").evaluate_all(narrow) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 375
