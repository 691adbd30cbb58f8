"""The examples by hand in the tasks of exercise 10, its museum piece, and its answers beside PyTorch."""

import numpy as np
import pytest
import torch
from clearformer.models.init import glorot
from clearformer.models.mae import MAE, MAEConfig, reconstruction_loss
from clearformer.models.vit import ViT, ViTConfig, mean_tokens
from clearformer.patches import patchify

from tests.exercises.authored import authored, cell

SLUG = "10-images"


def answer(id, *args):
    return authored(SLUG).right.of(id)[0].function(*args)


def task_of(id: str) -> str:
    return " ".join(cell(authored(SLUG).learner, f"{id}-task").split())


@pytest.mark.parametrize("class_token", [True, False])
def test_counted_as_the_library_builds_it(class_token):
    pool = {} if class_token else {"n_class_tokens": 0, "pool": mean_tokens}
    model = ViT(ViTConfig(8, 2, 1, 10, 32, 4, 2, 64, **pool))
    number = sum(p.numel() for p in model.parameters())
    assert answer("count", 8, 8, 1, 2, 32, 64, 2, 10, class_token) == number
    assert f"has {number}" in task_of("count")


def test_three_tokens_pooled():
    x = np.array([[[9.0, 1], [2, 4], [6, 0]]])
    assert answer("pool", x, np.array([[8.0, 4]])) == "B" and "(8, 4) can only come from B" in task_of("pool")
    assert answer("pool", x, np.array([[4.0, 2]])) == "C" and "(4, 2) only from C" in task_of("pool")


def test_two_heads_on_two_patches():
    A = np.full((1, 2, 3, 3), 1 / 3)
    A[0, :, 0] = [[0.8, 0.2, 0], [0, 0.2, 0.8]]
    assert "the map is 1/3, 2/3" in task_of("look")
    np.testing.assert_allclose(answer("look", A, 1), [[[1 / 3, 2 / 3]]])


def test_three_patches_hidden_and_restored():
    x, noise, P = np.array([[[1.0], [5], [3]]]), np.array([[0.7, 0.1, 0.4]]), np.array([[10.0], [20], [30]])
    tokens, hidden = answer("hide", x, noise, 2, np.array([-1.0]), P)
    assert tokens.ravel().tolist() == [9, 29, 37] and "tokens are 9, 29, 37" in task_of("hide")
    assert hidden.tolist() == [[True, False, False]]


def test_one_hidden_patch():
    drawn, patches = np.array([[[1.0, 2], [5, 5]]]), np.array([[[1.0, 4], [0, 0]]])
    loss, gradient = answer("loss", drawn, patches, np.array([[True, False]]))
    assert loss == 2 and gradient.tolist() == [[[0, -2], [0, 0]]]
    assert "The loss is (0 + 4) / 2 = 2, its gradient (0, −2) and (0, 0)" in task_of("loss")


@pytest.mark.parametrize("normalise", [False, True])
def test_loss_and_gradient_as_in_the_library(normalise):
    """Catches a variance, or a factor, that is not that of the auto-encoder which learners meet in the chapter."""
    torch.manual_seed(3)
    mae = MAE(MAEConfig(6, 2, 3, 8, 2, 1, 4, 2, 1, d_ff=7)).apply(glorot).double()
    images, noise = torch.randn(2, 3, 6, 6, dtype=torch.float64), torch.rand(2, 9, dtype=torch.float64)
    with torch.no_grad():
        drawn, hidden = mae(images, noise)
        expected = float(reconstruction_loss(mae, images, noise, normalise=normalise))
    arrays = drawn.numpy(), patchify(images, 2).numpy(), hidden.numpy()
    loss, _ = answer("loss", *arrays, normalise)
    assert loss == pytest.approx(expected, abs=1e-10)


def test_one_row_of_two_patches_becomes_four():
    P = np.array([[7.0], [0], [8]])
    assert answer("resize", P, (1, 2), (1, 4)).ravel().tolist() == [7, 0, 2, 6, 8]
    assert "P = (7, 0, 8) becomes (7, 0, 2, 6, 8)" in task_of("resize")


@pytest.mark.parametrize(("old", "new"), [((3, 5), (7, 11)), ((4, 3), (4, 10)), ((7, 5), (4, 3)), ((1, 2), (3, 1))])
def test_positions_as_pytorch_interpolates(old, new):
    """Catches grids that are laid corner on corner."""
    P = np.random.default_rng(1).normal(size=(1 + old[0] * old[1], 6))
    grid = torch.as_tensor(P[1:]).reshape(1, *old, 6).permute(0, 3, 1, 2)
    larger = torch.nn.functional.interpolate(grid, new, mode="bilinear", align_corners=False)
    np.testing.assert_allclose(answer("resize", P, old, new)[1:], larger[0].permute(1, 2, 0).reshape(-1, 6), atol=1e-12)


def test_the_experiments_accept_the_right_function_and_no_museum_piece(capsys):
    """Catches experiments that show what the task does not promise."""
    names = {"np": np}
    for id in ("tokens-museum", "tokens-experiments"):
        exec(cell(authored(SLUG).learner, id), names)
    of_the_museum = capsys.readouterr().out.split()
    names["experiments"](authored(SLUG).right.of("tokens")[0].function)
    lines = dict(line.split(":") for line in capsys.readouterr().out.splitlines())
    assert lines["square"].split() == ["6"]
    assert all(float(lines[name]) == 0 for name in ("company", "places", "class"))
    assert "6" not in of_the_museum and float(of_the_museum[-1]) > 1
