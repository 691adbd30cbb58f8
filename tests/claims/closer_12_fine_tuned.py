"""Closer look at a tuned encoder: what an adapter does with few labels, beside words and the frozen vectors."""

from statistics import mean

import torch

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-fine-tuned.ipynb"
WORDS, FROZEN, TUNED = "words and pairs of them", "MiniLM frozen", "MiniLM with an adapter"
MORE = "words, with four times the labels"
KINDS, SEARCH = "kinds of messages", "search among the exceptions"
CELLS = ("setup", "messages", "rivals", "judge", "classifier", "train", "forgets")


@experiment(
    PAGE,
    contenders={
        TUNED: "LoRA of rank 8 beside every linear map, and a linear layer",
        FROZEN: "a softmax regression on the vectors of MiniLM as it is",
        WORDS: "a softmax regression on tf-idf rows, and no encoder",
        MORE: "the same, with 128 labels of each kind",
    },
    cases=(KINDS, SEARCH),
    budget="32 labels of each of six kinds, drawn from the seed; 60 steps with 16 messages in each for the adapter, "
    "the regressions to their end, with the best of three strengths by cross-validation",
    measured="per cent of the held-out messages that get their kind, or of the exceptions whose name finds its "
    "description, more is better",
    cells=CELLS,
)
def few_labels(page, run):
    n = 128 if run.contender == MORE else 32
    pairs = page.labelled(n, run.seed)
    if run.contender == TUNED:
        key = TUNED, run.times, run.seed
        model = once(page, key, lambda: page.tuned(pairs, 60 * run.times))
        if run.case == SEARCH:
            return page.share_found(model.encoder)
        return page.share_right(lambda texts: page.told_by(model, texts))
    if run.case == SEARCH:
        return once(page, run.contender, lambda: searched(page, run.contender))
    make = page.frozen if run.contender == FROZEN else page.by_words
    return once(page, (run.contender, run.seed), lambda: page.share_right(make(pairs)))


def searched(page, contender):
    """What the two that do not learn find: the untouched encoder, and words that both have."""
    if contender == FROZEN:
        return page.share_found(page.from_pretrained(page.packaged("minilm")))
    texts, names = page.exceptions()
    words = page.TfidfVectorizer(token_pattern=r"[a-z]+").fit(texts)
    scores = torch.tensor((words.transform(names) @ words.transform(texts).T).toarray())
    return 100 * float((scores.argmax(dim=1) == torch.arange(len(names))).float().mean())


BLOCKS = "the last two blocks"


@experiment(
    PAGE,
    contenders={
        TUNED: "LoRA of rank 8 beside every linear map, and a linear layer",
        BLOCKS: "whole, and a linear layer",
    },
    cases=(KINDS, SEARCH),
    budget="32 labels of each of six kinds, drawn from the seed; 60 steps with 16 messages in each",
    measured="per cent of the held-out messages that get their kind, or of the exceptions whose name finds its "
    "description, more is better",
    cells=(*CELLS, "last-blocks"),
    times=(1,),
)
def last_blocks_learn(page, run):
    make = page.tuned if run.contender == TUNED else page.last_blocks
    model = once(page, (run.contender, run.seed), lambda: make(page.labelled(32, run.seed)))
    if run.case == SEARCH:
        return page.share_found(model.encoder)
    return page.share_right(lambda texts: page.told_by(model, texts))


BUDGETS = (1, 4)

claim(
    few_labels,
    "Both know something, and words do better than the frozen vectors.",
    about=(WORDS, FROZEN),
    cell="rivals-scores",
    holds=lambda right: all(
        words > frozen + 1 for words, frozen in zip(right[WORDS, KINDS, 1], right[FROZEN, KINDS, 1], strict=True)
    ),
    note="From each of three draws of the labels.",
)

claim(
    few_labels,
    "With the same labels the tuned encoder gets more of them right than either rival.",
    about=(TUNED, FROZEN, WORDS),
    cell="tune",
    holds=lambda right: all(
        min(right[TUNED, KINDS, times]) > 5 + max(right[who, KINDS, times])
        for times in BUDGETS
        for who in (WORDS, FROZEN)
    ),
    note="From each of three draws of the labels; four times the steps change little.",
)

claim(
    few_labels,
    "With four times the labels, words come close to it.",
    about=(MORE, WORDS, TUNED),
    cell="tune",
    holds=lambda right: all(
        mean(right[WORDS, KINDS, times]) + 5
        < mean(right[MORE, KINDS, times])
        < mean(right[TUNED, KINDS, times])
        < mean(right[MORE, KINDS, times]) + 5
        for times in BUDGETS
    ),
    note="128 labels of each kind in place of 32.",
)

claim(
    few_labels,
    "With the adapter it finds far fewer than before, whatever labels we drew.",
    about=(TUNED, FROZEN),
    cell="forgets-scores",
    holds=lambda right: all(
        max(right[TUNED, SEARCH, times]) < min(right[FROZEN, SEARCH, times]) - 10 for times in BUDGETS
    ),
    note="It still finds some. Switched off, the adapter changes nothing.",
)

claim(
    last_blocks_learn,
    "Two blocks learned less of the kinds than the adapter did, and forgot as much of the search or more, in each of "
    "three draws of the labels.",
    about=(TUNED, BLOCKS),
    cell="last-blocks-judged",
    holds=lambda right: (
        all(a < b for a, b in zip(right[BLOCKS, KINDS, 1], right[TUNED, KINDS, 1], strict=True))
        and all(a <= b for a, b in zip(right[BLOCKS, SEARCH, 1], right[TUNED, SEARCH, 1], strict=True))
    ),
    note="The blocks with a quarter of the adapter's rate, as on the page.",
)

claim(
    last_blocks_learn,
    "They stayed within ten points of it each time.",
    about=(TUNED, BLOCKS),
    cell="last-blocks-judged",
    holds=lambda right: all(
        0 < a - b < 10 for a, b in zip(right[TUNED, KINDS, 1], right[BLOCKS, KINDS, 1], strict=True)
    ),
    note="The blocks with a quarter of the adapter's rate, as on the page.",
)
