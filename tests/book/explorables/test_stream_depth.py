"""A token and a gradient through a stack, as a reader moves them: beside LayerNorm and autograd of PyTorch."""

import itertools
import math

import pytest
import torch
from torch import nn

from tests.book.explorables.shown import stored_data

SUMS, NORMS = ("on", "off"), ("none", "before", "after")
GAINS = [i / 10 for i in range(1, 21)]
LOW, HIGH = 1 / 4, 4


def through(data, added, norm, gain):
    """The spread of the token at the top, and the length of the gradient at the bottom."""
    parts, token, gradient = (torch.tensor(data[name], dtype=torch.float64) for name in ("parts", "token", "gradient"))
    layer_norm = nn.LayerNorm(len(token), elementwise_affine=False, dtype=torch.float64)
    x = bottom = token.requires_grad_()
    for matrix in parts:
        update = gain * matrix @ (layer_norm(x) if norm == "before" else x)
        x = x + update if added == "on" else update
        x = layer_norm(x) if norm == "after" else x
    (arriving,) = torch.autograd.grad(x, bottom, gradient)
    return x.detach().std(unbiased=False).item(), arriving.norm().item()


def place(arriving):
    return "under" if arriving < LOW else "over" if arriving > HIGH else "between"


def choose(shown, added, norm):
    shown.press("sum", added)
    shown.press("norm", norm)


def open_lines(shown, added, norm, gain=1.0):
    """An arrangement with its lines shown, once it has been guessed."""
    choose(shown, added, norm)
    shown.set(gain=gain)
    shown.press(f"guess-{place(through(stored_data('stream-depth'), added, norm, gain)[1])}")


@pytest.mark.parametrize(("added", "norm"), itertools.product(SUMS, NORMS))
def test_both_numbers_are_those_of_torch(show, added, norm):
    """Catches a norm in another place, one without epsilon, a gradient that misses the sum or the norm's mean."""
    shown, data = show("stream-depth"), stored_data("stream-depth")
    open_lines(shown, added, norm)
    assert shown.says.startswith("Right: ")
    for gain, scaled in itertools.product((0.1, 0.7, 2.0), (False, True)):
        shown.control("scaled").set_checked(scaled)
        shown.set(gain=gain)
        share = 1 / math.sqrt(len(data["parts"])) if scaled else 1
        spread, gradient = through(data, added, norm, gain * share)
        shown.verify({"spread": spread, "gradient": gradient})
    assert shown.page.complaints == []


def test_a_guess_comes_first_and_is_counted(show):
    """Catches numbers or lines before the guess, a wrong guess called right, one that is counted twice."""
    shown = show("stream-depth")
    assert shown.says.startswith("Guess") and shown.texts("spread", "gradient", "gradients") == ["?"] * 3
    assert shown.element.locator("polyline").count() == 0
    wrong = next(
        it for it in ("under", "over") if it != place(through(stored_data("stream-depth"), "off", "none", 1)[1])
    )
    shown.press(f"guess-{wrong}")
    assert shown.says.startswith("No: ") and shown.texts("predicted", "asked") == ["0", "1"]
    assert shown.element.locator("polyline").count() == 2
    assert shown.element.locator("[data-control^=guess]:visible").count() == 0
    open_lines(shown, "on", "before")
    assert shown.says.startswith("Right: ") and shown.texts("predicted", "asked") == ["1", "2"]
    choose(shown, "off", "none")
    assert shown.text("gradient") != "?" and shown.texts("predicted", "asked") == ["1", "2"]


def test_three_arrangements_reach_the_goal(show):
    """Catches a goal that more or fewer arrangements reach than it says, or that is called reached too early."""
    shown, data = show("stream-depth"), stored_data("stream-depth")
    reached = []
    for added, norm in itertools.product(SUMS, NORMS):
        open_lines(shown, added, norm)
        for scaled in (False, True):
            shown.control("scaled").set_checked(scaled)
            share = 1 / math.sqrt(len(data["parts"])) if scaled else 1
            numbers = [x for gain in GAINS for x in through(data, added, norm, gain * share)]
            held = all(LOW <= x <= HIGH for x in numbers)
            assert ("This is one of the three" in shown.says) == held, (added, norm, scaled)
            reached += [(added, norm, scaled)] if held else []
        shown.control("scaled").set_checked(False)
    assert {(added, norm) for added, norm, _ in reached} == {("on", "before"), ("on", "after"), ("off", "after")}
    assert [scaled for added, norm, scaled in reached if norm == "before"] == [True]  # needs the box
