"""Closer look at chapter 1: what nearness in a table of embeddings means, and a step from a man to a woman."""

from functools import cache

import torch

from tests.claims.pages import once
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


FAMILY = {"sister", "father", "daughter", "brother", "child", "son", "husband", "wife", "aunt", "uncle", "cousin"}
NEAREST = 5


@experiment(
    PAGE,
    contenders={
        "trained": "the shipped model's embeddings",
        "counted": "which tokens stand near each other in the same novels, counted",
        "as frequent": "the tokens that occur in these novels about as often",
        "untrained": "random numbers",
    },
    budget="six novels, counted up to two tokens apart; the trained table is that of the shipped model at any budget",
    measured="relatives among the five tokens that are nearest to mother, more is better",
    cells=("setup", "directions", "counted:counted_table"),
)
def relatives(page, run):
    (mother,) = page.tokenizer.encode(" mother")
    nearest = nearness(page, run, mother).topk(NEAREST + 1).indices.tolist()
    return sum(page.tokenizer.decode([i]).strip() in FAMILY for i in nearest if i != mother)


def nearness(page, run, mother):
    """How near every token is to mother."""
    if run.contender == "as frequent":
        often = once(page, "often", lambda: occurrences(page)).log()
        return -(often - often[mother]).abs()
    if run.contender == "counted":
        table = counted(page.counted_table, WINDOW * run.times, run.seed)
    else:
        table = page.trained if run.contender == "trained" else torch.randn(page.trained.shape)
    return torch.cosine_similarity(table, table[mother], dim=-1)


def occurrences(page):
    """How often each token occurs in the novels."""
    ids = [i for novel in page.austen_split()[0] for i in page.tokenizer.encode(novel)]
    return torch.bincount(torch.tensor(ids), minlength=page.tokenizer.n_vocab)


claim(
    relatives,
    "*Mother*, *father* and *sister* stand between the same words, and that has made their columns point the same way.",
    about=("trained", "counted", "as frequent", "untrained"),
    cell="neighbours",
    holds=lambda found: (
        min(found["trained", "", 1] + found["counted", "", 1]) >= 4
        and all(
            max(found["as frequent", "", times] + found["untrained", "", times])
            < min(found["counted", "", times])
            <= min(found["trained", "", times])
            for times in (1, 4)
        )
        and max(found["counted", "", 4]) < min(found["trained", "", 4])
    ),
    note="To count which words stand within two places of each other finds the relatives as well; to look for words "
    "that are as frequent finds none. Counted up to eight places apart, two to four of the five are relatives: who "
    "belongs together is told by the words next to them.",
    page="chapters/01-tokens.ipynb",
)
