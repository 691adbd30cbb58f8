"""Chapter 1, tokens: how much shorter a text becomes by the first merges and by the last."""

from tests.claims.registry import claim, experiment

PAGE = "chapters/01-tokens.ipynb"
AUSTEN, ZEN = "Austen, unseen", "the Zen of Python"
MERGES = {"first 64 merges": (0, 64), "64 merges in the middle": (448, 512), "last 1,280 merges": (512, 1792)}
NOVELS = (5, 0, 3)  # of six, whose last tenths no merge was learned from: one for each seed
CHARACTERS = 10_000


@experiment(
    PAGE,
    contenders={
        "first 64 merges": "from the bytes to 64 merges",
        "64 merges in the middle": "from 448 merges to 512",
        "last 1,280 merges": "from 512 merges to all 1,792 of the shipped tokeniser",
    },
    cases=(AUSTEN, ZEN),
    budget="10,000 characters from the end of a novel, another novel for each seed; the Zen of Python is one text",
    measured="by how many tokens the text becomes shorter, more is better",
    cells=("setup", "setup-pieces", "load-model"),
)
def merges(page, run):
    text = page.austen_split()[1][NOVELS[run.seed]][: CHARACTERS * run.times]
    if run.case == ZEN:
        text = page.zen_text()
    before, after = (n_tokens(page, text, n_merges) for n_merges in MERGES[run.contender])
    return before - after


def n_tokens(page, text, n_merges):
    smaller = page.BytePairTokenizer("", 0)
    smaller.add_merges(list(page.tokenizer.ranks)[:n_merges])
    return len(smaller.encode(text))


claim(
    merges,
    "The first 64 merges save more tokens than the last 1,280.",
    about=("first 64 merges", "last 1,280 merges", "64 merges in the middle"),
    cell="vocabulary-sizes",
    holds=lambda saved: all(
        min(saved["first 64 merges", case, times])
        > max(saved["last 1,280 merges", case, times])
        > max(saved["64 merges in the middle", case, times])
        for case in (AUSTEN, ZEN)
        for times in (1, 4)
    ),
    note="In three novels, and in a text of another kind.",
)
