"""Exercise 08, question learn: train it."""

import numpy as np
import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps

from .parts import Transformer
from .shared import BRINGS

SECONDS = 20.0  # of one loop, on a slow machine too
LETTERS, LENGTH, STEPS, THRESHOLD = 5, 4, 60, 0.6
WHAT = "share of right letters, at the position where it is smallest,"


def draw_args(rng):
    """Strings of four letters and the same backwards, with each letter as another; a fifth is held out.

    Whoever turns strings round without learning from the targets does not know which letter stands for which.
    """
    others = (np.arange(LETTERS) + rng.integers(1, LETTERS)) % LETTERS
    strings = np.stack(np.unravel_index(rng.permutation(LETTERS**LENGTH), (LETTERS,) * LENGTH), axis=1)
    seen, fresh = strings[:500], strings[500:]
    targets, asked = others[seen[:, ::-1]], others[fresh[:, ::-1]]
    read = np.column_stack([np.full(len(fresh), LETTERS), asked[:, :-1]])
    return training_call(seen, targets, STEPS, held_out=(fresh, read), written=True), asked


def share_right(scores, targets):
    """At the position where it is smallest."""
    if scores.shape != shape_of(targets):
        raise ValueError(f"scores of shape {scores.shape} for targets of shape {targets.shape}")
    return np.mean(scores.argmax(axis=2) == targets, axis=0).min()


def shape_of(targets):
    return (*targets.shape, LETTERS + 1)


def sign_of(share):
    read = "does the decoder read the start token 5 and then the letters before, and is it asked for the letters?"
    rate = "If so, the learning rate may be too small, or too large." if share < 0.3 else ""
    return f"By guessing one has 0.2: {read} {rate}".rstrip() if share < 0.5 else ""


QUESTION = Question(
    id="learn",
    title="It learns",
    name="fit",
    minutes=30,
    difficulty=3,
    leans_on=("cross", "decoder", "model"),
    checks=with_battery(
        holds("steps", 3, obeys_steps(draw_args, shape_of)),
        holds("new strings", 17, learns(draw_args, STEPS, share_right, THRESHOLD, WHAT, False, sign_of, "Transformer")),
    ),
    hints=(
        "Before the loop there are two rows to make. Write out for one string what stands in each of them.",
        "`targets` is what is asked for. What the decoder reads has the start token in front and is as long: what "
        "falls away at the end?",
        "A loss near 0 after ten steps is no good sign here: then the decoder reads what it is asked for. "
        "A loss that stays near ln 6 means that nothing is learned: look at the order of the four lines of a step, "
        "and at the learning rate.",
    ),
    section="two-rows-one-position-apart",
    brings=BRINGS,
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="the softmax is in the loss"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_adam(sources, targets, steps):
    model = Transformer(5, 6, 32, 4, 64, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.006, fused=True)
    start = torch.full((len(targets), 1), 5)
    read = torch.cat([start, targets[:, :-1]], dim=1)
    for _ in range(steps):
        rows = torch.randint(len(sources), (48,))
        scores = model(sources[rows], read[rows])
        loss = F.cross_entropy(scores.flatten(0, 1), targets[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@right
def warmed_up(sources, targets, steps):
    model = Transformer(5, 6, 32, 4, 64, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    read = targets.roll(1, dims=1)
    read[:, 0] = 5
    for _ in range(steps):
        chosen = torch.randperm(len(sources))[:64]
        losses = -model(sources[chosen], read[chosen]).log_softmax(2).gather(2, targets[chosen][..., None])
        optimizer.zero_grad(set_to_none=True)
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


@right
def all_at_once(sources, targets, steps):
    model = Transformer(5, 6, 48, 4, 96, 1, dropout=0.02)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.006, fused=True)
    read = F.pad(targets, (1, 0), value=5)[:, :-1]
    for batch in torch.randint(len(sources), (steps, 64)):
        optimizer.zero_grad()
        F.cross_entropy(model(sources[batch], read[batch]).mT, targets[batch]).backward()
        optimizer.step()
    return model


wrong.edits("""
# with_adam
## not_shifted [common-mistakes]: The decoder reads what it is asked for, and learns to copy it.
- read = torch.cat([start, targets[:, :-1]], dim=1)
+ read = targets
## shifted_the_other_way: The decoder reads the next letter at each position: it sees what it is asked for later.
+ read = torch.cat([targets[:, 1:], start], dim=1)
## copied_forwards: The model is asked for the source as it stands, not for the target.
- loss = F.cross_entropy(scores.flatten(0, 1), targets[rows].flatten())
+ loss = F.cross_entropy(scores.flatten(0, 1), sources[rows].flatten())
## other_rows: Sources and targets come from different rows of the data.
+ loss = F.cross_entropy(scores.flatten(0, 1), targets[: len(rows)].flatten())
## places_mixed: Scores and targets are flattened in different orders.
+ loss = F.cross_entropy(scores.transpose(0, 1).flatten(0, 1), targets[rows].flatten())
## no_step: The optimiser never takes a step.
- optimizer.step()
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- optimizer.zero_grad()
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
+ optimizer.zero_grad()
## zeroed_too_late: The gradients are gone before the step, or never reach the weights.
- optimizer.zero_grad()
- loss.backward()
+ loss.backward()
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## head_alone: Only the head is trained; the other parameters are never handed to the optimiser.
- optimizer = torch.optim.Adam(model.parameters(), lr=0.006, fused=True)
+ optimizer = torch.optim.Adam(model.head.parameters(), lr=0.006, fused=True)
## too_slow: The learning rate is far too small for so few steps.
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.000005, fused=True)
## new_model_each_step: A new model is made in every step, and the last one has learned nothing.
      rows = torch.randint(len(sources), (48,))
+     model = Transformer(5, 6, 32, 4, 64, 1)
## nothing_returned: The model is trained, and not returned.
- return model
""")
