"""A reader's own model: it runs, or a sentence says why not."""

import json
import re
from types import SimpleNamespace

import pytest
import torch
from clearbook.language_model import save_language_model
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.tokenizers import CharTokenizer
from safetensors.torch import load_file, save_file

from tests.book.live_transformer.element import SHIPPED, ZEN, logits, state, with_element, with_start

ODD = ["😀" * 10_000, "", "x" * 10_000, "\x00\x07\x1b" * 20, " \n\t" * 3334, "𝔘é" * 30]


def paste(page, text: str) -> None:
    """Put a text into the place of what stands there, as a reader does with a long one."""
    body = """const field = e.shadowRoot.getElementById("text"), clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", a);
        field.select();
        return field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));"""
    if with_element(page, body, text):  # left to the browser
        page.get_by_role("textbox").fill(text)


def test_a_readers_own_model_runs(visit, models, tmp_path):
    """Catches what the notebook saves and the page cannot read, or numbers that remain those of the model before."""
    page = visit("pairs", prompt="Now")
    tokenizer = models["characters"].tokenizer
    own = SimpleNamespace(model=models["characters"].exact, tokenizer=tokenizer)
    save_language_model(own.model, own.tokenizer, tmp_path)
    page.locator("input[type=file]").set_input_files([tmp_path / "model.safetensors", tmp_path / "config.json"])
    page.get_by_text("Your own model").wait_for()
    page.get_by_role("textbox").fill("Simple is é")
    found = state(page)
    assert found["ids"] == with_start(own, "Simple is é")
    torch.testing.assert_close(torch.tensor(found["logits"]), logits(own, found["ids"]), atol=1e-3, rtol=0)
    page.get_by_role("button", name="Back to the book's model").click()
    page.get_by_text("This model has").wait_for()
    assert state(page)["ids"] == with_start(models["pairs"], "Now")


def test_a_gpt_with_a_table_of_positions_and_a_head_of_its_own_runs(visit, tmp_path):
    """Catches positions that are not added, queries that are turned all the same, or logits by the embedding."""
    page, tokenizer = visit("pairs", prompt="Now"), CharTokenizer(ZEN)
    torch.manual_seed(0)
    model = GPT(GPTConfig(tokenizer.n_vocab + 1, 40, 15, 5, 2, tied=False)).eval()  # heads of width 3
    for weight in model.parameters():
        weight.data = (weight + 0.3 * torch.randn_like(weight)).half().float()
    save_language_model(model, tokenizer, tmp_path)
    page.locator("input[type=file]").set_input_files([tmp_path / "model.safetensors", tmp_path / "config.json"])
    page.get_by_text("Your own model").wait_for()
    page.get_by_role("textbox").fill("Simple is better")
    found, own = state(page), SimpleNamespace(model=model, tokenizer=tokenizer)
    torch.testing.assert_close(torch.tensor(found["logits"]), logits(own, found["ids"]), atol=1e-3, rtol=0)
    assert page.complaints == []


def test_a_folder_can_be_dropped(visit, models):
    """Catches a drop that opens the file in the browser, or reads nothing."""
    page, own = visit("pairs", start=False), models["characters"]
    files = {name: list((own.folder / name).read_bytes()) for name in ("config.json", "model.safetensors")}
    body = """const transfer = new DataTransfer(), options = { cancelable: true, bubbles: true, composed: true };
        for (const [name, bytes] of Object.entries(a)) transfer.items.add(new File([new Uint8Array(bytes)], name));
        const event = new DragEvent("drop", { ...options, dataTransfer: transfer });
        e.shadowRoot.getElementById("frame").dispatchEvent(event);
        if (!event.defaultPrevented) throw new Error("the browser would leave the page");"""
    with_element(page, body, files)
    page.get_by_text("Your own model").wait_for()
    assert state(page)["ids"] == with_start(own, "")


TOLD = {
    "width": {"d_model": 60},
    "vocabulary": {"n_vocab": 300},
    "heads": {"n_heads": 4},
    "sizes": {"n_layers": "two"},
    "flag": {"rotary": "no"},
    "table": {"rotary": False},
    "grouped": {"n_kv_heads": 1},
    "other": {"model_type": "gpt2"},
    "words": {"tokenizer": {"words": []}},
    "merges": {"tokenizer": {"merges": [[0, 999]]}},
}
HELD = {
    "foreign": {"h.0.attn.c_attn.weight": torch.ones(3, 4)},
    "whole numbers": {"tokens.weight": torch.ones(3, 4, dtype=torch.int64)},
}


