"""Checkpoints by their heads: none, another, one that is shared, and the labels and tokens that come along."""

import dataclasses
import json

import pytest
import torch
from clearformer.generation import generate
from clearformer.layers import RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from clearformer.pretrained import from_pretrained, save_pretrained
from clearformer.pretrained.folders import ARCHITECTURES
from inline_snapshot import snapshot

from tests.clearformer.families import (
    CONFIGS,
    SEES,
    B,
    D,
    H,
    V,
    loaded_by_theirs,
    missing_of,
    our_model,
    outputs_of_both,
    save_theirs,
    set_options,
    theirs_of,
    token_ids,
    transformers,
)
from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close


@pytest.mark.parametrize(("kind", "class_name"), [("gpt2", "GPT2Model"), ("bert", "BertForPreTraining")])
def test_checkpoints_of_related_classes_are_read(kind, class_name, tmp_path):
    """GPT2Model has no head, which is tied anyway; BertForPreTraining has one more, which is not needed."""
    theirs = theirs_of(kind)
    related = random_module(getattr(transformers, class_name)(theirs.config), torch.float32).eval()
    related.save_pretrained(tmp_path)
    mine = from_pretrained(tmp_path)(token_ids())
    found = related(token_ids())
    if kind == "gpt2":
        assert_close(mine, found.last_hidden_state @ related.wte.weight.T)
    else:
        assert_close(mine, found.prediction_logits)


BARE = {
    "bert": lambda ours, theirs: (ours.encode(token_ids()), theirs(token_ids()).last_hidden_state),
    "roberta": lambda ours, theirs: (ours.encode(token_ids()), theirs(token_ids()).last_hidden_state),
    "distilbert": lambda ours, theirs: (ours.encode(token_ids()), theirs(token_ids()).last_hidden_state),
    "modernbert": lambda ours, theirs: (ours.encode(token_ids()), theirs(token_ids()).last_hidden_state),
    "vit": lambda ours, theirs: (ours.encode(IMAGE), theirs(IMAGE).last_hidden_state),
    "dinov2": lambda ours, theirs: (ours.encode(IMAGE), theirs(IMAGE).last_hidden_state),
    "dinov2_with_registers": lambda ours, theirs: (ours.encode(IMAGE), theirs(IMAGE).last_hidden_state),
    "clip_vision_model": lambda ours, theirs: (ours.encode(IMAGE)[:, 0], theirs(IMAGE).pooler_output),
    "vit_mae": lambda ours, theirs: (ours.classifier(3).encode(IMAGE), last_hidden_of_mae(theirs)),
    "llama": lambda ours, theirs: (ours.hidden_states(token_ids()), theirs(token_ids()).last_hidden_state),
    "qwen2": lambda ours, theirs: (ours.hidden_states(token_ids()), theirs(token_ids()).last_hidden_state),
    "qwen3": lambda ours, theirs: (ours.hidden_states(token_ids()), theirs(token_ids()).last_hidden_state),
}
IMAGE = torch.randn(B, 2, 12, 12, generator=torch.Generator().manual_seed(1))


def last_hidden_of_mae(theirs):
    """Of all patches in their order, none of them hidden."""
    theirs.config.mask_ratio = 0.0
    return theirs(IMAGE, noise=torch.arange(9.0).expand(B, -1)).last_hidden_state


@pytest.mark.parametrize("kind", BARE)
@torch.no_grad()
def test_a_checkpoint_without_a_head_gives_a_model_without_one(kind, tmp_path):
    """The body is theirs, a call says what is missing instead of drawing from random weights, and it can be saved."""
    architecture = ARCHITECTURES[kind]
    bare_class = getattr(transformers, architecture.bare)
    changes = {"tie_word_embeddings": False} if kind == "llama" else {}  # a tied head is there with the embedding
    theirs = random_module(bare_class(theirs_of(kind, **changes).config), torch.float32).eval()
    theirs.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    with pytest.raises(ValueError, match=f"checkpoint was a {architecture.bare}.* {architecture.class_name}"):
        ours(IMAGE if kind in (*SEES, "vit_mae") else token_ids())
    save_pretrained(ours, tmp_path / "again")
    again, report = loaded_by_theirs(bare_class, tmp_path / "again", output_loading_info=True)
    assert not report["unexpected_keys"] and not [n for n in missing_of(kind, report) if "pooler" not in n], report
    assert json.loads((tmp_path / "again" / "config.json").read_text())["architectures"] == [architecture.bare]
    assert_close(*BARE[kind](ours, theirs))
    assert_close(*BARE[kind](from_pretrained(tmp_path / "again"), again.eval()))


