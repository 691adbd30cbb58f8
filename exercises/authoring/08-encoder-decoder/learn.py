"""Exercise 08, question learn: train it."""

import numpy as np
import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps

from .parts import END, START, Transformer
from .shared import BRINGS

SECONDS = 20.0  # of one loop, on a slow machine too
LETTERS, LENGTH, STEPS, THRESHOLD = 5, 4, 300, 0.6
FIRST = END + 1  # the id of the first letter
N_IDS = FIRST + LETTERS
WHAT = "share of right letters, at the position where it is smallest,"


def draw_args(rng):
    """Strings of four letters and the same backwards, with each letter as another; a fifth is held out.

    Whoever turns strings round without learning from the targets does not know which letter stands for which.
    """
    others = FIRST + (np.arange(LETTERS) + rng.integers(1, LETTERS)) % LETTERS
    strings = np.stack(np.unravel_index(rng.permutation(LETTERS**LENGTH), (LETTERS,) * LENGTH), axis=1)
    written = np.pad(others[strings[:, ::-1]], ((0, 0), (1, 1)), constant_values=(START, END))
    seen, fresh = slice(None, 500), slice(500, None)
    call = training_call(
        FIRST + strings[seen],
        written[seen],
        STEPS,
        held_out=(FIRST + strings[fresh], written[fresh, :-1]),
        written=True,
    )
    return call, written[fresh, 1:]


def share_right(scores, targets):
    """At the position where it is smallest."""
    if scores.shape != shape_of(targets):
        raise ValueError(f"scores of shape {scores.shape} for targets of shape {targets.shape}")
    return np.mean(scores.argmax(axis=2) == targets, axis=0).min()


def shape_of(targets):
    return (*targets.shape, N_IDS)


def sign_of(share):
    """The loss tells the two causes apart, which the share does not."""
    guess = "By guessing one has 0.2. " if share < 0.5 else ""
    return (
        f"{guess}Is the loss near 0 at the end? Then look at the two rows: the decoder has to read START and then the "
        "letters before, and to be asked for the letters and END. Is it still far from 0? Then the learning rate may "
        "be too small, or too large."
    )


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
        off={"boundary": "what is compared are losses, of which no two are equal"},
    ),
    hints=(
        "Out of each row of `targets` two are made. Write out for one string what stands in each of them.",
        "What the decoder reads begins with START, what it is asked for ends with END, and both are as long: what "
        "falls away from the one, and what from the other?",
        "A loss near 0 after ten steps is no good sign here: then the decoder reads what it is asked for. "
        "A loss that stays near ln 5 means that nothing is learned: look at the order of the four lines of a step, "
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
    model = Transformer(8, 8, 1, 32, 4, 64)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        rows = torch.randint(len(sources), (64,))
        read, wanted = targets[rows, :-1], targets[rows, 1:]
        guesses = model(sources[rows], read)
        loss = F.cross_entropy(guesses.mT, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@right
def warmed_up(sources, targets, steps):
    model = Transformer(8, 8, 1, 32, 4, 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    for _ in range(steps):
        chosen = torch.randperm(len(sources))[:64]
        texts = targets[chosen]
        guesses = model(sources[chosen], texts[:, :-1]).log_softmax(2)
        losses = -guesses.gather(2, texts[:, 1:, None])
        optimizer.zero_grad(set_to_none=True)
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


@right
def the_best_one(sources, targets, steps):
    """With another size, half of the steps, and the weights of the step with the lowest loss."""
    import copy

    model, least, best = Transformer(8, 8, 2, 48, 4, 96, dropout=0.02), float("inf"), None
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003, fused=True)
    for batch in torch.randint(len(sources), (max(steps // 2, 1), 64)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(sources[batch], targets[batch, :-1]).mT, targets[batch, 1:])
        loss.backward()
        optimizer.step()
        if loss.item() < least:
            least, best = loss.item(), copy.deepcopy(model)
    return best


@right
def in_a_third(sources, targets, steps):
    """At ten times the usual rate a third of the steps will do."""
    model = Transformer(8, 8, 1, 32, 4, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    for _ in range(max(1, steps // 3)):
        rows = torch.randint(len(sources), (64,))
        read, wanted = targets[rows, :-1], targets[rows, 1:]
        guesses = model(sources[rows], read)
        loss = F.cross_entropy(guesses.mT, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


wrong.edits("""
# in_a_third
## not_shifted [common-mistakes]: The decoder reads what it is asked for, and learns to copy it.
- read, wanted = targets[rows, :-1], targets[rows, 1:]
+ read, wanted = targets[rows, 1:], targets[rows, 1:]
## rows_exchanged: The two rows are exchanged: the decoder reads what comes next, and is asked for what was before.
+ wanted, read = targets[rows, :-1], targets[rows, 1:]
## copied_forwards: The model is asked for the source as it stands, not for the target.
+ read, wanted = targets[rows, :-1], torch.cat([sources[rows], targets[rows, -1:]], dim=1)
## other_rows: Sources and targets come from different rows of the data.
+ read, wanted = targets[: len(rows), :-1], targets[: len(rows), 1:]
## places_mixed: Scores and targets are flattened in different orders.
- loss = F.cross_entropy(guesses.mT, wanted)
+ loss = F.cross_entropy(guesses.transpose(0, 1).flatten(0, 1), wanted.flatten())
## no_step: The optimiser never takes a step.
- optimizer.step()
## zeroed_too_late: No weight moves: the gradients are gone before the step, or the learning rate is 0.
- optimizer.zero_grad()
- loss.backward()
+ loss.backward()
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## head_alone: Only the head is trained; the other parameters are never handed to the optimiser.
- optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
+ optimizer = torch.optim.Adam(model.head.parameters(), lr=0.01, fused=True)
## too_slow: The learning rate is far too small for so few steps.
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.000005)
## new_model_each_step: A new model is made in every step, and the last one has learned nothing.
      rows = torch.randint(len(sources), (64,))
+     model = Transformer(8, 8, 1, 32, 4, 64)
## another_returned: The model that is returned is not the one that was trained.
- return model
+ return Transformer(8, 8, 1, 32, 4, 64)
## nothing_returned: The model is trained, and not returned.
- return model

# with_adam
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- optimizer.zero_grad()
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
+ optimizer.zero_grad()
""")
