"""Chapter 9, a language model: its GPT of 5,000 steps beside tables of counts of every depth."""

import math

import numpy as np
import torch
from clearbook.data.austen import austen_split
from clearbook.data.course_files import course_file, find_kept_files
from clearbook.language_model import load_language_model
from clearbook.ngrams import Ngrams
from safetensors.torch import load_file

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports transformer.py

PAGE = "chapters/09-language-model.ipynb"
DEPTHS = range(2, 10)
TABLES = {f"{n}-gram": f"all of the text counted, {n - 1} characters of context" for n in DEPTHS}
GPT, SHIPPED = "your GPT", "the shipped GPT"
HELD_OUT, NEXT = "the page's held-out text", "the 24,000 characters after it"


@experiment(
    PAGE,
    contenders={
        GPT: "the weights of models/gpt, which the page loads: 5,000 steps from one start",
        **TABLES,
        SHIPPED: "the larger model of models/austen",
    },
    cases=(HELD_OUT, NEXT),
    budget="all of the text counted once, or the training that the page names; nothing is trained here",
    measured="bits per character, less is better",
    cells=("gpt-imports", "read-texts", "to-stream", "text-ids", "batch", "the-model", "loss-on"),
    times=(1,),
    seeds=(0,),
)
def every_depth(page, run):
    begin = 4000 * (run.case == NEXT)
    text = "".join(part[begin : begin + 4000] for part in austen_split()[1])
    if run.contender in TABLES:
        counted = once(page, "counted", lambda: count(page))
        return counted(text, int(run.contender.partition("-")[0]))
    if run.contender == SHIPPED:
        model, tokenizer = load_language_model(course_file("models/austen"))
        ids, length = [tokenizer.n_vocab, *tokenizer.encode(text)], 256
    else:
        model, tokenizer, length = page.GPT(page.V, d_model=96, n_heads=4, n_layers=2), page.tokenizer, 64
        model.load_state_dict(load_file(course_file("models/gpt/gpt.safetensors")))
        ids = tokenizer.encode(text)
    nats = page.loss_on(model, torch.tensor(ids), length)
    return nats / math.log(2) * len(ids) / len(text)


def count(page):
    """What gives the bits per character of a text, for a table of a depth."""
    learned, ends = "".join(page.learned), "".join(austen_split()[1])
    number = {c: i for i, c in enumerate(sorted({*learned, *ends}))}
    table = Ngrams([number[c] for c in learned], max(DEPTHS), len(number))
    return lambda text, n: float(np.mean(table.surprisal([number[c] for c in text], n)))


def best_table(bits, case):
    """The lowest number that a table has there, whichever its depth."""
    return min(bits[table, case, 1][0] for table in TABLES)


claim(
    every_depth,
    "The best table is the 6-gram.",
    about=tuple(TABLES),
    cell="baselines",
    holds=lambda bits: all(bits["6-gram", case, 1][0] == best_table(bits, case) for case in every_depth.cases),
    note="By a thousandth of a bit before the 7-gram on the text that chose it, by more on the text that follows.",
    verdict="changed",
    before="The 5-gram is a serious baseline",
)
claim(
    every_depth,
    "Your GPT has passed the 5-gram, and the best table is only just ahead of it",
    about=(GPT, *TABLES),
    cell="five-thousand-load",
    holds=lambda bits: all(
        below(bits, GPT, "5-gram", by=0.04, case=case, times=(1,))
        and 0 < bits[GPT, case, 1][0] - best_table(bits, case) < 0.05
        for case in every_depth.cases
    ),
    note="The weights are those that come with the course, from one of the starts.",
    verdict="changed",
    before="Your GPT has passed the table, with 300 thousand weights and a file that you typed.",
)
claim(
    every_depth,
    "The shipped model leaves every table behind.",
    about=(SHIPPED, *TABLES),
    cell="longer",
    holds=lambda bits: all(below(bits, SHIPPED, *TABLES, by=0.3, case=case, times=(1,)) for case in every_depth.cases),
    note="By three tenths of a bit, on either text.",
)
