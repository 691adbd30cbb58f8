"""The examples by hand in the tasks of exercise 05, whose results are no single matrix."""

from functools import partial

import numpy as np
import pytest
import torch

from tests.exercises.course_exercises import course_exercise, in_one_breath, task_of

SLUG = "05-feed-forward"


def answer_class(id):
    return course_exercise(SLUG).right.of(id)[0].function


def answer(id, *args):
    return answer_class(id)(*args)


task = partial(task_of, SLUG)


def test_the_token_two_through_both_layers():
    layer_class, token = answer_class("feed-forward"), torch.full((1, 1, 1), 2.0)
    for gated, name in ((False, "GELU(2) = "), (True, "SiLU(2) · 2 = ")):
        layer = layer_class(1, 1, gated=gated, bias=False)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.fill_(1.0)
            assert f"{name}{layer(token).item():.3f}" in task("feed-forward")


def test_the_gelu_at_zero_and_one():
    values, slopes = answer("gelu", np.array([0.0, 1.0]))
    text = task("gelu")
    assert in_one_breath(text, f"GELU(0) = {values[0]:.0f}", f"slope {slopes[0]:.1f}")
    assert in_one_breath(text, f"GELU(1) = {values[1]:.3f}", f"slope {slopes[1]:.3f}")


@pytest.mark.parametrize(("wanted", "bias"), [([0, 1, 0], "[0]"), ([5, 6, 5], "[5]")])
def test_two_lamps(wanted, bias):
    _, _, W_2, b_2 = answer("lamp", np.array(wanted, dtype=float))
    assert W_2.tolist() == [[1, -2]] and b_2.astype(int).tolist() == eval(bias)
    assert f"`{wanted}`" in task("lamp") and bias in task("lamp")


def test_three_records():
    Y, experiments = np.array([[4.0], [7]]), []
    for name, chosen, came in (
        ("position-wise", [1, 0], [[7], [4]]),
        ("equivariant", [0, 0], [[5], [5]]),
        ("neither", [1, 0], [[4], [7]]),
    ):
        experiments.append((chosen, np.array(came, dtype=float)))
        assert answer("position-wise", Y, experiments) == name
        assert f"`({chosen}, {came})`" in task("position-wise")


def test_two_layers_of_width_one():
    stack = [(np.full((1, 1, 1), 2.0), np.ones(1)), (np.array([[[1.0]], [[3.0]]]), np.full(1, 10.0))]
    W, c = answer("lone-token", stack)
    assert in_one_breath(task("lone-token"), f"W = [[{W[0, 0]:.0f}]]", f"c = [{c[0]:.0f}]")


def test_a_unit_that_is_on_and_one_that_is_off():
    one = torch.ones(1, 1)
    for x, numbers in ((2.0, [15, 10, 5, 7, 1]), (-2.0, [0, 0, 0, 0, 1])):
        found = answer("gradient", torch.full((1, 1, 1), x), 3 * one, torch.ones(1), 5 * one, torch.ones(1, 1, 1))
        assert [gradient.item() for gradient in found] == numbers
    assert in_one_breath(task("gradient"), "15 by x", "10 by W₁", "5 by b₁", "7 by W₂", "1 by b₂")
    assert in_one_breath(task("gradient"), "gradients", "0, 0, 0, 0", "1")