def damaged_files(folder, own, damage: str) -> list:
    """Files of a model with one thing wrong."""
    folder.mkdir()
    config, weights = folder / "config.json", folder / "model.safetensors"
    told, held = json.loads((own.folder / config.name).read_text()), (own.folder / weights.name).read_bytes()
    config.write_text("{'n_vocab': 3}" if damage == "json" else json.dumps(told | TOLD.get(damage, {})))
    weights.write_bytes({"cut": held[:-100], "empty": b"", "text": b"This is no model at all."}.get(damage, held))
    if damage in HELD:
        save_file(HELD[damage], weights)
    if damage == "not finite":
        tensors = load_file(weights)
        tensors["decoder.blocks.1.attention.out.bias"][3] = float("nan")
        save_file(tensors, weights)
    return [config, weights]


BAD = {
    "cut": r"ends early: it has [\d]+ bytes and .* reaches to",
    "empty": "has 0 bytes, expected",
    "text": "no safetensors file",
    "foreign": r"holds 1 tensors, such as h\.0\.attn\.c_attn\.weight, and config\.json calls for",
    "whole numbers": "tokens.weight has numbers of the kind I64, expected one of F32",
    "not finite": r"decoder\.blocks\.1\.attention\.out\.bias holds numbers that are not finite",
    "width": r"has the shape .*30.*, expected .*60",
    "vocabulary": "n_vocab = 300 and a tokenizer of .* tokens",
    "heads": "d_model = 30 and n_heads = 4, expected heads of an even width",
    "sizes": 'n_layers = "two", expected a whole number',
    "flag": 'rotary = "no", expected true or false',
    "table": r"calls for \d+, such as positions\.weight, which is missing",
    "grouped": "names n_kv_heads, which this page cannot change",
    "other": 'a model of the kind "gpt2"',
    "words": "holds no tokenizer",
    "merges": r"Merge 0 of the tokenizer is \[0,999\], expected two ids below 256",
    "json": "config.json is no JSON",
}


def test_a_file_that_does_not_fit_is_refused_in_words(visit, models, tmp_path):
    """Catches a blank, a message of the machine's, or a model before that is lost."""
    page, own = visit("pairs", prompt="Now"), models["characters"]
    before = state(page)["logits"]
    for damage, words in BAD.items():
        page.locator("input[type=file]").set_input_files(damaged_files(tmp_path / damage, own, damage))
        page.wait_for_function(
            "!document.querySelector('live-transformer').shadowRoot.getElementById('told-own').textContent.startsWith('Reading')"
        )
        told = state(page)["told"]
        assert re.search(words, told), (damage, told)
        assert "undefined" not in told and state(page)["logits"] == before, damage
    assert page.complaints == []


@pytest.mark.parametrize("name, missing", [("config.json", "model.safetensors"), ("model.safetensors", "config.json")])
def test_a_file_alone_asks_for_the_other(visit, models, name, missing):
    """Catches a reader who is not told that a model is two files."""
    page = visit(start=False)
    page.locator("input[type=file]").set_input_files([models["pairs"].folder / name])
    page.get_by_text(f"{name} came, and {missing} is missing. Choose both files together").wait_for()
    told, chosen = (page.locator(part).bounding_box()["y"] for part in ("#told-own", "#mine"))
    assert 0 < told - chosen < 300  # below the button, where the reader looks


@pytest.mark.parametrize("name", ["characters", "pairs", *SHIPPED])
def test_any_text_is_read_or_refused_in_words(visit, models, name):
    """Catches a blank, an exception, a freeze or a text that is left out in silence."""
    own, page = models[name], visit(name)
    for text in ODD[1:2] if name in SHIPPED else ODD:  # what reads a text is the same for a large model, and slower
        paste(page, text)
        found = state(page)
        assert abs(sum(found["probabilities"]) - 1) < 1e-6
        assert page.get_by_role("list").get_by_role("button").count() == 10
        ids = with_start(own, page.get_by_role("textbox").input_value())
        assert found["ids"] == ids[found["dropped"] :]
        assert ("are left out" in found["note"]) == bool(found["dropped"])
        unknown = isinstance(own.tokenizer, CharTokenizer) and set(text) - set(own.tokenizer.characters)
        assert ("has never seen" in found["note"]) == bool(unknown)
        page.get_by_role("button", name="One token").click()
        found = state(page)
        assert len(found["ids"]) + found["dropped"] == len(ids) + 1
    assert page.complaints == []
