"""Exercise 18, question learn: a change of low rank, found from few and noisy examples."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import forgetful_slip, learns
from torch import nn

NEAR = 1.5  # mean squared difference from W after one step
SECONDS = 20.0  # of one loop, on a slow machine too
D, E, R, ROWS, STEPS, THRESHOLD = 24, 20, 2, 40, 300, 0.5


def draw_args(rng):
    """A map that differs from the given one by rank 2; what it gives is seen with noise, and asked without."""
    W = 2 * rng.normal(size=(E, D)) / D**0.5
    across, along = (np.linalg.qr(rng.normal(size=(n, R)))[0] for n in (E, D))
    changed = W + E**0.5 * across @ along.T  # each of the two ranks changes each number by about 1
    x, fresh = rng.normal(size=(ROWS, D)), rng.normal(size=(200, D))
    y = x @ changed.T + rng.normal(size=(ROWS, E))
    return training_call(W, x, y, R, STEPS, held_out=(fresh,)), fresh @ changed.T


def mean_square(output, wanted):
    if output.shape != wanted.shape:
        raise ValueError(f"outputs of shape {output.shape} for {wanted.shape} numbers that are asked for")
    return np.mean((output - wanted) ** 2)


def as_many_steps_as_asked(ask, rng):
    (plan,), wanted = draw_args(rng)
    came = ask({**plan, "arguments": (*plan["arguments"][:4], 3)})
    if not 0 < came["steps"] <= 3:
        return f"With steps=3 your loop took {came['steps']} steps of an optimiser; 1 to 3 are asked for."
    if slip := forgetful_slip(came):
        return slip
    W, x, y, *_ = plan["arguments"]
    (fresh,) = plan["held_out"]
    begun = ask({**plan, "arguments": (*plan["arguments"][:4], 1)})["output"]
    if np.shape(begun) == wanted.shape and not mean_square(begun, fresh @ W.T) <= NEAR:
        return "After a single step your module is far from W: does B begin at 0, and is W still part of it?"
    smaller = W[:7, :5], x[:9, :5], y[:9, :7], 1, 2
    fewer = ask({**plan, "arguments": smaller, "held_out": (fresh[:, :5],)})
    for output, shape in ((came["output"], wanted.shape), (fewer["output"], (len(fresh), 7))):
        if np.shape(output) != shape:
            return f"The module should give an output of shape {shape}; it gave {np.shape(output)}."
    if mean_square(came["output"], wanted) <= THRESHOLD:
        return "After three steps your map is as good as after all: the steps of the optimiser should find it."
    return None


def sign_of(error):
    """What ends with such an error, as learners have it: their numbers at random are not those of a known mistake."""
    if not error < 100:
        return "Does the loss on the examples fall?"
    if error > 2.5:
        return "W as it stands has about 2: is W still part of what your module gives?"
    if error > 1.75:
        return "W as it stands has about 2: does anything move?"
    if error > 1.3:
        return "Training all weights ends there, and so does a learning rate that is too small."
    return "Count the numbers that you train: are they rank · (D + E)? And does the loss still fall at the end?"


QUESTION = Question(
    id="learn",
    title="Stretch: tune it with forty examples",
    name="tune",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        holds("steps", 3, as_many_steps_as_asked),
        holds(
            "new inputs",
            12,
            learns(draw_args, STEPS, mean_square, THRESHOLD, "mean squared error", advice=sign_of, merges=True),
        ),
    ),
    hints=(
        "How many numbers does a tuning of all weights have to find, and from how many? How many with A and B?",
        "The optimiser gets A and B alone. W is a tensor without gradient, and part of the forward pass.",
        "Adam with a learning rate near 0.02, all forty rows in each step. If the error stays at 2, does B move? If it "
        "is far above, is W still in the forward pass? If it ends between 1 and 2, are you training more than A and B?",
    ),
    section="what-is-gained-and-what-is-forgotten",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="there is no softmax"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_a_module(W, x, y, rank, steps):
    class Adapted(nn.Module):
        def __init__(self):
            super().__init__()
            self.A = nn.Parameter(torch.randn(rank, W.shape[1]) / W.shape[1] ** 0.5)
            self.B = nn.Parameter(torch.zeros(W.shape[0], rank))

        def forward(self, x):
            return x @ W.T + x @ self.A.T @ self.B.T

    model = Adapted()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@right
def from_linear_maps(W, x, y, rank, steps):
    class Adapted(nn.Module):
        def __init__(self, base, down, up):
            super().__init__()
            self.base, self.down, self.up = base, down, up

        def forward(self, x):
            return self.base(x) + self.up(self.down(x))

    base = nn.Linear(W.shape[1], W.shape[0], bias=False).requires_grad_(False)
    base.weight.copy_(W)
    down, up = nn.Linear(W.shape[1], rank, bias=False), nn.Linear(rank, W.shape[0], bias=False)
    nn.init.zeros_(up.weight)
    model = Adapted(base, down, up)
    optimizer = torch.optim.AdamW([*down.parameters(), *up.parameters()], lr=0.03, weight_decay=0.01)
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    return model


@right
def merged_at_the_end(W, x, y, rank, steps):
    A = torch.randn(rank, W.shape[1], requires_grad=True)
    B = torch.zeros(W.shape[0], rank, requires_grad=True)
    optimizer = torch.optim.Adam([A, B], lr=0.03)
    for _ in range(steps):
        loss = (x @ (W + B @ A).T - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model = nn.Linear(W.shape[1], W.shape[0], bias=False)
    with torch.no_grad():
        model.weight.copy_(W + B @ A)
    return model


wrong.edits("""
# merged_at_the_end
## solved_before_the_steps: You solve for A and B before the first step, and the steps of the optimiser do nothing.
- A = torch.randn(rank, W.shape[1], requires_grad=True)
- B = torch.zeros(W.shape[0], rank, requires_grad=True)
- optimizer = torch.optim.Adam([A, B], lr=0.03)
+ U, S, V = torch.linalg.svd(torch.linalg.lstsq(x, y - x @ W.T).solution.T)
+ A, B = V[:rank].clone().requires_grad_(), (U[:, :rank] * S[:rank]).requires_grad_()
+ optimizer = torch.optim.Adam([A, B], lr=0.0)
## all_weights: You train all weights: from forty noisy rows they learn the noise.
- A = torch.randn(rank, W.shape[1], requires_grad=True)
+ A = torch.eye(W.shape[1])
- B = torch.zeros(W.shape[0], rank, requires_grad=True)
+ B = torch.zeros(W.shape[0], W.shape[1], requires_grad=True)
- optimizer = torch.optim.Adam([A, B], lr=0.03)
+ optimizer = torch.optim.Adam([B], lr=0.03)
## full_rank: What you train has full rank, since A has too many rows and B too many columns: it learns the noise.
- A = torch.randn(rank, W.shape[1], requires_grad=True)
- B = torch.zeros(W.shape[0], rank, requires_grad=True)
+ A = torch.randn(W.shape[1], W.shape[1], requires_grad=True)
+ B = torch.zeros(W.shape[0], W.shape[1], requires_grad=True)
## both_at_zero [common-mistakes]: A and B both begin at zero, and no gradient reaches either.
- A = torch.randn(rank, W.shape[1], requires_grad=True)
+ A = torch.zeros(rank, W.shape[1], requires_grad=True)
## both_at_random [common-mistakes]: A and B both begin at random, so the module begins as another map than W.
- B = torch.zeros(W.shape[0], rank, requires_grad=True)
+ B = torch.randn(W.shape[0], rank, requires_grad=True)
## only_b: You train only B; A stays at random.
- optimizer = torch.optim.Adam([A, B], lr=0.03)
+ optimizer = torch.optim.Adam([B], lr=0.03)
## rank_one: Your change has rank 1, whatever rank is asked for.
- A = torch.randn(rank, W.shape[1], requires_grad=True)
- B = torch.zeros(W.shape[0], rank, requires_grad=True)
+ A = torch.randn(1, W.shape[1], requires_grad=True)
+ B = torch.zeros(W.shape[0], 1, requires_grad=True)
## without_the_base: You train without W, so the change has to do all the work.
- loss = (x @ (W + B @ A).T - y).square().mean()
+ loss = (x @ (B @ A).T - y).square().mean()
## base_lost: The module that comes back has the change alone, without W.
- model.weight.copy_(W + B @ A)
+ model.weight.copy_(B @ A)
## nothing_copied: The module that comes back has weights at random.
+ pass
## no_step: The optimiser never takes a step.
- optimizer.step()
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- optimizer.zero_grad()
+ optimizer = torch.optim.Adam([A, B], lr=0.03)
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## too_slow: The learning rate is far too small for so few steps.
- optimizer = torch.optim.Adam([A, B], lr=0.03)
+ optimizer = torch.optim.Adam([A, B], lr=0.00003)
## too_many_steps: The loop takes one step more than it may.
- for _ in range(steps):
+ for _ in range(steps + 1):
## one_row_alone: Your steps see the first row only.
- loss = (x @ (W + B @ A).T - y).square().mean()
+ loss = (x[:1] @ (W + B @ A).T - y[:1]).square().mean()
## nothing_returned: You never return the module.
- return model
""")
