"""Chapter 16, today's decoder: a router that collapses, and what experts buy in a small model."""

from functools import partial
from statistics import mean

from clearbook.data.course_files import find_kept_files

from tests.claims.chapter_16 import PAGE, TRAINING
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()


IDLE, BITS = "idle experts", "bits per character"
ROUTED = ("no balance", "bias", "as many at work")


@experiment(
    PAGE,
    contenders={
        "no balance": "32 experts of width 32, of which the router chooses two for each token, and one for all",
        "bias": "the same, and after each step the bias of the page",
        "as many at work": "one gated layer of width 96: the weights that work for a token",
    },
    cases=(IDLE, BITS),
    budget="120 steps of 12 rows of 24 letters, AdamW, a rate that falls from 0.01 to zero",
    measured="experts of 32 with less than a tenth of a fair share in the last 20 steps, or bits per character on "
    "numbers that were not read; less is better",
    cells=(*TRAINING, "experts", "experts-train"),
)
def experts(page, run):
    """A layer without experts has none that are idle."""
    load, bits = once(page, run._replace(case=""), lambda: block_trained(page, run))
    return bits if run.case == BITS else load


def block_trained(page, run):
    n_steps, widths = 120 * run.times, {"as many at work": 3, "as many in all": 33}
    if run.contender in widths:
        times = widths[run.contender]

        def plain(d_model, d_ff, activation):
            """One gated layer, so many times as wide as an expert."""
            return page.GatedFeedForward(d_model, times * d_ff)

        make = partial(page.block_with, plain)
        return float("nan"), page.bits_after_training(make, run.seed, n_steps)
    load, bits = page.train_experts(run.contender == "bias", run.seed, n_steps)
    return (load < 0.1).sum(), bits


claim(
    experts,
    "Without the bias the router collapses: a third of the experts or more get next to nothing to do, and the busiest "
    "does several fair shares. With four times the steps ten or more are still idle.",
    about=("no balance", "bias"),
    cell="experts-run",
    holds=lambda found: (
        min(found["no balance", IDLE, 1]) >= 11
        and min(found["no balance", IDLE, 4]) >= 10
        and max(found["bias", IDLE, 1] + found["bias", IDLE, 4]) == 0
    ),
    note="The page had eight experts of which none was idle. With 32 the router collapses from every start.",
    verdict="changed",
    before="Without a bias the busiest expert keeps nearly twice its share, though it does not run away here.",
)
claim(
    experts,
    "The loss shows nothing of that. Balanced or not, after 480 steps 32 experts end where one plain layer with as "
    "many weights at work ends, within three hundredths of a bit, and after 120 steps that layer is ahead on average.",
    about=("no balance", "bias", "as many at work"),
    cell="experts-run",
    holds=lambda found: (
        max(ends := [it for who in ROUTED for it in found[who, BITS, 4]]) - min(ends) < 0.03
        and mean(found["as many at work", BITS, 1]) < min(mean(found[who, BITS, 1]) for who in ("no balance", "bias"))
    ),
    note="The page compared the two routers alone.",
    verdict="changed",
    before="The loss is as good, within the spread of three starts.",
)
