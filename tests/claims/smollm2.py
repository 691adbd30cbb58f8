"""SmolLM2 as it comes in a Python package, continuing prompts by a line each."""

from functools import cache

import torch
from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.generation import generate
from clearformer.pretrained import from_tensors

MOST, TOGETHER = 40, 25  # new tokens, prompts


@cache
def loaded():
    """The model, in bfloat16, and its tokenizer."""
    options, tensors, vocabulary = read_gguf(packaged("smollm2"))
    return from_tensors(options, tensors).eval().bfloat16(), gguf_tokenizer(vocabulary)


def lines(prompts: list[str]) -> list[str]:
    """What SmolLM2 writes behind each prompt up to the end of the line, the likeliest token each time."""
    model, tokenizer = loaded()
    rows = [torch.tensor(tokenizer.encode(prompt)) for prompt in prompts]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))  # so that little is padding
    texts = [""] * len(rows)
    [newline] = tokenizer.encode("\n")
    for start in range(0, len(rows), TOGETHER):
        chosen = order[start : start + TOGETHER]
        longer = generate(model, [rows[i] for i in chosen], MOST, stop=newline)
        for i, row in zip(chosen, longer, strict=True):
            texts[i] = tokenizer.decode(row[len(rows[i]) :].tolist()).split("\n")[0].strip()
    return texts
