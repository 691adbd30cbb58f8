"""The closer look at sentences that people wrote: its translator beside a memory and a table, near and far."""

import json

from clearbook.data.course_files import course_file
from clearbook.overlap import bleu, chrf
from safetensors.torch import load_file

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/11-human-sentences.ipynb"
OURS, MEMORY, TABLE = "the translator", "the memory", "word by word"
WORDS, LETTERS, FAR, CLOSE = "BLEU", "chrF", "chrF, least words shared", "chrF, most words shared"


def texts_of(page, contender):
    """What one of the three writes for the held-out messages."""
    sources = [english for english, _ in page.held_out]
    if contender == MEMORY:
        return page.copied
    if contender == TABLE:
        return [page.by_table(english) for english in sources]
    folder = course_file("models/messages")
    pieces = page.BytePairTokenizer("", 0)
    pieces.add_merges(json.loads((folder / "config.json").read_text(encoding="utf-8"))["merges"])
    model = page.translator(pieces)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return page.write(model, pieces, sources)


def scores(page, contender):
    texts, wanted = texts_of(page, contender), [german for _, german in page.held_out]
    found = {WORDS: 100 * bleu(texts, wanted), LETTERS: 100 * chrf(texts, wanted)}
    for name, group in ((FAR, page.groups[0]), (CLOSE, page.groups[-1])):
        found[name] = 100 * chrf([texts[i] for i in group], [wanted[i] for i in group])
    return found


@experiment(
    PAGE,
    contenders={
        OURS: "an encoder–decoder with the class of chapter 8, trained from one start on the learned pairs",
        MEMORY: "the German of the learned message that shares most words",
        TABLE: "each word replaced by its likeliest one, counted in the same pairs",
    },
    cases=(WORDS, LETTERS, FAR, CLOSE),
    times=(1,),
    seeds=(0,),
    budget="the same learned pairs; the training of models/messages/log.csv",
    measured="BLEU or chrF of the held-out messages, in per cent, more is better",
    cells=(
        "setup", "own-transformer", "messages", "rows", "model", "writing", "memory", "word-table", "groups",
    ),
)
def on_messages(page, run):
    return once(page, run.contender, lambda: scores(page, run.contender))[run.case]
