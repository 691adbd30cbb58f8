"""The toy exercise, question writing: `generate`."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import generation_call, small_model
from clearcheck.author.torch_loops import generates_quietly

from .shared import SECONDS


def reference(model, ids, n_new):
    model.eval()
    with torch.no_grad():
        for _ in range(n_new):
            ids = torch.cat([ids, model(ids[:, -model.window :])[:, -1].argmax(-1, keepdim=True)], 1)
    return ids


def draw_args(rng, rows=3, prompt=4, n_new=6, window=16, **options):
    ids = rng.integers(11, size=(rows, prompt))
    return generation_call(small_model(rng, vocabulary=11, width=8, window=window), ids, n_new, **options)


def prompts(rng):
    return [draw_args(rng), draw_args(rng, rows=1, prompt=1, n_new=9), draw_args(rng, rows=2, prompt=5, n_new=0)]


def beyond_the_window(rng):
    return [draw_args(rng, prompt=5, n_new=7, window=6), draw_args(rng, prompt=9, n_new=2, window=6)]


def one_call_for_each_token(ask, rng):
    (plan,) = draw_args(rng, gives="record")
    record, n_new = ask(plan), plan["arguments"][1]
    calls = len(record["shapes"])
    return None if calls <= n_new else f"For {n_new} new tokens the model was called {calls} times."


QUESTION = Question(
    id="writing",
    title="Write on",
    name="generate",
    minutes=10,
    difficulty=3,
    checks=with_battery(
        equals("the likeliest token", 3, prompts, reference),
        equals("beyond the window", 2, beyond_the_window, reference),
        holds("quietly", 1, generates_quietly(draw_args)),
        holds("calls", 1, one_call_for_each_token),
    ),
    hints=("The logits of the last position say which token comes next.", "`model.window` is the most it looks at."),
    section="generation",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="ids have no width", no_softmax="the model makes its own logits"),
    how="generation",
)

right, wrong = answers_to(QUESTION)


@right
def with_cat(model, ids, n_new):
    model.eval()
    with torch.no_grad():
        for _ in range(n_new):
            logits = model(ids[:, -model.window :])
            new = logits[:, -1].argmax(dim=-1, keepdim=True)
            ids = torch.cat([ids, new], dim=1)
    return ids


@right
@torch.inference_mode()
def into_a_table(model, ids, n_new):
    model.train(False)
    B, N = ids.shape
    out = torch.zeros(B, N + n_new, dtype=torch.long)
    out[:, :N] = ids
    for n in range(N, N + n_new):
        out[:, n] = model(out[:, max(0, n - model.window) : n])[:, -1, :].topk(1).indices[:, 0]
    return out


@right
def by_recursion(model, ids, n_new):
    if n_new == 0:
        return ids
    with torch.no_grad():
        logits = model.eval()(ids[:, -model.window :])
    return by_recursion(model, torch.hstack((ids, logits[:, -1:].argmax(-1))), n_new - 1)


wrong.edits("""
# with_cat
## first_place: The logits of the first place are taken.
- new = logits[:, -1].argmax(dim=-1, keepdim=True)
+ new = logits[:, 0].argmax(dim=-1, keepdim=True)
## unlikeliest: The unlikeliest token is taken.
+ new = logits[:, -1].argmin(dim=-1, keepdim=True)
## last_token_alone: The model is shown the last token alone.
- logits = model(ids[:, -model.window :])
+ logits = model(ids[:, -1:])
## first_window [windows]: The model is shown the first tokens, not the last.
+ logits = model(ids[:, : model.window])
## no_window: The model is shown more tokens than it takes.
+ logits = model(ids)
## in_front: The new token is put in front.
- ids = torch.cat([ids, new], dim=1)
+ ids = torch.cat([new, ids], dim=1)
## new_alone: The prompt is left out of the result.
- return ids
+ return ids[:, -n_new:]
## one_too_few: One token too few is written.
- for _ in range(n_new):
+ for _ in range(n_new - 1):
## in_train_mode: The model stays in train() mode.
- model.eval()
## gradients_kept: Gradients are kept while the model writes.
- with torch.no_grad():
+ with torch.enable_grad():
## the_same_for_all: One token is chosen for the whole batch.
- new = logits[:, -1].argmax(dim=-1, keepdim=True)
+ new = logits[:, -1].sum(0).argmax().expand(len(ids), 1)
""")
