"""What a training loop is told: what its steps show, and what its losses and weights show."""

import numpy as np
import pytest
from clearcheck import holds
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps

from .torch_question import asks, nn, result_of, torch

LOOPS = {
    "fixed_steps": "for _ in range(30): step(0.02)",
    "one_step_more": "for _ in range(steps + 1): step(0.02)",
    "steps_as_rounds": "for _ in range(2 * steps): step(0.02)",
    "no_weight_moves": "for _ in range(steps): step(0.0)",
    "weights_hardly_move": "for _ in range(steps): step(1e-6)",
    "loss_still_falls": "for _ in range(steps): step(2e-3)",
    "loss_grows": "for _ in range(steps): step(-0.02)",
    "loss_stays": "y = y[torch.randperm(len(y))]; x = 0 * x\n    for _ in range(steps): step(0.02)",
    "loss_stops": "y = y + torch.randn(len(y), 1)\n    for _ in range(steps): step(0.2)",
    "learns_something_else": "y = 1 - y\n    for _ in range(steps): step(0.05)",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_told_what_its_steps_and_its_losses_show(name):
    """Catches a model that has not learned told by its score alone, which is that of any other mistake as well."""

    def draw(rng):
        x, fresh = rng.uniform(0, 1, size=(40, 1)), rng.uniform(0, 1, size=(40, 1))
        return training_call(x, x, 30, held_out=(fresh,)), fresh

    checks = (
        holds("steps", 1, obeys_steps(draw, np.shape)),
        holds("unseen", 1, learns(draw, 30, lambda output, targets: np.mean((output - targets) ** 2), 1e-4)),
    )
    made = {"nn": nn, "torch": torch}
    loop = """
def fit(x, y, steps):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 1))
    adam = torch.optim.Adam(model.parameters())

    def step(rate):
        adam.param_groups[0]["lr"] = rate
        loss = ((model(x) - y) ** 2).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()

    """
    exec(f"{loop}{LOOPS[name]}\n    return model", made)
    result = result_of(made["fit"], asks(*checks, name="fit", how="training"))
    assert {check.diagnosis.mistake for check in result.checks if check.diagnosis} == {name}


def test_losses_show_nothing_of_a_model_that_another_reason_refuses():
    """Catches a word on what a model learned where its class is not the one that is asked for."""

    def draw(rng):
        x = rng.normal(size=(40, 1))
        return training_call(x, x, 30, held_out=(x,)), x

    def fit(x, y, steps):
        model = nn.Linear(1, 1)
        adam = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(steps):
            adam.zero_grad()
            ((model(x) - y) ** 2).mean().backward()
            adam.step()
        return model

    check = holds("unseen", 1, learns(draw, 30, lambda output, targets: 1.0, 0.1, kind="GPT"))
    assert result_of(fit, asks(check, name="fit", how="training")).checks[0].diagnosis is None
