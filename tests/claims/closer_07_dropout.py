"""Closer look at dropout: a model and one page of a novel, stopped in time and trained to the end."""

from statistics import median

import torch

from tests.claims.pages import once
from tests.claims.registry import TIMES, claim, experiment

PAGE = "chapters/closer/07-dropout.ipynb"
STEPS, EVERY = 125, 25
BEST, END, WHEN = "at its best", "at the end", "step of its best"
REGULARISED = {"dropout": (0.3, 0.01), "no dropout": (0.0, 0.01), "weight decay": (0.0, 1.0)}


@experiment(
    PAGE,
    contenders={
        "dropout": "p = 0.3 where a part writes to the stream, and on the embeddings",
        "no dropout": "the same model without",
        "weight decay": "no dropout, and a weight decay of 1 where AdamW has 0.01",
    },
    cases=(BEST, END, WHEN),
    budget="125 steps of 16 rows from one page of a novel, AdamW at 0.01",
    measured="nats a letter on the pages that follow, read every 25 steps, less is better; and when it is least",
    cells=(
        "setup",
        "causal-from-chapter-3",
        "heads-from-chapter-4",
        "feed-forward-from-chapter-5",
        "block-class",
        "dropout-model",
        "dropout-text",
    ),
)
def over_fitting(page, run):
    """The rate does not change, so the training of the page is the beginning of the longer one."""
    found = once(page, run._replace(case="", times=1), lambda: validation_losses(page, run.contender))
    found = found[: STEPS * run.times // EVERY + 1]
    best = min(found)
    return {BEST: best, END: found[-1], WHEN: EVERY * found.index(best)}[run.case]


def validation_losses(page, contender):
    """The loss on the later pages every 25 steps."""
    dropout, decay = REGULARISED[contender]
    model = page.Writer(len(page.alphabet), page.CONTEXT, d_model=48, depth=2, dropout=dropout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=decay, fused=True)
    found = []
    for step in range(STEPS * TIMES[-1] + 1):
        if step % EVERY == 0:
            found.append(page.evaluate(model, page.later_pages))
        model.train()
        loss = page.loss_of(model, page.page, torch.randint(len(page.page) - page.CONTEXT - 1, (16,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return found


def gone_up(loss, who, times):
    """By how much each start ends above its best."""
    return [end - best for end, best in zip(loss[who, END, times], loss[who, BEST, times], strict=True)]


claim(
    over_fitting,
    "Had you stopped where its validation loss was lowest (**early stopping**), it would have done about as well. With "
    "dropout over-fitting comes later, and weaker: when you stop matters less. It does not stay away: trained four "
    "times as long, this model, too, ends far from its best.",
    about=("dropout", "no dropout"),
    cell="dropout-numbers",
    holds=lambda loss: (
        abs(median(loss["dropout", BEST, 1]) - median(loss["no dropout", BEST, 1])) < 0.05
        and all(
            min(loss["dropout", WHEN, times]) > max(loss["no dropout", WHEN, times])
            and max(gone_up(loss, "dropout", times)) < min(gone_up(loss, "no dropout", times))
            for times in (1, 4)
        )
        and max(gone_up(loss, "dropout", 1)) < 0.1 < 0.5 < min(gone_up(loss, "dropout", 4))
    ),
    note="All three are at their best in the first 125 steps, and lose it again in the steps after them.",
    verdict="changed",
    before="With dropout over-fitting comes later, and weaker: when you stop matters less.",
)
claim(
    over_fitting,
    "With one of 1, and without dropout, the same model reaches a lower validation loss than with dropout, from each "
    "of three starts.",
    about=("weight decay", "dropout"),
    cell="dropout-numbers",
    holds=lambda loss: all(
        decayed < dropped
        for times in (1, 4)
        for decayed, dropped in zip(loss["weight decay", BEST, times], loss["dropout", BEST, times], strict=True)
    ),
    note="Here dropout is not the only regularisation that helps, nor the one that helps most.",
)
