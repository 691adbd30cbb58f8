"""Chapter 18, tuning: what the pretrained weights knew, the head alone at several rates, and the mean of two models."""

import copy

from clearformer.models.gpt import GPT

from tests.claims.chapter_18 import DATA, FORGOTTEN, PAGE, RIGHT, measured
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

MEASURED = (
    "per cent of 78 held-out words, more is better; bits a character more than before on the ends of the novels, less "
    "is better"
)
PRETRAINED, RANDOM, COMMONEST = "pretrained", "weights at random", "the commonest kind"


@experiment(
    PAGE,
    contenders={
        PRETRAINED: "all weights, beginning with the shipped ones",
        RANDOM: "all weights, beginning at random, in the same way",
        COMMONEST: "no training: always the commonest kind",
    },
    cases=(RIGHT,),
    budget="30 steps of 16 conversations, rate 0.0006",
    measured="per cent of 78 held-out words, more is better",
    cells=DATA,
)
def knowing(page, run):
    kinds = [kind for _, kind in page.held_out]
    if run.contender == COMMONEST:
        return 100 * max(kinds.count(kind) for kind in kinds) / len(kinds)
    start = GPT(page.shipped.config) if run.contender == RANDOM else copy.deepcopy(page.shipped)
    return 100 * page.right_kinds(page.tuned(start, n_steps=page.STEPS * run.times, seed=run.seed))


HEADS = {f"the head alone, rate {rate:g}": rate for rate in (1e-3, 2e-3, 4e-3)}


@experiment(
    PAGE,
    contenders={name: "the head alone, untied from the embedding" for name in HEADS},
    cases=(RIGHT, FORGOTTEN),
    budget="30 steps of 16 conversations",
    times=(1,),
    measured=MEASURED,
    cells=(*DATA, "rivals", "rivals-more"),
)
def heads(page, run):
    def value():
        start = page.with_own_head(page.shipped)
        return measured(page, page.tuned(start, rate=HEADS[run.contender], seed=run.seed))

    return once(page, run._replace(case=""), value)[run.case]


LOW, HIGH = min(HEADS, key=HEADS.__getitem__), max(HEADS, key=HEADS.__getitem__)
ONE, MEAN = "one tuned model", "the mean of two"


@experiment(
    PAGE,
    contenders={ONE: "all weights, tuned", MEAN: "no further training: the mean of the weights of two of them"},
    cases=(RIGHT, FORGOTTEN),
    budget="30 steps of 16 conversations, rate 0.0006",
    measured=MEASURED,
    cells=(*DATA, "merging"),
)
def soups(page, run):
    def tuned(seed: int):
        n_steps = page.STEPS * run.times
        train = page.tuned
        return once(
            page, ("tuned", run.times, seed), lambda: train(copy.deepcopy(page.shipped), n_steps=n_steps, seed=seed)
        )

    one, another = tuned(run.seed), tuned((run.seed + 1) % 3)
    model = one if run.contender == ONE else page.merged(one, 0.5, another, one)
    return once(page, run._replace(case=""), lambda: measured(page, model))[run.case]


def spread(values: list[float]) -> float:
    return max(values) - min(values)


claim(
    knowing,
    "From weights at random the same thirty steps are right no more often than the commonest kind, with each of three "
    "seeds.",
    about=(RANDOM, COMMONEST, PRETRAINED),
    cell="tune",
    holds=lambda found: (
        max(found[RANDOM, RIGHT, 1]) <= max(found[COMMONEST, RIGHT, 1])
        and all(min(found[PRETRAINED, RIGHT, n]) > 2 * max(found[RANDOM, RIGHT, n]) for n in (1, 4))
    ),
    note="With four times the steps they are right about less than half as many words as the shipped weights.",
)
claim(
    heads,
    "At a quarter of the rate it forgets less than a fifth as much, and gains less still.",
    about=(LOW, HIGH),
    cell="sweep-figure",
    holds=lambda found: (
        all(
            5 * low < high
            for case in (FORGOTTEN,)
            for low, high in zip(
                found["the head alone, rate 0.001", case, 1], found["the head alone, rate 0.004", case, 1], strict=True
            )
        )
        and max(found["the head alone, rate 0.001", RIGHT, 1]) < min(found["the head alone, rate 0.004", RIGHT, 1])
    ),
    note="The page had shown one rate, and called the head the one that forgets most.",
)
claim(
    soups,
    "The mean is right about as many words as one of the two, and forgets as much; only its forgetting differs less "
    "from pair to pair, after thirty steps and after a hundred and twenty.",
    about=(MEAN, ONE),
    cell="merging",
    holds=lambda found: (
        all(
            abs(both - one) < by
            for case, by in ((RIGHT, 3), (FORGOTTEN, 0.02))
            for n in (1, 4)
            for both, one in zip(found[MEAN, case, n], found[ONE, case, n], strict=True)
        )
        and all(spread(found[MEAN, FORGOTTEN, n]) < spread(found[ONE, FORGOTTEN, n]) for n in (1, 4))
    ),
    note="For each of three pairs of seeds. Models that differ more may gain from it.",
)
