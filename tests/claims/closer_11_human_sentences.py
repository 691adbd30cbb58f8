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
        "setup",
        "own-transformer",
        "messages",
        "rows",
        "model",
        "writing",
        "memory",
        "word-table",
        "groups",
    ),
)
def on_messages(page, run):
    return once(page, run.contender, lambda: scores(page, run.contender))[run.case]


claim(
    on_messages,
    "The memory copies whole runs of words, so BLEU, which counts runs of words, puts it ahead.",
    about=(MEMORY, TABLE),
    cell="scores",
    holds=lambda numbers: numbers[MEMORY, WORDS, 1][0] > 2 * numbers[TABLE, WORDS, 1][0],
    note="Nothing is drawn, so there is one number.",
)
claim(
    on_messages,
    "chrF, which counts runs of letters, puts the table ahead.",
    about=(MEMORY, TABLE),
    cell="scores",
    holds=lambda numbers: numbers[TABLE, LETTERS, 1][0] > numbers[MEMORY, LETTERS, 1][0] + 5,
    note="On the same texts as above.",
)
claim(
    on_messages,
    "Where three words in five are shared, the memory is ahead of the table",
    about=(MEMORY, TABLE),
    cell="near",
    holds=lambda numbers: numbers[MEMORY, CLOSE, 1][0] > numbers[TABLE, CLOSE, 1][0],
    note="Of the held-out messages that share most.",
)
claim(
    on_messages,
    "Where hardly any are shared, it is far behind",
    about=(MEMORY, TABLE),
    cell="near",
    holds=lambda numbers: numbers[TABLE, FAR, 1][0] > numbers[MEMORY, FAR, 1][0] + 10,
    note="Of the held-out messages that share least.",
)
claim(
    on_messages,
    "By BLEU the memory beats the translator, and by chrF both rivals do.",
    about=(OURS, MEMORY, TABLE),
    cell="scores",
    holds=lambda numbers: (
        numbers[MEMORY, WORDS, 1][0] > numbers[OURS, WORDS, 1][0] > numbers[TABLE, WORDS, 1][0]
        and numbers[TABLE, LETTERS, 1][0] > numbers[MEMORY, LETTERS, 1][0] > numbers[OURS, LETTERS, 1][0]
    ),
    note="The translator was trained from one start. By BLEU it is ahead of the table.",
)
claim(
    on_messages,
    "The translator is no better there.",
    about=(OURS, MEMORY),
    cell="near",
    holds=lambda numbers: numbers[OURS, FAR, 1][0] <= numbers[MEMORY, FAR, 1][0],
    note="By half a point of chrF it is behind, of the held-out messages that share least.",
)
