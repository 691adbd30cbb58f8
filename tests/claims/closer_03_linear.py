"""Closer look at what is linear in attention: whether one matrix can replace a layer."""

import torch

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/03-linear.ipynb"
ONE, TWO, CONTROL = "one layer", "two layers", "fixed weights"


@experiment(
    PAGE,
    contenders={
        ONE: "one layer of attention without a value map",
        TWO: "two such layers",
        CONTROL: "one average whose weights are the same for all inputs",
    },
    budget="400 inputs to find the best matrix, 400 others to try it on; nothing is trained, other weights for each "
    "seed",
    measured="share of the outputs that the best fixed matrix explains",
    cells=("setup", "in-the-values:weights_of", "a-fixed-one:average_layer", "a-fixed-one:fixed_share"),
    times=(1,),
)
def fixed_matrices(page, run):
    first, second = torch.randn(2, 2, 8, 4)
    average = torch.randn(6, 6).softmax(dim=-1)
    layers = {
        ONE: lambda x: page.average_layer(x, *first),
        TWO: lambda x: page.average_layer(page.average_layer(x, *first), *second),
        CONTROL: lambda x: average @ x,
    }
    return page.fixed_share(layers[run.contender])


claim(
    fixed_matrices,
    "A fixed matrix fails already for one layer.",
    about=(ONE, CONTROL),
    cell="a-fixed-one",
    holds=lambda share: max(share[ONE, "", 1]) < 0.5 < 0.99 < min(share[CONTROL, "", 1]),
    note="Of two layers it explains no more.",
)
