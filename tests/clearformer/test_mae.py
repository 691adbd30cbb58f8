"""MAE: what is hidden stays hidden, patches come back in order, fixed positions, the loss, the classifier, errors."""

import math
from dataclasses import replace

import pytest
import torch
from clearformer.models.init import glorot
from clearformer.models.mae import MAE, MAEConfig, reconstruction_loss, sines_in_the_plane
from clearformer.models.vit import first_token, mean_tokens
from clearformer.multihead import MultiHeadAttention
from clearformer.patches import patchify, unpatchify
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import count, n_block, on_meta, overfit, random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

IMAGE, PATCH, C, D, H, M, DECODER, DECODER_H, DECODER_M, B, N = 12, 4, 2, 24, 6, 2, 20, 5, 3, 7, 9
CONFIG = MAEConfig(IMAGE, PATCH, C, D, H, M, DECODER, DECODER_H, DECODER_M, d_ff=44)


def mae(dtype=torch.float64, device="cpu", config=CONFIG):
    return random_module(MAE(config), dtype, device).eval()


def pictures(dtype=torch.float64, device="cpu"):
    return torch.randn(B, C, IMAGE, IMAGE, dtype=torch.float64).to(device, dtype)


def formula(c):
    n_pixels = c.n_channels * c.patch_size**2
    encoder = (n_pixels + 2) * c.d_model + c.n_layers * n_block(c.d_model, c.d_ff or 4 * c.d_model) + 2 * c.d_model
    hidden = c.d_decoder_ff or 4 * c.d_decoder
    decoder = (c.d_model + 2) * c.d_decoder + c.n_decoder_layers * n_block(c.d_decoder, hidden) + 2 * c.d_decoder
    return encoder + decoder + (c.d_decoder + 1) * n_pixels


@pytest.mark.parametrize("name", ["vit-mae-base", "vit-mae-large"])
def test_a_preset_has_as_many_parameters_as_the_formula(name):
    config = MAEConfig.preset(name)
    assert count(on_meta(lambda: MAE(config))) == formula(config)


def test_the_number_of_parameters_is_that_of_the_formula():
    assert count(MAE(CONFIG)) == formula(CONFIG)


def test_the_fixed_positions_are_those_of_the_formula():
    side, width = 3, 8
    expected = torch.zeros(1 + side * side, width)
    for row in range(side):
        for column in range(side):
            for i, place in enumerate((column, row)):
                for k in range(2):
                    angle = place / 10000 ** (2 * k / (width // 2))
                    expected[1 + row * side + column, 4 * i + k] = math.sin(angle)
                    expected[1 + row * side + column, 4 * i + 2 + k] = math.cos(angle)
    assert_close(sines_in_the_plane(side, width), expected)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), n_hidden=st.integers(1, N - 1))
