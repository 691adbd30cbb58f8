"""The closer look at a text of your own: runs of the command whose logs come with the course."""

import csv
import re

from clearbook.data.course_files import course_file

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/09-your-own-text.ipynb"
LINE, RECIPE = "the line for a laptop", "nanoGPT's recipe"


@experiment(
    PAGE,
    contenders={
        LINE: "the training that models/nanogpt/laptop.txt tells of, from one start",
        RECIPE: "the training of models/nanogpt/recipe.csv, from one start",
    },
    budget="2,000 steps of 12 rows of 64 characters of the novels",
    measured="bits per held-out character, windows of 64 side by side, less is better",
    times=(1,),
    seeds=(0,),
)
def laptop_and_recipe(page, run):
    if run.contender == LINE:
        told = course_file("models/nanogpt/laptop.txt").read_text(encoding="utf-8")
        return float(re.findall(r"([\d.]+) held out", told)[-1])
    with course_file("models/nanogpt/recipe.csv").open(encoding="utf-8") as file:
        return float([*csv.DictReader(file)][-1]["held_out_bits"])


claim(
    laptop_and_recipe,
    "After the same number of characters the line for a laptop ends more than a third of a bit below nanoGPT's recipe.",
    about=(LINE, RECIPE),
    cell="laptop-log",
    holds=lambda bits: bits[RECIPE, "", 1][0] - bits[LINE, "", 1][0] > 1 / 3,
    note="One run each, at the rate that both have, and several things differ at once: the page says which.",
)


TEN, LATER, HELD_OUT, LEARNED = "after 10 steps", "after 45 steps", "held out", "learned"


@experiment(
    PAGE,
    contenders={
        TEN: "the fine-tuning that models/smollm2/tuned.txt tells of, from one start",
        LATER: "the same run, when it was stopped",
    },
    cases=(HELD_OUT, LEARNED),
    budget="one row of 128 tokens a step, of 18,000 characters of the Python reference",
    measured="bits per character, less is better",
    times=(1,),
    seeds=(0,),
)
def tuned_on_notes(page, run):
    told = course_file("models/smollm2/tuned.txt").read_text(encoding="utf-8")
    step = run.contender.split()[1]
    [(learned, held_out)] = re.findall(rf"step +{step}: ([\d.]+) .*?([\d.]+) held out", told)
    return float(held_out if run.case == HELD_OUT else learned)


claim(
    tuned_on_notes,
    "After ten steps the bits held out fall no further, while those of the learned text still do.",
    about=(TEN, LATER),
    cell="tuned-log",
    holds=lambda bits: (
        bits[TEN, HELD_OUT, 1][0] < bits[LATER, HELD_OUT, 1][0]
        and bits[TEN, LEARNED, 1][0] > bits[LATER, LEARNED, 1][0] + 0.3
    ),
    note="One run from one start, stopped after 45 of its 100 steps.",
)
