"""The closer look at sentences that people wrote: memory, table and translators, on the same held-out messages."""

import json

import torch
from clearbook.data.course_files import course_file
from clearbook.overlap import bleu, chrf
from clearformer.tokenizers import BytePairTokenizer
from safetensors.torch import load_file

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/11-human-sentences.ipynb"
TABLE, MEMORY, SWAPPED = "word by word", "the memory", "the memory, words swapped"
ALONE, HELPED = "the translator alone", "the translator with hints"
FILES = {ALONE: "alone", HELPED: "model"}
WORDS, LETTERS, FAR, CLOSE = "BLEU", "chrF", "chrF, least words shared", "chrF, most words shared"
N_STEPS = 500
TRAINING = (
    "setup",
    "own-transformer",
    "messages",
    "memory",
    "count-words",
    "rows",
    "model",
    "copying",
    "losses",
    "sizes",
    "hints",
    "rate-of-steps",
    "training-loop",
    "writing",
)


def pieces_of_the_page():
    pieces = BytePairTokenizer("", 0)
    merges = json.loads((course_file("models/messages") / "config.json").read_text(encoding="utf-8"))["merges"]
    pieces.add_merges(merges)
    return pieces


def held_out_seen(page, contender):
    """What a translator sees of the held-out messages."""
    if contender == ALONE:
        return [(english,) for english in page.sources]
    return once(page, "held-out hints", lambda: page.hints(page.sources, page.learned))


def recorded(page, contender):
    """What one of the two translators writes whose weights come with the book."""
    pieces = pieces_of_the_page()
    model = page.translator(pieces)
    model.load_state_dict(load_file(course_file("models/messages") / f"{FILES[contender]}.safetensors"))
    return page.write(model, pieces, held_out_seen(page, contender))


def texts_of(page, contender):
    """What a contender writes for the held-out messages."""
    if contender in FILES:
        return recorded(page, contender)
    return {TABLE: page.by_word, MEMORY: page.copied, SWAPPED: page.mended}[contender]


def scores(page, contender):
    texts, wanted = texts_of(page, contender), page.wanted
    found = {WORDS: 100 * bleu(texts, wanted), LETTERS: 100 * chrf(texts, wanted)}
    for name, group in ((FAR, page.groups[0]), (CLOSE, page.groups[-1])):
        found[name] = 100 * chrf([texts[i] for i in group], [wanted[i] for i in group])
    return found


@experiment(
    PAGE,
    contenders={
        TABLE: "each word replaced by its likeliest one, counted in the same pairs",
        MEMORY: "the German of the learned message that shares most words",
        SWAPPED: "the memory's German, in which the table swaps the words that differ",
        ALONE: "the encoder–decoder of chapter 8 with a pointer, trained from one start on the learned pairs",
        HELPED: "the same training, of which every source holds the memory's German and the table's words too",
    },
    cases=(WORDS, LETTERS, FAR, CLOSE),
    times=(1,),
    seeds=(0,),
    budget="the same learned pairs; the trainings of models/messages/log.csv",
    measured="BLEU or chrF of the held-out messages, in per cent, more is better",
    cells=(*TRAINING, "found", "word-table", "swap", "groups"),
)
def on_messages(page, run):
    return once(page, run.contender, lambda: scores(page, run.contender))[run.case]


def trained_scores(page, run):
    """BLEU and chrF of a translator that is trained here."""
    pieces, learned = pieces_of_the_page(), page.learned
    if run.contender == ALONE:
        seen = [(english,) for english, _ in learned]
    else:
        seen = once(page, "learned hints", lambda: page.hints_to_learn(learned))
    torch.manual_seed(run.seed)
    model = page.translator(pieces)
    for _ in page.fit(model, pieces, seen, [german for _, german in learned], N_STEPS * run.times):
        pass
    texts = page.write(model, pieces, held_out_seen(page, run.contender))
    return {WORDS: 100 * bleu(texts, page.wanted), LETTERS: 100 * chrf(texts, page.wanted)}


@experiment(
    PAGE,
    contenders={
        ALONE: "sees the English message",
        HELPED: "sees the memory's German and the table's words, too",
    },
    cases=(WORDS, LETTERS),
    times=(1,),
    budget="500 steps of 32 pairs",
    measured="BLEU or chrF of the held-out messages, in per cent, more is better",
    cells=TRAINING,
)
def hints_from_three_starts(page, run):
    key = run.contender, run.times, run.seed
    return once(page, key, lambda: trained_scores(page, run))[run.case]


