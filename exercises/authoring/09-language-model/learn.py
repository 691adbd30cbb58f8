"""Exercise 09, question learn: train it until it has found the rule."""

import numpy as np
import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps

from .parts import GPT
from .shared import BRINGS

SECONDS = 20.0  # of one loop, on a slow machine too
EQUALS, STOP, V, LENGTH, STEPS, THRESHOLD = 4, 5, 6, 12, 90, 0.88
WHAT = "mean surprise in nats"


def sentences(rng, how_many):
    """Two digits below 4, an equals sign, the same digits backwards, a full stop; one after another in one row."""
    digits = rng.integers(EQUALS, size=(how_many, 2))
    marks = np.full((how_many, 1), EQUALS), np.full((how_many, 1), STOP)
    return np.hstack([digits, marks[0], digits[:, ::-1], marks[1]]).ravel()


def draw_args(rng):
    """A text to learn from, and windows of another one that begin anywhere."""
    learned, fresh = sentences(rng, 500), sentences(rng, 200)
    starts = rng.integers(len(fresh) - LENGTH - 1, size=60)
    rows = fresh[starts[:, None] + np.arange(LENGTH + 1)]
    return training_call(learned, STEPS, held_out=(rows[:, :-1],), written=True), rows[:, 1:]


def surprises(logits, asked):
    if logits.shape != shape_of(asked):
        raise ValueError(f"logits of shape {logits.shape} for {asked.shape} tokens that are asked for")
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    return -np.take_along_axis(log_p, asked[..., None], axis=2)[..., 0]


def shape_of(asked):
    return (*asked.shape, V)


def sign_of(places, steps=STEPS):
    """What the mean surprises at the positions of a row, and the number of steps, are a sign of."""
    if steps < STEPS // 2:
        return f"{STEPS} steps are allowed: does every round of your loop take one?"
    nats, n = places.mean(), int(np.argmax(places > 2))
    if places[-1] < 1.6 and places[:-1].mean() > 2:
        found = f"At the last position it is {places[-1]:.2f}, at the others {places[:-1].mean():.2f}"
        return f"{found}: are all positions asked?"
    if n > 2 and places[:n].mean() < 1.6 and places[n:].mean() > 2:
        first, last = places[:n].mean(), places[n:].mean()
        found = f"At the first {n} of {LENGTH} positions it is {first:.2f}, at the others {last:.2f}"
        return f"{found}: were these ever trained? How long are your rows?"
    if nats < 1.6:
        return "Does the loss get logits? `cross_entropy` takes the softmax itself. Is the learning rate large enough?"
    wrong = "The model is sure of wrong tokens: look at the shift of the rows, and at where they begin."
    little = "The model has learned next to nothing: look at the learning rate, and at what is asked for. "
    little += "Are the gradients set to zero before each step?"
    return f"Guessing among six costs ln 6, about 1.79. {wrong if nats > 2.5 else little}"


def finds_the_rule(ask, rng):
    """The mean surprise on a new text; one that is too large is told what it is a sign of."""
    seen = {}

    def asking(*args):
        seen.update(ask(*args))
        return seen

    def score(logits, asked):
        seen["places"] = surprises(logits, asked).mean(axis=0)
        return seen["places"].mean()

    def advice(nats):
        return sign_of(seen["places"], seen["steps"])

    return learns(draw_args, STEPS, score, THRESHOLD, WHAT, advice=advice, kind="GPT")(asking, rng)


