"""The examples by hand in the tasks of exercise 10, its museum piece, and its answers beside PyTorch."""

from functools import partial

import numpy as np
import pytest
import torch
from clearformer.models.init import glorot
from clearformer.models.mae import MAE, MAEConfig, reconstruction_loss
from clearformer.patches import patchify

from tests.exercises.course_exercises import answer_of, cell, course_exercise, in_one_breath, task_of

SLUG = "10-images"
answer = partial(answer_of, SLUG)
task = partial(task_of, SLUG)


def test_two_pixels_at_equal_distance():
    seen, labels = np.array([[[0.0, 0]], [[4, 4]]]), np.array([7, 5])
    assert answer("nearest", seen, labels, np.array([[[1.0, 3]], [[2, 3]]])).tolist() == [7, 5]
    assert in_one_breath(task("nearest"), "10", "10", "label is 7", "(2, 3)", "5")


def test_covering_what_is_grey_costs_nothing():
    W = np.array([[2.0, 0], [0, 3]])
    costs = answer("occlusion", np.array([[[1.0, 0]]]), np.array([0]), 1, 0.0, W, np.zeros(2))
    np.testing.assert_allclose(costs, [[0.566, 0]], atol=5e-4)
    assert "about 0.566" in task("occlusion")


def crosses(rng, n):
    """The pictures that are graded."""
    return course_exercise(SLUG).right.of("learn")[0].function.__globals__["crosses"](rng, n)


def test_the_pictures_of_the_notebook_are_those_of_the_check():
    """Catches marks or labels that differ between what a learner tries and what is graded."""
    names = {"torch": torch}
    exec(cell(course_exercise(SLUG).learner, "learn-pictures").split("\n\n\nfew,")[0], names)
    torch.manual_seed(0)
    patches, rows = names["crosses"](2000)
    other, other_rows = crosses(np.random.default_rng(0), 2000)
    for label in range(3):
        mine, theirs = patches[rows == label].mean(0).numpy(), other[other_rows == label].mean(0)
        np.testing.assert_allclose(mine, theirs, atol=0.15)


def test_the_nearest_neighbour_does_not_read_the_crosses():
    """Catches a threshold that the baseline reaches."""
    patches, rows = crosses(np.random.default_rng(1), 1000)
    right = answer("nearest", patches[:700], rows[:700], patches[700:]) == rows[700:]
    assert right.mean() < 0.79


def test_with_its_only_head_silent_attention_adds_the_bias_of_its_last_map():
    """Catches a task whose answer by hand is not that of the author's solution."""
    model = course_exercise(SLUG).right.of("silence")[0].function(7, 5, 6, 1, 4, head=0)
    added = []
    model.block.attention.register_forward_hook(lambda layer, given, out: added.append(out))
    model(torch.randn(3, 5, 7))
    torch.testing.assert_close(added[0], model.block.attention.out.bias.expand(3, 6, 6))
    assert "(The bias of the last map.)" in task("silence")


def test_the_baseline_of_the_core_question_needs_no_other_answer():
    """Catches a core path that stops at a question which is not core."""
    assert "nearest_labels" not in cell(course_exercise(SLUG).learner, "learn-try")


def test_one_hidden_patch():
    drawn, patches = np.array([[[1.0, 2], [5, 5]]]), np.array([[[1.0, 4], [0, 0]]])
    loss, gradient = answer("loss", drawn, patches, np.array([[True, False]]))
    assert loss == 2 and gradient.tolist() == [[[0, -2], [0, 0]]]
    assert in_one_breath(task("loss"), "(0 + 4) / 2 = 2", "gradient (0, −2)", "(0, 0)")


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
    assert in_one_breath(task("resize"), "P = (7, 0, 8)", "(7, 0, 2, 6, 8)")


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
        exec(cell(course_exercise(SLUG).learner, id), names)
    of_the_museum = capsys.readouterr().out.split()
    names["experiments"](course_exercise(SLUG).right.of("tokens")[0].function)
    lines = dict(line.split(":") for line in capsys.readouterr().out.splitlines())
    assert lines["square"].split() == ["6"]
    assert all(float(lines[name]) == 0 for name in ("company", "positions", "class"))
    assert "6" not in of_the_museum and float(of_the_museum[-1]) > 1
