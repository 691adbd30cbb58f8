"""Closer look at serving: how many places of a server are at work, with static batches and with continuous ones."""

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/14-serving.ipynb"
STATIC, SORTED, CONTINUOUS = "static", "static, sorted", "continuous"


@experiment(
    PAGE,
    contenders={
        STATIC: "32 texts are let in together, and the next 32 when all of them are done",
        SORTED: "the same, and texts of like length go together: their lengths are known beforehand",
        CONTINUOUS: "a text gets the first place that is free",
    },
    budget="1,000 paragraphs of the novels in 32 places, every text one token a step",
    measured="share of places that write a token, averaged over all steps, more is better; a seed draws the paragraphs",
    cells=("setup", "batches", "paragraphs"),
)
def places_at_work(page, run):
    return once(page, run._replace(contender=""), lambda: page.at_work(run.seed, 1000 * run.times))[run.contender]


claim(
    places_at_work,
    "In static batches less than a quarter of the places write, because one long paragraph keeps thirty-one others "
    "waiting. With continuous batching more than four fifths do. Sorted by length, static batches come close to it, "
    "but nobody knows beforehand how long an answer will be.",
    about=(STATIC, SORTED, CONTINUOUS),
    cell="paragraphs",
    holds=lambda found: all(
        max(found[STATIC, "", times]) < 0.25
        and min(found[CONTINUOUS, "", times]) > 0.8
        and all(
            0.75 * full < some < full
            for some, full in zip(found[SORTED, "", times], found[CONTINUOUS, "", times], strict=True)
        )
        for times in (1, 4)
    ),
    note="Sorting is the rival with more information: it has to know every length before the text is written.",
)
