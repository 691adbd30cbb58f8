"""Exercise 10, question learn: above the nearest neighbour."""

import numpy as np
import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps

from .parts import BRINGS, ViT, crosses

SECONDS = 20.0  # of one loop, on a slow machine too
N_SEEN, N_FRESH, STEPS, THRESHOLD = 700, 300, 120, 0.82
WHAT = "share of right labels"
ONCE_MORE = np.log(1 + 2 / np.e), np.log(2 + np.e)  # between them lies each loss of a softmax of a softmax, of 3 labels


def draw_args(rng):
    """700 pictures to learn from, and the patches of 300 others."""
    patches, labels = crosses(rng, N_SEEN + N_FRESH)
    return training_call(patches[:N_SEEN], labels[:N_SEEN], STEPS, held_out=(patches[N_SEEN:],)), labels[N_SEEN:]


def share_right(scores, labels):
    if scores.shape != (len(labels), 3):
        raise ValueError(f"scores of shape {scores.shape} for {len(labels)} pictures and 3 labels")
    return np.mean(scores.argmax(axis=1) == labels)


def advice(share):
    return "If your model is right, look at the loop: larger batches and a rate near 0.003 make it surer."


def learns_from_scores(ask, rng):
    """That new pictures are right, and that the loss was made of scores, whose softmax it has inside."""
    came = []

    def noted(*args):
        came.append(ask(*args))
        return came[-1]

    if told := learns(draw_args, STEPS, share_right, THRESHOLD, WHAT, False, advice, "ViT")(noted, rng):
        return told
    losses = came[-1]["losses"]
    if len(losses) >= STEPS // 2 and ONCE_MORE[0] < min(losses) and max(losses) < ONCE_MORE[1]:
        return (
            f"Most new pictures are right, and yet no loss of yours was below {min(losses):.2f}: your loss gets "
            "probabilities, and takes their softmax once more. `F.cross_entropy` takes scores."
        )
    return None


QUESTION = Question(
    id="learn",
    title="Above the nearest neighbour",
    name="fit",
    minutes=30,
    difficulty=3,
    leans_on=("vit",),
    checks=with_battery(
        holds("steps", 2, obeys_steps(draw_args, lambda labels: (len(labels), 3))),
        holds("new pictures", 12, learns_from_scores),
    ),
    hints=(
        "Print the loss every twenty steps. It starts near ln 3, which is what guessing costs; does it move?",
        "If it stays near ln 3, look at the order of the four lines of a step and at the learning rate: for so few "
        "steps it has to be large, a few thousandths.",
        "If the loss falls and the new pictures are wrong all the same, do pictures and labels of a batch come from "
        "the same rows?",
    ),
    section="the-competition",
    brings=BRINGS,
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="the softmax is in the loss"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_adam(patches, labels, steps):
    model = ViT(9, 9, 24, 4, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, betas=(0.9, 0.95), fused=True)
    for _ in range(steps):
        rows = torch.randint(len(patches), (32,))
        scores = model(patches[rows])
        loss = F.cross_entropy(scores, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@right
def warmed_up(patches, labels, steps):
    model = ViT(9, 9, 24, 2, 3, mean=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    for _ in range(steps):
        chosen = torch.randperm(len(patches))[:96]
        losses = -model(patches[chosen]).log_softmax(1).gather(1, labels[chosen][:, None])
        optimizer.zero_grad(set_to_none=True)
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model


@right
def all_at_once(patches, labels, steps):
    model = ViT(9, 9, 32, 4, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004, fused=True)
    for batch in torch.randint(len(patches), (steps, 80)):
        optimizer.zero_grad()
        F.cross_entropy(model(patches[batch]), labels[batch]).backward()
        optimizer.step()
    return model


wrong.edits("""
# with_adam
## other_rows: Pictures and labels come from different rows of the data.
- loss = F.cross_entropy(scores, labels[rows])
+ loss = F.cross_entropy(scores, labels[: len(rows)])
## no_step: The optimiser never takes a step.
- optimizer.step()
## zeroed_too_late: The gradients are gone before the step, or never reach the weights.
- optimizer.zero_grad()
- loss.backward()
+ loss.backward()
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## head_alone: Only the head is trained; the other parameters are never handed to the optimiser.
- optimizer = torch.optim.Adam(model.parameters(), lr=0.005, betas=(0.9, 0.95), fused=True)
+ optimizer = torch.optim.Adam(model.head.parameters(), lr=0.005, betas=(0.9, 0.95), fused=True)
## too_slow: The learning rate is far too small for so few steps.
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.000005, betas=(0.9, 0.95), fused=True)
## softmax_twice: Your loss gets probabilities, and takes their softmax once more: it can never fall below 0.55. It
takes scores.
- loss = F.cross_entropy(scores, labels[rows])
+ loss = F.cross_entropy(scores.softmax(dim=1), labels[rows])
## new_model_each_step: A new model is made in every step, and the last one has learned nothing.
      rows = torch.randint(len(patches), (32,))
+     model = ViT(9, 9, 24, 4, 3)
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- optimizer.zero_grad()
+ optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
+ optimizer.zero_grad()
## shuffled_patches [a-bag-of-patches]: Each batch's patches are shuffled, and the label depends on where they stand.
- scores = model(patches[rows])
+ scores = model(patches[rows][:, torch.randperm(9)])
## one_batch: The same 64 pictures are shown in every step, and learned by heart.
- rows = torch.randint(len(patches), (32,))
+ rows = torch.arange(64)
## half_of_each_picture: The last patches of each picture are wiped out.
- scores = model(patches[rows])
+ scores = model(patches[rows] * (torch.arange(9) < 5)[:, None])
## labels_shifted: Each picture gets the label of the picture before it in the data.
- loss = F.cross_entropy(scores, labels[rows])
+ loss = F.cross_entropy(scores, labels[rows - 1])
## nothing_returned: The model is trained, and not returned.
- return model
""")