@pytest.mark.parametrize(
    ("kind", "class_name"),
    [
        ("bert", "BertForSequenceClassification"),
        ("bert", "BertForTokenClassification"),
        ("gpt2", "GPT2ForSequenceClassification"),
        ("llama", "LlamaForSequenceClassification"),
        ("qwen2", "Qwen2ForTokenClassification"),
        ("qwen3", "Qwen3ForSequenceClassification"),
        ("vit", "ViTForMaskedImageModeling"),
    ],
)
def test_a_checkpoint_with_another_head_is_refused_with_a_cure_that_works(kind, class_name, tmp_path):
    """Catches a head that is dropped in silence, and an advice that does not help."""
    architecture = ARCHITECTURES[kind]
    config = type(theirs_of(kind).config)(**CONFIGS[kind] | ({"encoder_stride": 4} if kind == "vit" else {}))
    random_module(getattr(transformers, class_name)(config), torch.float32).save_pretrained(tmp_path / "folder")
    with pytest.raises(ValueError, match="is unexpected") as caught:
        from_pretrained(tmp_path / "folder")
    advice = f"transformers.{architecture.bare}.from_pretrained(folder).save_pretrained(other_folder)"
    assert advice in str(caught.value)
    names = {"transformers": transformers, "folder": tmp_path / "folder", "other_folder": tmp_path / "other"}
    exec(advice, names)
    from_pretrained(tmp_path / "other")


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("shared", [1, 4])
@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_heads_of_a_llama_may_be_shared_or_not_and_its_embedding_tied_or_not(kind, shared, tied, tmp_path):
    """As older releases wrote the folder: what is said of positions has another place."""
    changes = {"num_key_value_heads": shared, "tie_word_embeddings": tied}
    theirs = save_theirs(kind, tmp_path, **changes)
    set_options(tmp_path, rope_parameters=..., rope_theta=500.0, rope_scaling=None)
    if kind != "qwen3":  # whose heads have always had a width of their own
        set_options(tmp_path, head_dim=...)
    ours = from_pretrained(tmp_path)
    assert (ours.head.weight is ours.tokens.weight) == tied and ours.config.rope.keywords == {"base": 500.0}
    assert_close(*outputs_of_both(kind, ours, theirs, torch.float32))
    prompt = token_ids(4)
    expected = theirs.generate(prompt, max_new_tokens=6, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(generate(ours, prompt, 6), expected)
    save_pretrained(ours, tmp_path / "again")
    again = loaded_by_theirs(getattr(transformers, ARCHITECTURES[kind].class_name), tmp_path / "again").eval()
    assert_close(*outputs_of_both(kind, ours, again, torch.float32))


@pytest.mark.parametrize("kind", ["llama", "qwen2", "mistral"])
def test_heads_may_have_a_width_of_their_own_in_any_llama(kind, tmp_path):
    """Catches a width that is read in one family alone, is lost on saving, or meets rotary tables of another."""
    theirs = save_theirs(kind, tmp_path, head_dim=10)
    ours = from_pretrained(tmp_path)
    assert ours.config.d_head == 10 != D // H
    assert_close(*outputs_of_both(kind, ours, theirs, torch.float32))
    save_pretrained(ours, tmp_path / "again")
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "again").eval()
    assert_close(*outputs_of_both(kind, ours, again, torch.float32))


def test_queries_and_keys_of_a_qwen_are_normed_with_its_epsilon(tmp_path):
    """Catches the epsilon of RMSNorm's own, which is too small to be seen in other tests; and heads of 128."""
    theirs = save_theirs("qwen3", tmp_path, rms_norm_eps=0.5, head_dim=128)
    set_options(tmp_path, head_dim=...)
    assert_close(*outputs_of_both("qwen3", from_pretrained(tmp_path), theirs, torch.float32))


