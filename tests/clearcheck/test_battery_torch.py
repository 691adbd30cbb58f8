"""The entries of the standard battery on PyTorch: each refuses what it stands for, and no right answer."""

import pytest
import torch
from clearcheck import equals
from clearcheck.grading.evaluate import PASSED

from tests.clearcheck.battery_questions import Scaled, graded, messages, question, scaled_calls, tables


class KeepsWeights(Scaled):
    """Reads its weights the first time alone."""

    def forward(self, x):
        self.first = getattr(self, "first", self.scale.detach().clone())
        return self.first * x


def test_a_module_is_asked_again_after_its_weights_were_changed():
    """Would catch weights that are read once and kept."""
    asked = question(equals("values", 2, scaled_calls, Scaled), how="module")
    assert graded(asked, Scaled).status == PASSED
    assert "after its weights were changed" in messages(asked, KeepsWeights)


class KeepsFirstValue(Scaled):
    """Its gradient is cut."""

    def forward(self, x):
        return self.scale.detach() * x + 0 * self.scale.sum()


class OnlyShort(Scaled):
    def __init__(self, width):
        super().__init__(width)
        self.register_buffer("table", torch.ones(512))

    def forward(self, x):
        return self.scale * x * self.table[: x.shape[1], None]


class OfTrainMode(Scaled):
    def forward(self, x):
        return self.scale * x * (2 if self.training else 1)


class NoisyInTraining(Scaled):
    def forward(self, x):
        return self.scale * x + 1e-3 * torch.rand_like(x) * self.training


class ByView(Scaled):
    def forward(self, x):
        return (self.scale * x.view(-1, x.shape[-1])).view(x.shape)


class OneTokenLess(Scaled):
    def forward(self, x):
        return (self.scale * x).squeeze(1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (KeepsFirstValue, "Gradients should flow"),
        (OnlyShort, "With 600 tokens"),
        (OfTrainMode, "In train() and in eval() mode"),
        (NoisyInTraining, "In train() and in eval() mode"),
        (ByView, "a slice of a longer one"),
        (OneTokenLess, "With a single one of something"),
    ],
)
def test_a_module_is_tried_in_other_ways_than_its_author_draws(wrong, told):
    """Would catch a cut gradient, a table for 512 tokens, a mode or a seed that matters, and a `view` of a slice."""
    asked = question(equals("values", 2, scaled_calls, Scaled), how="module")
    assert graded(asked, Scaled).status == PASSED
    assert told in messages(asked, wrong)


class FromOnes(Scaled):
    pass


class Drawn(Scaled):
    def __init__(self, width):
        super().__init__(width)
        self.scale = torch.nn.Parameter(torch.randn(width))


class DrawnOnce(Scaled):
    def __init__(self, width):
        super().__init__(width)
        torch.manual_seed(7)
        self.scale = torch.nn.Parameter(torch.randn(width))


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [(FromOnes, Drawn, "does not begin with"), (Drawn, DrawnOnce, "begins with the same"), (Drawn, FromOnes, "same")],
)
def test_parameters_begin_as_the_task_says(right, wrong, told):
    """Would catch a gain that begins at random, and what should be drawn and comes from a fixed seed."""
    asked = question(equals("values", 2, scaled_calls, right), how="module", first_values=True)
    assert graded(asked, right).status == PASSED
    assert told in messages(asked, wrong)


def test_a_function_on_tensors_passes_gradients_on():
    """Would catch a detach, or a way through NumPy, in a function of PyTorch."""
    asked = question(equals("values", 2, tables, lambda x: x.tanh()), how="tensors")
    assert graded(asked, lambda x: x.tanh()).status == PASSED
    assert "without a gradient" in messages(asked, lambda x: x.tanh().detach())
    found = messages(asked, lambda x: x.tanh().detach() + 0 * x)
    assert "gradient of argument 1" in found
    assert "arguments" not in found  # what the plan of the call looks like is no help
    assert "a slice of a longer one" in messages(asked, lambda x: x.view(-1).tanh().view(x.shape))


def test_another_check_is_tried_as_well():
    """Would catch entries that hold for the first setting of a constructor alone."""

    class Causal(Scaled):
        def __init__(self, width, back=False):
            super().__init__(width)
            self.back = back

    class CutOff(Causal):
        def forward(self, x):
            return (self.scale.detach() + 0 * self.scale if self.back else self.scale) * x

    def backwards(rng):
        (plan,) = scaled_calls(rng)[0]
        return [({**plan, "sizes": {"width": 5, "back": True}},)]

    checks = equals("values", 2, scaled_calls, Causal), equals("back", 1, backwards, Causal)
    assert "Gradients" not in messages(question(*checks, how="module"), CutOff)
    assert "Gradients" in messages(question(*checks, how="module", also=("back",)), CutOff)
