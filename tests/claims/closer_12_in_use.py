"""Closer look at a chat model in use: which half of retrieval-augmented generation fails, the search or the answer."""

import re
from statistics import mean
from typing import Any

import torch

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-in-use.ipynb"
ALONE, FOUND, GIVEN, RULE = "no card", "the card that words find", "the card of this model", "a rule, and no model"
WHERE = {"layers": r"(\d+) layers", "heads": r"(\d+) heads", "width": r"width of (\d+)"}


@experiment(
    PAGE,
    contenders={
        ALONE: "SmolLM2 with the question alone",
        FOUND: "with the card whose rare words are those of the question",
        GIVEN: "with the card that was written for the model asked about",
        RULE: "the number beside the word asked for, in the card that was found",
    },
    cases=tuple(WHERE),
    budget="no training; the likeliest token each time, up to 24; each seed draws half of the twelve models",
    measured="per cent of the answers in which the first number of the card is the one asked for, and is not called by "
    "another name, more is better",
    cells=("setup", "setup-transformers", "load-both", "load", "prompt", "names", "cards", "find", "answer-all"),
    times=(1,),
)
def answers_from_cards(page, run):
    def right():
        queries = [page.FACTS[run.case].format(name) for name in page.NAMES]
        found = page.by_words(page.CARDS, queries).argmax(dim=1).tolist()
        cards = page.CARDS if run.contender == GIVEN else [page.CARDS[i] for i in found]
        if run.contender == RULE:
            told = [re.findall(WHERE[run.case], card)[0] for card in cards]
        elif run.contender == ALONE:
            told = answers(page, queries)
        else:
            told = answers(page, [f"{card}\n\n{query}" for card, query in zip(cards, queries, strict=True)])
        return [page.right(*both, run.case) for both in zip(told, page.VALUES, strict=True)]

    each = torch.tensor(once(page, (run.contender, run.case), right))
    half = torch.randperm(len(each), generator=torch.Generator().manual_seed(run.seed))[: len(each) // 2]
    return 100 * each[half].float().mean().item()


FIRST, SECOND, THIRD = "first on the card", "second on the card", "third on the card"


@experiment(
    PAGE,
    contenders={FIRST: "the fact asked for stands first", SECOND: "second", THIRD: "third and last"},
    cases=tuple(WHERE),
    budget="no training; the likeliest token each time, up to 24; each seed draws half of the twelve models",
    measured="per cent of the answers in which the first number of the card is the one asked for, and is not called by "
    "another name, more is better",
    cells=(
        *("setup", "setup-transformers", "load-both", "load", "prompt", "names", "cards", "find", "answer-all"),
        "orders",
    ),
    times=(1,),
)
def order_on_the_card(page, run):
    def right():
        facts = list(WHERE)
        first = facts[(facts.index(run.case) - list(PLACES).index(run.contender)) % 3]
        cards = [page.ordered(*both, first) for both in zip(page.MODELS, page.VALUES, strict=True)]
        queries = [page.FACTS[run.case].format(name) for name in page.NAMES]
        told = answers(page, [f"{card}\n\n{query}" for card, query in zip(cards, queries, strict=True)])
        return [page.right(*both, run.case) for both in zip(told, page.VALUES, strict=True)]

    each = torch.tensor(once(page, (run.contender, run.case), right))
    half = torch.randperm(len(each), generator=torch.Generator().manual_seed(run.seed))[: len(each) // 2]
    return 100 * each[half].float().mean().item()


PLACES = (FIRST, SECOND, THIRD)
BARE, SYSTEM = "card and question", "an instruction in the system turn"
EXAMPLES, TURNED = "two examples, heads and width", "two examples, width and heads"
SAID: dict[str, dict[str, Any]] = {
    BARE: {},
    SYSTEM: {"instruction": "Answer with the number only."},
    EXAMPLES: {"shown": ("heads", "width")},
    TURNED: {"shown": ("width", "heads")},
}
FORM = "a number and nothing else"


@experiment(
    PAGE,
    contenders={
        BARE: "nothing is said about the form of the answer",
        SYSTEM: "Answer with the number only",
        EXAMPLES: "about models that there are not, whose answers are numbers",
        TURNED: "the same in the other order: the last one asks for the heads",
    },
    cases=(*WHERE, FORM),
    budget="no training; the likeliest token each time, up to 24; each seed draws half of the twelve models",
    measured="per cent of the answers in which the first number of the card is the one asked for, and is not called by "
    "another name, or of all answers those that are a number and nothing else; more is better",
    cells=(
        *("setup", "setup-transformers", "load-both", "load", "prompt", "names", "cards", "answer-all"),
        *("said-before", "answer-turns"),
    ),
    times=(1,),
)
def said_before(page, run):
    def answered():
        asks = [(i, fact) for fact in WHERE for i in range(len(page.NAMES))]
        turns = [page.turns_for(i, fact, **SAID[run.contender]) for i, fact in asks]
        return dict(zip(asks, page.answers_after(turns), strict=True))

    told = once(page, run.contender, answered)
    half = torch.randperm(len(page.NAMES), generator=torch.Generator().manual_seed(run.seed))[: len(page.NAMES) // 2]
    if run.case == FORM:
        good = [told[int(i), fact].strip().isdigit() for fact in WHERE for i in half]
    else:
        good = [page.right(told[int(i), run.case], page.VALUES[i], run.case) for i in half]
    return 100 * mean(good)


ASIS, FALSE, MARKED = "the card as it is", "with a correction that is false", "the same between marks"
RIGHT, TAKEN = "the number of the card", "the number of the correction"


@experiment(
    PAGE,
    contenders={
        ASIS: "the card and the question about its layers",
        FALSE: "a sentence more on the card, with another number of layers",
        MARKED: "the card and this sentence between marks, called data and no orders",
    },
    cases=(RIGHT, TAKEN),
    budget="no training; the likeliest token each time, up to 24; each seed draws half of the twelve models",
    measured="per cent of the answers in which the first number of the card is its number of layers, more is better; "
    "or of those that hold the false number, less is better",
    cells=(
        *("setup", "setup-transformers", "load-both", "load", "prompt", "names", "cards", "answer-all"),
        "injected",
    ),
    times=(1,),
)
def corrected_falsely(page, run):
    added = None if run.contender == ASIS else "a correction"
    way = "between marks" if run.contender == MARKED else "bare"
    told = answers(page, [page.injected(i, added, way) for i in range(len(page.NAMES))])
    half = torch.randperm(len(told), generator=torch.Generator().manual_seed(run.seed))[: len(told) // 2]
    if run.case == TAKEN:
        return 100 * mean(bool(re.search(r"\b12\b", told[i].replace(page.NAMES[i], ""))) for i in half)
    return 100 * mean(page.right(told[i], page.VALUES[i], "layers") for i in half)


def answers(page, prompts):
    """What SmolLM2 answers to each; what was asked before is not asked again."""
    known = once(page, "answers", dict)
    new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in known]
    known |= dict(zip(new, page.answers_to(new), strict=True))
    return [known[prompt] for prompt in prompts]


claim(
    answers_from_cards,
    "Without a card no answer is right. With the card that was found, most of the answers about layers and widths are.",
    about=(ALONE, FOUND),
    cell="rag",
    holds=lambda right: (
        all(max(right[ALONE, fact, 1]) == 0 for fact in WHERE)
        and all(min(right[FOUND, fact, 1]) > 50 for fact in ("layers", "width"))
    ),
    note="Asked of all twelve models, of which each seed draws half.",
)

claim(
    answers_from_cards,
    "Asked about heads it seldom says their number first, though a rule without a model gets all of them: take the "
    "number in front of the word.",
    about=(FOUND, GIVEN, RULE),
    cell="rag",
    holds=lambda right: (
        max(right[FOUND, "heads", 1]) < 40
        and right[FOUND, "heads", 1] == right[GIVEN, "heads", 1]
        and all(min(right[RULE, fact, 1]) == 100 for fact in WHERE)
    ),
    note="Most of these answers repeat the card from its beginning, so that the layers come first.",
)

claim(
    order_on_the_card,
    "Layers and heads are answered far better from the first place on the card than from another, and the width "
    "wherever it stands.",
    about=PLACES,
    cell="orders-tried",
    holds=lambda right: (
        all(
            mean(right[FIRST, fact, 1]) > 15 + mean(right[other, fact, 1])
            for fact in ("layers", "heads")
            for other in (SECOND, THIRD)
        )
        and all(mean(right[place, "width", 1]) > 65 for place in PLACES)
    ),
    note="Asked of all twelve models, of which each seed draws half.",
)

claim(
    order_on_the_card,
    "From the first place, too, the heads are answered less often than the layers.",
    about=(FIRST, SECOND),
    cell="orders-tried",
    holds=lambda right: (
        max(right[SECOND, "heads", 1]) < min(right[FIRST, "heads", 1])
        and max(right[FIRST, "heads", 1]) < min(right[FIRST, "layers", 1])
    ),
    note="Asked of all twelve models, of which each seed draws half.",
)

claim(
    said_before,
    "With the system turn the answers stay sentences; after two examples every one is a number and nothing else.",
    about=(SYSTEM, EXAMPLES),
    cell="prompted",
    holds=lambda right: max(right[SYSTEM, FORM, 1]) < 20 and min(right[EXAMPLES, FORM, 1]) == 100,
    note="Asked of all twelve models for all three facts, of which each seed draws half.",
)

claim(
    said_before,
    "The examples mend the form and not the reading: the widths are right more often than before, the layers less "
    "often, and the heads never.",
    about=(BARE, EXAMPLES),
    cell="prompted",
    holds=lambda right: (
        mean(right[EXAMPLES, "width", 1]) > mean(right[BARE, "width", 1])
        and max(right[EXAMPLES, "layers", 1]) < min(right[BARE, "layers", 1])
        and max(right[EXAMPLES, "heads", 1]) == 0
    ),
    note="The examples ask for the heads and then for the width, of models that there are not.",
)

claim(
    said_before,
    "With the two examples in the other order, some of the heads are right.",
    about=(EXAMPLES, TURNED),
    cell="prompted",
    holds=lambda right: min(right[TURNED, "heads", 1]) > 0 == max(right[EXAMPLES, "heads", 1]),
    note="The last example then asks for the heads. Layers are still right less often than without examples.",
)

claim(
    corrected_falsely,
    "With a false correction on the card no answer is right any more, whether the card stands between marks or not.",
    about=(ASIS, FALSE, MARKED),
    cell="injected-tried",
    holds=lambda right: (
        min(right[ASIS, RIGHT, 1]) == 100 and max(right[FALSE, RIGHT, 1]) == 0 == max(right[MARKED, RIGHT, 1])
    ),
    note="Asked of all twelve models, of which each seed draws half.",
)