def test_labels_and_special_tokens_survive_both_ways(tmp_path):
    """Catches GPT-2's own end token, 50256, in a model of 37 words."""
    names = {0: "cat", 1: "dog", 2: "cow", 3: "hen", 4: "pig"}
    save_theirs("vit", tmp_path / "vit", id2label=names, label2id={name: i for i, name in names.items()})
    save_theirs("gpt2", tmp_path / "gpt2", eos_token_id=4, bos_token_id=3, pad_token_id=0)
    for kind in ("vit", "gpt2"):
        model = from_pretrained(tmp_path / kind)
        save_pretrained(model, tmp_path / "again")
        again = loaded_by_theirs(getattr(transformers, ARCHITECTURES[kind].class_name), tmp_path / "again").config
        if kind == "vit":
            assert again.id2label == names and again.label2id["hen"] == 3
        else:
            assert (again.bos_token_id, again.eos_token_id, again.pad_token_id) == (3, 4, 0)
    save_pretrained(our_model("gpt2"), tmp_path / "own")
    assert transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "own").config.eos_token_id is None
    save_pretrained(our_model("gpt2"), tmp_path / "own", labels_and_tokens={"eos_token_id": 5})
    assert transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "own").config.eos_token_id == 5


@pytest.mark.parametrize("given", [{"vocab_size": 3}, {"id2label": {0: "one label for five classes"}}])
def test_labels_and_tokens_that_do_not_fit_are_refused(given, tmp_path):
    with pytest.raises(ValueError, match=r"labels_and_tokens=.* for 5 classes"):
        save_pretrained(our_model("vit"), tmp_path / "new", labels_and_tokens=given)
    assert not (tmp_path / "new").exists()


def test_two_families_may_share_a_class(monkeypatch, tmp_path):
    """A family of rotary GPTs beside GPT-2: the configuration says which one a model is."""
    gpt2 = ARCHITECTURES["gpt2"]
    rows = tuple(row for row in gpt2.rows if row.ours != "positions.weight")
    own = {"rope": Rotary, "embedding_scale": 2.0}  # without the factor it would be a GPT-NeoX
    constants = gpt2.constants | own
    rotary = dataclasses.replace(gpt2, model_type="toy", class_name="Toy", rows=rows, constants=constants)
    monkeypatch.setitem(ARCHITECTURES, "toy", rotary)
    for kind, changes in (("gpt2", {}), ("toy", own)):
        model = random_module(GPT(GPTConfig(V, 11, D, H, 3, **changes)), torch.float32).eval()
        save_pretrained(model, tmp_path / kind)
        assert json.loads((tmp_path / kind / "config.json").read_text())["model_type"] == kind
        again = from_pretrained(tmp_path / kind)
        assert again.config.rope is changes.get("rope") and torch.equal(again(token_ids()), model(token_ids()))
    assert refusal(ValueError, save_pretrained, GPT(GPTConfig(V, 11, D, H, 1, norm=RMSNorm)), tmp_path) == snapshot(
        "save_pretrained: GPT2LMHeadModel has no option for norm=RMSNorm, there it is always LayerNorm; weights or attend not those of a GPT2LMHeadModel: decoder.blocks.0.attention_norm.bias, decoder.blocks.0.feed_forward_norm.bias, decoder.norm.bias. Save such a model with safetensors.torch.save_model."
    )


def test_a_gpt2_whose_head_is_its_own_goes_both_ways(tmp_path):
    theirs = save_theirs("gpt2", tmp_path, tie_word_embeddings=False)
    ours = from_pretrained(tmp_path)
    assert ours.head.weight is not ours.tokens.weight
    assert_close(*outputs_of_both("gpt2", ours, theirs, torch.float32))
    save_pretrained(ours, tmp_path / "again")
    again = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "again").eval()
    assert_close(*outputs_of_both("gpt2", ours, again, torch.float32))
