"""Chapter 11, translation: SmolLM2 with eight pairs in its prompt instead of two, scored by letters as well."""

from clearbook.overlap import chrf

from tests.claims import smollm2
from tests.claims.chapter_11 import COPIED, EXACT, LESSONS, OVERLAP, PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

EIGHT, TWO = "eight pairs in the prompt", "two pairs in the prompt"
EXCHANGED = "the nearest pair, day and year exchanged"
SHOWN = {EIGHT: 8, TWO: 2}
N_SENTENCES = 30


def scored(page, contender: str) -> dict[str, float]:
    """How many of the first German sentences are right, and how much the letters overlap, in per cent."""
    pairs, known = page.tests["de", "sentences"][:N_SENTENCES], page.lessons["de", "sentences"]
    if contender == COPIED:
        texts = [page.nearest(english, 1, known)[0][1] for english, _ in pairs]
    elif contender == EXCHANGED:
        texts = [page.figures_exchanged(english, known) for english, _ in pairs]
    else:
        nearest = [page.nearest(english, SHOWN[contender], known) for english, _ in pairs]
        texts = smollm2.lines([page.few_shot(*one) for one in zip([e for e, _ in pairs], nearest, strict=True)])
    wanted = [german for _, german in pairs]
    right = sum(text == german for text, german in zip(texts, wanted, strict=True))
    return {EXACT: right, OVERLAP: 100 * chrf(texts, wanted)}


@experiment(
    PAGE,
    contenders={
        EIGHT: "SmolLM2, shown the eight pairs that share most words with the sentence",
        TWO: "SmolLM2, shown the two of them that the page shows",
        COPIED: "nothing is trained: the German of the pair that shares most words",
        EXCHANGED: "that German text, with the day and the year of the new sentence",
    },
    cases=(EXACT, OVERLAP),
    times=(1,),
    seeds=(0,),
    budget="eight or two of 3,500 pairs in the prompt",
    measured="of the first 30 German sentences of the test: how many are exactly right, and chrF in per cent",
    cells=(*LESSONS, "few-shot", "figures-exchanged:figures_exchanged"),
)
def more_examples(page, run):
    return once(page, run.contender, lambda: scored(page, run.contender))[run.case]


claim(
    more_examples,
    "With eight pairs in the prompt instead of two SmolLM2 gets 24 of the first thirty sentences right instead of 16.",
    about=(EIGHT, TWO),
    cell="beside-smollm2",
    holds=lambda numbers: (numbers[EIGHT, EXACT, 1], numbers[TWO, EXACT, 1]) == ([24], [16]),
    note="Nothing is drawn, so there is one number.",
)
claim(
    more_examples,
    "The rule gets as many from one pair.",
    about=(EXCHANGED, TWO),
    cell="figures-exchanged",
    holds=lambda numbers: numbers[EXCHANGED, EXACT, 1] == numbers[EIGHT, EXACT, 1] > numbers[TWO, EXACT, 1],
    note="Of the same 30 sentences. It errs where the nearest pair has another month or is about somebody else.",
)
