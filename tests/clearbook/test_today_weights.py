"""Sizes of models against the numbers of weights that their sources state, by hand, and against code that runs them."""

import pytest
from clearbook.today.rows import gallery, read_gallery
from clearbook.today.schema import read_number
from clearbook.today.weights import weights

from tests.clearbook.small_gallery import SMALL, changed

HELD = gallery()


def counted() -> list[str]:
    """The models whose weights can be counted and whose source says how many there are."""
    names = []
    for model in HELD.models.values():
        try:
            weights(model)
        except ValueError:
            continue
        names += [model.name] if model.get("parameters") else []
    return names


@pytest.mark.parametrize("name", counted())
def test_sizes_give_the_number_of_weights_that_is_stated(name):
    """Catches a size that is wrong: weights counted from the sizes are within 2 % of the stated number, or within the
    digits in which it is written."""
    model = HELD.model(name)
    stated, half = read_number(model.get("parameters"))
    assert abs(weights(model) - stated) <= max(0.02 * stated, half)


def test_enough_models_agree_to_the_percent():
    """Catches counts that agree only because they are stated in one digit."""
    off = {
        name: abs(weights(HELD.model(name)) / read_number(HELD.model(name).get("parameters"))[0] - 1)
        for name in counted()
    }
    close = [name for name, error in off.items() if error < 0.02]
    experts = [name for name in close if HELD.model(name).get("experts")]
    assert len(experts) >= 8 and len(close) - len(experts) >= 6


@pytest.mark.parametrize("name", ["DeepSeek-V3", "GLM-4.5", "GLM-5", "Qwen3-235B-A22B", "gpt-oss-120b"])
def test_experts_give_the_weights_at_work(name):
    """Catches experts of which the wrong number works for a token, and a dense layer that was forgotten."""
    model = HELD.model(name)
    assert weights(model, active=True) == pytest.approx(read_number(model.get("active"))[0], rel=0.03)


def test_weights_by_hand():
    """Catches a matrix that is counted twice or not at all: four layers of width 8, with and without experts."""
    dense = read_gallery(SMALL).model("Small 1 B")
    attention, feed_forward = 8 * 8 + 2 * 8 * 4 + 8 * 8, 3 * 8 * 16
    assert weights(dense) == 2 * 10 * 8 + 4 * (attention + feed_forward)
    mixture = changed("code", "experts", {"routed": 6, "active": 2, "shared": 1, "d_ff": 5, "dense_layers": 1})
    layer = {n: 8 * 6 + (n + 1) * 3 * 8 * 5 for n in (2, 6)}
    model = read_gallery(mixture).model("Small 1 B")
    assert weights(model) == 2 * 10 * 8 + 4 * attention + feed_forward + 3 * layer[6]
    assert weights(model, active=True) == 10 * 8 + 4 * attention + feed_forward + 3 * layer[2]
    wider = changed("code", "experts", dict(model.get("experts")) | {"shared_d_ff": 7})
    assert weights(read_gallery(wider).model("Small 1 B")) == weights(model) + 3 * 3 * 8 * (7 - 5)


def test_latent_weights_by_hand():
    """Catches a map of latent attention that is forgotten: down, up, the turned key, the output."""
    data = changed("code", "attention", "latent")
    data["models"][0]["facts"]["code"] |= {
        "latent": {"query": 3, "key_value": 5, "unrotated": 2, "rotated": 1, "value": 7},
        "tied": True,
    }
    attention = (8 * 3 + 3 * 4 * 3) + 8 * (5 + 1) + 5 * 4 * (2 + 7) + 4 * 7 * 8
    assert weights(read_gallery(data).model("Small 1 B")) == 10 * 8 + 4 * (attention + 3 * 8 * 16)


@pytest.mark.parametrize("name", ["Kimi Linear 48B-A3B", "Gemma 4 31B", "DeepSeek-V4-Flash", "Whisper large-v3-turbo"])
def test_what_cannot_be_counted_is_told(name):
    """Catches a number for a model with parts of which nothing is counted."""
    with pytest.raises(ValueError, match=f"{name} has .* not counted here"):
        weights(HELD.model(name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("SmolLM2 135M", "Llama"), ("Qwen3 8B", "Qwen3")])
def test_counts_are_those_of_the_library_that_runs_the_model(name, kind):
    """Catches a formula that differs from code in use: all matrices of the model, built without memory."""
    import torch
    import transformers

    model = HELD.model(name)
    names = {"layers": "num_hidden_layers", "d_model": "hidden_size", "d_ff": "intermediate_size"}
    names |= {"heads": "num_attention_heads", "kv_heads": "num_key_value_heads", "d_head": "head_dim"}
    names |= {"vocabulary": "vocab_size", "tied": "tie_word_embeddings"}
    config = getattr(transformers, f"{kind}Config")(**{theirs: model.get(ours) for ours, theirs in names.items()})
    with torch.device("meta"):
        built = getattr(transformers, f"{kind}ForCausalLM")(config)
    assert weights(model) == sum(p.numel() for p in built.parameters() if p.ndim > 1)
