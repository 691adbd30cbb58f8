"""Chapter 9, a language model: Muon in the page's loop, at the same number of steps, and what a step costs."""

import math
import time

from clearbook.data.course_files import find_kept_files

from tests.claims import stored
from tests.claims.chapter_09 import GPT, MEASURED, MODEL, PAGE, trained
from tests.claims.compare import below
from tests.claims.registry import EXPERIMENTS, claim, experiment

find_kept_files()  # the page imports transformer.py

LOOP, MUON = "the page's loop", "Muon"
N_STEPS = 560


@experiment(
    PAGE,
    contenders={
        MUON: "the page's loop, the matrices in the blocks given to Muon at the same rate",
        LOOP: "as the page has it, at the best of three rates: the stored runs",
    },
    budget="560 steps of 8 rows of 64 tokens",
    measured=MEASURED,
    cells=(*MODEL, "fit-with-muon"),
)
def recipes(page, run):
    if run.contender == LOOP:
        name, who = ("rates", "0.01") if run.times == 1 else ("beside-the-table", GPT)
        return stored.numbers(stored.load(EXPERIMENTS[f"09-language-model/{name}"]))[who, "", run.times][run.seed]  # type: ignore[arg-type]
    model = page.GPT(page.V, d_model=96, n_heads=4, n_layers=2)
    page.fit_with_muon(model, lambda: page.batch(page.ids), N_STEPS * run.times)
    nats = page.loss_on(model, page.held_out_ids)
    return nats / math.log(2) * len(page.held_out_ids) / len(page.held_out)


@experiment(
    PAGE,
    contenders={LOOP: "40 steps of `fit`", MUON: "40 steps with the matrices in the blocks given to Muon"},
    budget="40 steps of 8 rows of 64 tokens, on one thread",
    measured="milliseconds of processor time a step, less is better",
    cells=(*MODEL, "fit-with-muon"),
    times=(1,),
)
def time_of_a_step(page, run):
    model = page.GPT(page.V, d_model=96, n_heads=4, n_layers=2)
    train = page.fit if run.contender == LOOP else page.fit_with_muon
    begun = time.process_time()
    train(model, lambda: page.batch(page.ids), 40)
    return (time.process_time() - begun) / 40 * 1000


LONGER = "the page's loop, longer"
STEPS_MEANWHILE = 795  # of `fit` in the time of 560 with Muon, by what a step of each costs


@experiment(
    PAGE,
    contenders={
        MUON: "560 steps, the matrices in the blocks given to Muon: the stored runs",
        LONGER: "the page's loop for the 795 steps that it does in the same time, at the best of three rates",
    },
    budget="the processor time of 560 steps of 8 rows of 64 tokens with Muon",
    measured=MEASURED,
    cells=MODEL,
)
def by_the_clock(page, run):
    if run.contender == MUON:
        found = stored.numbers(stored.load(EXPERIMENTS["09-language-model/recipes"]))  # type: ignore[arg-type]
        return found[MUON, "", run.times][run.seed]
    return trained(page, STEPS_MEANWHILE * run.times)


claim(
    recipes,
    "With the same number of steps Muon is ahead, from each of three starts, and with four times as many it still is.",
    about=(MUON, LOOP),
    cell="fit-with-muon",
    holds=lambda bits: below(bits, MUON, LOOP, by=0.05),
    note="Both at the rate 0.01. After 2,240 steps its lead is smaller than after 560.",
)
claim(
    time_of_a_step,
    "A step with it takes about half as long again here",
    about=(MUON, LOOP),
    cell="fit-with-muon",
    holds=lambda found: 1.2 < min(found[MUON, "", 1]) / min(found[LOOP, "", 1]) < 1.9,
    note="The first steps of a process are slower, since PyTorch warms up; so the fastest of three counts.",
)
claim(
    by_the_clock,
    "By the clock the page's loop is ahead of 560 steps with Muon, and 2,240 steps with Muon are ahead of it, by "
    "less than 0.04 bits each time.",
    about=(MUON, LONGER),
    cell="fit-with-muon",
    holds=lambda bits: (
        below(bits, LONGER, MUON, times=(1,))
        and below(bits, MUON, LONGER, times=(4,))
        and all(abs(a - b) < 0.04 for t in (1, 4) for a in bits[MUON, "", t] for b in bits[LONGER, "", t])
    ),
    note="Each at the rate 0.01. The steps in the same time are those of the stored costs of a step, 1.42 to 1.",
)
