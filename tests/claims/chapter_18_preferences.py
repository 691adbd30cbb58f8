"""Chapter 18, tuning: what DPO and its rivals do to both answers, and weights that are added to another model."""

import copy
from functools import partial

from tests.claims.chapter_18 import DATA, PAGE, above, seeds_above
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

RIGHT, FORGOTTEN, SURE = "right kinds", "bits forgotten", "sure"  # as in chapter_18
BEFORE = "before"
HIGH, LOW = 3e-4, 5e-5
DPO, BOTH, CHOSEN = (f"{way}, rate 0.0003" for way in ("DPO", "DPO + SFT", "SFT on the chosen"))
DPO_LOW, BOTH_LOW, CHOSEN_LOW = (f"{way}, rate 0.00005" for way in ("DPO", "DPO + SFT", "SFT on the chosen"))
ADDED, TAKEN = "difference added to another", "difference taken from another"
LN_C, LN_R, KL = "ln π(c)", "ln π(r)", "KL"
WATCHED = (LN_C, LN_R, KL, SURE, RIGHT)


@experiment(
    PAGE,
    contenders={
        BEFORE: "the model tuned on conversations, where the policy begins",
        DPO: "direct preference optimisation",
        BOTH: "the same, and the supervised loss on the chosen answers",
        CHOSEN: "supervised fine-tuning on as many of the chosen answers alone",
        DPO_LOW: "direct preference optimisation at a sixth of the rate",
        BOTH_LOW: "the same, and the supervised loss on the chosen answers, at a sixth of the rate",
        CHOSEN_LOW: "supervised fine-tuning on as many of the chosen answers alone, at a sixth of the rate",
        ADDED: "no training: another tuned model, plus what that fine-tuning changed in this one's weights",
        TAKEN: "no training: another tuned model, less what that fine-tuning changed in this one's weights",
    },
    cases=WATCHED,
    budget="8 steps of 24 answers, from a model tuned in 30 steps, a seed each",
    measured="on 78 held-out words: nats of both answers; the KL to where it began, along the chosen answers; per "
    "cent for which the sure answer is the likelier; per cent of right kinds, more is better",
    cells=(*DATA, "merging", "dpo", "preferences", "watched"),
)
def preferences(page, run):
    values = once(page, run._replace(case=""), lambda: preferred(page, run))
    return dict(zip(WATCHED, values, strict=True))[run.case] * (100 if run.case in (SURE, RIGHT) else 1)


def chat(page, seed: int):
    return once(page, ("chat", seed), lambda: page.tuned(copy.deepcopy(page.shipped), seed=seed))


def preferred(page, run):
    reference = chat(page, run.seed)

    def trained(loss_of):
        rate = LOW if run.contender in (DPO_LOW, BOTH_LOW, CHOSEN_LOW) else HIGH
        return page.preferred(reference, loss_of, rate, n_steps=8 * run.times, seed=run.seed)

    def on_chosen():
        return once(page, ("chosen", run.times, run.seed), lambda: trained(page.on_chosen))

    if run.contender in (ADDED, TAKEN):
        another, share = chat(page, (run.seed + 1) % 3), 1 if run.contender == ADDED else -1
        return page.watched(page.merged(another, share, on_chosen(), reference), another)
    if run.contender == BEFORE:
        return page.watched(reference, reference)
    if run.contender == CHOSEN:
        return page.watched(on_chosen(), reference)
    on_pairs = partial(page.on_preferences, reference=reference)
    losses = {DPO: on_pairs, DPO_LOW: on_pairs, CHOSEN_LOW: page.on_chosen}
    return page.watched(trained(losses.get(run.contender, partial(on_pairs, keep=1))), reference)


