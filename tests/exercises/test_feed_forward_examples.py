"""The examples by hand in the tasks of exercise 05, whose results are no single matrix."""

from functools import partial

import pytest
import torch
from clearformer import layers

from tests.exercises.course_exercises import course_exercise, in_one_breath, task_of

SLUG = "05-feed-forward"


def answer_class(id):
    return course_exercise(SLUG).right.of(id)[0].function


def answer(id, *args):
    return answer_class(id)(*args)


task = partial(task_of, SLUG)


@pytest.mark.parametrize(("id", "value"), [("feed-forward", "GELU(2) = "), ("gated", "SiLU(2) · 2 = ")])
def test_the_token_two_through_both_layers(id, value):
    layer = answer_class(id)(1, 1)
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            parameter.fill_(1.0 if name.endswith("weight") else 0.0)
        assert f"{value}{layer(torch.full((1, 1, 1), 2.0)).item():.3f}" in task(id)


def test_the_learners_layers_are_the_chapters():
    """Catches names of parameters that the library's layers, which the course loads weights into, do not have."""
    mine, theirs = answer_class("feed-forward")(6, 11), layers.FeedForward(6, 11)
    theirs.load_state_dict(mine.state_dict())
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(mine(x), theirs(x))
    gated, theirs = answer_class("gated")(6, 8), layers.GatedFeedForward(6, 8)
    theirs.gate_up.weight.data = torch.cat([gated.gate.weight.data, gated.up.weight.data])
    theirs.down.weight.data = gated.down.weight.data
    torch.testing.assert_close(gated(x), theirs(x))


def test_the_gelu_at_zero_and_one():
    values, slopes = answer("gelu", torch.tensor([0.0, 1.0]))
    text = task("gelu")
    assert in_one_breath(text, f"GELU(0) = {values[0]:.0f}", f"slope {slopes[0]:.1f}")
    assert in_one_breath(text, f"GELU(1) = {values[1]:.3f}", f"slope {slopes[1]:.3f}")


@pytest.mark.parametrize(("wanted", "bias"), [([0, 1, 0], "[0]"), ([5, 6, 5], "[5]")])
def test_two_lamps(wanted, bias):
    _, _, W_2, b_2 = answer("lamp", torch.tensor(wanted).float())
    assert W_2.tolist() == [[1, -2]] and b_2.int().tolist() == eval(bias)
    assert f"`{wanted}`" in task("lamp") and bias in task("lamp")


def test_three_records():
    Y, experiments = torch.tensor([[4.0], [7]]), []
    for name, chosen, came in (
        ("position-wise", [1, 0], [[7], [4]]),
        ("equivariant", [0, 0], [[5], [5]]),
        ("neither", [1, 0], [[4], [7]]),
    ):
        experiments.append((chosen, torch.tensor(came).float()))
        assert answer("position-wise", Y, experiments) == name
        assert f"`({chosen}, {came})`" in task("position-wise")


def test_two_layers_of_width_one():
    stack = [(torch.full((1, 1, 1), 2.0), torch.ones(1)), (torch.tensor([[[1.0]], [[3.0]]]), torch.full((1,), 10.0))]
    W, c = answer("lone-token", stack)
    assert in_one_breath(task("lone-token"), f"W = [[{W[0, 0]:.0f}]]", f"c = [{c[0]:.0f}]")


def test_a_unit_that_is_on_and_one_that_is_off():
    one = torch.ones(1, 1)
    for x, numbers in ((2.0, [15, 10, 5, 7, 1]), (-2.0, [0, 0, 0, 0, 1])):
        found = answer("gradient", torch.full((1, 1, 1), x), 3 * one, torch.ones(1), 5 * one, torch.ones(1, 1, 1))
        assert [gradient.item() for gradient in found] == numbers
    assert in_one_breath(task("gradient"), "15 by x", "10 by W₁", "5 by b₁", "7 by W₂", "1 by b₂")
    assert in_one_breath(task("gradient"), "gradients", "0, 0, 0, 0", "1")
