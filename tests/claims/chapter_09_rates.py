"""Chapter 9, a language model: whether the best of three learning rates stays the best in a longer training."""

from clearbook.data.course_files import find_kept_files

from tests.claims import stored
from tests.claims.chapter_09 import GPT, MEASURED, MODEL, N_STEPS, PAGE, RATES, trained
from tests.claims.compare import below
from tests.claims.registry import EXPERIMENTS, claim, experiment

find_kept_files()  # the page imports transformer.py


@experiment(
    PAGE,
    contenders={rate: "the whole schedule, with this rate at its top" for rate in RATES},
    budget="560 steps of 8 rows of 64 tokens",
    measured=MEASURED,
    cells=MODEL,
    times=(4,),
)
def rates_for_longer(page, run):
    if run.contender == "0.01":  # as it ran beside the table of counts
        found = stored.numbers(stored.load(EXPERIMENTS["09-language-model/beside-the-table"]))  # type: ignore[arg-type]
        return found[GPT, "", run.times][run.seed]
    return trained(page, N_STEPS * run.times, float(run.contender))


claim(
    rates_for_longer,
    "With four times the steps it still is, but now 0.003 is ahead of 0.03.",
    about=RATES,
    cell="training-run",
    holds=lambda bits: (
        below(bits, "0.01", "0.003", "0.03", by=0.04, times=(4,)) and below(bits, "0.003", "0.03", by=0.01, times=(4,))
    ),
    note="After 560 steps 0.03 was ahead of 0.003. The rate of the page stays the best, by less than before.",
)
