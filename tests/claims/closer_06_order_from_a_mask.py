"""Closer look at the mask: whether order is learned without positions."""

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/06-order-from-a-mask.ipynb"
STEPS = 60


@experiment(
    PAGE,
    contenders={
        "causal, 2 blocks": "two blocks with a causal mask and no positions",
        "causal, 1 block": "one block with a causal mask: a bag, for its last token",
        "no mask, 2 blocks": "two blocks without a mask: a bag",
    },
    budget="60 steps of 32 rows, Adam at 0.015",
    measured="share of 1,000 rows that are answered rightly, more is better; a coin gets 0.5",
    cells=("setup", "order-properties", "order-task", "order-training:accuracy"),
)
def orders(page, run):
    return page.accuracy(page.STACKS[run.contender], run.seed, STEPS * run.times)


claim(
    orders,
    "With two causal blocks order is learned from every start, without a position in sight.",
    about=("causal, 2 blocks", "causal, 1 block", "no mask, 2 blocks"),
    cell="order-training",
    holds=lambda share: all(
        min(share["causal, 2 blocks", "", times])
        > 0.95
        > 0.6
        > max(share["causal, 1 block", "", times] + share["no mask, 2 blocks", "", times])
        for times in (1, 4)
    ),
    note="Both rivals read a bag, and toss a coin after four times as many steps as well.",
)
