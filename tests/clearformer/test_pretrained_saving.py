"""Weights in the layout of transformers: what can be saved, what cannot, and a folder that is whole in any case."""

import json
import re
from functools import partial

import pytest
import torch
from clearformer.attention import SOFTMAX, attend_linear
from clearformer.layers import FeedForward, GatedFeedForward, LayerNorm, RMSNorm, gelu_tanh
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.models.vit import ViT, ViTConfig, mean_tokens
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import RelativeKeys, Rotary
from clearformer.pretrained import folders, from_pretrained, save_pretrained
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.families import D, H, V, llama, token_ids, told_distances
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close


def test_a_llama_says_what_it_cannot_be_saved_with(tmp_path):
    for changes, message in (
        ({"activation": torch.sin}, "hidden_act for activation=sin"),
        ({"rope": lambda width, n: None}, "no option for rope="),
        ({"norm": LayerNorm}, "norm=LayerNorm"),
        ({"qk_norm": LayerNorm}, "qk_norm=LayerNorm"),
        ({"qk_norm": partial(LayerNorm, bias=False)}, "no option for qk_norm="),
    ):
        with pytest.raises(ValueError, match=message):
            save_pretrained(llama(**changes), tmp_path)


@pytest.mark.parametrize("attend", SOFTMAX)
def test_what_gives_the_same_as_their_attention_is_saved(attend, tmp_path):
    """Catches a group for each head, which is no sharing, taken for something that GPT-2 lacks, too."""
    options = {"attention": partial(MultiHeadAttention, attend=attend)}
    model = GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=H), **options).eval()
    save_pretrained(model, tmp_path)
    assert_close(from_pretrained(tmp_path)(token_ids()), model(token_ids()))


def test_weights_that_they_have_no_place_for_are_not_left_out(tmp_path):
    """Attention without biases, with relative positions or without a softmax: nothing in the configuration tells."""
    parts = {"bias": (partial(MultiHeadAttention, bias=False), r"attention\.qkv\.bias")}
    parts["relative"] = (partial(MultiHeadAttention, relative=RelativeKeys(D // H, 2)), r"attention\.relative\.")
    parts["linear"] = (partial(MultiHeadAttention, attend=attend_linear), r"decoder\.blocks\.0\.attention")
    parts["bias by a rule"] = (partial(MultiHeadAttention, relative=lambda q, n: q.new_zeros(n)), "blocks.0.attention")
    for attention, message in parts.values():
        with pytest.raises(ValueError, match=f"not those of a GPT2LMHeadModel.*{message}"):
            save_pretrained(GPT(GPTConfig(V, 11, D, H, 1), attention=attention), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, rope=Rotary, window=3)), "window=3"),
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, norm=RMSNorm)), "norm=RMSNorm"),
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=2)), "n_kv_heads=2"),
        (lambda: GPT(GPTConfig(V, 11, D, H, 1, d_head=10)), "d_head=10"),
        (lambda: GPT(GPTConfig(V, 11, D, 5, 1, d_head=10)), "d_head=10"),
        (lambda: BERT(BERTConfig(V, 11, D, H, 1, activation=torch.sin)), "activation=sin"),
        (
            lambda: ViT(ViTConfig(12, 4, 2, 5, D, H, 1, n_class_tokens=0, pool=mean_tokens)),
            "ViTForImageClassification has no option for n_class_tokens=0",
        ),
        (lambda: Seq2Seq(Seq2SeqConfig(V, 11, D, H, 1)), "interleaved=True"),
        (
            lambda: told_distances("t5", feed_forward=partial(FeedForward, bias=False), activation=torch.sin),
            "T5ForConditionalGeneration .* activation=sin",
        ),
        (lambda: told_distances("umt5", feed_forward=GatedFeedForward), "UMT5ForConditionalGeneration .* head="),
    ],
)
def test_a_model_that_they_do_not_have_is_not_saved_as_another(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_pretrained(model(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_nearest_family_alone_says_why(tmp_path):
    """Catches a changed GPT-2 that is told what Llama and Qwen 2 lack."""
    with pytest.raises(ValueError) as caught:
        save_pretrained(GPT(GPTConfig(V, 11, D, H, 1, n_kv_heads=2)), tmp_path)
    assert re.search("GPT2LMHeadModel .*n_kv_heads=2", str(caught.value)) and "Llama" not in str(caught.value)


@pytest.mark.parametrize("rope", [Rotary, partial(Rotary), partial(Rotary, base=500.0)])
def test_a_rotary_is_saved_with_its_base_however_it_is_given(rope, tmp_path):
    save_pretrained(llama(rope=rope), tmp_path)
    expected = 500.0 if getattr(rope, "keywords", {}) else 10000.0
    assert json.loads((tmp_path / "config.json").read_text())["rope_theta"] == expected
    assert from_pretrained(tmp_path).config.rope.keywords == {"base": expected}


def test_a_compiled_model_is_saved_as_what_was_compiled(tmp_path):
    model = GPT(GPTConfig(V, 11, D, H, 1, activation=gelu_tanh)).eval()
    save_pretrained(torch.compile(model, backend="eager"), tmp_path)
    assert_close(from_pretrained(tmp_path)(token_ids(4)), model(token_ids(4)))


def test_a_block_that_stands_twice_is_not_saved_once(tmp_path):
    """Catches a model that comes back with half of its layers."""
    model = GPT(GPTConfig(V, 11, D, H, 1))
    model.decoder.blocks.append(model.decoder.blocks[0])
    with pytest.raises(ValueError, match=r"decoder\.blocks\.1\.attention\.qkv\.weight"):
        save_pretrained(model, tmp_path)


def test_saving_that_fails_leaves_the_older_model_whole(tmp_path, monkeypatch):
    """Catches files that are written in place: killed or with a full disk, they are one half of each."""
    model = GPT(GPTConfig(V, 11, D, H, 1))
    save_pretrained(model, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def raise_disk_full(tensors, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "save_file", raise_disk_full)
    with pytest.raises(OSError, match=rf"written to .*{tmp_path.name}.*No space left.*is whole"):
        save_pretrained(GPT(GPTConfig(V, 11, D, H, 2)), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_only_models_are_saved(tmp_path):
    assert refusal(TypeError, save_pretrained, nn.Linear(2, 3), tmp_path) == snapshot(
        "save_pretrained: cannot save a Linear, expected one of GPT, BERT, ModernBERT, ViT, MAE, Seq2Seq, LatentGPT."
    )
