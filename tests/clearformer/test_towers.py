"""Towers for images: scaled parts, gates of DINOv2, and a learned query that pools the tokens, by hand."""

import json
import re
import sys
from functools import partial

import pytest
import torch
from clearformer.attention_pool import AttentionPool
from clearformer.block_variants import LayerScale, OutputNormBlock
from clearformer.models.vit import ViT, ViTConfig, every_token, first_and_mean_tokens
from clearformer.pretrained import from_pretrained, save_pretrained
from safetensors.torch import load_file

from tests.clearformer.families import CONFIGS, D, H, outputs_of_both, save_theirs, transformers
from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

SIZES = (12, 4, 2, 5, D, H, 2)
PYTHON_3_14 = sys.version_info >= (3, 14)


@torch.no_grad()
def test_a_learned_query_looks_at_every_token():
    pool = random_module(AttentionPool(D, D, n_heads=1, d_ff=7), torch.float64)
    x = torch.randn(2, 5, D, dtype=torch.float64)
    W, b = pool.attention.qkv.weight.split(D), pool.attention.qkv.bias.split(D)
    q, k, v = pool.query[0] @ W[0].T + b[0], x @ W[1].T + b[1], x @ W[2].T + b[2]
    y = pool.attention.out((q @ k.mT / D**0.5).softmax(-1) @ v)[:, 0]
    assert_close(pool(x), y + pool.feed_forward(pool.norm(y)))
    with pytest.raises(ValueError, match=f"AttentionPool: n_outputs=3, expected d_model={D}"):
        AttentionPool(D, 3, n_heads=1, d_ff=7)


@torch.no_grad()
def test_what_each_part_writes_is_scaled_feature_by_feature():
    scale = LayerScale(3, start=0.5)
    scale.weight[1] = -2.0
    assert torch.equal(scale(torch.ones(2, 3)), torch.tensor([[0.5, -2.0, 0.5]] * 2))
    block = random_module(OutputNormBlock(D, H, 30, output_norm=LayerScale), torch.float64)
    x = torch.randn(2, 5, D, dtype=torch.float64)
    y = x + block.attention(block.attention_norm(x))[0] * block.attention_output_norm.weight
    assert_close(block(x), y + block.feed_forward(block.feed_forward_norm(y)) * block.feed_forward_output_norm.weight)
    with pytest.raises(ValueError, match="LayerScale: start="):
        LayerScale(3, start=float("inf"))


@torch.no_grad()
def test_a_vit_with_other_parts_is_put_together_from_them():
    images = torch.randn(3, 2, 12, 12, dtype=torch.float64)
    beside = random_module(ViT(ViTConfig(*SIZES, pool=first_and_mean_tokens, patch_bias=False, norm_embeddings=True)))
    x = beside.encode(images)
    assert_close(beside(images), beside.head(torch.cat((x[:, 0], x[:, 1:].mean(1)), 1)))
    assert beside.head.in_features == 2 * D and beside.patches.bias is None and beside.norm.weight.shape == (D,)
    pooled = partial(AttentionPool, n_heads=H, d_ff=7)
    tower = random_module(ViT(ViTConfig(12, 4, 2, D, D, H, 2, n_class_tokens=0, pool=every_token, head=pooled)))
    assert_close(tower(images), tower.head(tower.encode(images)))
    with pytest.raises(ValueError, match="not first_and_mean_tokens"):
        ViTConfig(*SIZES, n_class_tokens=0, pool=first_and_mean_tokens)


@pytest.mark.parametrize("ratio", [4, 2.5])
@pytest.mark.parametrize("gated", [True, False])
@torch.no_grad()
def test_networks_of_dino_go_both_ways(gated, ratio, tmp_path):
    changes = {"use_swiglu_ffn": gated, "mlp_ratio": ratio, "use_mask_token": True}
    theirs = save_theirs("dinov2", tmp_path, torch.float64, **changes)
    ours = from_pretrained(tmp_path)
    assert_close(*outputs_of_both("dinov2", ours, theirs, torch.float64))
    save_pretrained(ours, tmp_path / "again")
    before, after = (load_file(folder / "model.safetensors") for folder in (tmp_path, tmp_path / "again"))
    assert before.keys() - after.keys() == {"dinov2.embeddings.mask_token"}  # which only pretraining needs
    assert all(torch.equal(before[name], after[name]) for name in after)
    assert json.loads((tmp_path / "again" / "config.json").read_text())["use_mask_token"] is False
    again = transformers.Dinov2ForImageClassification.from_pretrained(tmp_path / "again", dtype=torch.float64).eval()
    assert_close(*outputs_of_both("dinov2", ours, again, torch.float64))


@torch.no_grad()
def test_registers_stand_between_class_token_and_patches_and_are_not_pooled():
    images = torch.randn(3, 2, 12, 12, dtype=torch.float64)
    vit = random_module(ViT(ViTConfig(*SIZES, pool=first_and_mean_tokens, n_registers=4)), torch.float64)
    x = vit.encode(images)
    assert x.shape == (3, 1 + 4 + 9, D)
    assert_close(vit(images), vit.head(torch.cat((x[:, 0], x[:, 5:].mean(1)), 1)))
    vit.registers *= -2
    assert not torch.allclose(vit.encode(images)[:, 0], x[:, 0])
    assert ViT(ViTConfig(*SIZES)).registers is None
    with pytest.raises(ValueError, match="n_registers=-1"):
        ViTConfig(*SIZES, n_registers=-1)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
@torch.no_grad()
def test_a_pair_with_a_tower_for_texts_says_how_that_for_images_is_had_alone(kind, tmp_path):
    text = {"vocab_size": 11, "hidden_size": D, "intermediate_size": 20, "num_attention_heads": H}
    text |= {"num_hidden_layers": 1, "max_position_embeddings": 7, "projection_dim": 5, "projection_size": 5}
    whole = {"text_config": text, "vision_config": CONFIGS[f"{kind}_vision_model"], "projection_dim": 5}
    theirs = random_module(transformers.AutoModel.from_config(transformers.AutoConfig.for_model(kind, **whole)))
    theirs.eval().save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=rf"nearest that loads is {kind}_vision_model; .* a tower for texts") as caught:
        from_pretrained(tmp_path)
    name = re.search(r"alone with: transformers\.(\w+)\.from_pretrained\(folder\)", str(caught.value))[1]
    # transformers 5.2 takes the settings of the pair for those of the tower from Python 3.14 on
    options = {"config": transformers.AutoConfig.from_pretrained(tmp_path).vision_config} if PYTHON_3_14 else {}
    tower = getattr(transformers, name).from_pretrained(tmp_path, dtype=torch.float64, **options)
    tower.save_pretrained(tmp_path / "tower")
    images = torch.randn(3, 2, 12, 12, dtype=torch.float64)
    features = theirs.get_image_features(images)
    assert_close(from_pretrained(tmp_path / "tower")(images), getattr(features, "pooler_output", features))
