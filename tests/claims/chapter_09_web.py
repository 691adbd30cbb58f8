"""Chapter 9, a language model: the page's GPTs beside a published model that has read the web."""

import torch
from clearbook.data.austen import austen_split
from clearbook.data.course_files import course_file, find_kept_files
from clearbook.language_model import load_language_model
from clearbook.own_gpt import as_library_gpt
from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.losses import surprisal
from clearformer.pretrained import from_tensors
from safetensors.torch import load_file

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports transformer.py

PAGE = "chapters/09-language-model.ipynb"
GPT, SHIPPED, REAL = "your GPT", "the shipped GPT", "SmolLM2"
NOVELS = {"Pride and Prejudice": 1, "the novel after it": 2}


@experiment(
    PAGE,
    contenders={
        GPT: "the weights of models/gpt, 5,000 steps on the novels without these ends",
        SHIPPED: "the larger model of models/austen, trained on the same text",
        REAL: "as it comes in its package; what it has read of these novels nobody here knows",
    },
    cases=tuple(NOVELS),
    budget="4,000 characters of the end of a novel; nothing is trained here",
    measured="bits per character, every token counted, less is better",
    cells=("gpt-imports", "read-texts", "to-stream", "text-ids", "the-model"),
    times=(1,),
    seeds=(0,),
)
def beside_the_web(page, run):
    model, tokenizer = once(page, run.contender, lambda: reader(page, run.contender))
    text = austen_split()[1][NOVELS[run.case]][:4000]
    ids = torch.tensor(tokenizer.encode("\n" + text))
    return surprisal(model, ids).sum().item() / len(text)


def reader(page, who):
    """A model and its tokenizer."""
    if who == REAL:
        options, tensors, vocabulary = read_gguf(packaged("smollm2"))
        return from_tensors(options, tensors).eval(), gguf_tokenizer(vocabulary)
    if who == SHIPPED:
        return load_language_model(course_file("models/austen"))
    model = page.GPT(page.V, d_model=96, n_heads=4, n_layers=2)
    model.load_state_dict(load_file(course_file("models/gpt/gpt.safetensors")))
    return as_library_gpt(model), page.tokenizer


claim(
    beside_the_web,
    "SmolLM2 is ahead of both.",
    about=(GPT, SHIPPED, REAL),
    cell="longer",
    holds=lambda bits: all(
        below(bits, REAL, GPT, SHIPPED, by=0.1, case=case, times=(1,)) for case in beside_the_web.cases
    ),
    note="On the ends of two novels, which it may have read: they are on the web.",
)
