"""What dropout takes from each part of a block: every wrong way has a sentence of its own."""

import numpy as np
import pytest
from clearcheck import holds
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_dropout import numbers_dropped
from clearcheck.worker.torch_calls import on_module

from .torch_question import asks, nn, result_of, torch

PARTS = {"first": "the first part", "second": "the second part"}
WIDTH, RATE = 8, 0.3


def draw_args(rng):
    weights = {f"{name}.weight": rng.normal(size=(WIDTH, WIDTH)) for name in PARTS}
    weights |= {f"{name}.bias": rng.normal(size=WIDTH) for name in PARTS}
    return module_call({"dropout": RATE}, (rng.normal(size=(9, 20, WIDTH)),), weights=weights)


def draw_unbiased(rng):
    (plan,) = draw_args(rng)
    return ({**plan, "weights": plan["weights"] | {"first.bias": np.zeros(WIDTH)}},)


def dropout_message(
    forward: str, drop: str = "F.dropout(y, p, self.training)", inner: str = "x", inside: tuple[str, ...] = ()
) -> str:
    """What is told of a stream with two parts; nothing where all is right."""
    text = f"""
class Block(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.first, self.second, self.p = nn.Linear({WIDTH}, {WIDTH}), nn.Linear({WIDTH}, {WIDTH}), dropout

    def drop(self, y):
        p = self.p
        return {drop}

    def inner(self, x):
        p = self.p
        return {inner}

    def forward(self, x):
        {forward}
"""
    made = {"torch": torch, "nn": nn, "F": nn.functional}
    exec(text, made)
    question = asks(
        holds("dropout", 1, numbers_dropped(draw_unbiased if inside else draw_args, PARTS, inside)), name="Block"
    )
    [check] = result_of(made["Block"], question).checks
    assert bool(check.points) != bool(check.message)
    return check.message


EACH = "x = x + self.drop(self.first(x)); return x + self.drop(self.second(x))"


@pytest.mark.parametrize(
    ("forward", "drop"),
    [
        (EACH, "F.dropout(y, p, self.training)"),
        (EACH, "y * torch.bernoulli(0 * y + 1 - p) / (1 - p) if self.training else y"),
        (
            "y = self.drop(self.first(x)); return x + y + self.drop(self.second(x + y))",
            "nn.Dropout(p).train(self.training)(y)",
        ),
    ],
)
def test_right_dropout_is_let_pass_however_it_is_written(forward, drop):
    """Catches a test that asks for one spelling, or for one order of the random numbers."""
    assert dropout_message(forward, drop) == ""


@pytest.mark.parametrize(
    ("forward", "says"),
    [
        ("x = x + self.drop(self.first(x)); return x + self.second(x)", "the second part alone"),
        ("x = x + self.first(x); return x + self.second(x)", "the first part alone"),
        ("x = self.drop(x + self.first(x)); return x + self.drop(self.second(x))", "the first part alone"),
        ("x = x + self.first(self.drop(x)); return x + self.drop(self.second(x))", "the first part alone"),
        ("x = x + self.first(x); x = self.drop(x); return x + self.drop(self.second(x))", "the first part alone"),
        (
            "x = x + self.drop(self.drop(self.first(x))); return x + self.drop(self.second(x))",
            "the first part alone",
        ),
        (
            "keep = self.drop(torch.ones_like(x)); x = x + keep * self.first(x); return x + keep * self.second(x)",
            "parts lose the same numbers",
        ),
        (
            "x = torch.tanh(x); x = x + self.drop(self.first(x)); return x + self.drop(self.second(x))",
            "give back its input",
        ),
        ("return x[0]", f"tensor of shape (9, 20, {WIDTH})"),
    ],
)
def test_dropout_in_the_wrong_place_is_told(forward, says):
    """Catches a part that is not dropped, a stream that is, and a test that looks at the sum of the parts alone."""
    assert says in dropout_message(forward)


