"""What the build adds to a page with the live transformer, and to no other."""

import base64
import json
from types import SimpleNamespace

import pytest
import torch
from bs4 import BeautifulSoup
from clearbook.language_model import load_language_model
from clearformer.tokenizers import CharTokenizer
from safetensors.torch import load, load_file

from tests.book.live import random_gpt, save
from tools import ROOT
from tools.extension import hooks
from tools.extension.live_transformer import SCRIPT, bring_weights, snippet
from tools.extension.live_weights import load_live_model, restored


@pytest.fixture
def models(tmp_path):
    tokenizer = CharTokenizer("The book. ")
    return save(tmp_path / "models" / "small", random_gpt(tokenizer, 30, 32, 2, 2), tokenizer).parent


def test_an_element_is_told_where_its_weights_lie_and_what_they_weigh(tmp_path, models):
    """Catches a click that leads nowhere, another model's weights, and a size typed by hand."""
    site = tmp_path / "site"
    body = bring_weights(
        '<p>a</p><live-transformer model="small" prompt="The ">x</live-transformer>', site, "../", models
    )
    script = (site / "live" / "small.js").read_text(encoding="utf-8")
    told = f'src="../live/small.js" megabytes="{len(script) / 1e6:.1f}"'
    assert body == f'<p>a</p><live-transformer model="small" prompt="The " {told}>x</live-transformer>'
    assert (site / SCRIPT).is_file()
    held = json.loads(script[script.index("] = ") + 4 : script.rindex("; })(")])
    assert held["config"] == (models / "small" / "config.json").read_text(encoding="utf-8")
    exact, shipped = load_file(models / "small" / "model.safetensors"), load(base64.b64decode(held["weights"]))
    assert len(base64.b64decode(held["weights"])) < 0.75 * (models / "small" / "model.safetensors").stat().st_size
    for name, weight in restored(shipped).items():
        step = exact[name].float().abs().amax(-1, keepdim=True) / 127 if weight.ndim == 2 else torch.zeros(())
        assert ((weight - exact[name].float()).abs() <= 0.51 * step).all(), name
    model, tokenizer = load_language_model(models / "small")
    ids = torch.tensor([[tokenizer.n_vocab, *tokenizer.encode("The book. " * 2)]])
    moved = (load_live_model(models / "small")[0](ids) - model(ids)).abs().max().item()
    assert 0 < moved < 5 * held["difference"] and held["difference"] < 0.5


def test_an_element_without_a_model_of_ours_stops_the_build(tmp_path, models):
    """Catches a page that is published with a button that cannot work."""
    with pytest.raises(FileNotFoundError, match="large"):
        bring_weights('<live-transformer model="large">', tmp_path / "site", "", models)
    with pytest.raises(ValueError, match="names no model"):
        bring_weights("<live-transformer>", tmp_path / "site", "", models)


def test_only_a_page_that_holds_the_element_gets_its_script(tmp_path):
    """Catches a script that weighs on every page of the book, and a path that is wrong in a folder."""
    added = []
    app = SimpleNamespace(outdir=tmp_path, add_js_file=lambda *arguments, **options: added.append(arguments))
    for page, body in (("index", "<p>no element</p>"), ("search", None)):
        hooks.bring_the_live_transformer(app, page, "", {"body": body}, None)
    assert added == [] and not list(tmp_path.iterdir())
    model = next(path.parent.name for path in sorted(ROOT.glob("models/*/config.json")))
    context = {"body": f'<live-transformer model="{model}"></live-transformer>'}
    hooks.bring_the_live_transformer(app, "chapters/09", "", context, None)
    assert added == [(f"../{SCRIPT}",)]
    assert f'src="../live/{model}.js"' in context["body"] and (tmp_path / "live" / f"{model}.js").is_file()


@pytest.mark.slow
def test_the_static_table_holds_the_numbers_that_the_started_model_shows_first():
    """Catches a picture of another prompt, a blank line that ends the element in Markdown, text that becomes markup."""
    name = next(path.parent.name for path in sorted(ROOT.glob("models/*/config.json")))
    page = BeautifulSoup(written := snippet(name, "for <b>\n\nThe "), "html.parser")
    assert "" not in written.splitlines() and page.find("b") is None
    assert page.find("live-transformer")["prompt"] == "for <b>\n\nThe "
    model, tokenizer = load_live_model(ROOT / "models" / name)
    ids = torch.tensor([[model.config.n_vocab - 1, *tokenizer.encode("for <b>\n\nThe ")]])
    p = (model(ids)[0, -1] / 0.8).softmax(-1).sort(descending=True).values
    kept = p[: int((p.cumsum(-1) < 0.95).sum()) + 1]
    likeliest = (kept / kept.sum())[:8].tolist()
    script = (ROOT / "tools" / "site" / "live" / "element.js").read_text(encoding="utf-8")
    assert "part.temperature.value = 0.8;" in script and 'part["top-p"].value = 0.95;' in script
    assert [row.select("td")[1].text for row in page.select("tr:has(td)")] == [f"{100 * p:.1f} %" for p in likeliest]