claim(
    preferences,
    "At the high rate DPO alone makes both answers less likely, with each of three seeds; fewer kinds are right, and "
    "the KL is far larger than that of either rival. With four times the steps not one kind is right.",
    about=(DPO, BEFORE, BOTH, CHOSEN),
    cell="dpo-runs",
    holds=lambda found: (
        all(above(found, BEFORE, DPO, case, n) for case in (LN_R, RIGHT) for n in (1, 4))
        and all(seeds_above(found, BEFORE, DPO, LN_C, n) for n in (1, 4))
        and all(above(found, DPO, way, KL, n, by=2) for way in (BOTH, CHOSEN) for n in (1, 4))
        and max(found[DPO, RIGHT, 4]) == 0
    ),
    note="The page had shown one rate, and told of it as what the loss does.",
    verdict="changed",
    before="From each of three seeds both answers become less likely, fewer kinds are right, and the KL is far larger "
    "than that of either rival. With four times the steps not one kind is right.",
)
claim(
    preferences,
    "At a sixth of the rate the chosen answer becomes likelier, with each of three seeds, the KL stays below one, and "
    "about as many kinds are right as before. Four times the steps then cost a few kinds, and not all.",
    about=(DPO_LOW, DPO, BEFORE),
    cell="dpo-runs",
    holds=lambda found: (
        seeds_above(found, DPO_LOW, BEFORE, LN_C, 1)
        and max(found[DPO_LOW, KL, 1]) < 1
        and min(found[DPO_LOW, SURE, 1]) == 100
        and seeds_above(found, DPO_LOW, BEFORE, RIGHT, 1, by=-5)
        and seeds_above(found, BEFORE, DPO_LOW, RIGHT, 4)
        and seeds_above(found, DPO_LOW, BEFORE, RIGHT, 4, by=-11)
    ),
    note="The rate decides, and not the loss alone: at 0.0003 both answers fall.",
)
claim(
    preferences,
    "At the low rate, too, SFT on the chosen alone is right about more words than DPO alone.",
    about=(CHOSEN_LOW, DPO_LOW),
    cell="dpo-runs",
    holds=lambda found: all(seeds_above(found, CHOSEN_LOW, DPO_LOW, RIGHT, n) for n in (1, 4)),
    note="With each of three seeds, at both budgets.",
)
claim(
    preferences,
    "With SFT on the chosen alone, or with DPO and SFT together, every held-out word gets the sure answer as well, the "
    "chosen answers become likelier, and about as many kinds are right as before, or more; with four times the steps "
    "more are.",
    about=(CHOSEN, BOTH, BEFORE),
    cell="dpo-runs",
    holds=lambda found: all(
        min(found[way, SURE, 1]) == 100
        and above(found, way, BEFORE, LN_C, 1)
        and seeds_above(found, way, BEFORE, RIGHT, 1, by=-5)
        and above(found, way, BEFORE, RIGHT, 4, by=5)
        for way in (CHOSEN, BOTH)
    ),
    note="The page had said that DPO with SFT loses some kinds; with its new recipe it loses none.",
    verdict="changed",
    before="And the simplest thing, SFT on the chosen answers alone, does our job too, and keeps most kinds.",
)
claim(
    preferences,
    "What the pairs add is distance: with DPO in it the rejected answer ends less likely than with SFT on the chosen "
    "alone.",
    about=(BOTH, DPO, CHOSEN),
    cell="dpo-runs",
    holds=lambda found: all(above(found, CHOSEN, way, LN_R, n, by=2) for way in (BOTH, DPO) for n in (1, 4)),
    note="By nats that differ from seed to seed, at both budgets.",
)
claim(
    preferences,
    "Added, from each of three models to another, it makes the sure answer the likelier one for every held-out word; "
    "taken away, for none. No step was taken on the other model.",
    about=(ADDED, TAKEN, BEFORE),
    cell="tone-run",
    holds=lambda found: all(min(found[ADDED, SURE, n]) == 100 and max(found[TAKEN, SURE, n]) == 0 for n in (1, 4)),
    note="All models begin at the same pretrained weights.",
)
claim(
    preferences,
    "It is not free. Taken away, it makes all three right about fewer words, and added, one of three; a difference "
    "learned in four times the steps costs none where it is added, since it has learned more about the kinds, too.",
    about=(ADDED, TAKEN, BEFORE),
    cell="tone-run",
    holds=lambda found: (
        all(above(found, BEFORE, TAKEN, RIGHT, n, by=10) for n in (1, 4))
        and sorted(one > 51 for one in found[ADDED, RIGHT, 1]) == [False, True, True]
        and above(found, ADDED, BEFORE, RIGHT, 4)
    ),
    note="Between the models of three seeds, each from its neighbour.",
)
