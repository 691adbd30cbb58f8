"""Exercise 11, question four: train it until four comes out right."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from clearcheck import Inputs, Question, answers_to, holds
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_checks import learns

from .parts import PromptTranslator

SECONDS = 20.0  # of one loop, on a slow machine too
STEPS, THRESHOLD, LONG = 300, 0.85, 3000
ENGLISH = re.findall(
    r"\w+",
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety""",
)
GERMAN = re.findall(
    r"\w+",
    """eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig""",
)
WORDS = ["padding", "start", "end", *ENGLISH, "hundred", "thousand", "and", *GERMAN, "ein", "und", "hundert", "tausend"]
PADDING, START, END = 0, 1, 2


def english(n):
    if n >= 100:
        size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
        rest = ["and"] * (0 < n % size < 100)
        return [*english(n // size), name, *rest, *english(n % size)]
    if n > 20 and n % 10:
        return [ENGLISH[17 + n // 10], ENGLISH[n % 10 - 1]]
    return [ENGLISH[n - 1 if n < 20 else 17 + n // 10]] if n else []


def german(n, last=True):
    if n >= 100:
        size, name = (1000, "tausend") if n >= 1000 else (100, "hundert")
        return [*german(n // size, False), name, *german(n % size, last)]
    if n > 20 and n % 10:
        return [*german(n % 10, False), "und", GERMAN[17 + n // 10]]
    if n == 1 and not last:
        return ["ein"]
    return [GERMAN[n - 1 if n < 20 else 17 + n // 10]] if n else []


def ids_of(numbers, words_of):
    rows = [[*map(WORDS.index, words_of(n)), END] for n in numbers]
    longest = max(map(len, rows))
    return np.array([row + [PADDING] * (longest - len(row)) for row in rows])


def drawn(rng):
    """Three thousand long numbers and 85 short ones; held out are the short ones that leave 4 when divided by 7."""
    long = [int(n) for n in rng.choice(np.arange(1000, 10_000), LONG, replace=False)]
    lessons = rng.permutation([*long, *(n for n in range(1, 100) if n % 7 != 4)]).tolist()
    fresh = list(range(4, 100, 7))
    source, target = ids_of(fresh, english), ids_of(fresh, german)
    read = np.column_stack([np.full(len(fresh), START), target[:, :-1]])
    arguments = ids_of(lessons, english), ids_of(lessons, german), len(WORDS), START, PADDING, STEPS
    return training_call(*arguments, held_out=(source, read)), target


def share_exact(scores, target):
    """The share of numbers that are right in every word."""
    if scores.shape != (*target.shape, len(WORDS)):
        raise ValueError(f"scores of shape {scores.shape} for targets of shape {target.shape}")
    return np.mean(((scores.argmax(axis=2) == target) | (target == PADDING)).all(axis=1))


def four_is_right(ask, rng):
    (plan,), _ = drawn(rng)
    source, read = plan["held_out"]
    came = ask({**plan, "held_out": (source[:1], read[:1])})["output"]
    if np.shape(came) != (1, read.shape[1], len(WORDS)):
        return f"For one number the model should give scores of shape {(1, read.shape[1], len(WORDS))}."
    written = [WORDS[i] for i in came[0, :2].argmax(axis=1)]
    return None if written == ["vier", "end"] else f"For *four* your model writes {written[0]} {written[1]}."


def as_many_steps_as_asked(ask, rng):
    (plan,), _ = drawn(rng)
    came = ask({**plan, "arguments": (*plan["arguments"][:5], 3)})
    return None if 0 < came["steps"] <= 3 else f"With steps=3 your loop took {came['steps']} steps of an optimiser."


QUESTION = Question(
    id="four",
    title="Until four comes out right",
    name="fit",
    minutes=35,
    difficulty=3,
    draws=1,
    uses=("prompt",),
    checks=(
        holds("steps", 2, as_many_steps_as_asked),
        holds("short numbers", 8, learns(drawn, STEPS, share_exact, THRESHOLD, "share of exact short numbers", False)),
        holds("four", 4, four_is_right),
    ),
    hints=(
        "Count the lessons by their number of words. Of how many short ones does your loop see one in a batch of 64?",
        "`torch.multinomial(weights, 64, replacement=True)` draws rows by weights: give each short row a larger one.",
        "The decoder reads `start` and the target without its last token. Leave padding out of the loss, and let the "
        "learning rate rise in the first steps and fall to zero at the end.",
    ),
    section="why-it-cannot-say-four",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a data set", no_softmax="the softmax is in the loss"),
    how="training",
)

right, wrong = answers_to(QUESTION)


@right
def half_short(sources, targets, n_words, start, padding, steps):
    model = PromptTranslator(n_words, 48, 4, 96, 2, padding)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.006)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.006, total_steps=steps)
    read = torch.cat([torch.full((len(targets), 1), start), targets[:, :-1]], dim=1)
    short = (targets != padding).sum(1) <= 4
    weights = torch.where(short, 1 / short.sum(), 1 / (~short).sum())
    for _ in range(steps):
        rows = torch.multinomial(weights, 64, replacement=True)
        scores = model(sources[rows], read[rows])
        loss = F.cross_entropy(scores.flatten(0, 1), targets[rows].flatten(), ignore_index=padding)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


@right
def as_many_of_each_length(sources, targets, n_words, start, padding, steps):
    length = (sources != padding).sum(dim=1)
    weights = 1 / torch.bincount(length)[length].float()
    model = PromptTranslator(n_words, 32, 4, 64, 2, padding)
    adam = torch.optim.Adam(model.parameters(), lr=0.006)
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] = 0.006 * min((step + 1) / 20, 1 - step / steps)
        rows = torch.multinomial(weights, 64, replacement=True)
        wanted = targets[rows]
        read = F.pad(wanted, (1, 0), value=start)[:, :-1]
        surprise = F.cross_entropy(model(sources[rows], read).mT, wanted, ignore_index=padding)
        adam.zero_grad()
        surprise.backward()
        adam.step()
    return model


@right
def two_halves(sources, targets, n_words, start, padding, steps):
    words = (targets != padding).sum(dim=1)
    short, long = (torch.nonzero(part)[:, 0] for part in (words < 5, words >= 5))
    model = PromptTranslator(n_words, 40, 4, 80, 2, padding)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.006, weight_decay=0.01)
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min((n + 1) / 30, 1 - n / steps))
    for _ in range(steps):
        rows = torch.cat([part[torch.randint(len(part), (32,))] for part in (short, long)])
        read = torch.hstack([torch.full((64, 1), start), targets[rows, :-1]])
        log_p = model(sources[rows], read).log_softmax(dim=2)
        real = targets[rows] != padding
        loss = -log_p.gather(2, targets[rows][:, :, None])[:, :, 0][real].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.step()
    return model


wrong.edits("""
# half_short
## not_shifted [common-mistakes]: The decoder reads what it is asked for, and learns to copy it.
- read = torch.cat([torch.full((len(targets), 1), start), targets[:, :-1]], dim=1)
+ read = targets
## shifted_the_other_way [common-mistakes]: The decoder reads the next word at each place: it sees what is asked for
later.
- read = torch.cat([torch.full((len(targets), 1), start), targets[:, :-1]], dim=1)
+ read = torch.cat([targets[:, 1:], torch.full((len(targets), 1), start)], dim=1)
## other_rows: Sources and targets come from different rows of the lessons.
- loss = F.cross_entropy(scores.flatten(0, 1), targets[rows].flatten(), ignore_index=padding)
+ loss = F.cross_entropy(scores.flatten(0, 1), targets[rows.flip(0)].flatten(), ignore_index=padding)
## places_mixed: Scores and targets are flattened in different orders.
- loss = F.cross_entropy(scores.flatten(0, 1), targets[rows].flatten(), ignore_index=padding)
+ loss = F.cross_entropy(scores.transpose(0, 1).flatten(0, 1), targets[rows].flatten(), ignore_index=padding)
## no_long_ones: Your batches hold the short lessons alone; too few of each word,
and new numbers come out wrong.
- weights = torch.where(short, 1 / short.sum(), 1 / (~short).sum())
+ weights = short.float()
## no_short_ones [why-it-cannot-say-four]: Your batches hold no short lesson at all.
- weights = torch.where(short, 1 / short.sum(), 1 / (~short).sum())
+ weights = (~short).float()
## no_step: The optimiser never takes a step.
- optimizer.step()
## zeroed_too_late: The gradients are set to zero after they were computed.
- optimizer.zero_grad()
- loss.backward()
+ loss.backward()
+ optimizer.zero_grad()
## uphill: The step goes uphill.
- loss.backward()
+ (-loss).backward()
## head_alone: Only the head is trained.
- optimizer = torch.optim.AdamW(model.parameters(), lr=0.006)
+ optimizer = torch.optim.AdamW(model.head.parameters(), lr=0.006)
## too_slow: The learning rate is far too small for so few steps.
- optimizer = torch.optim.AdamW(model.parameters(), lr=0.006)
- schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.006, total_steps=steps)
+ optimizer = torch.optim.AdamW(model.parameters(), lr=0.000006)
+ schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.000006, total_steps=steps)
## new_model_each_step: A new model is made in every step, and the last one has learned nothing.
      rows = torch.multinomial(weights, 64, replacement=True)
+     model = PromptTranslator(n_words, 48, 4, 96, 2, padding)
## nothing_returned: The model is trained, and not returned.
- return model
""")
