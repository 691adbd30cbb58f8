"""Exercise 09, question generate: from probabilities to text."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.torch_arguments import generation_call, small_model
from clearcheck.author.torch_checks import generates_quietly, samples_follow


def greedy_reference(model, ids, n_tokens, length, temperature=1.0):
    """Only for temperature 0."""
    model.eval()
    with torch.no_grad():
        for _ in range(n_tokens):
            ids = torch.cat([ids, model(ids[:, -length:])[:, -1].argmax(-1, keepdim=True)], 1)
    return ids


def drawn(rng, rows=3, prompt=4, n_tokens=6, window=16, temperature=0.0, **options):
    ids = rng.integers(11, size=(rows, prompt))
    model = small_model(rng, vocabulary=11, width=8, window=window)
    return generation_call(model, ids, n_tokens, window, temperature, **options)


def greedy(rng):
    return [drawn(rng), drawn(rng, rows=1, prompt=1, n_tokens=9), drawn(rng, rows=2, prompt=5, n_tokens=0)]


def beyond_the_window(rng):
    return [drawn(rng, prompt=5, n_tokens=7, window=6), drawn(rng, prompt=9, n_tokens=2, window=6)]


def one_token(temperature):
    def draw(rng):
        return drawn(rng, rows=1, prompt=3, n_tokens=1, window=5, temperature=temperature)

    return draw


def softmax(logits, n_tokens, length, temperature):
    powers = np.exp((logits - logits.max()) / temperature)
    return powers / powers.sum()


def rows_differ(ask, rng):
    """The same prompt in every row: at a high temperature they are drawn one by one."""
    (plan,) = drawn(rng, rows=1, prompt=2, n_tokens=12, temperature=30.0)
    prompt, *rest = plan["arguments"]
    came = np.asarray(ask({**plan, "arguments": (np.repeat(prompt, 8, axis=0), *rest)}))
    if came.shape != (8, 14):
        return f"From 8 prompts of 2 tokens 12 more make ids of shape (8, 14); yours have {came.shape}."
    if len(np.unique(came, axis=0)) < 8:
        return "Eight equal prompts were continued in the same way at a high temperature: draw for each row by itself."
    return None


QUESTION = Question(
    id="generate",
    title="Let it write",
    name="generate",
    minutes=25,
    difficulty=2,
    checks=(
        equals("greedy", 3, greedy, greedy_reference),
        equals("beyond the window", 3, beyond_the_window, greedy_reference),
        holds("as probable as the model says", 2, samples_follow(one_token(1.0), softmax)),
        holds("temperature", 2, samples_follow(one_token(3.0), softmax)),
        holds("rows", 1, rows_differ),
        holds("quietly", 2, generates_quietly(drawn)),
    ),
    hints=(
        "Four things happen for each new token: ask the model, take the logits of one place, choose, append.",
        "`torch.multinomial(p, 1)` draws one column for each row of probabilities. At a temperature of 0 nothing is "
        "drawn, and nothing divided.",
        "The model takes `length` tokens at most: which of them does it need? And switch off what is for "
        "training alone: dropout, and the recording of gradients.",
    ),
    section="half-a-minute-of-training",
    seconds=20.0,
    inputs=Inputs(no_sizes="ids have no width", no_softmax="the model makes its own logits"),
    how="generation",
)

right, wrong = answers_to(QUESTION)


@right
def with_cat(model, ids, n_tokens, length, temperature=1.0):
    model.eval()
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(ids[:, -length:])[:, -1]
            if temperature == 0:
                new = logits.argmax(dim=-1, keepdim=True)
            else:
                p = (logits / temperature).softmax(dim=-1)
                new = torch.multinomial(p, 1)
            ids = torch.cat([ids, new], dim=1)
    return ids


@right
@torch.inference_mode()
def into_a_table(model, ids, n_tokens, length, temperature=1.0):
    model.train(False)
    B, N = ids.shape
    out = torch.zeros(B, N + n_tokens, dtype=torch.long)
    out[:, :N] = ids
    for n in range(N, N + n_tokens):
        logits = model(out[:, max(0, n - length) : n])[:, -1, :]
        if temperature > 0:
            out[:, n] = torch.distributions.Categorical(logits=logits / temperature).sample()
        else:
            out[:, n] = logits.topk(1).indices[:, 0]
    return out


@right
def with_noise(model, ids, n_tokens, length, temperature=1.0):
    """The largest of logits with Gumbel noise is a draw from their softmax."""
    model.eval()
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(ids[:, -length:])[:, -1]
        noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
        ids = torch.hstack((ids, (logits + temperature * noise).argmax(-1)[:, None]))
    return ids


wrong.edits("""
# with_cat
## first_place: The logits of the first place are taken; the next token is asked for at the last one.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids[:, -length:])[:, 0]
## last_token_alone: The model is shown the last token alone.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids[:, -1:])[:, -1]
## first_window: The model is shown the first tokens, not the last.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids[:, :length])[:, -1]
## no_window: The model is shown more tokens than it takes.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids)[:, -1]
## always_greedy: You always take the likeliest token, whatever the temperature.
- if temperature == 0:
+ if temperature >= 0:
## never_greedy: At a temperature of 0 you divide by 0.
- if temperature == 0:
+ if temperature < 0:
## temperature_multiplied [common-mistakes]: You multiply by the temperature: a higher one makes the text duller.
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits * temperature).softmax(dim=-1)
## temperature_forgotten: The temperature changes nothing: it divides the logits; if probabilities are divided by it,
scaling undoes that.
- p = (logits / temperature).softmax(dim=-1)
+ p = logits.softmax(dim=-1)
## each_alike: Every token is drawn with the same probability.
- p = (logits / temperature).softmax(dim=-1)
+ p = torch.ones_like(logits)
## softmax_over_the_batch: Your softmax runs over the rows of the batch.
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits / temperature).softmax(dim=0)
## the_same_for_all: One token is drawn for the whole batch.
- new = torch.multinomial(p, 1)
+ new = torch.multinomial(p[:1], 1).expand(len(ids), 1)
## in_front: The new token is put in front.
- ids = torch.cat([ids, new], dim=1)
+ ids = torch.cat([new, ids], dim=1)
## new_alone: The prompt is left out of the result.
- return ids
+ return ids[:, ids.shape[1] - n_tokens :]
## cut_to_the_window: What has left the window is left out of the result.
- return ids
+ return ids[:, -length:]
## one_too_few: One token too few is written.
- for _ in range(n_tokens):
+ for _ in range(n_tokens - 1):
## in_train_mode: The model stays in train() mode, so that dropout acts while it writes.
- model.eval()
## gradients_kept: Gradients are kept while the model writes.
- with torch.no_grad():
+ with torch.enable_grad():
""")
