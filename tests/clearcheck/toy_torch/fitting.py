"""The toy exercise, question fitting: a training loop."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns
from torch import nn

SECONDS = 20.0  # of one loop, on a slow machine too

STEPS, THRESHOLD = 200, 0.05


def draw_args(rng):
    """Points on a noisy wave, of which the loop sees 96 in order."""
    x = np.sort(rng.uniform(-2, 2, size=(96, 1)), axis=0)
    unseen = rng.uniform(-2, 2, size=(64, 1))
    targets = np.sin(2 * x) + 0.05 * rng.normal(size=x.shape)
    return training_call(x, targets, STEPS, held_out=(unseen,)), np.sin(2 * unseen)


def mean_square(output, targets):
    if output.shape != targets.shape:
        raise ValueError(f"outputs of shape {output.shape} for targets of shape {targets.shape}")
    return np.mean((output - targets) ** 2)


QUESTION = Question(
    id="fitting",
    title="Fit a wave",
    name="fit",
    minutes=10,
    difficulty=2,
    checks=with_battery(
        holds("unseen points", 5, learns(draw_args, STEPS, mean_square, THRESHOLD, "mean squared error"))
    ),
    hints=("A step is: gradients to zero, loss, backward, step.",),
    section="training",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="there is no softmax"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_adam(x, y, steps):
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return model


@right
def with_momentum(x, y, steps):
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    return model


@right
def in_small_batches(x, y, steps):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = nn.Linear(1, 48), nn.Linear(48, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.03)
    for _ in range(steps):
        chosen = torch.randint(len(x), (48,))
        loss = nn.functional.mse_loss(model(x[chosen]), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@wrong("The loop goes on beyond the steps that are allowed.")
def twice_over(x, y, steps):
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(2 * steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return model


wrong.edits("""
# with_adam
## no_step: The optimizer never takes a step.
- optimizer.step()
## gradients_pile_up: The gradients of all steps so far are added up.
- optimizer.zero_grad()
## zeroed_too_late: The gradients are set to zero after they are computed.
- optimizer.zero_grad()
- loss = nn.functional.mse_loss(model(x), y)
- loss.backward()
+ loss = nn.functional.mse_loss(model(x), y)
+ loss.backward()
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## straight: Without a function between them two linear layers draw a straight line.
- model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
+ model = nn.Sequential(nn.Linear(1, 32), nn.Linear(32, 1))
## column_against_row: Targets as a row are spread over a table, and the loss compares all with all.
- loss = nn.functional.mse_loss(model(x), y)
+ loss = (model(x) - y[:, 0]).square().mean()
## too_slow: The learning rate is far too small for so few steps.
- optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.00002)
## itself: The model is fitted to its own inputs, not to the targets.
- loss = nn.functional.mse_loss(model(x), y)
+ loss = nn.functional.mse_loss(model(x), x)
## nothing_returned: The model is trained, and not returned.
- return model
""")
