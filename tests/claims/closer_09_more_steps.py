"""The closer look at a text of your own: a thousand steps, at two rates, beside tables of counts of every depth."""

from clearbook.data.course_files import find_kept_files
from clearbook.ngrams import Ngrams

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports gpt.py

PAGE = "chapters/closer/09-your-own-text.ipynb"
SAME, THIRD, TABLE = "at the rate 0.01", "at the rate 0.0033", "the best table"


@experiment(
    PAGE,
    contenders={
        SAME: "begun with the novels, the rate of a model from nothing",
        THIRD: "begun with the novels, a third of that rate",
        TABLE: "of those with 2 to 8 characters the one with the fewest bits on the held-out text",
    },
    budget="1,000 steps of 8 rows of 64 tokens of the Python reference",
    measured="bits per character on held-out paragraphs, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "my-table", "two-starts"),
    times=(1,),
)
def thousand_steps(page, run):
    if run.contender == TABLE:
        return once(page, TABLE, lambda: best_table(page))
    model = page.fresh(True)
    rate = 0.01 if run.contender == SAME else 0.01 / 3
    page.fit(model, lambda: page.batch(page.ids), n_steps=1000 * run.times, rate=rate)
    return page.bits(model)


def best_table(page):
    """Bits per character of the table whose depth suits the held-out paragraphs best."""
    table = Ngrams(page.letters, 8, len(page.characters))
    return min(table.surprisal(page.test, n).mean() for n in range(2, 9))


claim(
    thousand_steps,
    "With 1,000 steps the model that began with the novels passes the table, from each of three starts.",
    about=(SAME, TABLE),
    cell="my-model",
    holds=lambda bits: below(bits, SAME, TABLE, by=0.05, times=(1,)),
    note="The table of the page, a 5-gram, is the best there is here. After 300 steps it was still ahead.",
)
claim(
    thousand_steps,
    "Here, where the new text is so different, a third of the rate learns less in the same 1,000 steps.",
    about=(SAME, THIRD),
    cell="my-model",
    holds=lambda bits: below(bits, SAME, THIRD, by=0.05, times=(1,)),
    note="After 300 steps, from one start, a third of the rate is further behind, and three times the rate no better.",
)
