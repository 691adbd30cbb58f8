"""Tokens and experts: who is chosen and with what weight, beside the library's router, and the rule for the bias."""

import numpy as np
import pytest
import torch
from clearformer.experts import GroupRouter

from tests.book.explorables.shown import stored_data


def chosen(bias, k):
    """Loads of all experts, and the weights of every token, N × E, as the library's router gives them.

    Of equal ones the first is chosen, as in the explorable, whatever the last bits say.
    """
    scores = torch.tensor(stored_data("expert-routing")["scores"], dtype=torch.float64)
    router = GroupRouter(scores.shape[1], scores.shape[1], score=lambda x: x, normalise=True).double()
    with torch.no_grad():
        router.weight.copy_(torch.eye(scores.shape[1]))
        router.correction.copy_(torch.tensor(bias, dtype=torch.float64) + 1e-9 * torch.arange(scores.shape[1], 0, -1))
        _, weights, experts = router.choose(scores, k)
    dense = torch.zeros_like(scores).scatter(1, experts, weights)
    return (dense > 0).sum(0).numpy(), dense.numpy()


@pytest.mark.parametrize("k", [1, 2])
def test_choice_and_weights_are_those_of_the_router(show, k):
    """Catches a bias that enters the weights, and weights that do not sum to 1."""
    shown = show("expert-routing").guess()
    shown.press("k", k)
    for bias in ([0, 0, 0, 0], [-0.25, 0.05, 0.06, 0.11], [0.41, -0.33, 0.07, 0.5]):
        shown.set(**{f"bias_{e}": b for e, b in enumerate(bias)})
        loads, weights = chosen(bias, k)
        shown.agrees_with("load", loads)
        for token in (1, 4, 6):
            shown.set(token=token)
            row = weights[token - 1]
            assert [text == "–" for text in shown.texts(*(f"weight-{e}" for e in range(4)))] == list(row == 0)
            shown.verify({f"weight-{e}": w for e, w in enumerate(row) if w})


def test_the_rule_evens_the_load(show):
    """Catches a step in the wrong direction, and a goal that the rule never reaches."""
    step, shown = stored_data("expert-routing")["step"], show("expert-routing").guess()
    bias = np.zeros(4)
    for _ in range(3):
        assert "goal is reached" not in shown.says
        loads, _ = chosen(bias, 1)
        bias = bias + step * np.sign(loads.mean() - loads)
        shown.press("balance")
        shown.agrees_with("load", chosen(bias, 1)[0])
        assert [float(shown.control(f"bias-{e}").input_value()) for e in range(4)] == pytest.approx(bias)
    assert "goal is reached" in shown.says
    shown.press("reset")
    assert "goal is reached" not in shown.says
