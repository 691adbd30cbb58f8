"""Chapter 15, GPT-3: what examples in a prompt teach SmolLM2, beside prompts that know as much or less."""

import random
from functools import cache

import torch
from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.models.gpt import GPT
from clearformer.pretrained import from_tensors

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/15-gpt3.ipynb"
EXAMPLES, NAMED, BOTH = "three examples", "the task named", "both"
EXCHANGED, SENTENCE = "answers exchanged", "a sentence"
WITHOUT_SHOTS = NAMED, SENTENCE
OPPOSITES, CAPITALS = TASKS = "Opposites", "Capitals"


@cache
def smollm2():
    """The model in float32, as on the page, and its tokenizer."""
    options, tensors, vocabulary = read_gguf(packaged("smollm2"))
    return from_tensors(options, tensors).eval(), gguf_tokenizer(vocabulary)


@experiment(
    PAGE,
    contenders={
        EXAMPLES: "finished lines of the task, and the line to finish",
        NAMED: "a heading, Opposites or Capitals, and the line to finish: no example",
        BOTH: "the heading, then the finished lines",
        EXCHANGED: "the same lines, each with the answer of another",
        SENTENCE: "what is asked in plain English, to be continued: no example",
    },
    cases=TASKS,
    budget="three of twelve examples, drawn anew for each seed; in four times the budget all twelve, in another order",
    measured="how many of ten items SmolLM2 gets right by the first word that it writes, more is better",
    cells=("setup", "setup-models", "few-shot-items", "few-shot-prompts", "few-shot-scored"),
)
def few_shot(page, run):
    shots = page.in_pairs(page.LEARNED[run.case])
    drawn = random.Random(run.seed).sample(shots, 3 * run.times)
    key = (run.contender, run.case) if run.contender in WITHOUT_SHOTS else run
    return once(page, key, lambda: sum(page.right_of(*smollm2(), run.contender, run.case, drawn)))


def of_twenty(numbers, contender: str, times: int = 1) -> list[float]:
    """The right answers of both tasks together, a number for each seed."""
    return [sum(pair) for pair in zip(*(numbers[contender, task, times] for task in TASKS), strict=True)]


def between(found: list[float], low: int, high: int) -> bool:
    """Whether these are the lowest and the highest of the seeds."""
    return (min(found), max(found)) == (low, high)


claim(
    few_shot,
    "Three examples take SmolLM2 from three right answers of twenty to fourteen or more, in each of three draws.",
    about=(EXAMPLES, NAMED),
    cell="few-shot",
    holds=lambda numbers: min(of_twenty(numbers, EXAMPLES)) >= 14 and max(of_twenty(numbers, NAMED)) == 3,
    note="It is 15 to 17 for the three draws that are stored, and 16 to 18 with all twelve examples.",
    verdict="changed",
    before="The second says *bad* and *Cairo*, but only after the examples.",
)
claim(
    few_shot,
    "A plain sentence gets fourteen right, without any example.",
    about=(SENTENCE, NAMED),
    cell="few-shot",
    holds=lambda numbers: of_twenty(numbers, SENTENCE) == [14] * 3 and max(of_twenty(numbers, NAMED)) < 14,
    note="Eight opposites and six capitals. Nothing is drawn in these two prompts, so the seeds agree.",
)
claim(
    few_shot,
    "With both it is thirteen or more.",
    about=(BOTH, NAMED),
    cell="few-shot",
    holds=lambda numbers: min(of_twenty(numbers, BOTH)) >= 13 and max(of_twenty(numbers, NAMED)) < 13,
    note="17 or 18 for the three draws that are stored, where the heading loses nothing.",
)
claim(
    few_shot,
    "With the answers exchanged, opposites are lost: three right at most, with twelve examples, too.",
    about=(EXCHANGED, EXAMPLES),
    cell="few-shot",
    holds=lambda numbers: (
        max(numbers[EXCHANGED, OPPOSITES, 1] + numbers[EXCHANGED, OPPOSITES, 4]) <= 3
        and min(numbers[EXAMPLES, OPPOSITES, 1] + numbers[EXAMPLES, OPPOSITES, 4]) >= 8
    ),
    note="The words are the same as in the right examples, and so is the form.",
)
claim(
    few_shot,
    "Capitals are not: four to nine of ten are right with three wrong examples, where right ones give five to seven, "
    "and nine with twelve, where right ones give eight.",
    about=(EXCHANGED, EXAMPLES),
    cell="few-shot",
    holds=lambda numbers: (
        between(numbers[EXCHANGED, CAPITALS, 1], 4, 9)
        and between(numbers[EXAMPLES, CAPITALS, 1], 5, 7)
        and numbers[EXCHANGED, CAPITALS, 4] == [9] * 3
        and numbers[EXAMPLES, CAPITALS, 4] == [8] * 3
    ),
    note="Opposites go from nine or ten to two at most when three answers are exchanged.",
    verdict="changed",
    before="Capitals are not: with twelve wrong examples nine of ten are right.",
)


BEFORE, AFTER = "before training", "after training"


@experiment(
    PAGE,
    contenders={
        BEFORE: "the sizes of the GPT of chapter 9, with fresh weights",
        AFTER: "that GPT after its 5,000 steps",
    },
    times=(1,),
    budget="256 windows of 64 tokens of what it was trained on, drawn anew for each seed",
    measured="noise scale of the gradient, in tokens",
    cells=("setup", "setup-models", "shard-gradients:gradient", "noise-scale:noise_scale"),
)
def noise(page, run):
    trained, tokenizer = page.load_language_model(page.course_file("models/gpt"))
    text = page.austen_split()[0][run.seed]
    ids = torch.tensor(tokenizer.encode(text[100_000:160_000]))
    windows = ids[: 65 * (len(ids) // 65)].view(-1, 65)
    windows = windows[torch.randperm(len(windows))[:256]]
    model = trained if run.contender == AFTER else GPT(trained.config)
    return page.noise_scale(model, windows)


claim(
    noise,
    "It grows as the loss falls: here at least twenty times, for each of three draws of the windows.",
    about=(BEFORE, AFTER),
    cell="noise-scale",
    holds=lambda numbers: all(
        after > 20 * before for before, after in zip(numbers[BEFORE, "", 1], numbers[AFTER, "", 1], strict=True)
    ),
    note="Each draw is from another novel.",
)
