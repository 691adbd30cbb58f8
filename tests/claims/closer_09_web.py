"""The closer look at a text of your own: a model that has read the web, without a step on the text."""

import math

import torch
from clearbook.data.course_files import find_kept_files
from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.pretrained import from_tensors

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports gpt.py

PAGE = "chapters/closer/09-your-own-text.ipynb"
REAL, TABLE = "SmolLM2", "5-gram"
PLACES = {"the beginning": 0, "what follows": 2000}


@experiment(
    PAGE,
    contenders={
        REAL: "as it comes in its package; whether it has read the Python reference nobody here knows",
        TABLE: "a table that has counted all of the same text",
    },
    cases=tuple(PLACES),
    budget="2,000 characters of the paragraphs held out; nothing is trained",
    measured="bits per character, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "my-table"),
    times=(1,),
    seeds=(0,),
)
def as_it_comes(page, run):
    begin = PLACES[run.case]
    if run.contender == TABLE:
        table = once(page, TABLE, lambda: page.Ngrams(page.letters, 5, len(page.characters)))
        return table.surprisal(page.test[begin : begin + 2000]).mean()
    model, tokenizer = once(page, REAL, load)
    text = page.held_out[begin : begin + 2000]
    row = torch.tensor(tokenizer.encode("\n" + text))
    with torch.no_grad():
        log_p = model(row[None, :-1])[0].log_softmax(dim=-1)
    return -log_p.gather(1, row[1:, None]).sum().item() / math.log(2) / len(text)


def load():
    """SmolLM2 and its tokenizer."""
    options, tensors, vocabulary = read_gguf(packaged("smollm2"))
    return from_tensors(options, tensors).eval(), gguf_tokenizer(vocabulary)


claim(
    as_it_comes,
    "Without a step on this text SmolLM2 is ahead of the table that has counted all of it.",
    about=(REAL, TABLE),
    cell="web-bits",
    holds=lambda bits: all(below(bits, REAL, TABLE, by=0.3, case=case, times=(1,)) for case in as_it_comes.cases),
    note="At two places of what was held out.",
)
