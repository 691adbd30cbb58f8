"""Closer look at the warm-up: whether prepared averages or smaller steps save a deep post-norm stack."""

from statistics import median

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/07-warm-up.ipynb"
STARTS, RATE, N_STEPS = (0, 1, 2, 3, 4), 0.0275, 60
PREPARED, FULL, THIRD = "Adam prepared, then the full rate", "the full rate", "a third of the rate"
POST, WARMED, PRE = "post-norm", "post-norm, warm-up", "pre-norm"
EARLY, LATE = "after 6 steps", "at the end"
CELLS = (
    "setup",
    "causal-from-chapter-3",
    "heads-from-chapter-4",
    "feed-forward-from-chapter-5",
    "block-from-chapter-7",
    "post-norm-from-chapter-7",
    "model",
    "training",
    "race",
)


def plan(run):
    """The rate of every step; what is said of the beginning is said in steps."""
    full = [RATE] * (N_STEPS * run.times)
    return {
        THIRD: [rate / 3 for rate in full],
        "warm-up": [rate * min(1, (step + 1) / 45) for step, rate in enumerate(full)],
        PREPARED: [0.0] * 20 + full,
        FULL: full,
    }[run.contender]


@experiment(
    PAGE,
    contenders={
        THIRD: "from the first step to the last",
        "warm-up": "a rate that rises for 45 steps",
        PREPARED: "20 steps at a rate of 0, in which Adam collects its averages",
        FULL: "from the first step on",
    },
    budget="60 steps of 16 sequences, Adam at 0.0275; post-norm, 6 blocks",
    measured="loss over the last ten steps, less is better; guessing costs 2.30",
    cells=CELLS,
    seeds=STARTS,
)
def plans(page, run):
    """All starts are trained side by side, as on the page."""
    return once(page, (run.contender, run.times), lambda: final_losses(page, run))[run.seed]


def final_losses(page, run):
    (found,) = page.race(page.PostNormBlock, {"": plan(run)}, seeds=len(STARTS)).values()
    return page.final(found)


claim(
    plans,
    "In this stack the first two explanations are ruled out. At first most of the gradient arrives, and well-prepared "
    "averages do not help. Smaller steps do.",
    about=(PREPARED, FULL, THIRD, "warm-up"),
    cell="plans",
    holds=lambda loss: all(
        min(loss[PREPARED, "", times] + loss[FULL, "", times]) > 2.2
        and max(loss[THIRD, "", times] + loss["warm-up", "", times]) < 1
        for times in (1, 4)
    ),
    note="Adam's averages may be ready or not: at the full rate every start stays at guessing, even in four times the "
    "steps. With smaller steps every start learns.",
)


@experiment(
    PAGE,
    contenders={
        POST: "six blocks with a norm after each sum, at the full rate",
        WARMED: "the same, with a rate that rises for 45 steps",
        PRE: "six blocks with a norm before each part, at the full rate",
    },
    cases=(EARLY, LATE),
    budget="60 steps of 16 sequences, Adam at 0.0275",
    measured="mean cosine of two tokens at the top of the stack; 1 where all point the same way",
    cells=CELLS,
    seeds=STARTS,
)
def likenesses(page, run):
    """All starts are trained side by side, as on the page."""
    alike = once(page, ("alike", run.contender, run.times), lambda: alike_in_training(page, run))
    return alike[5 if run.case == EARLY else -1, run.seed]


def alike_in_training(page, run):
    block = page.Block if run.contender == PRE else page.PostNormBlock
    rates = plan(run._replace(contender="warm-up" if run.contender == WARMED else FULL))
    ((_, alike),) = page.race(block, {"": rates}, seeds=len(STARTS)).values()
    return alike


claim(
    likenesses,
    "Six full-size steps make the tokens of a post-norm stack nearly the same, and in most starts they stay so.",
    about=(POST, PRE),
    cell="likeness-figure",
    holds=lambda alike: (
        all(median(alike[POST, case, times]) > 0.95 for case in (EARLY, LATE) for times in (1, 4))
        and median(alike[PRE, LATE, 1]) < 0.5
    ),
    note="After 60 steps one of five starts has got away from it, after four times as many it is back.",
)
claim(
    likenesses,
    "With a warm-up, post-norm tokens grow alike later, and not fully.",
    about=(POST, WARMED),
    cell="likeness-figure",
    holds=lambda alike: (
        max(alike[WARMED, EARLY, 1]) < 0.9 < min(alike[POST, EARLY, 1])
        and all(max(alike[WARMED, LATE, times]) < 0.5 < median(alike[POST, LATE, times]) for times in (1, 4))
    ),
    note="At the end of either budget they are far from alike.",
)
