"""The closer look at a text of your own: how many steps suit a text of ten thousand characters."""

import torch
from clearbook.data.course_files import find_kept_files
from clearbook.ngrams import Ngrams

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports gpt.py

PAGE = "chapters/closer/09-your-own-text.ipynb"
STEPS = {"100 steps": 100, "300 steps": 300, "1,000 steps": 1000}
TABLE, HELD_OUT, LEARNED = "5-gram", "held out", "learned"
BEGIN, LENGTH = 100_000, 10_000  # where in the Python reference, and how many characters


@experiment(
    PAGE,
    contenders={name: "begun with the novels, the rate 0.01" for name in STEPS}
    | {TABLE: "a table that has counted all of the same text"},
    cases=(HELD_OUT, LEARNED),
    budget="8 rows of 64 tokens a step, of 10,000 characters of the Python reference",
    measured="bits per character, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "two-starts"),
    times=(1,),
)
def short_text(page, run):
    learned, held_out = once(page, "short", lambda: divided(page))
    text = held_out if run.case == HELD_OUT else learned
    if run.contender == TABLE:
        number = {c: i for i, c in enumerate(sorted({*learned, *held_out}))}
        table = Ngrams([number[c] for c in learned], 5, len(number))
        return table.surprisal([number[c] for c in text]).mean()

    def train():
        model, ids = page.fresh(True), page.to_stream([learned], page.tokenizer)
        page.fit(model, lambda: page.batch(ids), n_steps=STEPS[run.contender] * run.times)
        return model

    model = once(page, (run.contender, run.seed), train)
    ids = torch.tensor(page.tokenizer.encode(text))
    return page.loss_on(model, ids) / page.math.log(2) * len(ids) / len(text)


def divided(page):
    """Ten thousand characters of the page's text, learned and held out as the page divides all of it."""
    paragraphs = page.distinct_paragraphs(page.my_text[BEGIN : BEGIN + LENGTH])
    cut = round(0.9 * len(paragraphs))
    return "\n\n".join(paragraphs[:cut]), "\n\n".join(paragraphs[cut:])


SHORT, MIDDLE, LONG = STEPS
claim(
    short_text,
    "A hundred steps pass the table, from each of three starts, and with more the bits held out rise: the model learns "
    "this short text by heart.",
    about=(*STEPS, TABLE),
    cell="my-model",
    holds=lambda bits: (
        max(bits[SHORT, HELD_OUT, 1]) < min(bits[TABLE, HELD_OUT, 1])
        and max(bits[SHORT, HELD_OUT, 1]) < min(bits[MIDDLE, HELD_OUT, 1])
        and max(bits[MIDDLE, HELD_OUT, 1]) < min(bits[LONG, HELD_OUT, 1])
        and max(bits[LONG, LEARNED, 1]) < 0.1
    ),
    note="The page had one number of steps for all texts, and for a short one that is far too many.",
)