QUESTION = Question(
    id="learn",
    title="Train it until it has found the rule",
    name="fit",
    minutes=40,
    difficulty=3,
    leans_on=("gpt", "cut"),
    checks=with_battery(holds("steps", 3, obeys_steps(draw_args, shape_of)), holds("new text", 11, finds_the_rule)),
    hints=(
        "A step needs a batch: random starts, and your `cut`. What is the largest start that still fits?",
        "The four lines of a step, AdamW, a learning rate near 0.01. Does the first loss lie near ln 6, about 1.8? "
        "If it soon nears 0, look at the shift and at the mask.",
        "A loss that stays above 0.9 has not found the last digit: it takes about sixty steps of 32 rows. Let "
        "the rate warm up and fall to zero, and keep two blocks of width 32.",
    ),
    section="half-a-minute-of-training",
    brings=BRINGS,
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="the softmax is in the loss"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def with_a_schedule(ids, steps):
    model = GPT(6, 12, 32, 2, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.012, betas=(0.9, 0.95), fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min((n + 1) / 10, 1, 2.02 - 2 * n / steps))
    for _ in range(steps):
        rows = ids[torch.randint(len(ids) - 12, (20, 1)) + torch.arange(13)]
        read, asked = rows[:, :-1], rows[:, 1:]
        loss = F.cross_entropy(model(read).flatten(0, 1), asked.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


@right
def clipped(ids, steps):
    model = GPT(n_vocab=6, n_positions=16, d_model=32, n_heads=2, n_layers=2, dropout=0.0)
    adam = torch.optim.Adam(model.parameters(), lr=0.008, betas=(0.9, 0.95), fused=True)
    windows = ids.unfold(0, 13, 1)
    for _ in range(steps):
        chosen = windows[torch.randperm(len(windows))[:32]]
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(chosen[:, :12]).mT, chosen[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    return model


@right
def one_cycle(ids, steps):
    model = GPT(6, 12, 40, 2, 2).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.012, weight_decay=0.05, fused=True)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.012, total_steps=steps + 1)
    for starts in torch.randint(len(ids) - 12, (steps, 24)):
        read = torch.stack([ids[s : s + 12] for s in starts])
        asked = torch.stack([ids[s + 1 : s + 13] for s in starts])
        optimizer.zero_grad()
        (-model(read).log_softmax(2).gather(2, asked[..., None])).mean().backward()
        optimizer.step()
        cycle.step()
    return model.eval()


wrong.edits("""
# with_a_schedule
## not_shifted [common-mistakes]: The rows are not shifted: a position is asked for what it reads, and learns to copy.
- read, asked = rows[:, :-1], rows[:, 1:]
+ read, asked = rows[:, :-1], rows[:, :-1]
## shifted_back [common-mistakes]: The rows are shifted the wrong way: each position is asked for the token before.
+ read, asked = rows[:, 1:], rows[:, :-1]
## places_mixed: Logits and tokens are flattened in different orders.
- loss = F.cross_entropy(model(read).flatten(0, 1), asked.flatten())
+ loss = F.cross_entropy(model(read).transpose(0, 1).flatten(0, 1), asked.flatten())
## softmax_twice: `cross_entropy` takes logits; you hand it probabilities, of which it takes the softmax again.
+ loss = F.cross_entropy(model(read).softmax(-1).flatten(0, 1), asked.flatten())
## only_the_beginning: All rows come from the first tokens of the text: the model learns these by heart.
- rows = ids[torch.randint(len(ids) - 12, (20, 1)) + torch.arange(13)]
+ rows = ids[torch.zeros(20, 1, dtype=torch.long) + torch.arange(13)]
## shuffled: Each row is drawn token by token from anywhere, so there is no order to learn.
+ rows = ids[torch.randint(len(ids), (20, 13))]
## windows_too_short: Your windows hold two tokens: a digit that lies further back is never in sight.
+ rows = ids[torch.randint(len(ids) - 12, (20, 1)) + torch.arange(3)]
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
- optimizer = torch.optim.AdamW(model.parameters(), lr=0.012, betas=(0.9, 0.95), fused=True)
+ optimizer = torch.optim.AdamW(model.head.parameters(), lr=0.012, betas=(0.9, 0.95), fused=True)
## too_slow: The learning rate is far too small for so few steps.
+ optimizer = torch.optim.AdamW(model.parameters(), lr=0.000005, betas=(0.9, 0.95), fused=True)
## new_model_each_step: A new model is made in every step, and the last one has learned nothing.
      rows = ids[torch.randint(len(ids) - 12, (20, 1)) + torch.arange(13)]
+     model = GPT(6, 12, 32, 2, 2)
## new_optimizer_each_step: A new optimiser is made in every step: it remembers nothing of the steps before.
- optimizer.zero_grad()
+ optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
+ optimizer.zero_grad()
## no_blocks: Your model has no blocks: each position sees its own token alone, and no earlier digit.
- model = GPT(6, 12, 32, 2, 2)
+ model = GPT(6, 12, 32, 2, 0)
## nothing_returned: The model is trained, and not returned.
- return model
""")
