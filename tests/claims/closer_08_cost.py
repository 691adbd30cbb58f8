"""Closer look at what attention costs: operations are not seconds."""

import time

import torch
from torch import nn

from tests.claims.compare import below
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/08-cost.ipynb"
RNN, ATTENTION, WIDTH = "RNN", "attention", 64
SHORT, LONG = ("32 tokens", "128 tokens"), "2,048 tokens"
ROUNDS = {**dict.fromkeys(SHORT, 100), LONG: 25}


@experiment(
    PAGE,
    contenders={
        RNN: "PyTorch's recurrent layer, the fewest operations at every length",
        ATTENTION: "one head, the scores as a formula: two and a half times as many operations or more",
    },
    cases=tuple(ROUNDS),
    budget="one sequence of width 64 on one thread, the best of 100 rounds, and of 25 for 2,048 tokens",
    measured="milliseconds of the processor, less is better; of one machine, and larger where it is busy",
    cells=("setup",),
)
def seconds(page, run):
    layer = nn.RNN(WIDTH, WIDTH, batch_first=True) if run.contender == RNN else page.visible(WIDTH, 1)
    x = torch.randn(1, int(run.case.split()[0].replace(",", "")), WIDTH)
    found = []
    with torch.no_grad():
        layer(x)  # the first time prepares the others
        for _ in range(ROUNDS[run.case] * run.times):
            start = time.thread_time()
            layer(x)
            found.append(1000 * (time.thread_time() - start))
    return min(found)


claim(
    seconds,
    "At the top of the table attention takes *less* time than the network that needs half its operations or fewer.",
    about=(ATTENTION, RNN),
    cell="measured",
    holds=lambda spent: all(below(spent, ATTENTION, RNN, case=case) for case in SHORT),
    note="By a factor of two and more.",
)
claim(
    seconds,
    "Further down the last column passes 1, at a length that depends on machine, width and batch.",
    about=(ATTENTION, RNN),
    cell="measured",
    holds=lambda spent: below(spent, RNN, ATTENTION, case=LONG),
    note="On one thread, at 2,048 tokens.",
)
claim(
    seconds,
    "More work need not mean more time, not even on one core. The RNN calls many small products, one after the other, "
    "and attention a few large ones, which a processor does more efficiently. At the long end the squares win, and "
    "attention is the slower of the two.",
    about=(ATTENTION, RNN),
    page="chapters/closer/02-rnn.ipynb",
    cell="work-and-time",
    holds=lambda spent: (
        all(below(spent, ATTENTION, RNN, case=case) for case in SHORT) and below(spent, RNN, ATTENTION, case=LONG)
    ),
    note="Measured with the layer of chapter 8, which also has an output matrix.",
)
