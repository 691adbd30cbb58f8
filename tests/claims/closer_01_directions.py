"""Closer look at chapter 1: whether a step from a man to a woman means anything in a table of embeddings."""

from functools import cache

import torch

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/01-directions.ipynb"
STEP, NO_STEP = "trained, with the step", "trained, no step"
COUNTED_STEP, COUNTED_NO_STEP = "counted, with the step", "counted, no step"
WINDOW = 2


@cache
def counted(table, window, seed):
    """The table of counts, made once for both questions that are put to it."""
    torch.manual_seed(seed)
    return table(window)


@experiment(
    PAGE,
    contenders={
        STEP: "the shipped model's embeddings, the step of another pair added",
        NO_STEP: "the same embeddings, the nearest row that is not in the question",
        COUNTED_STEP: "which tokens stand near each other in the same novels, counted; the step added",
        COUNTED_NO_STEP: "the same counts, the nearest row that is not in the question",
    },
    budget="six novels, counted up to two tokens apart; the trained table is that of the shipped model at any budget",
    measured="right answers to 132 questions, more is better",
    cells=("setup", "directions", "counted:counted_table"),
)
def steps(page, run):
    step = int(run.contender in (STEP, COUNTED_STEP))
    trained = run.contender in (STEP, NO_STEP)
    table = page.trained if trained else counted(page.counted_table, WINDOW * run.times, run.seed)
    return page.right_answers(table, step=step)


claim(
    steps,
    "In the table of counts the step makes it worse, and in the trained one it helps.",
    about=(STEP, NO_STEP, COUNTED_STEP, COUNTED_NO_STEP),
    cell="counted",
    holds=lambda right: all(
        min(right[STEP, "", times]) > max(right[NO_STEP, "", times])
        and max(right[COUNTED_STEP, "", times]) < min(right[COUNTED_NO_STEP, "", times])
        for times in (1, 4)
    ),
    note="Most right answers need no step: a woman stands beside her man in both tables. There is one trained table, "
    "so its three seeds are equal.",
)