def test_the_largest_noise_is_hidden_and_nothing_of_it_is_seen(seed, n_hidden):
    model, images = mae(), pictures()
    noise = torch.rand(B, N, generator=torch.Generator().manual_seed(seed))
    drawn, hidden = model(images, noise.double(), mask_ratio=n_hidden / N)
    threshold = noise.sort(dim=1).values[:, N - n_hidden, None]
    assert torch.equal(hidden, noise >= threshold)
    patches = patchify(images, PATCH)
    edited = unpatchify(torch.where(hidden[..., None], 7.0, patches), PATCH, IMAGE // PATCH)
    assert torch.equal(model(edited, noise.double(), mask_ratio=n_hidden / N)[0], drawn)


@pytest.mark.parametrize("device", DEVICES)
def test_patches_keep_their_places(device):
    """Which order the noise puts the visible patches into changes nothing, nor does that of the hidden ones."""
    model, images = mae(device=device), pictures(device=device)
    noise = torch.rand(B, N, dtype=torch.float64, device=device)
    drawn, hidden = model(images, noise)
    n_hidden = int(hidden[0].sum())
    assert n_hidden == N - int(N * 0.25)
    other = torch.rand(B, N, dtype=torch.float64, device=device) + hidden.double()
    again, hidden_again = model(images, other)
    assert torch.equal(hidden, hidden_again)
    assert_close(again, drawn)


def test_an_edited_visible_patch_changes_every_drawn_one():
    model, images, noise = mae(), pictures(), torch.arange(N, dtype=torch.float64).expand(B, N)
    edited = images.clone()
    edited[:, :, :PATCH, :PATCH] += 1  # patch 0 has the least noise, so it is visible
    drawn, hidden = model(images, noise)
    assert not hidden[:, 0].any() and ((model(edited, noise)[0] - drawn).abs().amax(-1) > 0).all()


def test_noise_comes_from_torch_unless_given():
    model, images = mae(), pictures()
    torch.manual_seed(1)
    a = model(images)[1]
    torch.manual_seed(1)
    assert torch.equal(a, model(images)[1]) and not torch.equal(a, model(images)[1])


@pytest.mark.parametrize("normalise", [True, False])
def test_the_loss_is_that_of_the_hidden_pixels(normalise):
    model, images, noise = mae(), pictures(), torch.rand(B, N, dtype=torch.float64)
    drawn, hidden = model(images, noise)
    patches = patchify(images, PATCH)
    if normalise:
        patches = (patches - patches.mean(-1, keepdim=True)) / (patches.var(-1, keepdim=True) + 1e-6).sqrt()
    expected = (drawn - patches)[hidden].square().mean()
    assert_close(reconstruction_loss(model, images, noise, normalise=normalise), expected)


def test_a_classifier_starts_with_a_copy_of_the_encoder():
    model, images = mae(), pictures()
    vit = model.classifier(5, mean_tokens)
    x = model.patches(patchify(images, PATCH)) + model.positions[1:]
    x = model.encoder(torch.cat(((model.class_tokens + model.positions[:1]).expand(B, -1, -1), x), dim=1))
    assert_close(vit.encode(images), x)
    assert vit(images).shape == (B, 5) and vit.config.pool is mean_tokens
    before = model.patches.weight.clone()
    with torch.no_grad():
        vit.patches.weight.add_(1)
    assert torch.equal(model.patches.weight, before)
    assert model.classifier(4).config.pool is first_token


@pytest.mark.slow
def test_it_draws_an_image_it_knows():
    model, images = MAE(CONFIG), pictures(torch.float32)[:2]
    noise = torch.rand(2, N)
    before, after = overfit(model, lambda m: reconstruction_loss(m, images, noise), n_steps=200)
    assert before > 0.8 and after < 0.1


def test_glorot_treats_queries_keys_and_values_as_three():
    attention = MultiHeadAttention(60, 4)
    attention.apply(glorot)
    bound = math.sqrt(6 / 120)
    for part in (*attention.qkv.weight.chunk(3), attention.out.weight):
        assert 0.97 * bound < part.abs().max() <= bound
    assert not attention.qkv.bias.any() and not attention.out.bias.any()


def test_a_ratio_of_nine_tenths_of_a_hundred_patches_leaves_ten():
    """Catches 9.999…, of which a whole number is 9."""
    config = replace(CONFIG, image_size=40, n_layers=1, n_decoder_layers=1, mask_ratio=0.9)
    _, hidden = MAE(config)(torch.randn(2, C, 40, 40))
    assert hidden.sum(1).tolist() == [90, 90]


def test_bad_input_is_named():
    model, images = mae(), pictures()
    assert refusal(ValueError, model, images[:, :1]) == snapshot(
        "MAE: images have shape (7, 1, 12, 12), expected (batch, channels, rows, columns) = (at least 1, 2, 12, 12). Resize or crop them, or build the model for their size."
    )
    assert refusal(ValueError, model, images, torch.rand(B, 8, dtype=torch.float64)) == snapshot(
        "MAE: noise of shape (7, 8), expected one number for every patch: (7, 9)."
    )
    for ratio in (0.0, 1.0, -0.5):
        with pytest.raises(ValueError, match=f"MAE: mask_ratio={ratio}, .*0 and 1"):
            model(images, mask_ratio=ratio)
    assert refusal(ValueError, model, images, mask_ratio=0.95) == snapshot(
        "MAE: mask_ratio=0.95 leaves 0 of 9 patches visible, expected 1 to 8. Choose a ratio between 0 and 1."
    )
    assert refusal(ValueError, replace, CONFIG, d_decoder=22) == snapshot(
        "MAEConfig: d_decoder=22, expected a multiple of 4: a sine and a cosine for each of two coordinates."
    )
    assert refusal(ValueError, replace, CONFIG, patch_size=5) == snapshot(
        "MAEConfig: patch_size=5 does not divide image_size=12. Choose one that does."
    )
    assert refusal(ValueError, MAEConfig.preset, "mae") == snapshot(
        "MAEConfig.preset: there is no 'mae'. Choose one of vit-mae-base, vit-mae-large."
    )


def test_a_linear_layer_alone_is_not_touched_by_glorot():
    """It works on what a module holds, so that it knows the name of a layer."""
    layer = nn.Linear(3, 4)
    before = layer.weight.clone()
    layer.apply(glorot)
    assert torch.equal(layer.weight, before)
