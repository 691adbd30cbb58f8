"""Closer look at a chat model in use: which half of retrieval-augmented generation fails, the search or the answer."""

import re

import torch
from clearbook.weights import chat_prompt, gguf_tokenizer, packaged, read_gguf
from clearformer.generation import generate
from clearformer.pretrained import from_tensors

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-in-use.ipynb"
ALONE, FOUND, GIVEN, RULE = "no card", "the card that words find", "the right card", "the first number before the word"
LAYERS, HEADS = "layers", "heads"


@experiment(
    PAGE,
    contenders={
        ALONE: "SmolLM2 with the question alone",
        FOUND: "with the card that shares the rarest words with the question",
        GIVEN: "with the card that was written for it",
        RULE: "no model: the number that stands before the word asked for, in the card that was found",
    },
    cases=(LAYERS, HEADS),
    budget="no training; the likeliest token each time, up to 16; each seed draws half of the questions",
    measured="per cent of the questions whose answer says the right number, more is better",
    cells=("setup", "names", "cards", "find", "answer-all:says"),
    times=(1,),
)
def which_half_fails(page, run):
    def right():
        queries = [page.FACTS[run.case].format(name) for name in page.NAMES]
        wanted = [model.get(run.case) for model in page.MODELS]
        found = page.by_words(page.CARDS, queries).argmax(dim=1).tolist()
        cards = page.CARDS if run.contender == GIVEN else [page.CARDS[i] for i in found]
        if run.contender == RULE:
            told = [re.search(rf"(\d+) {run.case}", card)[1] for card in cards]
        elif run.contender == ALONE:
            told = answers(page, queries)
        else:
            told = answers(page, [f"{card}\n\n{query}" for card, query in zip(cards, queries, strict=True)])
        return torch.tensor([page.says(text, number) for text, number in zip(told, wanted, strict=True)])

    found = once(page, (run.contender, run.case), right)
    half = torch.randperm(len(found), generator=torch.Generator().manual_seed(run.seed))[: len(found) // 2]
    return 100 * found[half].float().mean().item()


def answers(page, prompts):
    """What SmolLM2 answers to each; what was asked before is not asked again."""

    def load():
        options, tensors, words = read_gguf(packaged("smollm2"))
        return from_tensors(options, tensors), gguf_tokenizer(words), words

    model, tokenizer, words = once(page, "smollm2", load)
    known = once(page, "answers", dict)
    new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in known]
    rows = [tokenizer.encode(chat_prompt(words, [{"role": "user", "content": prompt}])) for prompt in new]
    if new:
        ends = generate(model, [torch.tensor(row) for row in rows], 16, stop=words.end)
        told = [tokenizer.decode(end[len(row) :].tolist()) for row, end in zip(rows, ends, strict=True)]
        known |= dict(zip(new, told, strict=True))
    return [known[prompt] for prompt in prompts]
