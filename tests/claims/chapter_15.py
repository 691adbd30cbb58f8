"""Chapter 15, GPT-3: what examples in a prompt teach SmolLM2, beside prompts that know as much or less."""

import random
from functools import cache

from clearbook.weights import gguf_tokenizer, packaged, read_gguf
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
    cells=("setup", "setup-models", "few-shot-items", "few-shot-prompts"),
)
def few_shot(page, run):
    shots = page.in_pairs(page.LEARNED[run.case])
    drawn = random.Random(run.seed).sample(shots, 3 * run.times)
    key = (run.contender, run.case) if run.contender in WITHOUT_SHOTS else run
    return once(page, key, lambda: sum(page.right_of(*smollm2(), run.contender, run.case, drawn)))
