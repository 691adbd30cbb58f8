"""ViT: counts, poolings, class tokens and positions, symmetry, learning, errors."""

from dataclasses import replace

import pytest
import torch
from clearformer.models.vit import ViT, ViTConfig, first_token, mean_tokens, sum_tokens
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import count, n_block, on_meta, overfit, random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

IMAGE, PATCH, C, CLASSES, D, H, M, HIDDEN, B = 12, 4, 2, 5, 24, 6, 3, 20, 7
CONFIG = ViTConfig(IMAGE, PATCH, C, CLASSES, D, H, M, HIDDEN)
POOLED = replace(CONFIG, n_class_tokens=0, pool=mean_tokens)


def vit(config=CONFIG, dtype=torch.float64, device="cpu"):
    return random_module(ViT(config), dtype, device).eval()


def pictures(dtype=torch.float64, device="cpu"):
    return torch.randn(B, C, IMAGE, IMAGE, dtype=torch.float64).to(device, dtype)


def formula(c):
    hidden = 4 * c.d_model if c.d_ff is None else c.d_ff
    n_patches, n_pixels = (c.image_size // c.patch_size) ** 2, c.n_channels * c.patch_size**2
    tokens = n_pixels * c.d_model + c.d_model + c.n_class_tokens * c.d_model
    positions = (n_patches + c.n_class_tokens) * c.d_model
    head = c.n_classes * (c.d_model + 1)
    return tokens + positions + c.n_layers * n_block(c.d_model, hidden) + 2 * c.d_model + head


PUBLISHED = {
    "vit-base-patch16-224": 86_567_656,
    "vit-base-patch32-224": 88_224_232,
    "vit-large-patch16-224": 304_326_632,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_preset_has_the_published_number_of_parameters(name):
    config = ViTConfig.preset(name)
    assert count(on_meta(lambda: ViT(config))) == formula(config) == PUBLISHED[name]


@pytest.mark.parametrize("config", [CONFIG, POOLED, replace(CONFIG, n_class_tokens=3, d_ff=None)])
def test_the_number_of_parameters_is_that_of_the_formula(config):
    assert count(ViT(config)) == formula(config)


@pytest.mark.parametrize("device", DEVICES)
def test_patches_enter_as_by_a_convolution(device):
    model, images = vit(POOLED, device=device), pictures(device=device)
    model.encoder.blocks = nn.ModuleList()
    weight = model.patches.weight.unflatten(1, (C, PATCH, PATCH))
    x = nn.functional.conv2d(images, weight, model.patches.bias, stride=PATCH).flatten(2).transpose(1, 2)
    x = model.encoder.norm(x + model.positions.weight)
    assert_close(model(images), model.head(x.mean(1)))


@pytest.mark.parametrize("pool", [mean_tokens, sum_tokens])
def test_without_positions_a_pooled_model_does_not_see_the_order_of_patches(pool):
    """Swapping patches changes nothing once their positions are 0, and something before."""
    model, images = vit(replace(POOLED, pool=pool)), pictures()
    shuffled = images.unflatten(2, (-1, PATCH)).flip(2).flatten(2, 3)
    assert not torch.allclose(model(images), model(shuffled))
    with torch.no_grad():
        model.positions.weight.zero_()
    assert_close(model(images), model(shuffled))


def test_poolings_take_what_their_names_say():
    x = torch.randn(B, 9, D, dtype=torch.float64)
    assert torch.equal(first_token(x), x[:, 0])
    assert_close(sum_tokens(x), 9 * mean_tokens(x))
    first, mean = (vit(replace(CONFIG, pool=pool)) for pool in (first_token, mean_tokens))
    mean.load_state_dict(first.state_dict())
    images = pictures()
    assert first.encode(images).shape == (B, 10, D) and not torch.allclose(first(images), mean(images))
    assert_close(first(images), first.head(first.encode(images)[:, 0]))


@pytest.mark.parametrize("std", [0.02, 0.5])
def test_positions_begin_with_the_spread_asked_for(std):
    model = ViT(replace(CONFIG, image_size=80, position_std=std))
    assert abs(model.positions.weight.std().item() / std - 1) < 0.05
    assert model.patches.weight.abs().max() <= 0.04 and model.patches.weight.std() > 0.015


@pytest.mark.parametrize("config", [CONFIG, POOLED])
def test_it_learns_images_by_heart(config):
    model, images, labels = ViT(config), pictures(torch.float32), torch.arange(B) % CLASSES
    before, after = overfit(model, lambda m: nn.functional.cross_entropy(m(images), labels), n_steps=60)
    assert before > 1 and after < 0.1


def test_bad_input_is_named():
    assert refusal(ValueError, vit(), torch.zeros(B, C, IMAGE, 16, dtype=torch.float64)) == snapshot(
        "ViT: images have shape (7, 2, 12, 16), expected (batch, channels, rows, columns) = (at least 1, 2, 12, 12). Resize or crop them, or build the model for their size."
    )
    assert refusal(ValueError, replace, CONFIG, patch_size=5) == snapshot(
        "ViTConfig: patch_size=5 does not divide image_size=12. Choose one that does."
    )
    assert refusal(ValueError, replace, CONFIG, n_class_tokens=0) == snapshot(
        "ViTConfig: n_class_tokens=0, expected pool=mean_tokens or sum_tokens, not first_token."
    )
    assert refusal(ValueError, ViTConfig.preset, "vit-tiny") == snapshot(
        "ViTConfig.preset: there is no 'vit-tiny'. Choose one of vit-base-patch16-224, vit-base-patch32-224, vit-large-patch16-224."
    )
