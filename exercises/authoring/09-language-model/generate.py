"""Exercise 09, question generate: from probabilities to text."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.torch_arguments import generation_call, small_logits, small_model
from clearcheck.author.torch_loops import FAR, SAMPLES, generates_quietly, samples_follow

HOT = 30.0  # a temperature at which tokens are nearly equally likely


def greedy_reference(model, ids, n_tokens, length, temperature=1.0):
    """Only for temperature 0."""
    model.eval()
    with torch.no_grad():
        for _ in range(n_tokens):
            ids = torch.cat([ids, model(ids[:, -length:])[:, -1].argmax(-1, keepdim=True)], 1)
    return ids


def draw_args(rng, rows=3, prompt=4, n_tokens=6, window=16, temperature=0.0, scale=1.0, **options):
    """Without a temperature the default is used; with a small `scale` the logits lie close together."""
    ids = rng.integers(11, size=(rows, prompt))
    model = small_model(rng, vocabulary=11, width=8, window=window)
    model["head"] *= scale
    return generation_call(model, ids, n_tokens, window, *([] if temperature is None else [temperature]), **options)


def greedy(rng):
    short = draw_args(rng, rows=1, prompt=1, n_tokens=9), draw_args(rng, rows=2, prompt=5, n_tokens=0)
    return [draw_args(rng), *short, draw_args(rng, scale=0.01), zero_comes_first(rng)]


def zero_comes_first(rng):
    """The first new token of the only row is 0: an id like any other, and no end."""
    (plan,) = draw_args(rng, rows=1, prompt=3, n_tokens=5)
    head, first = plan["model"]["head"], small_logits(plan["model"], plan["arguments"][0])[0, -1].argmax()
    head[:, [0, first]] = head[:, [first, 0]]
    return (plan,)


def beyond_the_window(rng):
    return [
        draw_args(rng, prompt=5, n_tokens=7, window=6),
        draw_args(rng, prompt=9, n_tokens=2, window=6),
        draw_args(rng, prompt=3, window=1),
    ]


def one_token(temperature, scale=1.0):
    """Of a model that is not so sure of one token that only this one would come."""

    def draw(rng):
        while True:
            (plan,) = draw_args(rng, rows=1, prompt=3, n_tokens=1, window=5, temperature=temperature, scale=scale)
            logits = small_logits(plan["model"], plan["arguments"][0])[0, -1]
            if softmax(logits, 1, 5, temperature or 1).max() < 0.95:
                return (plan,)

    return draw


def softmax(logits, n_tokens, length, temperature=1.0):
    powers = np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def ids_slip(came, rows, tokens, more):
    """A sentence when what came are no ids for so many rows of tokens and more, else None."""
    shape = rows, tokens + more
    if came.shape != shape:
        return (
            f"{rows:,} prompts of {tokens} tokens and {more} more make ids of shape {shape}; yours have {came.shape}."
        )
    told = f"Your function returned numbers of dtype {came.dtype}; integer numbers are expected."
    return None if came.dtype.kind in "iu" else told


def temperatures(ask, rng):
    """A high one, and low ones, where only logits that lie close together leave a choice."""
    draws = one_token(3.0), one_token(0.4, scale=0.2), one_token(0.05, scale=0.02)
    told = next(filter(None, (samples_follow(draw, softmax)(ask, rng) for draw in draws)), None)
    return told or later_tokens(ask, rng)


def later_tokens(ask, rng):
    """After the first new token, too: at a high temperature the logits of what is drawn have the mean of all."""
    (plan,) = draw_args(rng, rows=20, prompt=2, n_tokens=12, temperature=HOT)
    came = np.asarray(ask(plan))
    if slip := ids_slip(came, 20, 2, 12):
        return slip
    logits = small_logits(plan["model"], came)[:, 2:-1]
    p = softmax(logits, 12, 16, HOT)
    mean = (p * logits).sum(axis=2)
    off = np.take_along_axis(logits, came[:, 3:, None], axis=2)[..., 0] - mean
    if abs(off.sum()) > FAR * (p * (logits - mean[..., None]) ** 2).sum() ** 0.5:
        return f"At a temperature of {HOT:g} later tokens do not come as it makes them: use it for every new token."
    return None


def rows_differ(ask, rng):
    """The same prompt in every row: at a high temperature they are drawn one by one."""
    (plan,) = draw_args(rng, rows=1, prompt=2, n_tokens=12, temperature=HOT)
    prompt, *rest = plan["arguments"]
    came = np.asarray(ask({**plan, "arguments": (np.repeat(prompt, 8, axis=0), *rest)}))
    if slip := ids_slip(came, 8, 2, 12):
        return slip
    different = len(np.unique(came, axis=0))
    if different == 1:
        return "Eight equal prompts were continued in the same way at a high temperature: draw for each row by itself."
    if (came[:, 3:] == came[:, 2:-1]).mean() > 0.5:
        return (
            "At a high temperature most of your new tokens repeat the one before: draw each at that temperature, and "
            "with random numbers of its own. Leave the seed of the generator alone."
        )
    if different < 8:
        told = "Two of eight equal prompts were continued in the same way at a high temperature"
        return f"{told}: draw for each row by itself, and every token at that temperature."
    if np.array_equal(came, ask({**plan, "arguments": (np.repeat(prompt, 8, axis=0), *rest), "seed": 1})):
        return "At a high temperature two calls wrote the same texts: leave the seed of the generator alone."
    return its_own_probabilities(ask, rng)


def its_own_probabilities(ask, rng):
    """Many rows with one prompt, and as many with another, which asks for other probabilities."""
    shares = np.zeros((2, 11))
    while np.abs(shares[0] - shares[1]).max() < 0.3:
        (plan,) = draw_args(rng, rows=2, prompt=3, n_tokens=1, temperature=1.0)
        prompts, *rest = plan["arguments"]
        shares = softmax(small_logits(plan["model"], prompts)[:, -1], *rest)
    n = SAMPLES // 2
    came = np.asarray(ask({**plan, "arguments": (np.repeat(prompts, n, axis=0), *rest)}))
    if slip := ids_slip(came, 2 * n, 3, 1):
        return slip
    for p, tokens in zip(shares, np.split(came[:, -1], 2), strict=True):
        apart = np.abs(np.bincount(tokens, minlength=11) / n - p)
        if (apart > FAR * (np.maximum(p * (1 - p), 0.02) / n) ** 0.5).any():
            return "Two prompts came in one batch, and the tokens do not follow the probabilities of each by itself."
    return None


def generates_quietly_at_zero(ask, rng):
    """And at a temperature of 0 without chance, where all tokens are equally likely, too."""
    (plan,) = draw_args(rng, scale=0.0)
    if told := generates_quietly(draw_args)(ask, rng):
        return told
    if np.array_equal(ask(plan), ask({**plan, "seed": 1})):
        return None
    return "At a temperature of 0 nothing is drawn; where tokens are equally likely, chance decides in your function."


QUESTION = Question(
    id="generate",
    title="Let it write",
    name="generate",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("greedy", 3, greedy, greedy_reference),
        equals("beyond the window", 3, beyond_the_window, greedy_reference),
        holds("as probable as the model says", 2, samples_follow(one_token(None), softmax)),
        holds("temperature", 2, temperatures),
        holds("rows", 1, rows_differ),
        holds("quietly", 2, generates_quietly_at_zero),
        more={"boundary": in_cases_of("greedy")},
        off={"ties": "no two tokens are equally likely"},
    ),
    hints=(
        "Four things happen for each new token: ask the model, take the logits of one position, choose, append.",
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
## first_place: The logits of the first position are taken; the next token is asked for at the last one.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids[:, -length:])[:, 0]
## last_token_alone: The model is shown the last token alone.
+ logits = model(ids[:, -1:])[:, -1]
## first_window: The model is shown the first tokens, not the last.
+ logits = model(ids[:, :length])[:, -1]
## no_window: The model is shown more tokens than it takes.
+ logits = model(ids)[:, -1]
## always_greedy: You always take the likeliest token, whatever the temperature.
- if temperature == 0:
+ if temperature >= 0:
## never_greedy: At a temperature of 0 you divide by 0.
+ if temperature < 0:
## temperature_multiplied [common-mistakes]: You multiply by the temperature: a higher one makes the text duller.
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits * temperature).softmax(dim=-1)
## temperature_forgotten: The temperature changes nothing: divide the logits by it; if probabilities are divided by it,
scaling undoes that.
+ p = logits.softmax(dim=-1)
## temperature_for_the_first: Only your first new token is drawn at the temperature; all of them should be.
- for _ in range(n_tokens):
+ for n in range(n_tokens):
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits / (1 if n else temperature)).softmax(dim=-1)
## each_alike: Every token is drawn with the same probability.
- p = (logits / temperature).softmax(dim=-1)
+ p = torch.ones_like(logits)
## softmax_over_the_batch: Your softmax runs over the rows of the batch.
+ p = (logits / temperature).softmax(dim=0)
## the_same_for_all: One token is drawn for the whole batch.
- new = torch.multinomial(p, 1)
+ new = torch.multinomial(p[:1], 1).expand(len(ids), 1)
## one_random_number: One random number serves all rows of the batch: draw for each row by itself.
+ new = (p.cumsum(dim=1) > torch.rand(1)).byte().argmax(dim=1, keepdim=True)
## in_front: The new token is put in front.
- ids = torch.cat([ids, new], dim=1)
+ ids = torch.cat([new, ids], dim=1)
## new_alone: The prompt is left out of the result.
- return ids
+ return ids[:, ids.shape[1] - n_tokens :]
## cut_to_the_window: What has left the window is left out of the result.
+ return ids[:, -length:]
## one_too_few: One token too few is written.
- for _ in range(n_tokens):
+ for _ in range(n_tokens - 1):
## in_train_mode: The model stays in train() mode, so that dropout acts while it writes.
- model.eval()
## gradients_kept: Gradients are kept while the model writes.
- with torch.no_grad():
+ with torch.enable_grad():
## first_row_for_all: Every row is drawn from the probabilities of the first; each has its own.
- new = torch.multinomial(p, 1)
+ new = torch.multinomial(p[:1].expand(len(ids), -1), 1)
## cold_is_greedy: A small temperature counts as 0 for you; only at 0 itself is nothing drawn.
- if temperature == 0:
+ if temperature <= 0.1:
## nearly_zero: At a temperature of 0 you draw at a small one, and what is nearly as likely comes, too.
- if temperature == 0:
+ if temperature < 0:
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits / (temperature + 0.01)).softmax(dim=-1)
## tiny_for_zero: At a temperature of 0 you draw at a tiny one: chance decides between tokens that are equally likely.
- if temperature == 0:
+ if temperature < 0:
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits / max(temperature, 1e-8)).softmax(dim=-1)
## window_too_short: The model is shown one token less than it takes.
- logits = model(ids[:, -length:])[:, -1]
+ logits = model(ids[:, -(length - 1):])[:, -1]
## divided_twice: You divide by the temperature twice.
- p = (logits / temperature).softmax(dim=-1)
+ p = (logits / temperature / temperature).softmax(dim=-1)
## greedy_by_default: Without a temperature you are greedy; the default is 1.
- def with_cat(model, ids, n_tokens, length, temperature=1.0):
+ def with_cat(model, ids, n_tokens, length, temperature=0.0):
## seeded_for_each_token: You seed the generator before each draw, so all new tokens come from the same random numbers.
  p = (logits / temperature).softmax(dim=-1)
+ torch.manual_seed(0)
## seeded: You seed the generator, so that every call draws the same.
- model.eval()
+ model.eval()
+ torch.manual_seed(0)

# into_a_table
## never_greedy_and_refused: At a temperature of 0 you divide by 0, and PyTorch refuses logits that are infinite.
- if temperature > 0:
+ if temperature >= 0:
""")