claim(
    on_messages,
    "The memory copies whole runs of words, so BLEU, which counts runs of words, puts it ahead.",
    about=(MEMORY, TABLE),
    cell="score-table",
    holds=lambda numbers: numbers[MEMORY, WORDS, 1][0] > 2 * numbers[TABLE, WORDS, 1][0],
    note="Nothing is drawn, so there is one number.",
)
claim(
    on_messages,
    "chrF, which counts runs of letters, puts the table ahead.",
    about=(MEMORY, TABLE),
    cell="score-table",
    holds=lambda numbers: numbers[TABLE, LETTERS, 1][0] > numbers[MEMORY, LETTERS, 1][0] + 5,
    note="On the same texts as above.",
)
claim(
    on_messages,
    "Together they are ahead of the memory by both.",
    about=(SWAPPED, MEMORY),
    cell="score-table",
    holds=lambda numbers: all(
        numbers[SWAPPED, case, 1][0] > numbers[MEMORY, case, 1][0] for case in (WORDS, LETTERS, FAR, CLOSE)
    ),
    note="By a point of BLEU and by more of chrF, near and far.",
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
    hints_from_three_starts,
    "From each of three starts it is ahead after 500 steps, too.",
    about=(HELPED, ALONE),
    cell="scores",
    holds=lambda numbers: all(
        min(numbers[HELPED, case, 1]) > 2 * max(numbers[ALONE, case, 1]) for case in (WORDS, LETTERS)
    ),
    note="By both measures the worst start with hints has more than twice the score of the best start without them.",
)
claim(
    on_messages,
    "There the translator with hints is ahead of the memory, even with its words swapped.",
    about=(HELPED, MEMORY, SWAPPED),
    cell="near",
    holds=lambda numbers: numbers[HELPED, FAR, 1][0] > numbers[SWAPPED, FAR, 1][0] > numbers[MEMORY, FAR, 1][0],
    note="From one start, of the held-out messages that share least.",
)
claim(
    on_messages,
    "By both measures it is ahead of the memory.",
    about=(HELPED, MEMORY),
    cell="scores",
    holds=lambda numbers: all(
        numbers[HELPED, case, 1][0] > numbers[MEMORY, case, 1][0] + 1 for case in (WORDS, LETTERS)
    ),
    note="The translator was trained from one start, for a quarter of an hour.",
)
claim(
    on_messages,
    "Beside the memory with swapped words it is level by BLEU, and a point ahead by chrF.",
    about=(HELPED, SWAPPED),
    cell="scores",
    holds=lambda numbers: (
        abs(numbers[HELPED, WORDS, 1][0] - numbers[SWAPPED, WORDS, 1][0]) < 1
        and 0.5 < numbers[HELPED, LETTERS, 1][0] - numbers[SWAPPED, LETTERS, 1][0] < 2
    ),
    note="From one start.",
)
claim(
    on_messages,
    "By chrF the table is still ahead of everything else, and so of a network that reads the table's own words.",
    about=(TABLE, MEMORY, SWAPPED, ALONE, HELPED),
    cell="scores",
    holds=lambda numbers: (
        numbers[TABLE, LETTERS, 1][0] > max(numbers[who, LETTERS, 1][0] for who in (MEMORY, SWAPPED, ALONE, HELPED)) + 1
    ),
    note="From one start.",
)
claim(
    on_messages,
    "The translator alone is behind the memory by BLEU, and level with it by chrF.",
    about=(ALONE, MEMORY),
    cell="scores",
    holds=lambda numbers: (
        numbers[ALONE, WORDS, 1][0] < numbers[MEMORY, WORDS, 1][0] - 1
        and abs(numbers[ALONE, LETTERS, 1][0] - numbers[MEMORY, LETTERS, 1][0]) < 1
    ),
    note="From one start.",
)
claim(
    on_messages,
    "But the table, whose words it reads, is further ahead still; only among the nearest messages does the translator "
    "pass it.",
    about=(TABLE, HELPED),
    cell="near",
    holds=lambda numbers: (
        numbers[TABLE, FAR, 1][0] > numbers[HELPED, FAR, 1][0] + 5
        and numbers[TABLE, CLOSE, 1][0] < numbers[HELPED, CLOSE, 1][0] - 5
    ),
    note="From one start. In the two groups between, the table is ahead as well.",
)
claim(
    on_messages,
    "Among these the memory is the best",
    about=(SWAPPED, HELPED),
    cell="near",
    holds=lambda numbers: (
        min(numbers[who, CLOSE, 1][0] for who in (MEMORY, SWAPPED))
        > max(numbers[who, CLOSE, 1][0] for who in (TABLE, ALONE, HELPED)) + 1
    ),
    note="From one start, of the held-out messages that share most.",
)
