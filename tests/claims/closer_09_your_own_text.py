"""The closer look at a text of your own: two starts, and the table of counts beside them."""

from clearbook.data.course_files import find_kept_files

from tests.claims.compare import below
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports gpt.py

PAGE = "chapters/closer/09-your-own-text.ipynb"
NOTHING, NOVELS, TABLE = "from nothing", "from the novels", "5-gram"


@experiment(
    PAGE,
    contenders={
        NOTHING: "weights as PyTorch draws them",
        NOVELS: "the weights of models/gpt, which has read six novels",
        TABLE: "a table that has counted all of the same text",
    },
    budget="300 steps of 8 rows of 64 tokens of the Python reference",
    measured="bits per character on held-out paragraphs, less is better",
    cells=("setup", "my-file", "my-gpt", "my-data", "my-table", "two-starts"),
)
def starts(page, run):
    if run.contender == TABLE:
        return page.counted
    model = page.fresh(run.contender == NOVELS)
    page.fit(model, lambda: page.batch(page.ids), n_steps=300 * run.times)
    return page.bits(model)


def lead(bits, times):
    """By how many bits the model from the novels is ahead, from each start."""
    return [nothing - novels for nothing, novels in zip(bits[NOTHING, "", times], bits[NOVELS, "", times], strict=True)]


claim(
    starts,
    "After the same 300 steps the model that began with the novels is ahead, from each of three starts, and the table "
    "is still ahead of both.",
    about=(NOTHING, NOVELS, TABLE),
    cell="my-model",
    holds=lambda bits: (
        below(bits, NOVELS, NOTHING, by=0.3, times=(1,)) and below(bits, TABLE, NOVELS, NOTHING, times=(1,))
    ),
    note="The weights of the novels are worth more than a third of a bit for each character of a manual.",
)
claim(
    starts,
    "With four times the steps both are ahead of the table, and the lead that the novels gave has shrunk to less than "
    "half.",
    about=(NOTHING, NOVELS, TABLE),
    cell="my-model",
    holds=lambda bits: (
        below(bits, NOVELS, NOTHING, TABLE, times=(4,))
        and below(bits, NOTHING, TABLE, times=(4,))
        and max(lead(bits, 4)) < min(lead(bits, 1)) / 2
    ),
    note="What the novels taught, such as how words are spelled, the manual teaches as well, only later.",
)