@pytest.mark.parametrize(
    ("drop", "says"),
    [
        ("F.dropout(y, 1 - p, self.training)", "be 0 or 1/(1 − p)"),
        ("y * (torch.rand_like(y) > 0.5) / (1 - p) if self.training else y", "p = 0.3 your module drops"),
        ("y * (torch.rand_like(y) > p) if self.training else y", "1/(1 − p) times that of eval()"),
        ("F.dropout(y, p)", "be 0 or 1/(1 − p)"),
        ("y * F.dropout(torch.ones_like(y[:1]), p, self.training)", "whole tokens, features or positions"),
        ("y * F.dropout(torch.ones_like(y[:, :1]), p, self.training)", "whole tokens, features or positions"),
        ("y * F.dropout(torch.ones_like(y[..., :1]), p, self.training)", "whole tokens, features or positions"),
    ],
)
def test_another_rate_and_whole_slices_are_told(drop, says):
    """Catches a rate that is told from no other, what is kept and not scaled up, and numbers that fall together."""
    assert says in dropout_message(EACH, drop)


def test_the_share_that_is_dropped_may_vary_by_chance():
    """Catches a right answer that is refused for a draw: the rate is met within a share that chance hardly leaves."""
    shares = np.random.default_rng(0).binomial(9 * 20 * WIDTH, RATE, size=10_000) / (9 * 20 * WIDTH)
    assert np.abs(shares - RATE).max() < 0.08


def test_what_is_dropped_does_not_depend_on_what_the_constructor_drew():
    """Catches numbers that go on where the constructor's ended: another right answer would drop other entries."""

    class Dropped(nn.Module):
        def __init__(self, n_drawn):
            super().__init__()
            torch.rand(n_drawn)

        def forward(self, x):
            return nn.functional.dropout(x, 0.5)

    x = np.ones((4, 6), np.float32)
    none, some = (on_module(Dropped, module_call({"n_drawn": n}, (x,), training=True)) for n in (0, 3))
    np.testing.assert_array_equal(none, some)
    assert set(np.unique(none)) == {0, 2}


ONE_WEIGHT = "x * F.dropout(torch.ones_like(x[..., :1]), p, self.training)"


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        (ONE_WEIGHT, ""),
        ("x", "Inside of the first part nothing is dropped in train() mode: hand the rate on to it."),
        ("F.dropout(x, p, self.training)", "be 0 or 1/(1 − p)², since weights inside are dropped, too, times"),
        (f"F.dropout({ONE_WEIGHT}, p, self.training)", "be 0 or 1/(1 − p)², since weights inside are dropped, too,"),
    ],
)
def test_what_is_dropped_inside_a_part_is_asked_for(inner, told):
    """Catches a rate that is not handed on to a part, one that is refused where the task asks for it, and what the part
    reads dropped as well.
    """
    forward = "x = x + self.drop(self.first(self.inner(x))); return x + self.drop(self.second(x))"
    message = dropout_message(forward, inner=inner, inside=("first",))
    assert told in message and bool(told) == bool(message)


def test_a_part_that_drops_inside_alone_is_told_so():
    """Catches a learner who is sent to what is right, the weights inside, where what the part adds is not dropped."""
    forward = "x = x + self.first(self.inner(x)); return x + self.drop(self.second(x))"
    message = dropout_message(forward, inner=ONE_WEIGHT, inside=("first",))
    assert "dropped inside of the first part, and nothing of what it adds" in message


def test_two_parts_that_lose_the_same_numbers_are_told_though_one_loses_more_inside():
    """Catches one draw for all parts that hides behind what is dropped inside of one."""
    forward = (
        "keep = self.drop(torch.ones_like(x)); x = x + keep * self.first(self.inner(x)); "
        "return x + keep * self.second(x)"
    )
    assert "parts lose the same numbers" in dropout_message(forward, inner=ONE_WEIGHT, inside=("first",))
