"""The models that chapter 16 builds from configuration files: their weights are the published ones, to the last."""

from types import SimpleNamespace

import pytest
import torch
from clearbook.today.rows import gallery

from tests.claims.pages import cells

PAGE = "chapters/16-todays-decoder.ipynb"
CELLS = ("setup", "setup-models", "glm-config", "config-attention", "config-latent", "config-experts")
CELLS += ("config-model", "config-others", "config-more")
HELD = [model.name for model in gallery().models.values() if model.get("weights")]
THEIRS = {  # the families as transformers names them, and options that our files translate or leave out
    "glm_moe_dsa": ("glm_moe_dsa", {}),
    "kimi_k2": ("deepseek_v3", {"n_group": 1, "topk_group": 1}),
    "glm4_moe": ("glm4_moe", {"use_qk_norm": True}),
    "qwen3_moe": ("qwen3_moe", {"num_experts": "n_routed_experts"}),
    "gpt_oss": ("gpt_oss", {"num_local_experts": "n_routed_experts", "intermediate_size": "moe_intermediate_size"}),
}


@pytest.fixture(scope="module")
def page():
    """What the cells define, run as they stand."""
    found: dict = {}
    for name in CELLS:
        exec("".join(cells(PAGE)[name]["source"]), found)
    return SimpleNamespace(**found)


def count(model) -> int:
    """All that is in a file of weights: parameters, and the biases of routers, which no gradient moves."""
    biases = sum(b.numel() for name, b in model.named_buffers() if name.endswith("e_score_correction_bias"))
    return sum(w.numel() for w in model.parameters()) + biases


def test_at_least_four_families_are_held(page):
    """Catches a table from which families have gone, and one that has none of this year."""
    assert len({page.PUBLISHED[name]["model_type"] for name in HELD}) >= 4
    assert any((gallery().model(name).get("released") or "").startswith("2026") for name in HELD)


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_a_model_from_its_configuration_has_the_published_weights(page, name):
    """Catches a norm, a bias or an indexer that is forgotten, and a size that was read wrongly."""
    with torch.device("meta"):
        built = page.built(page.PUBLISHED[name])
    assert count(built) == gallery().model(name).get("weights")


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_a_model_from_its_configuration_is_as_large_as_in_transformers(page, name):
    """Catches two errors that cancel out in the published number: the same of the first blocks, in other code."""
    import transformers  # takes seconds

    ours = page.PUBLISHED[name] | {"num_hidden_layers": 4}
    kind, options = THEIRS[ours["model_type"]]
    translated = {
        theirs: ours.get(value, value) if isinstance(value, str) else value for theirs, value in options.items()
    }
    told = {key: value for key, value in ours.items() if key not in ("model_type", "first_k_dense_replace")}
    dense = ours.get("first_k_dense_replace", 0)
    layers = {"mlp_layer_types": ["dense"] * dense + ["sparse"] * (4 - dense)} if kind == "glm_moe_dsa" else {}
    told |= {"first_k_dense_replace": dense} if kind != "glm_moe_dsa" else layers
    config = transformers.AutoConfig.for_model(kind, **told | translated)
    with torch.device("meta"):
        theirs, built = transformers.AutoModelForCausalLM.from_config(config), page.built(ours)
    assert count(built) == count(theirs)


def test_options_that_are_not_known_are_named(page):
    """Catches a reader that builds half of a model without a word."""
    with pytest.raises(ValueError, match="qwen3_5_moe: options that built does not know: linear_conv, linear_heads"):
        page.built(page.GLM_5 | {"model_type": "qwen3_5_moe", "linear_heads": 2, "linear_conv": 4})
